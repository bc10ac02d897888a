"""Uploads a hundred chunks while the app is in background, for as long as the device gives it time."""
import collections
import threading
import time

import curfew

app = curfew.App()
chunks = collections.deque(range(1, 101))


def upload(task):
    with task:                                      # ended on every way out
        while chunks and not task.expired:          # expired: time is up, the rest goes next time
            time.sleep(1)                           # in place of a network
            print("uploaded chunk", chunks.popleft(), flush=True)


@app.did_enter_background
def did_enter_background():
    if chunks and not app.tasks():                  # unless it still goes on since the last time
        task = app.begin_background_task("upload")  # the app keeps running when this handler returns
        threading.Thread(target=upload, args=[task], daemon=True).start()


app.run()
