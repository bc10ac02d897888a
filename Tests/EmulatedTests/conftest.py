"""The programs of another architecture, run by an emulator: CURFEWD and CURFEW name scripts that start it.

Everything else, the apps too, is this machine's own; so the board is the one of the black-box tests.
"""

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "BlackBoxTests"))

import board as boards  # noqa: E402
import pytest  # noqa: E402
import waiting  # noqa: E402


def pytest_report_header():
    return [f"curfewd: {boards.CURFEWD}", f"curfew: {boards.CURFEW}"]


@pytest.fixture
def board():
    made = boards.Board()
    yield made
    log = made.log()
    complaints = made.close()
    assert not complaints, "; ".join(complaints) + "\n" + log


@pytest.fixture
def tool():
    """Runs curfew, or another program given, with a bound; returns what it said."""
    def run(*arguments, program=boards.CURFEW, status=0):
        done = subprocess.run(
            [program, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=waiting.PATIENCE * 3, check=False)
        assert done.returncode == status, f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout

    return run
