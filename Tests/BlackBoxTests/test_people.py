"""What people do with the board, as logind tells: locked, idle, lid and power key; and a sleep that is only logical.

The board is played, so that this machine's own lid and supplies are not heard.
"""

import subprocess

import hardware
import pytest
from confinement import with_network_of_its_own
from hardware import LID, POWER_KEY
from waiting import holds_for, wait_until

pytestmark = pytest.mark.skipif(hardware.missing() is not None, reason=hardware.missing() or "")
TO_BACKGROUND = ["WillResignActive", "DidEnterBackground"]
TO_FRONT = ["WillEnterForeground", "DidBecomeActive"]


@pytest.fixture
def played(board):
    return board.with_hardware()


def logical(*wake_sources):
    return f"[sleep]\nlogical = true\nwake-sources = {list(wake_sources)}\n"


def phase_calls(board, name):
    return [call for call in board.calls(name) if not call.endswith("DidChange")]


def start(board, *apps, **policy):
    board.device(policy={"debounce": "100ms", **policy})
    for app in apps:
        board.app(app)
    board.start()
    board.wait_active(*apps)
    if board.login:
        board.login.wait_held("sleep")


def test_a_session_that_is_idle_and_locked(board, played):
    login = board.with_login()
    start(board, "camera", idle="background")
    login.set_idle(True)
    holds_for(0.3, lambda: board.describe("camera")["scenePhase"] == "active", "no user is there who could be idle")
    login.open_session()
    board.wait_app("camera", taskState="suspended")
    login.set_idle(False)
    board.wait_active("camera")
    assert phase_calls(board, "camera")[-4:] == [*TO_BACKGROUND, *TO_FRONT]
    login.lock()
    board.wait_app("camera", scenePhase="inactive", taskState="running")
    assert phase_calls(board, "camera")[-1] == "WillResignActive"
    assert "locked" in board.error("Activate", app="camera").parameters["reason"]
    login.unlock()
    board.wait_active("camera")
    assert phase_calls(board, "camera")[-1] == "DidBecomeActive"
    # The locker's own word.
    login.set_locked(True)
    board.wait_app("camera", scenePhase="inactive")
    login.set_locked(False)
    board.wait_active("camera")
    assert phase_calls(board, "camera").count("DidEnterBackground") == 1, "of the time that it was idle"


def test_lid_and_power_by_logind_where_the_board_has_neither(board, played):
    login = board.with_login(board={"LidClosed": False, "OnExternalPower": False})
    start(board, "camera")
    wait_until(lambda: board.device_state()["externalPower"] is False, "logind says so")
    login.set_board("LidClosed", True, announce=True)
    board.wait_app("camera", taskState="suspended")
    login.set_board("LidClosed", False, announce=True)
    board.wait_active("camera")
    # What is not announced (the lid before systemd 256) is read when something else is heard.
    login.set_board("OnExternalPower", True)
    mouse = played.add("power_supply", "mouse", type="Battery", scope="Device", capacity=3, status="Discharging")
    wait_until(lambda: board.device_state()["externalPower"] is True, board.device_state)
    assert board.device_state()["batteryLevel"] is None
    assert board.wait_call("camera", "PowerStateDidChange", 2)["parameters"]["externalPower"] is True
    login.set_board("LidClosed", True)
    played.announce(mouse)
    board.wait_app("camera", taskState="suspended")
    login.set_board("LidClosed", False)
    played.announce(mouse)
    board.wait_active("camera")


def test_the_boards_own_lid_counts_for_more_than_loginds(board, played):
    node = played.add_input(0, switches=LID, lid_closed=False)
    login = board.with_login(board={"LidClosed": False})
    start(board, "camera")
    login.set_board("LidClosed", True, announce=True)
    holds_for(0.3, lambda: board.describe("camera")["scenePhase"] == "active", "the switch says open")
    played.move_lid(node, True)
    board.wait_app("camera", taskState="suspended")


def test_the_power_key_puts_the_board_to_sleep_by_logind_where_it_is_asked_for(board, played):
    node = played.add_input(0, keys=POWER_KEY)
    login = board.with_login()
    start(board, "camera")
    played.press_power(node)
    holds_for(0.2, lambda: board.device_state()["sleepState"] == "awake", "it was not asked for")
    assert not login.events("suspend") and not login.events("inhibit", what="handle-power-key")

    def reload(power_key):
        board.device(policy={"debounce": "100ms", "power_key": power_key})
        board.call("Reload")

    reload("sleep")
    login.wait_held("handle-power-key")
    played.press_power(node)
    wait_until(lambda: login.events("suspend"), "logind is asked to suspend")
    login.sleep(True)
    login.wait_closed("sleep")
    login.sleep(False)
    board.wait_active("camera")
    assert len(login.events("suspend")) == 1
    reload("nothing")
    login.wait_closed("handle-power-key")
    reload("sleep")
    login.wait_held("handle-power-key", 2)


def test_the_power_key_s_lock_is_asked_for_again(board, played):
    """Without it logind would switch the board off."""
    played.add_input(0, keys=POWER_KEY)
    login = board.with_login(refuse=["handle-power-key"])
    start(board, "camera")
    board.device(policy={"debounce": "100ms", "power_key": "sleep"})
    board.call("Reload")
    board.wait_log("logind refused a handle-power-key lock")
    login.refuse()
    login.wait_held("handle-power-key")


