"""An app that writes down its walk through the lifecycle, with a background task on the way.

    walk.py TRACE_FILE [overrun] [keep-awake]

Each delegate call is a line of TRACE_FILE: the method, and its main argument where there is one. In background it holds
the task "upload"; with `overrun` past its expiration, with `keep-awake` as one that keeps the board awake. That writes
"began upload REMAINING" (whole seconds, or inf), "ended upload", or "denied REASON". The same program exists in C and
Swift.
"""

import math
import os
import sys

import curfew

trace = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
overruns = "overrun" in sys.argv[2:]
keeps_awake = "keep-awake" in sys.argv[2:]

app = curfew.App()
held = None


def write(*words):
    os.write(trace, " ".join(words).encode() + b"\n")


def begin():
    global held
    if held:
        return
    try:
        held = app.begin_background_task("upload", keep_awake=True if keeps_awake else None)
    except curfew.BackgroundTimeDenied as error:
        write("denied", error.reason)
        return
    remaining = app.background_time_remaining()
    write("began upload", "inf" if remaining == math.inf else str(round(remaining)))


def end():
    global held
    if held:
        held.end()
        held = None
        write("ended upload")


@app.did_finish_launching
def did_finish_launching(reason):
    write("DidFinishLaunching", reason)


@app.did_become_active
def did_become_active():
    write("DidBecomeActive")


@app.will_resign_active
def will_resign_active():
    write("WillResignActive")


@app.did_enter_background
def did_enter_background():
    write("DidEnterBackground")
    begin()


@app.will_enter_foreground
def will_enter_foreground():
    write("WillEnterForeground")
    end()


@app.will_terminate
def will_terminate(reason):
    write("WillTerminate", reason)


@app.background_task_will_expire
def background_task_will_expire(task):
    write("BackgroundTaskWillExpire", task.name)
    if not overruns:
        end()


@app.perform_fetch
def perform_fetch():
    write("PerformFetch")


@app.did_receive_remote_notification
def did_receive_remote_notification():
    write("DidReceiveRemoteNotification")


@app.handle_events_for_background_session
def handle_events_for_background_session(session):
    write("HandleEventsForBackgroundSession", session)


@app.did_receive_memory_warning
def did_receive_memory_warning(level):
    write("DidReceiveMemoryWarning", level)


@app.power_state_did_change
def power_state_did_change(external_power, battery_level, low_power_mode):
    write(
        "PowerStateDidChange", "external" if external_power else "battery",
        "-" if battery_level is None else str(round(battery_level * 100)), "low" if low_power_mode else "normal")


@app.thermal_state_did_change
def thermal_state_did_change(state):
    write("ThermalStateDidChange", state)


app.run()
