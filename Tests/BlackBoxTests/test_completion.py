"""Completions, in the shells themselves: what is offered where Tab is pressed, with a real daemon and without one."""

import os
import shutil
import subprocess
from pathlib import Path

import board as boards
import pytest
from terminal import Terminal

SCRIPTS = boards.REPOSITORY / "deploy/completions"


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


@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_what_a_shell_offers_without_a_daemon_and_with_one(board, tool, shell):
    def offers(*words):
        return offered(tool, shell, *words)

    assert offers("st") == ["status"]
    assert set(offers("")) >= {"status", "launch", "run", "profile", "try"}
    assert "demo-app" not in offers(""), "it is the demo's own"
    assert offers("terminate", "--f") == ["--force"]
    assert offers("low-power", "o") == ["on", "off"]
    assert set(offers("profile", "")) >= {"list", "show", "detect", "check"}
    assert offers("config", "s") == ["show"]
    assert "keys" not in offers("config", ""), "it is for deploy/docs"
    assert [name.rstrip("/") for name in offers("check", "hardware-pro")] == ["hardware-profiles"]
    assert [name.rstrip("/") for name in offers("run", "--", "READ")] == ["README.md"]

    here = ["--root", board.root]
    assert offers(*here, "launch", "c") == []
    for name in ("camera", "cast", "radio"):
        board.plain(name)
    assert offers(*here, "launch", "ca") == ["camera", "cast"]
    profiles = Path(board.root) / "usr/share/curfew/hardware-profiles"
    profiles.mkdir(parents=True)
    (profiles / "some-board.toml").write_text("")
    assert offers(*here, "profile", "show", "") == ["some-board"]

    board.app_file("gone", 'exec = ["/nothing/there"]\nlaunch = "boot"\nrestart = "never"\n')
    board.start()
    board.wait_active("camera", "cast", "radio")
    report = board.wait_termination("gone")["report"]
    # What is not configured any more, and known to the daemon alone.
    (board.apps_folder / "cast.toml").unlink()
    for command in ("status", "launch", "activate", "background", "terminate", "reports"):
        assert offers(*here, command, "ca") == ["camera", "cast"], command
    assert offers("config", "show", *here, "ca") == ["camera"]
    assert offers("background", *here, "r") == ["radio"]
    assert offers("report", *here, "") == [report]


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
