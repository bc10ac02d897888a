"""What people do with the board, as logind tells: locked, idle, lid and power key; and a sleep that is only logical.

The board is played, so that this machine's own lid and supplies are not heard.
"""

import subprocess
import time

import hardware
import pytest
from confinement import with_network_of_its_own
from hardware import LID, POWER_KEY
from waiting import holds_for, wait_until

pytestmark = pytest.mark.skipif(hardware.missing() is not None, reason=hardware.missing() or "")
LOGICAL = '[sleep]\nlogical = true\nwake-sources = ["key", "lid", "external-power"]\n'


@pytest.fixture
def played(board):
    return board.with_hardware()


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


def test_a_locked_session(board, played):
    login = board.with_login()
    login.open_session()
    start(board, "camera")
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
    assert phase_calls(board, "camera").count("DidEnterBackground") == 0


def test_only_sessions_with_a_screen_lock_it(board, played):
    login = board.with_login()
    login.open_session("1")
    login.open_session("2", seat="")
    login.open_session("c1", kind="greeter")
    start(board, "camera")
    login.lock("2")
    login.lock("c1")
    holds_for(0.5, lambda: board.describe("camera")["scenePhase"] == "active", "the screen is not locked")
    login.lock("1")
    board.wait_app("camera", scenePhase="inactive")
    login.close_session("1")
    board.wait_active("camera")


def test_a_session_that_locks_and_unlocks_in_a_loop(board, played):
    login = board.with_login()
    login.open_session()
    board.app("camera")
    board.device(policy={"debounce": "500ms"})
    board.start()
    board.wait_active("camera")
    begun = time.monotonic()
    for _ in range(100):
        login.lock()
        login.unlock()
    login.lock()
    wait_until(lambda: board.device_state()["limit"], "the last word is in force")
    holds_for(1, lambda: board.describe("camera")["scenePhase"] == "inactive" or
              board.describe("camera")["scenePhase"] == "active", "no other phase")
    board.wait_app("camera", scenePhase="inactive")
    times = [note["t"] for note in board.notes("camera", "call")
             if note["handler"] in ("WillResignActive", "DidBecomeActive")]
    # The first is its launch. An app may hear one late and the next in time, but none sooner than so many take.
    for number, heard in enumerate(times[1:]):
        assert heard - begun >= 0.5 * number, (begun, times)


def test_idle_counts_where_it_is_asked_for_and_a_user_is_there(board, played):
    login = board.with_login()
    start(board, "camera", idle="background")
    login.set_idle(True)
    holds_for(0.5, lambda: board.describe("camera")["scenePhase"] == "active", "no user is there who could be idle")
    login.open_session()
    board.wait_app("camera", taskState="suspended")
    login.set_idle(False)
    board.wait_active("camera")
    assert phase_calls(board, "camera")[-4:] == [
        "WillResignActive", "DidEnterBackground", "WillEnterForeground", "DidBecomeActive"]


def test_idle_is_nothing_by_default(board, played):
    login = board.with_login()
    login.open_session()
    start(board, "camera")
    login.set_idle(True)
    holds_for(0.5, lambda: board.describe("camera")["scenePhase"] == "active", "idle asks nothing")


def test_the_lid_by_logind_where_the_board_has_no_switch(board, played):
    login = board.with_login(board={"LidClosed": False})
    start(board, "camera")
    login.set_board("LidClosed", True, announce=True)
    board.wait_app("camera", taskState="suspended")
    login.set_board("LidClosed", False, announce=True)
    board.wait_active("camera")


def test_the_lid_by_a_logind_that_does_not_announce_it(board, played):
    """Before systemd 256: it is read when something else is heard."""
    login = board.with_login(board={"LidClosed": False})
    charger = played.add("power_supply", "AC", type="Mains", online=1)
    start(board, "camera")
    login.set_board("LidClosed", True)
    played.announce(charger)
    board.wait_app("camera", taskState="suspended")
    login.set_board("LidClosed", False)
    played.announce(charger)
    board.wait_active("camera")


def test_the_boards_own_lid_counts_for_more_than_loginds(board, played):
    node = played.add_input(0, switches=LID, lid_closed=False)
    login = board.with_login(board={"LidClosed": False})
    start(board, "camera")
    login.set_board("LidClosed", True, announce=True)
    holds_for(0.5, lambda: board.describe("camera")["scenePhase"] == "active", "the switch says open")
    played.move_lid(node, True)
    board.wait_app("camera", taskState="suspended")


def test_external_power_by_logind_where_there_are_no_supplies(board, played):
    login = board.with_login(board={"OnExternalPower": False})
    start(board, "camera")
    wait_until(lambda: board.device_state()["externalPower"] is False, "logind says so")
    login.set_board("OnExternalPower", True)
    # Another device's supply: what there is to be heard when a plug is moved.
    played.add("power_supply", "mouse", type="Battery", scope="Device", capacity=3, status="Discharging")
    wait_until(lambda: board.device_state()["externalPower"] is True, board.device_state)
    assert board.device_state()["batteryLevel"] is None
    assert board.wait_call("camera", "PowerStateDidChange", 2)["parameters"]["externalPower"] is True


