public import SystemCalls

/// A process that the keeper has been asked to start, from then until its end has been heard.
public final class KeptProcess {
    /// What is heard of it, in this order.
    public enum Word {
        /// It has become its program; what its sandbox goes without.
        case running(lacks: Sandbox.Parts)
        /// It has not, and will not.
        case failed(SpawnError)
        /// Its end; only of what was running.
        case ended(ProcessExit)
        /// Its end, of which no more is known.
        case endedUnseen
        /// Of one that was claimed: it was never begun, or its end is not known any more.
        case unknown
    }

    /// By which a later loop can claim it.
    public let id: Int64
    /// For the text of an error; nil once it runs.
    var request: SpawnRequest?
    unowned(unsafe) let keeper: ProcessKeeper
    /// nil until it is on its way to its program.
    public internal(set) var pid: Int32?
    /// By which another keeper knows that this is the process; 0: not known.
    public internal(set) var identity: UInt64 = 0
    public internal(set) var isRunning = false
    /// Nothing more will be heard of it.
    public internal(set) var isOver = false
    /// nil: what is heard of it interests no more.
    public var hear: ((Word) -> Void)?

    init(_ id: Int64, _ request: SpawnRequest?, _ keeper: ProcessKeeper, _ hear: @escaping (Word) -> Void) {
        self.id = id
        self.request = request
        self.keeper = keeper
        self.hear = hear
    }

    /// kill(2) by its parent, which has not reaped it: never another process that got the same pid. Nothing where it
    /// has ended. SIGKILL reaches its session as well, where it has no control group of its own.
    public func signal(_ number: Int32) throws(SystemError) {
        if !isOver { try keeper.signal(self, number) }
    }
}

/// A process by what no other has for as long as the board is up.
public struct KnownProcess: Equatable, Sendable {
    /// 0: not known yet.
    public var pid: Int32
    /// `ProcessHandle.identity`'s; 0: not known.
    public var identity: UInt64

    public init(pid: Int32 = 0, identity: UInt64 = 0) {
        self.pid = pid
        self.identity = identity
    }
}

extension KeptProcess {
    public var known: KnownProcess { KnownProcess(pid: pid ?? 0, identity: identity) }
}
