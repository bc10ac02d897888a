"""What a scenario is: a function on a board, with a name and the promise that it keeps. It returns figures, or None."""

SCENARIOS = []


class Scenario:
    def __init__(self, name, asserts, play, architectures):
        self.name, self.asserts, self.play, self.architectures = name, asserts, play, architectures


def scenario(name, asserts, architectures=("amd64", "arm64")):
    def register(play):
        SCENARIOS.append(Scenario(name, asserts, play, architectures))
        return play

    return register


class Skipped(Exception):
    """It cannot be played here, and why."""
