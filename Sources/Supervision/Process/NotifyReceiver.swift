internal import CLinux
internal import ControlGroup
internal import EventLoop
internal import Journal
internal import Lifecycle
internal import ProcessControl
internal import SystemCalls

/// An app's notify socket (sd_notify(3)). Who sent a message is the kernel's word: only processes of the instance's own
/// control group are heard.
final class NotifyReceiver {
    private unowned(unsafe) let app: SupervisedApp
    private unowned(unsafe) let supervisor: Supervisor
    private let socket: NotifySocket
    private var member: IOGroupMember?
    /// Strangers are named once an instance, however much they send.
    private var complainedFor: InstanceID?
    /// Messages taken in one turn of the loop.
    private static let burst = 16

    private static let ownUser = geteuid()

    var path: String { socket.path }

    init(_ app: SupervisedApp, _ supervisor: Supervisor) throws(SystemError) {
        self.app = app
        self.supervisor = supervisor
        socket = try NotifySocket.open(supervisor.paths.notifySocket(app.name))
        member = try supervisor.connections.watch(socket.descriptor, .readable) { [unowned(unsafe) self] _ in receive()
        }
    }

    // Before the socket goes.
    deinit { member?.cancel() }

    private func receive() {
        do throws(SystemError) {
            try socket.receive(atMost: Self.burst) { hear($0) }
        } catch {
            supervisor.log.app(app.name, .warning, error.text)
        }
        supervisor.wakeIfDue()
    }

    private func hear(_ notification: Notification) {
        guard let process = app.process, notification.defect == nil, isOwn(notification, process) else {
            complain(notification)
            return
        }
        let instance = process.instance
        for field in notification.fields {
            switch field.name {
            case "READY" where field.value == "1":
                process.delegate?.didBecomeReady()
                supervisor.dispatch(.app(.ready(instance)))
            case "WATCHDOG" where field.value == "1": supervisor.dispatch(.app(.ping(instance)))
            case "STATUS": setStatus(field.value)
            case "STOPPING" where field.value == "1": supervisor.dispatch(.app(.stopping(instance)))
            case "MAINPID": if let pid = Int32(field.value), pid > 0 { process.followMainPID(pid) }
            case "EXTEND_TIMEOUT_USEC": extend(instance, field.value)
            case "RELOADING" where field.value == "1": setStatus("reloading")
            case "ERRNO":
                if let number = Int32(field.value), number > 0, number < 4096 {
                    setStatus("failed: \(Errno(rawValue: number).text)")
                }
            default: break
            }
        }
    }

    private func extend(_ instance: InstanceID, _ value: String) {
        guard let microseconds = Int64(value), microseconds > 0, microseconds < Int64.max / 1000 else { return }
        supervisor.dispatch(.app(.extendTimeout(instance, .microseconds(microseconds))))
    }

    private func setStatus(_ text: String) {
        let bounded = String(decoding: text.utf8.prefix(200), as: UTF8.self)
        guard app.statusText != bounded else { return }
        app.statusText = bounded
        supervisor.control?.appDidChange(app.id)
    }

    private func isOwn(_ notification: Notification, _ process: AppProcess) -> Bool {
        if notification.senderPid == process.mainPID { return true }
        guard let groups = supervisor.groups, let group = process.group else {
            // The socket is the app's own; beyond that the kernel's word is the sender's user.
            switch app.credentials {
            case .success(let credentials?): return notification.senderUser == credentials.user
            case .success(nil): return notification.senderUser == Self.ownUser
            case .failure: return false
            }
        }
        guard let place = ProcessHandle.controlGroup(of: notification.senderPid) else { return false }
        return groups.instance(ofControlGroup: place) == group.name
    }

    private func complain(_ notification: Notification) {
        let instance = app.process?.instance
        guard complainedFor != instance else { return }
        complainedFor = instance
        supervisor.log.app(
            app.name, .warning,
            "notify message of pid \(notification.senderPid), user \(notification.senderUser) ignored: "
                + Self.objection(to: notification, of: app.name))
    }

    /// Why a message is not heard.
    static func objection(to notification: Notification, of app: String) -> String {
        switch notification.defect {
        case .oversized: "it is longer than 4 KiB"
        case .unknownSender: "the kernel does not name its sender"
        case nil: "no process of \(app)"
        }
    }
}
