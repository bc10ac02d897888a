"""Curfew for apps in Python: one module, the standard library only, Python 3.9 or newer.

Four steps to a working app
---------------------------
1. Write it. It implements the handlers that it needs; the others count as handled:

       import curfew

       app = curfew.App()

       @app.did_enter_background
       def save(deadline):
           ...                           # at most `deadline` seconds; the app may be gone after this

       app.run()

2. Try it on your desk, with keys for front, background, sleep and wake: `curfew try -- python3 camera.py`.
3. Copy it and curfew.py to the board, and describe it in /etc/curfew/apps/camera.toml:

       exec = ["/usr/bin/python3", "/opt/camera/camera.py"]
       delegate = "varlink"

4. `sudo curfew reload`, and `curfew status camera` shows it.

Handlers
--------
Each is called with as many of its arguments as it has parameters, may be plain or `async def`, and has returned for the
device when it returns. They are called one at a time. One that raises is logged, and the app goes on. A parameter with
a default is filled only if it has the argument's name.

    did_finish_launching(reason, deadline)             did_receive_memory_warning(level)
    did_become_active(deadline)                        power_state_did_change(external_power, battery_level,
    will_resign_active(deadline)                                              low_power_mode)
    did_enter_background(deadline)                     thermal_state_did_change(state)
    will_enter_foreground(deadline)                    perform_fetch(deadline) -> FetchResult
    will_terminate(reason, deadline)                   did_receive_remote_notification(payload, deadline) -> FetchResult
    background_task_will_expire(task, deadline)        handle_events_for_background_session(session, deadline)

Three ways to be called. **If you are not sure, choose `app.run()`.**

    app.run()           serves until the app is to end
    app.start()         serves on a thread of its own, for apps that have a loop already (a GUI, a web server)
    await app.serve()   serves on the running asyncio loop, without threads; async handlers run as tasks

Where a handler is `async def`, run() and start() use an asyncio loop of their own; what such a handler starts with
asyncio.create_task goes on there after it has returned. Plain handlers run where the app is served: under serve() they
hold up the loop.

More time in background
-----------------------
An app in background is frozen, unless it holds a background task. Begin it before did_enter_background returns:

    with app.background_task("upload") as task:        # ended on every way out
        for chunk in chunks:
            if task.expired:                           # time is up: leave
                break
            send(chunk)

    async with app.background_task("upload"):          # cancelled when time is up, then raises curfew.TaskExpired
        await send_all(chunks)

In the second form asyncio.CancelledError is raised inside at the expiration, and comes out as TaskExpired, as
asyncio.timeout does it; a body that catches it and returns is simply over. An app that still holds a task a few seconds
after its expiration is killed. Expirations are heard by the process that serves the handlers.

Calls to the device are one short round trip with a daemon on the same board, typically 100 microseconds, and can be
made from any thread, handler or coroutine. They are never awaited, so that none can be cancelled half way and lose a
task.

How it ends
-----------
After will_terminate the device sends SIGTERM. In the main thread run() then returns, so that what stands after it is
still done (an app that handles SIGTERM itself keeps doing so); with start() and serve() SIGTERM does what it always
does. Ctrl-C makes run() return, too.

Where the connection to the device is lost, it is sought again. Outside Curfew handlers are never called, background
tasks cost nothing and never expire, and state() raises NotAnApp: an app can be developed on a desk.
"""

from __future__ import annotations

import contextlib
import inspect
import json
import logging
import math
import os
import re
import select
import signal
import socket
import struct
import sys
import threading
import time
from types import FrameType, TracebackType
from typing import (
    TYPE_CHECKING, Any, Awaitable, Callable, Coroutine, Dict, Generator, Iterator, List, Literal, NamedTuple, Optional,
    Protocol, Sequence, Tuple, TypeVar, cast)

if TYPE_CHECKING:
    import asyncio

__version__ = "0.1.0"
__all__ = [
    "App", "BackgroundRefreshStatus", "BackgroundTask", "BackgroundTimeDenied", "CallFailed", "CurfewError",
    "DelegateDenied", "Expiration", "FetchResult", "HeldTask", "LaunchReason", "MemoryLevel", "NoSuchBackgroundTask",
    "NotAnApp", "NotReachable", "ReplyLost", "ScenePhase", "State", "TaskExpired", "TaskState", "ThermalState",
    "TooManyBackgroundTasks"]

LaunchReason = Literal[
    "user", "boot", "restart", "backgroundFetch", "remoteNotification", "backgroundSession", "backgroundTask",
    "location", "accessory"]
FetchResult = Literal["newData", "noData", "failed"]
MemoryLevel = Literal["warning", "critical"]
ThermalState = Literal["nominal", "fair", "serious", "critical"]
ScenePhase = Literal["active", "inactive", "background"]
TaskState = Literal["notRunning", "running", "suspended", "terminating"]
BackgroundRefreshStatus = Literal["available", "denied", "restricted"]

_Handler = TypeVar("_Handler", bound=Callable[..., object])
_T = TypeVar("_T")

# Seconds after which curfewd, which answers at once, is taken to hang.
REPLY_TIMEOUT = 10.0
# Seconds between two tries to attach, doubling from the first to the last.
ATTACH_DELAY = (0.05, 2.0)

# Where many connect at once, a place in the queue in front of curfewd is waited for so many seconds.
_QUEUE_TIMEOUT = 2
_MESSAGE_LIMIT = 1 << 20
_CHUNK = 64 << 10
_DEFAULT_SOCKET = "/run/curfew/io.curfew.Application"
_APPLICATION = "io.curfew.Application"
_DELEGATE = "io.curfew.Delegate"
_SERVICE = "org.varlink.service"

