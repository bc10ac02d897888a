"""Completions, in the shells themselves: what is offered where Tab is pressed, with a real daemon and without one."""

import os
import shutil
import subprocess
import time
from pathlib import Path

import board as boards
import pytest
from terminal import Terminal

SCRIPTS = boards.REPOSITORY / "deploy/completions"
SHELLS = ["bash", "fish"]


@pytest.fixture
def tool(board):
    """A folder for PATH: the shells look up completions by the command's name."""
    folder = Path(board.root) / "bin"
    folder.mkdir()
    (folder / "curfew").symlink_to(boards.CURFEW)
    return folder


def offered(tool, shell, *words):
    """words: after `curfew`; the last one is being completed."""
    assert shutil.which(shell), f"{shell} is not installed; deploy/test does that"
    environment = {"PATH": f"{tool}:{os.environ['PATH']}", "HOME": str(tool)}
    if shell == "bash":
        program = Path(__file__).parent / "programs/complete.bash"
        command = ["bash", "--norc", str(program), str(SCRIPTS / "curfew.bash"), "curfew", *words]
    else:
        line = " ".join(["curfew", *words])
        command = ["fish", "--no-config", "-c", f"source {SCRIPTS}/curfew.fish; complete -C '{line}'"]
    done = subprocess.run(command, env=environment, cwd=boards.REPOSITORY, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return [line.partition("\t")[0] for line in done.stdout.splitlines()]


@pytest.mark.parametrize("shell", SHELLS)
def test_commands_options_and_words(tool, shell):
    assert offered(tool, shell, "st") == ["status"]
    assert set(offered(tool, shell, "")) >= {"status", "launch", "run", "profile", "try"}
    assert "demo-app" not in offered(tool, shell, ""), "it is the demo's own"
    assert offered(tool, shell, "terminate", "--f") == ["--force"]
    assert offered(tool, shell, "low-power", "o") == ["on", "off"]
    assert set(offered(tool, shell, "profile", "")) >= {"list", "show", "detect", "check"}
    assert offered(tool, shell, "config", "s") == ["show"]
    assert "keys" not in offered(tool, shell, "config", ""), "it is for deploy/docs"
    assert [name.rstrip("/") for name in offered(tool, shell, "check", "hardware-pro")] == ["hardware-profiles"]
    assert [name.rstrip("/") for name in offered(tool, shell, "run", "--", "READ")] == ["README.md"]


@pytest.mark.parametrize("shell", SHELLS)
def test_apps_and_reports_of_the_daemon(board, tool, shell):
    for name in ("camera", "cast", "radio"):
        board.plain(name)
    board.app_file("gone", 'exec = ["/nothing/there"]\nlaunch = "boot"\nrestart = "never"\n')
    board.start()
    board.wait_active("camera", "cast", "radio")
    report = board.wait_termination("gone")["report"]
    # What is not configured any more, and known to the daemon alone.
    (board.apps_folder / "cast.toml").unlink()
    for command in ("status", "launch", "activate", "background", "terminate", "reports"):
        assert offered(tool, shell, "--root", board.root, command, "ca") == ["camera", "cast"]
    assert offered(tool, shell, "config", "show", "--root", board.root, "ca") == ["camera"]
    assert offered(tool, shell, "background", "--root", board.root, "r") == ["radio"]
    assert offered(tool, shell, "report", "--root", board.root, "") == [report]


@pytest.mark.parametrize("shell", SHELLS)
def test_without_a_daemon_it_is_quick_and_silent(board, tool, shell):
    started = time.monotonic()
    assert offered(tool, shell, "--root", board.root, "launch", "c") == []
    board.plain("camera")
    assert offered(tool, shell, "--root", board.root, "launch", "c") == ["camera"]
    profiles = Path(board.root) / "usr/share/curfew/hardware-profiles"
    profiles.mkdir(parents=True)
    (profiles / "some-board.toml").write_text("")
    assert offered(tool, shell, "--root", board.root, "profile", "show", "") == ["some-board"]
    assert time.monotonic() - started < 15


def test_zsh(board, tool):
    """On a terminal, as only there it completes anything."""
    zsh = shutil.which("zsh")
    assert zsh, "zsh is not installed; deploy/test does that"
    board.plain("camera")
    board.start()
    board.wait_active("camera")
    shell = Terminal([zsh, "-f", "-i"], {
        "PATH": f"{tool}:{os.environ['PATH']}", "HOME": str(tool), "TERM": "dumb", "ZDOTDIR": str(tool),
        "PS1": "ready> ", "LC_ALL": "C.UTF-8"})
    try:
        shell.wait_for("ready> ")
        # The line is shown by its own words, which the echo of what is typed does not contain.
        shell.press(f"fpath=({SCRIPTS} $fpath); autoload -U compinit; compinit -u -D; shown() {{ "
                    "print -r -- \"<<$BUFFER>>\"; BUFFER=; zle accept-line }; zle -N shown; bindkey '^X' shown; "
                    "print set up\\!\n")
        shell.wait_for("set up!")
        for typed, whole in [("curfew stat\t\x18", "<<curfew status >>"),
                             ("curfew terminate --fo\t\x18", "<<curfew terminate --force >>"),
                             (f"curfew --root {board.root} launch cam\t\x18",
                              f"<<curfew --root {board.root} launch camera >>")]:
            shell.press(typed)
            shell.wait_for(whole)
    finally:
        shell.close()
