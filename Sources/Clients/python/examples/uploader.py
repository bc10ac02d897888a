import threading, time
import curfew

app = curfew.App()
chunks = list(range(1, 101))

def upload(task):
    with task:                              # ended on every way out
        while chunks and not task.expired:  # expired: time is up, the rest goes next time
            time.sleep(1)                   # in place of a network
            print("uploaded chunk", chunks.pop(0), flush=True)

@app.did_enter_background
def did_enter_background():
    if not app.tasks():                     # unless one is under way
        threading.Thread(target=upload, args=[app.begin_background_task("upload")], daemon=True).start()

app.run()