_log = logging.getLogger("curfew")

# What this module serves. The order of a method's parameters is the order of its handler's arguments.
_INTERFACE = """\
interface io.curfew.Delegate

type LaunchReason (user, boot, restart, backgroundFetch, remoteNotification, backgroundSession, backgroundTask, \
location, accessory)

type FetchResult (newData, noData, failed)

type MemoryLevel (warning, critical)

type ThermalState (nominal, fair, serious, critical)

method DidFinishLaunching(reason: LaunchReason, deadline: float) -> ()

method DidBecomeActive(deadline: float) -> ()

method WillResignActive(deadline: float) -> ()

method DidEnterBackground(deadline: float) -> ()

method WillEnterForeground(deadline: float) -> ()

method WillTerminate(reason: string, deadline: float) -> ()

method BackgroundTaskWillExpire(identifier: int, name: string, deadline: float) -> ()

method PerformFetch(deadline: float) -> (result: FetchResult)

method DidReceiveRemoteNotification(payload: object, deadline: float) -> (result: FetchResult)

method HandleEventsForBackgroundSession(session: string, deadline: float) -> ()

method DidReceiveMemoryWarning(level: MemoryLevel) -> ()

method PowerStateDidChange(externalPower: bool, batteryLevel: ?float, lowPowerMode: bool) -> ()

method ThermalStateDidChange(state: ThermalState) -> ()

error HandlerFailed ()
"""


class _Method(NamedTuple):
    # Names, and whether null will do.
    parameters: List[Tuple[str, bool]]
    returns_fetch_result: bool


_METHODS = {
    name: _Method(
        [(parameter, optional == "?") for parameter, optional in re.findall(r"(\w+): (\??)", parameters)],
        "FetchResult" in result)
    for name, parameters, result in re.findall(r"method (\w+)\((.*?)\) -> \((.*?)\)", _INTERFACE)}


# What can go wrong.


class CurfewError(Exception):
    """Something between this app and curfewd went wrong; its text says what."""


class NotAnApp(CurfewError):
    """This process belongs to no app that curfewd runs."""

    def __str__(self) -> str:
        return "this process belongs to no app of curfewd's: start it with `curfew launch` or `curfew try -- ...`"


class BackgroundTimeDenied(CurfewError):
    """There is no background time: the budget is spent, the policy forbids it, or the app is being ended."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return f"no background time: {self.reason}"


class TooManyBackgroundTasks(CurfewError):
    """The app holds as many background tasks as it may."""

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self.limit = limit

    def __str__(self) -> str:
        return f"the app holds {self.limit} background tasks, the most there may be: end some"


class NoSuchBackgroundTask(CurfewError):
    """The app holds no background task with this identifier (any more)."""

    def __init__(self, identifier: int) -> None:
        super().__init__(identifier)
        self.identifier = identifier

    def __str__(self) -> str:
        return f"the app holds no background task {self.identifier}"


class DelegateDenied(CurfewError):
    """The app may not serve handlers over Varlink."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return f'curfewd calls no handlers of this app: {self.reason} (its file needs delegate = "varlink")'


class TaskExpired(CurfewError):
    """The time of the background task around an `async with` ran out before its body was done."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return f"the time of background task {self.name} ran out"


class CallFailed(CurfewError):
    """curfewd answered with an error that has no class of its own, such as org.varlink.service.InvalidParameter."""

    def __init__(self, method: str, error: str, parameters: Dict[str, Any]) -> None:
        super().__init__(method, error, parameters)
        self.method = method
        self.error = error
        self.parameters = parameters

    def __str__(self) -> str:
        return f"curfewd answered {self.method} with {self.error} {json.dumps(self.parameters)}"


class NotReachable(CurfewError):
    """curfewd does not answer."""


class ReplyLost(NotReachable):
    """The connection was lost after BeginBackgroundTask was sent and before it was answered. The task may be held."""


# What the device says.


class State(NamedTuple):
    """The app's state. background_time_remaining: seconds, infinite while the app is in front."""

    app: str
    scene_phase: Optional[ScenePhase]
    task_state: TaskState
    background_time_remaining: float
    background_refresh_status: BackgroundRefreshStatus
    low_power_mode: bool
    thermal_state: ThermalState


class HeldTask(NamedTuple):
    """A background task that the app holds, whichever of its processes began it."""

    identifier: int
    name: str
    keep_awake: bool
    seconds_held: float


class _Members(Dict[str, Any]):
    """A JSON object from curfewd."""

    def __missing__(self, name: str) -> Any:
        raise CurfewError(f'curfewd\'s answer has no "{name}": it does not fit curfew.py {__version__}')


def _seconds(value: Optional[float]) -> float:
    return math.inf if value is None else float(value)


# Messages: JSON and a zero byte.


class _ProtocolError(ConnectionError):
    """The other side does not speak Varlink."""


class _Decoder:
    """Cuts a stream into messages."""

    def __init__(self) -> None:
        self._begun = bytearray()

    def feed(self, data: bytes) -> Iterator[_Members]:
        """The messages that are complete with this."""
        rest, *others = data.split(b"\0")
        self._begin(rest)
        for other in others:
            message = bytes(self._begun)
            self._begun.clear()
            yield _parse(message)
            self._begin(other)

    def _begin(self, data: bytes) -> None:
        self._begun += data
        if len(self._begun) > _MESSAGE_LIMIT:
            raise _ProtocolError("a message over 1 MiB")


