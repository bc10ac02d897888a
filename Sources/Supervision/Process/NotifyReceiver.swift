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
    private let kept: KeptCopy?
    private let socket: NotifySocket
    private var member: IOGroupMember?
    /// It is not listened to while any of what it waits for is still to come.
    private var holds = 0
    /// Strangers are named once an instance, however much they send.
    private var complainedFor: InstanceID?
    /// Messages taken in one turn of the loop.
    private static let burst = 16
    private static let reloading = "reloading"
    /// Bytes of a STATUS= that are kept.
    private static let longestStatus = 200
    private var pause: TimerSource?
    /// Nanoseconds.
    private static let pauseLength: Int64 = 1_000_000_000

    convenience init(_ app: SupervisedApp, _ supervisor: Supervisor) throws(SystemError) {
        let socket = try NotifySocket.open(supervisor.paths.notifySocket(app.name))
        try self.init(app, supervisor, socket, supervisor.keep(Self.keptName(app), socket.descriptor))
    }

    /// The next loop has the socket by this name.
    private static func keptName(_ app: SupervisedApp) -> String { "notify/" + app.name }

    /// The one of an earlier loop; nil where that had none, or it is not found at its path.
    static func regain(_ app: SupervisedApp, _ supervisor: Supervisor, _ kept: KeptApps.App) -> NotifyReceiver? {
        let name = keptName(app)
        guard let socket = supervisor.keeper.takeKept(name) else { return nil }
        let copy = KeptCopy(takenFrom: supervisor.keeper, name)
        guard Files.isSocket(kept.notifyPath),
            let receiver = try? NotifyReceiver(app, supervisor, NotifySocket(kept: socket, at: kept.notifyPath), copy)
        else { return nil }
        receiver.admitted = UInt32(exactly: kept.notifyUser)
        receiver.hidden = HiddenFolder(
            holding: kept.notifyPath, in: supervisor.paths.hiddenNotifySockets, for: app.name)
        return receiver
    }

    private init(_ app: SupervisedApp, _ supervisor: Supervisor, _ socket: NotifySocket, _ kept: KeptCopy?)
        throws(SystemError)
    {
        self.app = app
        self.supervisor = supervisor
        self.kept = kept
        self.socket = socket
        member = try supervisor.connections.watch(socket.descriptor, .readable) { [unowned(unsafe) self] _ in receive()
        }
    }

    /// Where the app finds it.
    var path: String { socket.path }
    /// Whom it lets in; nil: it was not asked yet.
    private(set) var admitted: UInt32?

    /// Not where it cannot be found, nor for another user: to what it was connected to before, a sender need not be
    /// let in again.
    func isUsable(by user: UInt32) -> Bool { Files.isSocket(path) && (admitted ?? user) == user }
    private var hidden: HiddenFolder?

    /// Of an instance that is about to start. One that is started as root may become any user, so its socket is open to
    /// all users, at a path that it alone knows. Returned is what its sandbox has to show; nil: nothing.
    func admit(only user: UInt32) throws(SystemError) -> Sandbox.Place? {
        admitted = user
        guard user == 0 else {
            try socket.admit(only: user)
            return nil
        }
        let folder: HiddenFolder
        if let hidden {
            folder = hidden
        } else {
            folder = try .make(in: supervisor.paths.hiddenNotifySockets, for: app.name)
        }
        hidden = folder
        try socket.keep(at: folder.socket)
        try folder.show()
        try socket.admit(only: nil)
        return .cover(folder.view)
    }

    deinit {
        member?.cancel()
        if let left = socket.close() { supervisor.disposal.close(left) }
        hidden?.remove()
    }

    private func receive() {
        let payer = ServiceShares.Payer.notify(app.id)
        let begun = payer.clock
        do throws(SystemError) {
            if let copy = try socket.receive(atMost: Self.burst, { hear($0) }) { takeOff(copy) }
        } catch {
            supervisor.log.app(app.name, .warning, error.text)
            rest()
        }
        supervisor.shares.pay(payer, payer.clock - begun)
        if supervisor.shares.isSpent(payer) { waitForShare(of: payer) }
        supervisor.wakeIfDue()
    }

    private func waitForShare(of payer: ServiceShares.Payer) {
        let (supervisor, app) = (supervisor, app.id)
        // This one may be gone by then.
        if supervisor.shares.wait(payer, { supervisor.hearNotifications(of: app) }) { hold() }
    }

    private func hold() {
        holds += 1
        try? member?.setInterest([])
    }

    fileprivate func goOn() {
        holds = max(0, holds - 1)
        if holds == 0 { try? member?.setInterest(.readable) }
    }

    /// What failed fails again at once.
    private func rest() {
        if pause == nil {
            pause = try? supervisor.loop.timer { [unowned(unsafe) self] in goOn() }
        }
        guard let pause else { return }
        hold()
        pause.arm(at: Clocks.monotonic + Self.pauseLength)
    }

    /// Its own messages wait for what it has sent, and no other's.
    private func takeOff(_ copy: consuming FileDescriptor) {
        hold()
        let (supervisor, app) = (supervisor, app.id)
        // This one may be gone by then.
        supervisor.disposal.takeDatagram(from: copy) {
            supervisor.hearNotifications(of: app)
        }
    }

    private func hear(_ notification: Notification) {
        if notification.isBarrier { return }
        guard let process = app.process, notification.defect == nil, !notification.hasDescriptors,
            isOwn(notification, process)
        else {
            return complain(notification)
        }
        process.isHeard()
        act(on: Word(notification.fields), of: process)
    }

    /// The last value of each field that means something, whatever else a message holds.
    private struct Word {
        var isReady = false
        var isPing = false
        var isStopping = false
        var isReloading = false
        var mainPID: Int32?
        var status: String?
        var extends: String?
        var error: Int32?

        init(_ fields: [Notification.Field]) {
            for field in fields {
                switch field.name {
                case "READY": isReady = field.value == "1"
                case "WATCHDOG": isPing = field.value == "1"
                case "STOPPING": isStopping = field.value == "1"
                case "RELOADING": isReloading = field.value == "1"
                case "MAINPID": mainPID = Int32(field.value)
                case "STATUS": status = field.value
                case "EXTEND_TIMEOUT_USEC": extends = field.value
                case "ERRNO": error = Int32(field.value)
                default: break
                }
            }
        }
    }

    private func act(on word: Word, of process: AppProcess) {
        let instance = process.instance
        if let pid = word.mainPID, pid > 0 { process.followMainPID(pid) }
        if word.isReloading { setStatus(Self.reloading) }
        if let number = word.error, number > 0, number < 4096 {
            setStatus("failed: \(Errno(rawValue: number).text)")
        }
        if let status = word.status { setStatus(status) }
        if let time = word.extends { extend(instance, time) }
        if word.isReady {
            if !word.isReloading, word.status == nil, app.statusText == Self.reloading { setStatus("") }
            process.delegate?.didBecomeReady()
            supervisor.dispatch(.app(.ready(instance)))
        }
        if word.isPing { supervisor.dispatch(.app(.ping(instance))) }
        if word.isStopping { supervisor.dispatch(.app(.stopping(instance))) }
    }

    private func extend(_ instance: InstanceID, _ value: String) {
        guard let microseconds = Int64(value), microseconds > 0, microseconds < Int64.max / 1000 else { return }
        supervisor.dispatch(.app(.extendTimeout(instance, .microseconds(microseconds))))
    }

    private func setStatus(_ text: String) {
        let bounded = text.beginning(bytes: Self.longestStatus)
        guard app.statusText != bounded else { return }
        app.statusText = bounded
        supervisor.detailsDidChange(app.id)
    }

    private func isOwn(_ notification: Notification, _ process: AppProcess) -> Bool {
        guard supervisor.groups != nil, let group = process.group else {
            // The socket is the app's own; beyond that the kernel's word is the sender's user.
            return notification.senderPid == process.mainPID || notification.senderUser == process.user
        }
        if notification.senderPid != process.mainPID {
            guard supervisor.place(of: notification.senderPid) == .instance(group.name) else { return false }
        }
        // Is it the sender who has that pid now? Where the kernel gives no pidfd (before Linux 6.5), its user says so;
        // but what was started as root may be any user by now.
        guard let pidfd = notification.senderDescriptor else {
            return process.user == 0 || notification.senderUser == process.user
        }
        return ProcessHandle.holdsPid(pidfd)
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
        case nil where notification.hasDescriptors: "it came with descriptors, which are not kept"
        case nil: "no process of \(app)"
        }
    }
}

extension Supervisor {
    fileprivate func hearNotifications(of app: AppID) { apps[app.rawValue]?.notify?.goOn() }
}
