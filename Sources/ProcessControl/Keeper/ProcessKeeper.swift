internal import CLinux
public import SystemCalls

/// The loop's side of the socket to the keeper, the process that is the parent of all others: starts, signals and
/// messages to the service manager go out, and what becomes of processes comes in.
///
/// Nothing here waits for a process: a program that hangs on its way to exec holds up no other.
public final class ProcessKeeper {
    /// Words that are heard in one turn of the loop.
    private static let burst = 32
    /// Room for the starts of some thousand apps at once.
    private static let room: Int32 = 4 << 20
    /// How long the keeper may let a full socket be, in milliseconds: it waits for nothing itself.
    private static let patience: Int32 = 1000

    private let socket: FileDescriptor
    private var kept: KeptDescriptors
    private var processes: [Int64: KeptProcess] = [:]
    private var endQuestions: [Int64: (ProcessExit?) -> Void] = [:]
    /// No two loops use the same: a start takes longer than a nanosecond.
    private var lastID = Clocks.monotonic
    /// A signal that the keeper was sent, as the main process of the service: SIGTERM, SIGINT or SIGHUP.
    public var onOrder: ((Int32) -> Void)?
    /// Of a search for those who have a lock, by the user and pid that it was asked for by.
    public enum LockSearchWord {
        case holder(pid: Int32)
        /// There are no more.
        case over
        /// It took too long.
        case givenUp
    }
    public var onLockHolder: ((_ user: UInt32, _ pid: Int32, LockSearchWord) -> Void)?

    /// For an event loop: readable when there is a word.
    public var descriptor: Int32 { socket.rawValue }

    /// kept: what an earlier loop has had it keep.
    public init(_ socket: consuming FileDescriptor, kept: consuming KeptDescriptors = KeptDescriptors()) {
        self.socket = socket
        self.kept = kept
        linux_packet_room(self.socket.rawValue, Self.room)
    }

    /// Asks for a start; what becomes of it is heard later. A program that cannot be asked for at all is an error here.
    public func start(_ request: SpawnRequest, hear: @escaping (KeptProcess.Word) -> Void) throws(SpawnError)
        -> KeptProcess
    {
        lastID += 1
        let packet = try StartPacket(request, id: lastID)
        do throws(SystemError) {
            try send(packet.bytes, packet.descriptors)
        } catch {
            throw SpawnError(.clone, "", error.errno.rawValue)
        }
        let process = KeptProcess(lastID, request, self, hear)
        processes[lastID] = process
        return process
    }

    /// Goes on with a start of an earlier loop's: all that is known of it is told again. Nothing is heard where the
    /// keeper does not read. known: as that loop knew the process, should this keeper not have started it.
    public func claim(
        _ id: Int64, _ known: KnownProcess, hasGroup: Bool, hear: @escaping (KeptProcess.Word) -> Void
    ) -> KeptProcess {
        let process = KeptProcess(id, nil, self, hear)
        if known.pid > 0 { (process.pid, process.identity) = (known.pid, known.identity) }
        processes[id] = process
        let claim = keeper_claim(
            kind: UInt32(KEEPER_CLAIM), pid: known.pid, id: id, identity: known.identity, has_group: hasGroup ? 1 : 0,
            unused: 0)
        try? send(withUnsafeBytes(of: claim) { Array($0) }, [])
        return process
    }

    /// What no loop has claimed by now is ended.
    public func endUnclaimed() { order(KEEPER_CLAIMED, 0) }

    func signal(_ process: KeptProcess, _ number: Int32) throws(SystemError) {
        let order = keeper_signal(kind: UInt32(KEEPER_SIGNAL), signal: number, id: process.id)
        try send(withUnsafeBytes(of: order) { Array($0) }, [])
    }