def _parse(message: bytes) -> _Members:
    try:
        value = json.loads(message.decode())
    except (ValueError, RecursionError) as error:
        raise _ProtocolError(f"a message that is not JSON: {error}") from None
    if not isinstance(value, dict) or not isinstance(value.get("parameters") or {}, dict):
        raise _ProtocolError("a message that is no Varlink message")
    return _Members(value)


def _encode(message: Dict[str, Any]) -> bytes:
    data = json.dumps(message, allow_nan=False, separators=(",", ":")).encode() + b"\0"
    if len(data) > _MESSAGE_LIMIT:
        raise ValueError("longer than a message to curfewd may be (1 MiB)")
    return data


def _connect(path: str) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        # The kernel wakes those that wait; one that does not would have to try again and again.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("@ll", _QUEUE_TIMEOUT, 0))
        try:
            try:
                connection.connect(path)
            except PermissionError:
                # The socket of an app of root's, of which this process has given up the rights.
                folder, parent = os.path.dirname(path), os.path.dirname(os.path.dirname(path))
                if os.path.basename(folder) != "apps":
                    raise
                connection.connect(os.path.join(parent, _APPLICATION))
        except BlockingIOError as error:
            raise TimeoutError(error.errno, "curfewd takes no connection", path) from None
        connection.settimeout(REPLY_TIMEOUT)
        return connection
    except BaseException:
        connection.close()
        raise


def _result(method: str, reply: _Members) -> _Members:
    """The parameters of a reply; raises its error."""
    parameters = _Members(reply.get("parameters") or {})
    error = reply.get("error")
    if error is None:
        return parameters
    if error == f"{_APPLICATION}.NotAnApp":
        raise NotAnApp()
    if error == f"{_APPLICATION}.BackgroundTimeDenied":
        raise BackgroundTimeDenied(parameters["reason"])
    if error == f"{_APPLICATION}.TooManyBackgroundTasks":
        raise TooManyBackgroundTasks(parameters["limit"])
    if error == f"{_APPLICATION}.NoSuchBackgroundTask":
        raise NoSuchBackgroundTask(parameters["identifier"])
    if error == f"{_APPLICATION}.DelegateDenied":
        raise DelegateDenied(parameters["reason"])
    raise CallFailed(method, str(error), parameters)


def _is_for_good(error: Exception) -> bool:
    """Whether the device says of AttachDelegate that it does not call this app, and will not."""
    if isinstance(error, CallFailed):
        names = ("MethodNotFound", "MethodNotImplemented", "InterfaceNotFound")
        return error.error in [f"{_SERVICE}.{name}" for name in names]
    return isinstance(error, DelegateDenied)


class _Client:
    """The connection on which the app calls the device: opened when needed, and anew when it was lost."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._socket: Optional[socket.socket] = None
        self._decoder = _Decoder()
        # Tasks whose end could not be told, because the device was not there.
        self._unended: List[int] = []

    def call(self, method: str, parameters: Dict[str, Any], repeatable: bool = True) -> _Members:
        """Not from two threads at once."""
        message = _encode({"method": f"{_APPLICATION}.{method}", "parameters": parameters})
        for is_last in (False, True):
            try:
                self._open()
            except OSError as error:
                raise NotReachable(f"curfewd cannot be reached at {self._path}: {error}; is it running?") from error
            sent = False
            try:
                self._send(message)
                sent = True
                return _result(method, self._receive())
            except OSError as error:
                self.close()
                # What was not sent whole has not been done.
                if sent and not repeatable:
                    raise ReplyLost(
                        f"the connection to curfewd was lost before it answered {method} ({error}): whether that was "
                        "done is not known; tasks() tells") from error
                if is_last or isinstance(error, socket.timeout):
                    raise NotReachable(f"curfewd did not answer {method}: {error}") from error
            except CurfewError:
                raise
            except BaseException:
                # Left between call and reply, by a signal's handler: the next reply would be taken for another's.
                self.close()
                raise
        raise AssertionError("not reached")

    def end_when_reachable(self, identifier: int) -> None:
        """Has EndBackgroundTask called before anything else, once that is possible."""
        self._unended.append(identifier)

    def catch_up(self) -> None:
        """Tells the ends that could not be told."""
        if self._unended:
            with contextlib.suppress(OSError):
                self._open()

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
        self._socket = None
        self._decoder = _Decoder()

    def _open(self) -> None:
        if self._socket is not None:
            return
        self._socket = _connect(self._path)
        try:
            while self._unended:
                parameters = {"identifier": self._unended[0]}
                self._send(_encode({"method": f"{_APPLICATION}.EndBackgroundTask", "parameters": parameters}))
                # It may have ended by other means; the answer does not matter.
                self._receive()
                del self._unended[0]
        except BaseException:
            self.close()
            raise

    def _send(self, data: bytes) -> None:
        assert self._socket is not None
        self._socket.sendall(data, socket.MSG_NOSIGNAL)

    def _receive(self) -> _Members:
        assert self._socket is not None
        while True:
            data = self._socket.recv(_CHUNK)
            if not data:
                raise ConnectionResetError("it closed the connection")
            messages = list(self._decoder.feed(data))
            if len(messages) > 1:
                raise _ProtocolError("a reply to no call")
            if messages:
                return messages[0]


# Background tasks.


class Expiration:
    """Whether a task's time has run out: true or false, `wait` for it in a thread, `await` it in a coroutine."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._callbacks: List[Callable[[], None]] = []

    def is_set(self) -> bool:
        """Whether the time has run out."""
        return self._event.is_set()

    __bool__ = is_set

    def wait(self, timeout: Optional[float] = None) -> bool:
        """Waits for it, so many seconds at most; whether it has run out."""
        return self._event.wait(timeout)

    def __await__(self) -> Generator[Any, None, None]:
        return self._wait().__await__()

    async def _wait(self) -> None:
        import asyncio

        loop = asyncio.get_running_loop()
        expired: asyncio.Future[None] = loop.create_future()

        def resolve() -> None:
            if not expired.done():
                expired.set_result(None)

        self._notify(loop, resolve)
        await expired

    def _notify(self, loop: asyncio.AbstractEventLoop, callback: Callable[[], None]) -> None:
        """Calls back on that loop, now or at the expiration."""
        def schedule() -> None:
            # On a loop that is closed no task waits.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(callback)

        with self._lock:
            if not self.is_set():
                self._callbacks.append(schedule)
                return
        schedule()

    def _set(self) -> None:
        with self._lock:
            self._event.set()
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()


