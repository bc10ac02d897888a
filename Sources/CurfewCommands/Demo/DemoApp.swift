internal import CLinux
internal import SystemCalls
internal import Varlink

/// One of the demo's apps: serves io.curfew.Delegate on the descriptor it inherits, and says what it does.
final class DemoApp {
    enum Kind: String, CaseIterable {
        case prompt, slow, hang, crash

        /// What it is in the story for.
        var role: String {
            switch self {
            case .prompt: "answers every handler at once"
            case .slow: "needs 1.5 s to save its state, and is in time"
            case .hang: "never returns from DidEnterBackground; it is allowed 2 s"
            case .crash: "crashes soon after every launch"
            }
        }
    }

    /// The environment variable that names the FIFO it tells its story to.
    static let storyVariable = "CURFEW_DEMO"

    private let kind: Kind
    private let connection: Connection
    private let story: Int32
    /// What is still to be done, and when (CLOCK_MONOTONIC).
    private var later: (at: Int64, work: () -> Void)?
    private var lastTurn = Clocks.monotonic
    private var longestPause: Int64 = 0

    init?(_ kind: Kind) {
        guard let text = Terminal.variable("CURFEW_DELEGATE_FD"), let number = Int32(text), number > 2,
            linux_get_flags(number) >= 0
        else { return nil }
        self.kind = kind
        connection = Connection(owning: FileDescriptor(owning: number), role: .server)
        story = Terminal.variable(Self.storyVariable).map { linux_open_file($0, O_WRONLY | O_NONBLOCK, 0) } ?? -1
        connection.onRequest = { [unowned self] in answer($0) }
    }

    /// Until the daemon closes the connection, or a signal ends it.
    func run() {
        // A crash on purpose needs no core file.
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(RLIMIT_CORE, &limit)
        while connection.isOpen { turn() }
    }

    /// Wakes up ten times a second, so as to notice how long it was frozen.
    private func turn() {
        let now = Clocks.monotonic
        longestPause = max(longestPause, now - lastTurn)
        lastTurn = now
        if let due = later, due.at <= now {
            later = nil
            due.work()
        }
        let wait = min(100_000_000, max(0, (later?.at ?? .max) - Clocks.monotonic))
        let interest = (connection.wantsRead ? POLLIN : 0) | (connection.wantsWrite ? POLLOUT : 0)
        var entry = pollfd(fd: connection.descriptor, events: Int16(interest), revents: 0)
        guard poll(&entry, 1, Int32((wait + 999_999) / 1_000_000)) > 0 else { return }
        let events = Int32(entry.revents)
        if events & POLLIN != 0 { connection.onReadable() }
        if events & POLLOUT != 0 { connection.onWritable() }
        if events & (POLLHUP | POLLERR) != 0 { connection.onHangup() }
    }

    private func answer(_ request: Request) {
        let prefix = DelegateInterface.name + "."
        guard request.method.hasPrefix(prefix) else {
            return request.fail(.methodNotFound(method: request.method))
        }
        let handler = String(request.method.dropFirst(prefix.count))
        tell("begin", handler)
        switch (kind, handler) {
        case (.slow, "DidEnterBackground"):
            say("saving my state, this takes 1.5 s …")
            after(1_500_000_000) { [unowned self] in
                say("saved")
                finish(request, handler)
            }
        case (.hang, "DidEnterBackground"):
            say("waiting for a reply that never comes …")
            hang()
        case (.crash, "DidBecomeActive"):
            finish(request, handler)
            after(300_000_000) { [unowned self] in
                say("now I use memory that is not mine")
                kill(getpid(), SIGSEGV)
            }
        case (.prompt, "DidEnterBackground"):
            say("my state is saved, I am ready")
            longestPause = 0
            finish(request, handler)
        case (.prompt, "WillEnterForeground"):
            if longestPause > 300_000_000 { say("I did not run for \(Amounts.duration(Double(longestPause) / 1e9))") }
            finish(request, handler)
        case (_, "WillTerminate"):
            finish(request, handler)
            after(0) { exit(0) }
        default: finish(request, handler)
        }
    }

    /// Told before it is answered: the answer may freeze the app at once.
    private func finish(_ request: Request, _ handler: String) {
        tell("end", handler)
        request.reply()
    }

    private func after(_ nanoseconds: Int64, _ work: @escaping () -> Void) {
        later = (Clocks.monotonic + nanoseconds, work)
    }

    /// Hears nothing any more but the end of the daemon.
    private func hang() {
        var entry = pollfd(fd: connection.descriptor, events: 0, revents: 0)
        while poll(&entry, 1, -1) <= 0 {}
        exit(0)
    }

    private func say(_ text: String) {
        try? FileDescriptor.writeAll(Array((text + "\n").utf8), to: 1)
        tell("say", text)
    }

    /// One line to the demo, which does not wait for it.
    private func tell(_ kind: String, _ text: String) {
        guard story >= 0 else { return }
        let line = Array("\(self.kind.rawValue)\t\(kind)\t\(text)\n".utf8)
        _ = line.withUnsafeBytes { write(story, $0.baseAddress, line.count) }
    }
}
