internal import CLinux
internal import SystemCalls

/// The loop's process: its life, and when the next one begins.
struct LoopProcess {
    /// A loop that lives that long did not die of its start, in nanoseconds.
    private static let stable: Int64 = 60_000_000_000
    /// The first restart is at once; this is before the second in a row, then twice as long each time. The service
    /// watchdog of 20 s hears nothing meanwhile, nor does the board's of 15 s on some boards.
    private static let firstDelay: Int64 = 1_000_000_000
    private static let longestDelay: Int64 = 8_000_000_000

    private(set) var pid: Int32 = 0
    /// Our end; -1: the loop has closed its own.
    private(set) var socket: Int32 = -1
    /// The signal that ended the last one; 0: it ended with the keeper that it had.
    private(set) var lastEnd: Int32?
    private var startedAt: Int64 = 0
    private(set) var startDue: Int64 = 0
    /// Nanoseconds between the next end and the start after it.
    private var delay: Int64 = 0

    /// Loops that are started to stop what runs, where the one that ran has died before or in that.
    private var stopsLeft = 3

    /// What runs is to be stopped in order, by a loop that is to be started for it. False: that has failed too often.
    mutating func startsForStop() -> Bool {
        guard stopsLeft > 0 else { return false }
        stopsLeft -= 1
        startDue = 0
        return true
    }

    /// Its socket is not watched yet.
    var isNew = false

    /// Nanoseconds: a loop that is not ready by then, whatever others keep it at, holds up no sleep by what it has of
    /// the one before it.
    private static let readyWithin: Int64 = 3_000_000_000
    /// MONOTONIC; nil: it is ready, or that is over.
    private var readyDue: Int64?

    mutating func becameReady() { readyDue = nil }

    var millisecondsToReady: Int32 {
        guard isThere, let readyDue else { return -1 }
        return Int32(clamping: max(0, (readyDue - Clocks.monotonic + 999_999) / 1_000_000))
    }

    /// True once.
    mutating func isNotReadyInTime() -> Bool {
        guard isThere, let due = readyDue, due <= Clocks.monotonic else { return false }
        readyDue = nil
        return true
    }

    var isThere: Bool { pid > 0 }

    /// For epoll_wait(2): -1 while it runs.
    var millisecondsToStart: Int32 {
        isThere ? -1 : Int32(clamping: max(0, (startDue - Clocks.monotonic + 999_999) / 1_000_000))
    }

    /// Forks, where there is no loop and its time has come. Returns in the child its end of the socket. Fails the first
    /// time alone: after that the apps' parent stays, and tries again.
    mutating func startIfDue() throws(SystemError) -> Int32? {
        guard !isThere, Clocks.monotonic >= startDue else { return nil }
        do throws(SystemError) {
            return try start()
        } catch {
            if startedAt == 0 { throw error }
            Keeper.say("the loop cannot be started: \(error.text); tried again")
            waitLonger()
            return nil
        }
    }

    private mutating func start() throws(SystemError) -> Int32? {
        var ends: [Int32] = [-1, -1]
        guard linux_packet_pair(&ends) == 0 else { throw SystemError("socketpair") }
        let child = linux_fork()
        guard child >= 0 else {
            let errno = Errno.current
            close(ends[0])
            close(ends[1])
            throw SystemError("fork", errno: errno)
        }
        if child == 0 {
            close(ends[0])
            return ends[1]
        }
        close(ends[1])
        began(child, ends[0], at: Clocks.monotonic)
        linux_packet_room(socket, 1 << 20)
        return nil
    }

    mutating func began(_ child: Int32, _ socket: Int32, at now: Int64) {
        startedAt = now
        pid = child
        self.socket = socket
        readyDue = now + Self.readyWithin
        isNew = true
    }

    private var longerDelay: Int64 { min(max(2 * delay, Self.firstDelay), Self.longestDelay) }

    private mutating func waitLonger() {
        delay = longerDelay
        startDue = Clocks.monotonic + delay
    }

    /// The next one does not begin at once.
    var isDelayed: Bool { startDue > Clocks.monotonic }

    /// What the keeper was until now has had loops. The first of this one goes on with what the last had in hand.
    mutating func followsAnother() {
        lastEnd = SIGKILL
        startedAt = Clocks.monotonic
    }

    /// A keeper before this one was killed, and its loop with it.
    mutating func followsKilled() {
        lastEnd = 0
        startedAt = Clocks.monotonic
    }

    /// It has ended because it was asked to.
    mutating func startsAtOnce() {
        startDue = 0
        delay = 0
    }

    mutating func closeSocket() {
        if socket >= 0 { close(socket) }
        socket = -1
    }

    mutating func ended(_ end: linux_exit, at now: Int64 = Clocks.monotonic) {
        closeSocket()
        pid = 0
        lastEnd = end.code == linux_code_exited ? nil : end.status
        let isStable = now - startedAt > Self.stable
        startDue = isStable ? now : now + delay
        delay = isStable ? Self.firstDelay : longerDelay
    }
}
