internal import CLinux
internal import SystemCalls
internal import Varlink

/// All that the device thread works on; for that thread alone.
final class DeviceLink {
    let timers = Timers()
    let client: ApplicationClient
    let handlers: HandlerQueue
    let delegate: DelegateServer

    init(_ environment: LaunchEnvironment, _ thread: DeviceThread, _ handle: @escaping HandlerQueue.Handle) {
        client = ApplicationClient(path: environment.socket, timers)
        handlers = HandlerQueue(thread, handle)
        delegate = DelegateServer(path: environment.socket, timers, handlers, say: environment.say)
    }

    /// What poll(2) is to watch.
    var connections: [Connection] { [client.connection, delegate.connection].compactMap { $0 } }

    /// CLOCK_MONOTONIC; nil: nothing is due.
    var nextTime: Int64? { timers.next }

    func onTime() { timers.fire(at: Clocks.monotonic) }

    /// With poll(2)'s revents.
    func onReady(_ ready: [(connection: Connection, events: Int32)]) {
        // What was granted has to be known before it is said to expire, and that comes over another socket.
        if ready.contains(where: { $0.events != 0 }) { client.connection?.onReadable() }
        for (connection, events) in ready where events != 0 {
            if events & POLLIN != 0 { connection.onReadable() }
            if events & POLLOUT != 0 { connection.onWritable() }
            if events & (POLLHUP | POLLERR) != 0 { connection.onHangup() }
        }
    }

    func close() {
        delegate.close()
        client.close()
    }

    /// A connected socket; never waits for a place in the device's queue.
    static func connect(_ path: String) throws(SystemError) -> FileDescriptor {
        let descriptor = linux_unix_socket()
        guard descriptor >= 0 else { throw SystemError("socket") }
        let socket = FileDescriptor(owning: descriptor)
        _ = linux_set_flags(descriptor, O_NONBLOCK)
        if linux_unix_connect(descriptor, path) == 0 { return socket }
        let error = SystemError("connect", path)
        guard error.errno == .accessDenied, let shared = ApplicationInterface.sharedSocket(besides: path) else {
            throw error
        }
        guard linux_unix_connect(descriptor, shared) == 0 else { throw SystemError("connect", shared) }
        return socket
    }
}
