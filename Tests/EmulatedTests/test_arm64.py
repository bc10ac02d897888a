"""One walk through everything that touches the kernel, the message bus and the files in another way than a test of a
module does: each would show a wrong layout, alignment or system call of the architecture."""

import json
import re
import signal
import subprocess
from pathlib import Path

import board as boards
import pytest
import waiting

BUILT = Path(boards.REPOSITORY) / ".build/device-arm64"
LARGEST = {"curfewd": 1_000_000, "curfew": 16_000_000}
LIBRARIES = {
    "curfewd": {"libsystemd.so.0", "libudev.so.1", "libjansson.so.4", "libc.so.6", "libm.so.6"},
    "curfew": {"libjansson.so.4", "libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1"},
}


@pytest.mark.parametrize("name", LARGEST)
def test_they_are_arm64_programs(name):
    """Small ones, linked with what every board has."""
    about = subprocess.run(
        ["readelf", "--file-header", "--dynamic", BUILT / name], capture_output=True, text=True, check=True).stdout
    assert re.search(r"Machine: +AArch64", about)
    assert (BUILT / name).stat().st_size < LARGEST[name]
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", about))
    assert needed - {"ld-linux-aarch64.so.1"} <= LIBRARIES[name]


@pytest.mark.parametrize("name, needed", [
    ("curfewd", [r"toolchain Swift version \d", r"bookworm libc6-dev_\S+_arm64", r"bookworm libstdc\+\+-12-dev_\S+"]),
    ("curfew", [r"sid swiftlang_\S+_amd64", r"sid swiftlang_\S+_arm64", r"trixie libgcc-14-dev_\S+_arm64"]),
])
def test_it_is_written_down_with_what_they_were_built(name, needed):
    lines = (BUILT / f"{name}.built-with").read_text().splitlines()
    for line in needed:
        assert [text for text in lines if re.match(line, text)], line
    inside = in_packages(f"write_built_with {BUILT}")
    assert all(line in inside for line in lines)


def test_versions(tool):
    version = in_packages("source_version")
    assert tool("--version", program=boards.CURFEWD).split()[-1] == tool("--version").split()[-1] == version


def in_packages(command):
    """What a function of deploy/lib/packages/packages.sh says."""
    script = f"source deploy/lib/prepare.sh; source deploy/lib/packages/packages.sh; {command}"
    return subprocess.run(
        ["bash", "-euc", script], cwd=boards.REPOSITORY, capture_output=True, text=True, check=True).stdout.strip()


def test_the_package_depends_on_the_c_library_that_they_were_linked_with():
    """This machine's own may be an older one, and know nothing of it."""
    about = subprocess.run(
        ["readelf", "--version-info", "-W", *map(BUILT.joinpath, LARGEST)], capture_output=True, text=True,
        check=True).stdout
    newest = max((tuple(map(int, found.split("."))) for found in re.findall(r"Name: GLIBC_([0-9.]+)", about)))
    said = in_packages("foreign_dependencies .build/device-arm64")
    assert f"libc6 (>= {'.'.join(map(str, newest))})" in said, said


def test_check(board, tool):
    board.app("right", description="ä, ß and 雪")
    tool("--root", board.root, "--check", program=boards.CURFEWD)
    tool("--root", board.root, "check")
    board.app_file("wrong", 'exec = ["/bin/true"]\ndelgate = "none"\n')
    said = tool("--root", board.root, "check", status=1)
    assert "wrong.toml:2" in said and "delegate" in said


def test_sleep_and_wake(board, tool):
    board.app("prompt")
    board.app("hanging", "hang:DidEnterBackground", allowances={"did_enter_background": "600ms"}, restart="never")
    board.plain("plain")
    login = board.with_login(delay=5)
    board.start()
    board.wait_active("prompt", "hanging", "plain")
    login.wait_held("sleep")
    status = json.loads(tool("--root", board.root, "status", "--json"))
    phases = {app["name"]: app["scenePhase"] for app in status["apps"]}
    assert phases == {"prompt": "active", "hanging": "active", "plain": "active"}

    signalled = login.sleep(True)
    closing = login.wait_closed("sleep")
    assert closing["t"] - signalled < 5
    board.wait_sleep("asleep")
    groups = {name.rpartition(".")[0]: frozen for name, frozen in closing["groups"].items()}
    assert groups == {"prompt": True, "plain": True}
    report = board.wait_termination("hanging")
    assert report["code"] == "0x8badf00d" and report["event"] == "DidEnterBackground"
    assert "0x8badf00d" in tool("--root", board.root, "report", "--last")

    login.sleep(False)
    login.wait_held("sleep", 2)
    board.wait_active("prompt", "plain")
    assert board.calls("prompt") == [
        "DidFinishLaunching", "DidBecomeActive", "WillResignActive", "DidEnterBackground", "WillEnterForeground",
        "DidBecomeActive"]


def test_a_task_outlives_a_sleep_and_ends_with_its_app(board, tool):
    clients = boards.REPOSITORY / "Sources/Clients/python"
    board.app_file("uploader", boards.toml_file({
        "exec": ["/usr/bin/python3", str(clients / "examples/uploader.py")], "delegate": "varlink",
        "environment": {"PYTHONPATH": str(clients)}}))
    login = board.with_login(delay=5)
    board.start()
    board.wait_active("uploader")
    login.wait_held("sleep")
    tool("--root", board.root, "background", "uploader")
    waiting.wait_until(lambda: "upload" in tool("--root", board.root, "tasks"), "the task is listed")
    login.sleep(True)
    login.wait_closed("sleep")
    board.wait_sleep("asleep")
    assert board.is_frozen("uploader")
    login.sleep(False)
    waiting.wait_until(lambda: not board.is_frozen("uploader"), "its task goes on")
    board.signal("uploader", signal.SIGKILL)
    report = board.wait_termination("uploader")
    assert (report["namespace"], report["code"]) == ("crash", "0x9"), report
    board.wait_app("uploader", launches=2)
    tool("--root", board.root, "terminate", "uploader")
    board.wait_app("uploader", taskState="notRunning")