class BackgroundTask:
    """Time to finish something in background: `with` or `async with` it, or call end() when all is done.

    App.background_task makes one that is begun by the `with`, App.begin_background_task one that is held already.
    """

    def __init__(
        self, app: App, name: str, keep_awake: Optional[bool] = None, process: Optional[int] = None,
        time_allowed: Optional[float] = None, on_expiration: Optional[Callable[..., object]] = None
    ) -> None:
        self.name = name
        # Greater than 0 once it is begun; 0 outside Curfew.
        self.identifier = 0
        # Set when its expiration handler is called.
        self.expired = Expiration()
        self._app = app
        self._keep_awake = keep_awake
        self._process = process
        self._time_allowed = None if time_allowed is None or time_allowed == math.inf else float(time_allowed)
        self._on_expiration = _Adapted.optional(on_expiration, "on_expiration", ("task", "deadline"))
        self._state: Literal["new", "held", "ended"] = "new"
        self._body: Optional[asyncio.Task[Any]] = None
        self._cancelled_body = False
        self._cancellations_before = 0

    def __repr__(self) -> str:
        return f"<curfew.BackgroundTask {self.identifier} {self.name!r} {self._state}>"

    @property
    def time_remaining(self) -> float:
        """Seconds until it ends or the app is killed for it; infinite while the app is in front; 0 when not held."""
        return self._app._time_remaining(self)

    def end(self) -> None:
        """Ends it. Harmless when it has ended; where curfewd is away just now, it is told later."""
        self._app._end(self)

    def __enter__(self) -> BackgroundTask:
        self._app._begin(self)
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.end()

    async def __aenter__(self) -> BackgroundTask:
        import asyncio

        self._app._begin(self)
        self._body = asyncio.current_task()
        if sys.version_info >= (3, 11) and self._body is not None:
            self._cancellations_before = self._body.cancelling()
        self.expired._notify(asyncio.get_running_loop(), self._cancel_body)
        return self

    def _cancel_body(self) -> None:
        if self._body is not None:
            self._cancelled_body = True
            self._body.cancel()

    async def __aexit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        import asyncio

        body, self._body = self._body, None
        self.end()
        if not self._cancelled_body or body is None:
            return
        others = 0
        if sys.version_info >= (3, 11):
            # Cancellations are counted: another caller's besides ours stays one.
            others = body.uncancel()
        if isinstance(error, asyncio.CancelledError) and others <= self._cancellations_before:
            raise TaskExpired(self.name) from error


# Handlers.


class _Adapted:
    """A handler, called with as many of the arguments as it takes."""

    def __init__(self, function: Callable[..., object], name: str, arguments: Sequence[str]) -> None:
        self._function = function
        self._count = len(arguments)
        self.is_async = inspect.iscoroutinefunction(function)
        try:
            parameters = inspect.signature(function).parameters.values()
        except ValueError:
            return
        required = [item for item in parameters if item.default is item.empty and item.kind not in (
            item.VAR_POSITIONAL, item.VAR_KEYWORD)]
        if len(required) > len(arguments) or any(item.kind is item.KEYWORD_ONLY for item in required):
            raise TypeError(f"{name} is called with ({', '.join(arguments)}); {function!r} asks for something else")
        if any(item.kind is item.VAR_POSITIONAL for item in parameters):
            return
        positional = [item for item in parameters if item.kind in (item.POSITIONAL_ONLY, item.POSITIONAL_OR_KEYWORD)]
        self._count = 0
        for item, argument in zip(positional, arguments):
            if item.default is not item.empty and item.name != argument:
                break
            self._count += 1

    @classmethod
    def optional(
        cls, function: Optional[Callable[..., object]], name: str, arguments: Sequence[str]
    ) -> Optional[_Adapted]:
        return None if function is None else cls(function, name, arguments)

    def __call__(self, *arguments: object) -> object:
        return self._function(*arguments[:self._count])


class _Refusal(Exception):
    """A call that is answered with a standard error."""

    def __init__(self, error: str, **parameters: str) -> None:
        super().__init__(error)
        self.reply = {"error": f"{_SERVICE}.{error}", "parameters": parameters}


# Input and output of the serving side, which is written once, as coroutines.


class _InputOutput(Protocol):
    def prepare(self, connection: socket.socket) -> None: ...
    async def receive(self, connection: socket.socket) -> bytes: ...
    async def send(self, connection: socket.socket, data: bytes) -> None: ...
    async def pause(self, seconds: Optional[float]) -> None: ...
    async def call(self, handler: _Adapted, *arguments: object) -> object: ...