def test_a_lock_that_was_had_is_asked_for_soon_again(board, played):
    """What it was waited for before counts no more."""
    played.add_input(0, keys=POWER_KEY)
    login = board.with_login(refuse=["handle-power-key"])

    def reload(power_key):
        board.device(policy={"debounce": "100ms", "power_key": power_key})
        board.call("Reload")

    def refusals():
        return [event["t"] for event in login.events("refused", what="handle-power-key")]

    start(board, "camera")
    reload("sleep")
    wait_until(lambda: len(refusals()) >= 3, login.events)
    login.refuse()
    login.wait_held("handle-power-key")
    before = len(refusals())
    reload("nothing")
    login.wait_closed("handle-power-key")
    login.refuse("handle-power-key")
    reload("sleep")
    again = wait_until(lambda: refusals()[before + 1 :], login.events)[0] - refusals()[before]
    # It waits for 1 s, 2 s, 4 s; would not begin anew, for 8 s and longer.
    assert again < 2**before


def test_that_logind_does_not_put_the_board_to_sleep_is_a_warning_once_until_it_does(board, played):
    node = played.add_input(0, keys=POWER_KEY)
    login = board.with_login(refuse=["suspend"])
    start(board, "camera")
    board.device(policy={"debounce": "100ms", "power_key": "sleep"})
    board.call("Reload")
    login.wait_held("handle-power-key")
    line = "logind does not put the board to sleep"
    for warnings in (1, 1, 2):
        if warnings == 2:
            login.sleep(True)
            login.wait_closed("sleep")
            login.sleep(False)
            board.wait_active("camera")
        said = board.log().count(line)

        def asks():
            # For 2 s after a wake a key asks for nothing.
            played.press_power(node)
            return board.log().count(line) > said

        wait_until(asks, board.log)
        assert board.log().count(f"warning: {line}") == warnings


def test_what_happened_in_a_sleep_is_looked_at_after_it(board, played):
    """Whatever a driver says, or does not say, as it resumes."""
    charger = played.add("power_supply", "AC", type="Mains", online=1)
    login = board.with_login(board={"LidClosed": False})
    start(board, "camera")
    login.sleep(True)
    login.wait_closed("sleep")
    played.set(charger, announce=False, online=0)
    login.set_board("LidClosed", True)
    login.sleep(False)
    board.wait_call("camera", "PowerStateDidChange")
    wait_until(lambda: board.device_state()["externalPower"] is False, "the plug was pulled meanwhile")
    board.wait_app("camera", taskState="suspended", scenePhase="background")


def test_a_logical_sleep_is_ended_by_its_wake_sources_alone(board, played):
    key = played.add_input(0, keys=POWER_KEY)
    charger = played.add("power_supply", "AC", type="Mains", online=0)
    link = played.add("net", "eth0", type=1, operstate="down")
    login = board.with_login()
    board.profile("test-board", logical("key", "network"))
    board.device(profile="test-board", policy={"power_key": "sleep", "debounce": "100ms"})
    board.app("camera")
    board.start(prepare=with_network_of_its_own)
    board.wait_active("camera")
    login.wait_held("handle-power-key")

    def is_asleep():
        return board.device_state()["sleepState"] == "asleep"

    def link_event(state):
        inside = ["nsenter", f"--net=/proc/{board.loop()}/ns/net", "ip", "link", "set", "lo", state]
        subprocess.run(inside, check=True)

    played.press_power(key)
    board.wait_sleep("asleep")
    assert phase_calls(board, "camera")[-2:] == TO_BACKGROUND
    assert board.is_frozen("camera")
    played.set(charger, online=1)
    wait_until(lambda: board.device_state()["externalPower"] is True, "the charger is heard")
    holds_for(0.3, is_asleep, "power is no wake source here")
    played.press_power(key)
    board.wait_sleep("awake")
    board.wait_active("camera")
    assert phase_calls(board, "camera")[-2:] == TO_FRONT
    # It hears of what was meanwhile.
    assert board.wait_call("camera", "PowerStateDidChange")["parameters"]["externalPower"] is True
    # A key just after a wake would be the one that woke the board. Of links, the kernel says that some have changed,
    # sysfs says which are up.
    board.call("PrepareForSleep", start=True, kind=None)
    link_event("up")
    holds_for(0.3, is_asleep, "no link but the loopback is up")
    played.set(link, announce=False, operstate="up")
    link_event("down")
    board.wait_sleep("awake")
    board.wait_active("camera")
    assert not login.events("suspend")


def test_a_closed_lid_that_sends_a_board_to_logical_sleep(board, played):
    lid = played.add_input(1, switches=LID, lid_closed=False)
    login = board.with_login()
    board.profile("test-board", logical("key", "lid", "external-power") + '[policy]\nlid-closed = "sleep"\n')
    board.device(profile="test-board", policy={"debounce": "100ms"})
    board.app("camera")
    board.start()
    board.wait_active("camera")
    login.wait_held("handle-lid-switch")
    for _ in range(3):
        played.move_lid(lid, True)
        board.wait_sleep("asleep")
        board.wait_app("camera", taskState="suspended")
        played.move_lid(lid, False)
        board.wait_sleep("awake")
        board.wait_active("camera")
    assert not login.events("suspend")
