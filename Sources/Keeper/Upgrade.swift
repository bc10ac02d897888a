internal import CLinux
internal import ProcessControl
internal import SystemCalls

/// What the loop that begins comes after.
public struct LoopBefore {
    /// What has become of the upgrade that the loop before had asked for.
    public enum Upgrade: Equatable {
        /// This is the program that lies at its path now.
        case done
        /// The program is the one that it was, for this reason.
        case failed(String)
    }

    /// The signal that has ended that loop, with what it had in hand; 0: its keeper was killed, too; nil: there was
    /// none.
    public var signal: Int32?
    /// nil: none was asked for.
    public var upgrade: Upgrade?
    /// Where the program lies.
    public var program: String

    public init(signal: Int32? = nil, upgrade: Upgrade? = nil, program: String = "") {
        self.signal = signal
        self.upgrade = upgrade
        self.program = program
    }
}

/// Whether the keeper is to become another version of its program, and whether that one has proved itself.
struct Upgrade {
    /// From its start, in nanoseconds: its loop is ready; and it has not died of what is new in it.
    private static let readyWithin: Int64 = 5_000_000_000
    private static let provenAfter: Int64 = 10_000_000_000
    /// What is busy beside the main thread has so many milliseconds to end.
    static let patience = 1000

    /// Where the program lies.
    let program: String
    /// What the daemon was started with, its program's name first; each with a NUL after it.
    let arguments: String
    /// The loop has asked for it, and does nothing more.
    var isWanted = false
    /// What that was tried with.
    var rehearsed: ProgramMark?
    /// The program of the version before, to go back to; -1: there is nothing to go back from.
    private(set) var former: Int32 = -1
    private var begun: Int64 = 0
    private var isReady = false
    /// For the next loop.
    private(set) var outcome: LoopBefore.Upgrade?
    /// Why its loop was killed.
    private(set) var failure: String?

    /// At the daemon's start.
    init() {
        program = Self.ownProgram
        arguments = Self.ownArguments
    }

    /// As it was called, where that says it: a link may lead to another version by now.
    private static var ownProgram: String {
        let called = String(cString: linux_argument(0))
        if called.utf8.first == UInt8(ascii: "/") { return called }
        var path = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = linux_own_program_path(&path, path.count)
        return String(decoding: path[..<max(0, count)], as: UTF8.self)
    }

    static var ownArguments: String {
        var all = ""
        for place in 0..<linux_argument_count() { all += String(cString: linux_argument(place)) + "\0" }
        return all
    }

    /// execve(2). Returns where that fails.
    static func become(_ path: String, _ program: Int32, _ arguments: String) {
        let bytes = Array(arguments.utf8)
        bytes.withUnsafeBytes { bytes in
            linux_become(path, program, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
        }
    }

    /// In the program that this process has become. former: the one before; -1: it is the one before, and goes on.
    init(program: String, arguments: String, former: Int32, failure: String) {
        self.program = program
        self.arguments = arguments
        self.former = former
        begun = Clocks.monotonic
        outcome = failure.isEmpty ? .done : .failed(failure)
        if former >= 0 { _ = linux_keep_over_exec(former, false) }
    }

    var isStillRehearsed: Bool { rehearsed != nil && ProgramMark(of: program) == rehearsed }

    var isOnTrial: Bool { former >= 0 }

    mutating func failed(_ reason: String) {
        isWanted = false
        outcome = .failed(reason)
    }

    /// The loop serves.
    mutating func becameReady() {
        isReady = true
        outcome = nil
    }

    private var due: Int64 { begun + (isReady ? Self.provenAfter : Self.readyWithin) }

    /// For epoll_wait(2); -1: nothing is waited for.
    var millisecondsLeft: Int32 {
        guard isOnTrial, failure == nil else { return -1 }
        return Int32(clamping: max(0, (due - Clocks.monotonic + 999_999) / 1_000_000))
    }

    /// True where the loop is to be killed: it was not ready in its time.
    mutating func judge() -> Bool {
        guard isOnTrial, failure == nil, Clocks.monotonic >= due else { return false }
        if isReady {
            prove()
            return false
        }
        failure = "it was not ready within \(Self.readyWithin / 1_000_000_000) s"
        return true
    }

    private mutating func prove() {
        close(former)
        former = -1
    }
}