    /// sd_notify(3) by the service's main process. False where the keeper does not read.
    public func notify(_ text: String) -> Bool {
        let order = keeper_signal(kind: UInt32(KEEPER_NOTIFY), signal: 0, id: 0)
        return (try? send(withUnsafeBytes(of: order) { Array($0) } + Array(text.utf8), [])) != nil
    }

    /// Removes what a user has left of System V's memory, messages and semaphores, which outlive processes: what is
    /// there when the keeper reads this, so before the next start that it is asked for.
    public func removeIPC(of user: UInt32) { order(KEEPER_REMOVE_IPC, Int64(user)) }

    /// Ends the FUSE connections of a user's programs, where their file systems are mounted out of our sight. Of
    /// programs that are to be dead: one that waits for an answer of its own cannot be killed before.
    public func abortFUSE(of user: UInt32) { order(KEEPER_ABORT_FUSE, Int64(user)) }

    /// For a process that cannot be killed though nothing of its own user's holds it: where it waits in a FUSE file
    /// system, it has been given a file that another app serves, or a person. Which one is not known: those that do not
    /// answer are ended, one after the other, until it is gone.
    public func abortFUSE(awaitedBy pid: Int32) {
        let order = keeper_users(
            kind: UInt32(KEEPER_ABORT_AWAITED_FUSE), count: OwnUsers.count, first: OwnUsers.first, pid: pid)
        try? send(withUnsafeBytes(of: order) { Array($0) }, [])
    }

    /// Looks for the processes that have the delay locks on sleep which a user's process has taken, as logind says, or
    /// a number that was its own. directory: logind's, of its locks.
    public func findLockHolders(user: UInt32, pid: Int32, in directory: String) throws(SystemError) {
        let order = keeper_lock(kind: UInt32(KEEPER_FIND_LOCK_HOLDERS), user: user, pid: pid, unused: 0)
        try send(withUnsafeBytes(of: order) { Array($0) } + Array(directory.utf8), [])
    }

    /// What an earlier loop has had kept by this name, or nil.
    public func takeKept(_ name: String) -> FileDescriptor? { kept.take(name) }

    /// The names that begin so.
    public func keptNames(beginning prefix: String) -> [String] { kept.names(beginning: prefix) }

    /// What this loop has not taken no loop wants any more.
    public func dropKept() {
        for name in kept.names(beginning: "") { drop(name) }
        kept.closeAll()
    }

    /// Each loop after this one has a copy, if the keeper has room for it.
    public func keep(_ name: String, _ descriptor: Int32) {
        let order = keeper_signal(kind: UInt32(KEEPER_KEEP), signal: 0, id: 0)
        try? send(withUnsafeBytes(of: order) { Array($0) } + Array(name.utf8), [descriptor])
    }

    /// No loop wants it any more.
    public func drop(_ name: String) {
        let order = keeper_signal(kind: UInt32(KEEPER_DROP), signal: 0, id: 0)
        try? send(withUnsafeBytes(of: order) { Array($0) } + Array(name.utf8), [])
    }

    /// This loop has what it needs, and serves.
    public func becameReady() { order(KEEPER_READY, 0) }

    /// The keeper becomes the program that lies at its path by now, and starts a loop of it. For a loop that does
    /// nothing more after this: it is killed. rehearsed: which that has to be.
    public func becomeNext(_ rehearsed: ProgramMark) throws(SystemError) {
        let order = keeper_question(
            kind: UInt32(KEEPER_UPGRADE), pid: 0, id: rehearsed.file, identity: UInt64(bitPattern: rehearsed.change))
        try send(withUnsafeBytes(of: order) { Array($0) }, [])
    }

    /// How a process ends that is no child of our asking is kept until `askEnd`, should it become the keeper's.
    public func follow(_ pid: Int32, identity: UInt64, _ isFollowed: Bool = true) {
        let kind = UInt32(isFollowed ? KEEPER_FOLLOW : KEEPER_UNFOLLOW)
        let order = keeper_question(kind: kind, pid: pid, id: 0, identity: identity)
        try? send(withUnsafeBytes(of: order) { Array($0) }, [])
    }

