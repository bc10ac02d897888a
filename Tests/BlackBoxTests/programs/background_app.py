"""An app with a background task: it begins one before it goes to background.

background_app.py BEHAVIOUR...

    end        ends its task in the expiration handler
    hold       never ends it
    none       begins none
    hang       never returns from DidEnterBackground
    crash      aborts in DidEnterBackground
    slow       ends a while after SIGTERM and WillTerminate
"""

import json
import os
import signal
import socket
import sys
import time

behaviours = set(sys.argv[1:])


def call(method, **parameters):
    with socket.socket(socket.AF_UNIX) as device:
        device.connect(os.environ["CURFEW_SOCKET"])
        message = {"method": f"io.curfew.Application.{method}", "parameters": parameters}
        device.sendall(json.dumps(message).encode() + b"\0")
        answer = b""
        while not answer.endswith(b"\0"):
            answer += device.recv(65536)
    return json.loads(answer[:-1])["parameters"]


def handle(handler, parameters):
    if handler == "WillResignActive" and behaviours & {"end", "hold"}:
        call("BeginBackgroundTask", name="upload")
    elif handler == "DidEnterBackground" and "hang" in behaviours:
        signal.pause()
    elif handler == "DidEnterBackground" and "crash" in behaviours:
        os.abort()
    elif handler == "BackgroundTaskWillExpire" and "end" in behaviours:
        call("EndBackgroundTask", identifier=parameters["identifier"])
    elif handler == "WillTerminate" and "slow" in behaviours:
        time.sleep(30)  # not a wait: slow on purpose


def main():
    print("in", os.getcwd(), "with", os.environ.get("TRIAL"), flush=True)
    delegate = socket.socket(fileno=int(os.environ["CURFEW_DELEGATE_FD"]))
    pending = b""
    while chunk := delegate.recv(65536):
        pending += chunk
        while b"\0" in pending:
            message, _, pending = pending.partition(b"\0")
            call = json.loads(message)
            handle(call["method"].rpartition(".")[2], call.get("parameters", {}))
            if not call.get("oneway"):
                delegate.sendall(b'{"parameters":{}}\0')


main()