class _Stopped(Exception):
    """stop() was called."""


class _Blocking:
    """Blocks the thread, so its coroutines never suspend. Any thread, and a signal's handler, may call stop."""

    def __init__(self) -> None:
        self._is_stopped = False
        self._woken, self._waker = socket.socketpair()
        self._woken.setblocking(False)
        self._waker.setblocking(False)
        self._is_woken_by_signals = False
        if threading.current_thread() is threading.main_thread():
            # A signal just before poll, which it would not interrupt, must not wait for the end of it.
            other = signal.set_wakeup_fd(self._waker.fileno(), warn_on_full_buffer=False)
            self._is_woken_by_signals = other == -1
            if other != -1:
                signal.set_wakeup_fd(other)

    def stop(self) -> None:
        self._is_stopped = True
        with contextlib.suppress(OSError):
            self._waker.send(b"\0", socket.MSG_NOSIGNAL)

    def close(self) -> None:
        if self._is_woken_by_signals:
            signal.set_wakeup_fd(-1)
        self._woken.close()
        self._waker.close()

    def prepare(self, connection: socket.socket) -> None:
        connection.settimeout(None)

    async def receive(self, connection: socket.socket) -> bytes:
        self._wait(None, connection)
        return connection.recv(_CHUNK)

    async def send(self, connection: socket.socket, data: bytes) -> None:
        connection.sendall(data, socket.MSG_NOSIGNAL)

    async def pause(self, seconds: Optional[float]) -> None:
        self._wait(seconds)

    async def call(self, handler: _Adapted, *arguments: object) -> object:
        result = handler(*arguments)
        if inspect.isawaitable(result):
            import asyncio

            try:
                return asyncio.run(_completion(result))
            except asyncio.CancelledError:
                raise RuntimeError("the handler was cancelled") from None
        return result

    def _wait(self, seconds: Optional[float], *connections: socket.socket) -> None:
        """Returns when a connection has something to read, or the time is over."""
        end = None if seconds is None else time.monotonic() + seconds
        poll = select.poll()
        for item in (self._woken, *connections):
            poll.register(item, select.POLLIN)
        while True:
            left = None if end is None else max(0.0, end - time.monotonic()) * 1000
            ready = [descriptor for descriptor, _ in poll.poll(left)]
            if self._woken.fileno() in ready:
                # By stop, or by a signal, whose handler has run by now.
                self._woken.recv(_CHUNK)
            if self._is_stopped:
                raise _Stopped
            if ready != [self._woken.fileno()]:
                return


class _Asynchronous:
    """Runs on an asyncio loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def prepare(self, connection: socket.socket) -> None:
        connection.setblocking(False)

    async def receive(self, connection: socket.socket) -> bytes:
        return await self._loop.sock_recv(connection, _CHUNK)

    async def send(self, connection: socket.socket, data: bytes) -> None:
        await self._loop.sock_sendall(connection, data)

    async def pause(self, seconds: Optional[float]) -> None:
        import asyncio

        if seconds is None:
            await self._loop.create_future()
        else:
            await asyncio.sleep(seconds)

    async def call(self, handler: _Adapted, *arguments: object) -> object:
        import asyncio

        result = handler(*arguments)
        if not inspect.isawaitable(result):
            return result
        # As a task, so that a handler that is cancelled is told from serving that is.
        task = self._loop.create_task(_completion(result))
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.wait({task})
            raise
        if task.cancelled():
            raise RuntimeError("the handler was cancelled")
        return task.result()


async def _completion(awaitable: Awaitable[object]) -> object:
    return await awaitable


def _complete(coroutine: Coroutine[Any, Any, _T]) -> _T:
    """Runs one that never suspends."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return cast(_T, end.value)
    raise AssertionError("it suspended")


# The app.


