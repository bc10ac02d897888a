"""Ends of the daemon's loop, and what it leaves to the next one."""

import os
import signal
import struct

import cgroups
import family
from waiting import wait_until


def kill_loop(board, number=signal.SIGKILL):
    """Returns when there is another."""
    loop = board.loop()
    with family.ends([loop]):
        os.kill(loop, number)
    wait_until(lambda: board.answers() and board.loop() != loop, board.log)


def replace_in_a_call(board, handler, replace):
    """An app's handler stands still while `replace` puts another loop into the place of this one: its answer counts."""
    board.app("app", f"stop:{handler}")
    board.start()
    if handler != "DidFinishLaunching":
        board.wait_active("app")
    with board.wire() as wire:
        if handler == "DidEnterBackground":
            wire.send("io.curfew.Control.Background", {"app": "app"})
        elif handler == "WillTerminate":
            wire.send("io.curfew.Control.Terminate", {"app": "app"})
        board.wait_call("app", handler)
        pid = board.describe("app")["mainPID"]
        wait_until(lambda: family.state(pid) == "T", "the handler stands still")
        replace(board)
        os.kill(pid, signal.SIGCONT)
    if handler == "WillTerminate":
        assert board.wait_termination("app")["namespace"] == "user"
    else:
        board.wait_app("app", scenePhase="background" if handler == "DidEnterBackground" else "active")
    assert board.calls("app").count(handler) == 1
    assert board.describe("app")["launches"] == 1


def replace_in_a_hang(board, start, replace):
    """Its time runs on."""
    board.app("app", "hang:DidEnterBackground", allowances={"did_enter_background": "1s"})
    start()
    board.wait_active("app")
    with board.wire() as wire:
        wire.send("io.curfew.Control.Background", {"app": "app"})
        board.wait_call("app", "DidEnterBackground")
        replace()
    assert board.wait_termination("app")["namespace"] == "watchdog"


def replace_in_a_hook(board, start, replace):
    """A hook is under way as `replace` is called, with a path that is there once it runs; it is waited for."""
    gate = f"{board.root}/gate"
    os.mkfifo(gate)
    command = f"> {gate}-is-read; echo begun; read line < {gate}; echo over; exit 3"
    board.app("app", delegate="hooks", hooks={"did_enter_background": ["/bin/sh", "-c", command]})
    start()
    board.wait_active("app")
    with board.wire() as wire:
        wire.send("io.curfew.Control.Background", {"app": "app"})
        wait_until(lambda: len(cgroups.processes(board.instance("app"))) == 2, "the hook runs")
        replace(f"{gate}-is-read")
    assert board.describe("app")["scenePhase"] == "inactive"
    with open(gate, "w") as out:
        out.write("go on\n")
    board.wait_app("app", scenePhase="background")
    assert board.terminations("app") == []


def hold_loop(board):
    """What happens until the loop is killed, it does not see."""
    loop = board.loop()
    os.kill(loop, signal.SIGSTOP)
    wait_until(lambda: family.state(loop) == "T", "the loop stands still")
    return loop


def end_held(board, loop):
    with family.ends([loop]):
        os.kill(loop, signal.SIGKILL)
    wait_until(lambda: board.answers() and board.loop() != loop, board.log)


def kept_state(board):
    """The memory of the state, for writing; where the last whole one lies, and its length."""
    folder = f"/proc/{board.daemon.pid}/fd"
    [name] = [name for name in os.listdir(folder) if os.readlink(f"{folder}/{name}").startswith("/memfd:curfewd")]
    memory = open(f"{folder}/{name}", "r+b", buffering=0)
    _, number, length = struct.unpack("<3Q", os.pread(memory.fileno(), 24, 0))
    return memory, 4096 + number % 2 * (32 << 20), length


def kill_loop_and_its_state(board):
    """The next one begins anew."""
    loop = hold_loop(board)
    memory, begin, length = kept_state(board)
    with memory:
        os.pwrite(memory.fileno(), b"xxxx", begin + length - 4)
    end_held(board, loop)