def test_the_power_key_puts_the_board_to_sleep_by_logind(board, played):
    node = played.add_input(0, keys=POWER_KEY)
    login = board.with_login()
    start(board, "camera", power_key="sleep")
    login.wait_held("handle-power-key")
    played.press_power(node)
    wait_until(lambda: login.events("suspend"), "logind is asked to suspend")
    login.sleep(True)
    login.wait_closed("sleep")
    login.sleep(False)
    board.wait_active("camera")
    assert len(login.events("suspend")) == 1


def test_the_power_key_is_loginds_by_default(board, played):
    node = played.add_input(0, keys=POWER_KEY)
    login = board.with_login()
    start(board, "camera")
    played.press_power(node)
    holds_for(0.5, lambda: board.device_state()["sleepState"] == "awake", "it was not asked for")
    assert not login.events("suspend") and not login.events("inhibit", what="handle-power-key")


def test_a_key_lock_follows_the_configuration(board, played):
    login = board.with_login()
    start(board, "camera", power_key="sleep")
    login.wait_held("handle-power-key")
    board.device(policy={"power_key": "nothing"})
    board.call("Reload")
    login.wait_closed("handle-power-key")
    board.device(policy={"power_key": "sleep"})
    board.call("Reload")
    login.wait_held("handle-power-key", 2)


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


@pytest.mark.parametrize("waker", ["key", "lid", "external-power"])
def test_a_logical_sleep_and_what_ends_it(board, played, waker):
    key = played.add_input(0, keys=POWER_KEY)
    lid = played.add_input(1, switches=LID, lid_closed=False)
    charger = played.add("power_supply", "AC", type="Mains", online=0)
    login = board.with_login()
    board.profile("test-board", LOGICAL)
    board.device(profile="test-board", policy={"power_key": "sleep", "debounce": "100ms"})
    board.app("camera")
    board.start()
    board.wait_active("camera")
    login.wait_held("handle-power-key")
    if waker == "lid":
        played.move_lid(lid, True)
        board.wait_app("camera", taskState="suspended")
    played.press_power(key)
    board.wait_sleep("asleep")
    assert phase_calls(board, "camera")[-2:] == ["WillResignActive", "DidEnterBackground"]
    assert board.is_frozen("camera")
    if waker == "key":
        played.press_power(key)
    elif waker == "lid":
        played.move_lid(lid, False)
    else:
        played.set(charger, online=1)
    board.wait_sleep("awake")
    board.wait_active("camera")
    assert phase_calls(board, "camera")[-2:] == ["WillEnterForeground", "DidBecomeActive"]
    assert not login.events("suspend")


def test_a_network_that_comes_up_ends_a_logical_sleep(board, played):
    """The kernel says that some link has changed, sysfs says which is up."""
    key = played.add_input(0, keys=POWER_KEY)
    link = played.add("net", "eth0", type=1, operstate="down")
    board.profile("test-board", LOGICAL.replace('"lid"', '"network"'))
    board.device(profile="test-board", policy={"power_key": "sleep"})
    board.app("camera")
    board.start(prepare=with_network_of_its_own)
    board.wait_active("camera")
    played.press_power(key)
    board.wait_sleep("asleep")

    def link_event(state):
        inside = ["nsenter", f"--net=/proc/{board.daemon.pid}/ns/net", "ip", "link", "set", "lo", state]
        subprocess.run(inside, check=True)

    link_event("up")
    holds_for(0.3, lambda: board.device_state()["sleepState"] == "asleep", "no link but the loopback is up")
    played.set(link, announce=False, operstate="up")
    link_event("down")
    board.wait_sleep("awake")
    board.wait_active("camera")


def test_what_is_no_wake_source_does_not_end_a_logical_sleep(board, played):
    key = played.add_input(0, keys=POWER_KEY)
    charger = played.add("power_supply", "AC", type="Mains", online=0)
    board.profile("test-board", LOGICAL.replace(', "external-power"', ""))
    board.device(profile="test-board", policy={"power_key": "sleep", "debounce": "100ms"})
    board.app("camera")
    board.start()
    board.wait_active("camera")
    played.press_power(key)
    board.wait_sleep("asleep")
    played.set(charger, online=1)
    holds_for(0.7, lambda: board.device_state()["sleepState"] == "asleep", "power is no wake source here")
    played.press_power(key)
    board.wait_sleep("awake")
    board.wait_active("camera")
    # It hears of what was meanwhile.
    assert board.wait_call("camera", "PowerStateDidChange")["parameters"]["externalPower"] is True


def test_a_closed_lid_that_sends_a_board_to_logical_sleep(board, played):
    lid = played.add_input(1, switches=LID, lid_closed=False)
    login = board.with_login()
    board.profile("test-board", LOGICAL + '[policy]\nlid-closed = "sleep"\n')
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
