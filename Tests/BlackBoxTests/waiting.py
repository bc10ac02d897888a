"""Waiting for something to come true: bounded, and never longer than needed."""

import time

# For what has to happen but not at once: generous, as the machine may be busy.
PATIENCE = 20.0


def wait_until(condition, what, timeout=PATIENCE):
    """Returns the first true value of condition(); fails with what() or what after `timeout` seconds."""
    end = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            text = what() if callable(what) else what
            raise AssertionError(f"not within {timeout:g} s: {text}")
        time.sleep(0.01)  # not a wait: between two looks at the condition, which has a bound


def holds_for(seconds, condition, what):
    """Fails when condition() is false at any time within so many seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        assert condition(), what() if callable(what) else what
        time.sleep(0.02)  # not a wait: between two looks at the condition
