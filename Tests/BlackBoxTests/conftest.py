"""Black-box tests: the daemon as a program, known only by its contract.

CURFEWD and CURFEW name the binaries under test (default: .build/debug). They need root, a writable cgroup v2, and
PyPI's varlink, which deploy/test installs into .build/python.
"""

import sys

import board as boards
import memory as memories
import pytest
import recordings

for folder in (boards.REPOSITORY / ".build/python/lib").glob("python3*/site-packages"):
    sys.path.append(str(folder))


def pytest_report_header():
    return [f"curfewd: {boards.CURFEWD}", f"curfew: {boards.CURFEW}"]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Of a test that fails: what its daemon heard and decided last."""
    report = (yield).get_result()
    made = getattr(item, "funcargs", {}).get("board")
    if report.failed and call.when == "call" and made is not None:
        report.sections.append(("recording", recordings.replay(made.root, "--last", "80").stdout))


@pytest.fixture
def board():
    """A board whose daemon must be alive at the end of the test, and end with 0 after SIGTERM."""
    made = boards.Board()
    yield made
    log = made.log()
    complaints = made.close(lambda: recordings.differences(made.root))
    assert not complaints, "; ".join(complaints) + "\n" + log


@pytest.fixture(scope="session")
def memory_library(tmp_path_factory):
    return memories.build(tmp_path_factory.mktemp("memory"))


@pytest.fixture
def memory(board, memory_library):
    """The board's memory: 800 MiB, all of them available. What the kernel says of it is played."""
    made = memories.Memory(board, memory_library)
    made.with_controller()
    yield made
    made.close()