class App:
    """This process as an app of curfewd's: its handlers, and what it asks of the device. One for each process."""

    def __init__(self) -> None:
        # None outside Curfew.
        self.name: Optional[str] = os.environ.get("CURFEW_APP") or None
        self.launch_reason: Optional[str] = os.environ.get("CURFEW_LAUNCH_REASON")
        self._path = os.environ.get("CURFEW_SOCKET") or _DEFAULT_SOCKET
        self._inherited = _inherited_connection()
        self._handlers: Dict[str, _Adapted] = {}
        self._client = _Client(self._path)
        self._tasks: Dict[int, BackgroundTask] = {}
        # Of the two above. No handler is called under it.
        self._lock = threading.Lock()
        self._serving = threading.Lock()
        self._stop: Optional[Callable[[], None]] = None
        self._is_stopped = False
        self._was_terminated = False
        self._stops_at_sigterm = False
        self._said_outside = False
        os.register_at_fork(after_in_child=self._did_fork)

    def _did_fork(self) -> None:
        # The parent may have been in the middle of a call.
        self._client.close()
        self._lock = threading.Lock()
        self._serving = threading.Lock()
        self._stop = None

    # Handlers: decorators that leave the function as it is. Of two for one handler the later counts.

    def did_finish_launching(self, handler: _Handler) -> _Handler:
        """(reason, deadline): the app was started; reason: LaunchReason. 20 s."""
        return self._register("DidFinishLaunching", handler)

    def did_become_active(self, handler: _Handler) -> _Handler:
        """(deadline): the app is in front; at launch and at every return. 10 s."""
        return self._register("DidBecomeActive", handler)

    def will_resign_active(self, handler: _Handler) -> _Handler:
        """(deadline): the app is about to leave the front. 10 s."""
        return self._register("WillResignActive", handler)

    def did_enter_background(self, handler: _Handler) -> _Handler:
        """(deadline): the app is in background: save; it may be frozen or gone after this. 5 s."""
        return self._register("DidEnterBackground", handler)

    def will_enter_foreground(self, handler: _Handler) -> _Handler:
        """(deadline): the app is about to come to the front again. 10 s."""
        return self._register("WillEnterForeground", handler)

    def will_terminate(self, handler: _Handler) -> _Handler:
        """(reason, deadline): the app is about to be ended; reason: "user", "shutdown", ... 5 s."""
        return self._register("WillTerminate", handler)

    def background_task_will_expire(self, handler: _Handler) -> _Handler:
        """(task, deadline): a background task's time runs out: end it within that many seconds.

        For every task of the app, after the task's own on_expiration.
        """
        return self._register("BackgroundTaskWillExpire", handler, ("task", "deadline"))

    def perform_fetch(self, handler: _Handler) -> _Handler:
        """(deadline) -> FetchResult: look for new data. None counts as "noData". 30 s."""
        return self._register("PerformFetch", handler)

    def did_receive_remote_notification(self, handler: _Handler) -> _Handler:
        """(payload, deadline) -> FetchResult: a notification came; payload: a dict. None counts as "noData". 30 s."""
        return self._register("DidReceiveRemoteNotification", handler)

    def handle_events_for_background_session(self, handler: _Handler) -> _Handler:
        """(session, deadline): all transfers of a background session are done. 30 s."""
        return self._register("HandleEventsForBackgroundSession", handler)

    def did_receive_memory_warning(self, handler: _Handler) -> _Handler:
        """(level): memory is short; level: MemoryLevel. The device does not wait."""
        return self._register("DidReceiveMemoryWarning", handler)

    def power_state_did_change(self, handler: _Handler) -> _Handler:
        """(external_power, battery_level, low_power_mode): what changed with the board's power; the device
        does not wait.

        external_power: True also where the board does not say; battery_level: 0 to 1 in steps of 5 %, None without a
        battery; low_power_mode: save energy.
        """
        return self._register("PowerStateDidChange", handler)

    def thermal_state_did_change(self, handler: _Handler) -> _Handler:
        """(state): ThermalState; from "serious" on do less, as "critical" may end the app. The device does not wait."""
        return self._register("ThermalStateDidChange", handler)

    def _register(self, method: str, handler: _Handler, arguments: Optional[Sequence[str]] = None) -> _Handler:
        names = arguments or [_snake_case(name) for name, _ in _METHODS[method].parameters]
        self._handlers[method] = _Adapted(handler, _snake_case(method), names)
        return handler

    # What the app asks of the device.

    def state(self) -> State:
        """The app's own state. Raises NotAnApp outside Curfew."""
        state = _Members(self._ask("GetState")["state"])
        return State(
            state["app"], state.get("scenePhase"), state["taskState"], _seconds(state.get("backgroundTimeRemaining")),
            state["backgroundRefreshStatus"], state["lowPowerMode"], state["thermalState"])

    def tasks(self) -> List[HeldTask]:
        """The background tasks that the app holds. None outside Curfew."""
        if self.name is None:
            return []
        tasks = map(_Members, self._ask("GetState")["tasks"])
        return [HeldTask(task["identifier"], task["name"], task["keepAwake"], task["secondsHeld"]) for task in tasks]

    def background_time_remaining(self) -> float:
        """Seconds that the app may run in background; infinite in front and outside Curfew."""
        return math.inf if self.name is None else _seconds(self._ask("GetBackgroundTimeRemaining").get("seconds"))

    def set_minimum_background_fetch_interval(self, seconds: Optional[float]) -> Optional[float]:
        """Asks for perform_fetch every so many seconds, None for never. What the device makes of it."""
        if self.name is None:
            return None
        effective = self._ask("SetMinimumBackgroundFetchInterval", seconds=seconds).get("effective")
        return None if effective is None else float(effective)

    def background_task(
        self, name: str, keep_awake: Optional[bool] = None, process: Optional[int] = None,
        time_allowed: Optional[float] = None, on_expiration: Optional[Callable[..., object]] = None
    ) -> BackgroundTask:
        """A background task for `with` or `async with`, which begin it; they raise as begin_background_task does.

        keep_awake: None for what the app's file says; True needs task-policy = "keep-awake" there.
        process: the task also ends when this process of the app does.
        time_allowed: seconds for this task alone; after its expiration it ends by itself.
        on_expiration(task, deadline): called when its time runs out.
        """
        return BackgroundTask(self, name, keep_awake, process, time_allowed, on_expiration)

    def begin_background_task(
        self, name: str, keep_awake: Optional[bool] = None, process: Optional[int] = None,
        time_allowed: Optional[float] = None, on_expiration: Optional[Callable[..., object]] = None
    ) -> BackgroundTask:
        """Begins a background task at once; it must be ended, by its end() or a `with`. See background_task.

        Raises BackgroundTimeDenied, TooManyBackgroundTasks, NotAnApp, NotReachable, or ReplyLost.
        """
        task = BackgroundTask(self, name, keep_awake, process, time_allowed, on_expiration)
        self._begin(task)
        return task

    def end_background_task(self, identifier: int) -> None:
        """Ends any task of the app's. Raises NoSuchBackgroundTask."""
        with self._lock:
            self._tasks.pop(identifier, None)
        if self.name is not None:
            self._ask("EndBackgroundTask", identifier=identifier)

    def _ask(self, method: str, **parameters: object) -> _Members:
        if self.name is None:
            raise NotAnApp()
        with self._lock:
            return self._client.call(method, parameters)

    def _begin(self, task: BackgroundTask) -> None:
        if task._state == "held":
            return
        if task._state != "new":
            raise RuntimeError(f"{task!r} cannot be begun again: make a new one")
        if self.name is None:
            self._say_outside()
        else:
            parameters = {
                "name": task.name, "keepAwake": task._keep_awake, "processIdentifier": task._process,
                "timeAllowed": task._time_allowed}
            with self._lock:
                reply = self._client.call("BeginBackgroundTask", parameters, repeatable=False)
                task.identifier = reply["identifier"]
                self._tasks[task.identifier] = task
        task._state = "held"

    def _end(self, task: BackgroundTask) -> None:
        with self._lock:
            if task._state != "held":
                return
            task._state = "ended"
            # A daemon without a memory may have given the number to another task.
            if task.identifier == 0 or self._tasks.get(task.identifier, task) is not task:
                return
            self._tasks.pop(task.identifier, None)
            try:
                self._client.call("EndBackgroundTask", {"identifier": task.identifier})
            except NoSuchBackgroundTask:
                _log.debug("background task %s had ended", task.name)
            except NotReachable as error:
                _log.warning("the end of background task %s will be told later: %s", task.name, error)
                self._client.end_when_reachable(task.identifier)

    def _time_remaining(self, task: BackgroundTask) -> float:
        if task._state != "held":
            return 0.0
        if task._time_allowed is None or self.name is None:
            return self.background_time_remaining()
        answer = self._ask("GetState")
        held = [item["secondsHeld"] for item in answer["tasks"] if item["identifier"] == task.identifier]
        own = max(0.0, task._time_allowed - held[0]) if held else 0.0
        return min(own, _seconds(answer["state"].get("backgroundTimeRemaining")))

    # Serving.

    def run(self) -> None:
        """Serves the app's handlers until the app is to end, it is stopped, or Ctrl-C is pressed."""
        self._claim()
        with self._stopped_by_sigterm(), contextlib.suppress(KeyboardInterrupt):
            self._serve_here()

    def start(self) -> None:
        """Serves the app's handlers on a thread of its own, and returns at once."""
        self._claim()
        threading.Thread(target=self._serve_here, name="curfew", daemon=True).start()

    async def serve(self) -> None:
        """Serves the app's handlers on the running asyncio loop, until the app is to end or it is stopped."""
        self._claim()
        try:
            await self._serve_on_loop()
        finally:
            self._release()

    def stop(self) -> None:
        """Has run(), serve() or the thread of start() come to their end, after the handler that is running.

        Under serve() an async handler that is running is cancelled. May be called from any thread.
        """
        self._is_stopped = True
        stop = self._stop
        if stop is not None:
            stop()

    def _claim(self) -> None:
        if not self._serving.acquire(blocking=False):
            raise RuntimeError("the app's handlers are served already: call one of run, start and serve, once")

    def _release(self) -> None:
        self._stop = None
        self._is_stopped = False
        self._serving.release()

    def _when_stopped(self, stop: Callable[[], None]) -> None:
        self._stop = stop
        # It may have come before there was anything to stop.
        if self._is_stopped:
            stop()

    @contextlib.contextmanager
    def _stopped_by_sigterm(self) -> Iterator[None]:
        is_main = threading.current_thread() is threading.main_thread()
        if not is_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
            yield
            return

        def stop(_number: int, _frame: Optional[FrameType]) -> None:
            self.stop()

        signal.signal(signal.SIGTERM, stop)
        self._stops_at_sigterm = True
        try:
            yield
        finally:
            self._stops_at_sigterm = False
            signal.signal(signal.SIGTERM, signal.SIG_DFL)

    def _serve_here(self) -> None:
        try:
            if any(handler.is_async for handler in self._handlers.values()):
                import asyncio

                asyncio.run(self._serve_on_loop())
                return
            io = _Blocking()
            try:
                self._when_stopped(io.stop)
                _complete(self._serve(io))
            except _Stopped:
                pass
            finally:
                self._stop = None
                io.close()
        finally:
            self._release()

    async def _serve_on_loop(self) -> None:
        import asyncio

        loop = asyncio.get_running_loop()
        serving = loop.create_task(self._serve(_Asynchronous(loop)))

        def stop() -> None:
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(serving.cancel)

        self._when_stopped(stop)
        if self._stops_at_sigterm:
            # The loop's own way wakes it for sure.
            loop.add_signal_handler(signal.SIGTERM, self.stop)
        try:
            await asyncio.wait({serving})
        except asyncio.CancelledError:
            serving.cancel()
            await asyncio.wait({serving})
            raise
        if not serving.cancelled():
            serving.result()

    async def _serve(self, io: _InputOutput) -> None:
        """Over one connection after the other, until the app is to end."""
        if self.name is None:
            self._say_outside()
            await io.pause(None)
        connection, self._inherited = self._inherited, None
        delay = ATTACH_DELAY[0]
        while True:
            began = time.monotonic()
            attach = connection is None
            trouble: Optional[Exception] = None
            try:
                connection = connection or _connect(self._path)
                with connection:
                    await self._converse(io, connection, attach)
            except (CurfewError, OSError) as error:
                if _is_for_good(error):
                    _log.error("handlers will not be called: %s", error)
                    await io.pause(None)
                trouble = error
            if self._was_terminated:
                return
            connection = None
            # One that lasts resets the delay; a door that opens and closes does not.
            if time.monotonic() - began > ATTACH_DELAY[1]:
                delay = ATTACH_DELAY[0]
            if delay == ATTACH_DELAY[0]:
                _log.warning("no connection to curfewd, it is sought again: %s", trouble)
            await io.pause(delay)
            delay = min(delay * 2, ATTACH_DELAY[1])

    async def _converse(self, io: _InputOutput, connection: socket.socket, attach: bool) -> None:
        """Answers calls as long as there are any."""
        io.prepare(connection)
        decoder = _Decoder()
        if attach:
            await io.send(connection, _encode({"method": f"{_APPLICATION}.AttachDelegate", "upgrade": True}))
        while True:
            data = await io.receive(connection)
            if not data:
                raise ConnectionResetError("curfewd closed it")
            for message in decoder.feed(data):
                if attach:
                    _result("AttachDelegate", message)
                    attach = False
                    with self._lock:
                        self._client.catch_up()
                    continue
                reply = await self._answer(io, message)
                if not message.get("oneway"):
                    await io.send(connection, _encode(reply))
                if message["method"] == f"{_DELEGATE}.WillTerminate":
                    self._was_terminated = True

    async def _answer(self, io: _InputOutput, call: _Members) -> Dict[str, Any]:
        method = call.get("method")
        if not isinstance(method, str):
            raise _ProtocolError("a message that is no call")
        try:
            return {"parameters": await self._perform(io, method, call.get("parameters") or {})}
        except _Refusal as refusal:
            return refusal.reply
        except (Exception, SystemExit) as error:
            # On a thread of its own sys.exit() would end nothing but the serving.
            if isinstance(error, SystemExit) and threading.current_thread() is threading.main_thread():
                raise
            _log.exception("the handler of %s failed", method)
            return {"error": f"{_DELEGATE}.HandlerFailed", "parameters": {}}

    async def _perform(self, io: _InputOutput, method: str, parameters: Dict[str, Any]) -> Dict[str, Any]:
        interface, _, name = method.rpartition(".")
        if interface == _SERVICE:
            return self._describe(name, parameters)
        if interface != _DELEGATE:
            raise _Refusal("InterfaceNotFound", interface=interface)
        if name not in _METHODS:
            raise _Refusal("MethodNotFound", method=method)
        for parameter, is_optional in _METHODS[name].parameters:
            if parameters.get(parameter) is None and not is_optional:
                raise _Refusal("InvalidParameter", parameter=parameter)
        arguments = [parameters.get(parameter) for parameter, _ in _METHODS[name].parameters]
        if name == "BackgroundTaskWillExpire":
            await self._expire(io, method, *arguments)
            return {}
        if name not in self._handlers:
            raise _Refusal("MethodNotImplemented", method=method)
        result = await io.call(self._handlers[name], *arguments)
        return {"result": _fetch_result(result)} if _METHODS[name].returns_fetch_result else {}

    async def _expire(self, io: _InputOutput, method: str, identifier: Any, name: Any, deadline: Any) -> None:
        handler = self._handlers.get("BackgroundTaskWillExpire")
        # Under the lock that begins are made under: its begin may not have returned yet.
        with self._lock:
            task = self._tasks.get(identifier)
        if task is None:
            if handler is None:
                raise _Refusal("MethodNotImplemented", method=method)
            # Another process of the app has begun it.
            task = BackgroundTask(self, name)
            task.identifier = identifier
            task._state = "held"
        task.expired._set()
        try:
            if task._on_expiration is not None:
                await io.call(task._on_expiration, task, deadline)
        finally:
            if handler is not None:
                await io.call(handler, task, deadline)
            if task._time_allowed is not None:
                with self._lock:
                    self._tasks.pop(identifier, None)

    def _describe(self, name: str, parameters: Dict[str, Any]) -> Dict[str, Any]:
        """The methods of org.varlink.service."""
        if name == "GetInfo":
            return {
                "vendor": "Curfew", "product": f"{self.name}, an app in Python", "version": __version__, "url": "",
                "interfaces": [_SERVICE, _DELEGATE]}
        if name != "GetInterfaceDescription":
            raise _Refusal("MethodNotFound", method=f"{_SERVICE}.{name}")
        if parameters.get("interface") != _DELEGATE:
            raise _Refusal("InterfaceNotFound", interface=str(parameters.get("interface")))
        return {"description": _INTERFACE}

    def _say_outside(self) -> None:
        if not self._said_outside:
            self._said_outside = True
            _log.warning("not running under curfewd: handlers will not be called; try `curfew try -- ...`")


def _inherited_connection() -> Optional[socket.socket]:
    """The one at CURFEW_DELEGATE_FD, if it is still there; programs that this one starts do not inherit it."""
    number = os.environ.pop("CURFEW_DELEGATE_FD", "")
    if not number.isdecimal():
        return None
    try:
        connection = socket.socket(fileno=int(number))
    except OSError:
        return None
    try:
        connection.getpeername()
        if (connection.family, connection.type) == (socket.AF_UNIX, socket.SOCK_STREAM):
            connection.set_inheritable(False)
            return connection
    except OSError:
        pass
    # Another socket, which is not ours to close.
    connection.detach()
    return None


def _fetch_result(result: object) -> str:
    if result is None:
        return "noData"
    if result not in ("newData", "noData", "failed"):
        raise ValueError(f'the handler returned {result!r} in place of "newData", "noData" or "failed"')
    return str(result)


def _snake_case(name: str) -> str:
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()
