internal import CLinux
internal import SystemCalls
internal import Varlink

/// A private curfewd at work: its process, the ways to it, and waiting for what it does.
final class PrivateBoard {
    let session: Session
    let root: PrivateRoot
    let daemon: PrivateDaemon
    /// For calls. A connection that monitors has no other answer to give.
    private(set) var control: DaemonConnection?
    private var monitor: DaemonConnection?
    /// "the demo", for "the demo failed: …".
    private let subject: String
    private let interruption: Interruption?
    private let output: OutputWatch
    private var isSynchronized = false
    /// Why apps are not frozen here; nil where they are.
    private(set) var freezingProblem: String?

    /// output: the daemon's stdout; nil is /dev/null.
    init(
        _ session: Session, _ root: PrivateRoot, program: String, arguments: [String] = [], output: Int32? = nil,
        subject: String
    ) throws(CommandFailure) {
        self.session = session
        self.root = root
        self.subject = subject
        interruption = Interruption(session.loop)
        self.output = OutputWatch(session.loop)
        do throws(SystemError) {
            daemon = try PrivateDaemon(program, root, arguments, output: output, session.loop)
        } catch {
            throw .failed("curfewd could not be started: \(error.text)")
        }
        // A reader who leaves (curfew demo | head) ends the command, which removes what it made.
        linux_ignore(SIGPIPE)
    }

    var isInterrupted: Bool { output.isGone || interruption?.isRequested == true }

    func failure(_ text: String) -> CommandFailure { .failed("\(subject) failed: \(text)") }

    // MARK: Waiting

    /// Goes on until the condition holds; throws when that takes too long, when the daemon ends, and on Ctrl-C.
    func wait(_ seconds: Double, for what: String, _ condition: () -> Bool) throws(CommandFailure) {
        if try isTrue(within: seconds, what, condition) { return }
        throw failure("\(Amounts.duration(seconds)) went by without \(what)")
    }

    /// The same, without a bound.
    func wait(for what: String, _ condition: () -> Bool) throws(CommandFailure) {
        _ = try isTrue(within: nil, what, condition)
    }

    /// Whether the condition comes true in time; throws when the daemon ends before, and on Ctrl-C. seconds: nil for
    /// as long as it takes.
    func isTrue(within seconds: Double?, _ what: String, _ condition: () -> Bool) throws(CommandFailure) -> Bool {
        let deadline = seconds.map { Clocks.monotonic + Int64($0 * 1e9) } ?? .max
        let isDone = session.loop.run(until: deadline) { condition() || isInterrupted || daemon.hasEnded }
        if isInterrupted { throw CommandFailure(code: .interrupted, text: "interrupted") }
        if condition() { return true }
        if isDone { throw failure("its curfewd ended before \(what)") }
        return false
    }

    /// Lets time go by.
    func pause(_ seconds: Double, before what: String = "the end of a pause") throws(CommandFailure) {
        let deadline = Clocks.monotonic + Int64(seconds * 1e9)
        _ = session.loop.run(until: deadline) { isInterrupted || daemon.hasEnded }
        try wait(1, for: what) { Clocks.monotonic >= deadline }
    }

    // MARK: The daemon

    /// Connects once the daemon answers; the handler gets all that `Monitor` says from then on.
    func connect(_ hear: @escaping (MonitorChange) -> Void) throws(CommandFailure) {
        let socket = DaemonConnection.socketPath(root: root.path)
        let deadline = Clocks.monotonic + 5_000_000_000
        while control == nil || monitor == nil {
            if Files.exists(socket) {
                control = try? another()
                monitor = try? another()
            }
            if control != nil, monitor != nil { break }
            if Clocks.monotonic > deadline { throw failure("curfewd did not open its socket in 5 s") }
            try pause(0.01, before: "it answered")
        }
        monitor?.begin("Monitor", more: true) { [unowned self] response in
            guard case .reply(let reply, _) = response else { return }
            let change = MonitorChange(reply)
            if change.kind == "device" { freezingProblem = DeviceRecord(change.detail).freezingProblem }
            if change.kind == "synchronized" { isSynchronized = true }
            hear(change)
        }
        try wait(5, for: "an answer of curfewd") { isSynchronized }
    }

    /// One more way to its Control socket.
    func another() throws(CommandFailure) -> DaemonConnection {
        try DaemonConnection.connect(root: root.path, loop: session.loop)
    }

    /// Ends the daemon, and with it its apps.
    func end(patience: Double) {
        daemon.askToEnd()
        if !session.loop.run(patience: Int64(patience * 1e9), { daemon.hasEnded }) { daemon.kill() }
        control = nil
        monitor = nil
    }

    /// The end after a failure, with what the daemon logged last; the failure as it is to be told.
    func abandon(_ error: CommandFailure) -> CommandFailure {
        end(patience: 0.5)
        if error.code == .interrupted {
            return CommandFailure(
                code: .interrupted, text: "interrupted; everything \(subject) made has been removed")
        }
        let log = daemon.log.suffix(12).map { "  curfewd: " + $0.printable + "\n" }
        session.console.error(log.joined())
        return error
    }
}