    /// Asks how a process has ended that is no child of our asking: it may have become the keeper's, when its parent
    /// ended. hear: nil: the kernel has told another process. Returns the question,
    /// for `forget(question:)`; nil: it cannot be asked.
    public func askEnd(of pid: Int32, identity: UInt64, hear: @escaping (ProcessExit?) -> Void) -> Int64? {
        lastID += 1
        let order = keeper_question(kind: UInt32(KEEPER_HOW_ENDED), pid: pid, id: lastID, identity: identity)
        guard (try? send(withUnsafeBytes(of: order) { Array($0) }, [])) != nil else { return nil }
        endQuestions[lastID] = hear
        return lastID
    }

    /// Its answer interests no more.
    public func forget(question: Int64) { endQuestions[question] = nil }

    private func order(_ kind: Int, _ id: Int64) {
        let order = keeper_signal(kind: UInt32(kind), signal: 0, id: id)
        try? send(withUnsafeBytes(of: order) { Array($0) }, [])
    }

    private func send(_ bytes: [UInt8], _ descriptors: [Int32]) throws(SystemError) {
        while linux_packet_send(socket.rawValue, bytes, bytes.count, descriptors, descriptors.count) != 0 {
            let errno = Errno.current
            if errno == .interrupted { continue }
            var writable = pollfd(fd: socket.rawValue, events: Int16(POLLOUT), revents: 0)
            guard errno == .again, poll(&writable, 1, Self.patience) == 1 else {
                throw SystemError("ask the keeper", errno: errno)
            }
        }
    }

    /// Hears some words of the keeper. False when it is gone.
    public func receive() -> Bool {
        for _ in 0..<Self.burst {
            var word = keeper_word()
            var count = 0
            var isLost = false
            let size = MemoryLayout<keeper_word>.size
            let length = linux_packet_receive(socket.rawValue, &word, size, nil, &count, &isLost, false)
            if length == MemoryLayout<keeper_word>.size {
                hear(word)
            } else if length >= 0 {
                return false
            } else if Errno.current == .again {
                return true
            } else if Errno.current != .interrupted {
                return false
            }
        }
        return true
    }

    private func hear(_ word: keeper_word) {
        switch Int(word.kind) {
        case KEEPER_ORDER: onOrder?(word.detail)
        case KEEPER_LOCK_HOLDER:
            onLockHolder?(
                UInt32(truncatingIfNeeded: word.id >> 32), Int32(truncatingIfNeeded: word.id),
                word.pid > 0 ? .holder(pid: word.pid) : word.pid == 0 ? .over : .givenUp)
        case KEEPER_ORPHAN_ENDED:
            endQuestions.removeValue(forKey: word.id)?(word.code == 0 ? nil : ProcessExit(word))
        default: hearOfProcess(word)
        }
    }

    private func hearOfProcess(_ word: keeper_word) {
        guard let process = processes[word.id] else { return }
        switch Int(word.kind) {
        case KEEPER_STARTED: (process.pid, process.identity) = (word.pid, word.identity)
        case KEEPER_RUNNING:
            process.isRunning = true
            process.request = nil
            process.hear?(.running(lacks: Sandbox.Parts(rawValue: UInt32(bitPattern: word.detail))))
        case KEEPER_FAILED:
            let request = process.request ?? SpawnRequest(arguments: [])
            forget(process)
            process.hear?(.failed(SpawnError(step: word.step, errno: word.error, detail: word.detail, request)))
        case KEEPER_ENDED:
            forget(process)
            process.hear?(word.code == 0 ? .endedUnseen : .ended(ProcessExit(word)))
        case KEEPER_UNKNOWN:
            forget(process)
            process.hear?(.unknown)
        default: break
        }
    }

    private func forget(_ process: KeptProcess) {
        processes[process.id] = nil
        process.isOver = true
        process.request = nil
    }
}
