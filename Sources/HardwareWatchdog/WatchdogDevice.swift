internal import CLinux
internal import SystemCalls

/// A hardware watchdog (/dev/watchdogN, linux/watchdog.h): it resets the board when it is not fed for `timeout`.
///
/// This is the device, not the decision when to feed it. Opening starts it. A feed is one ioctl(2) of a few
/// microseconds; what costs is the wake-up for it, so feed once in `timeout` / 3 and no more. Where a driver shortens
/// the timeout, `timeout` says so: the pace follows that, never what was configured.
///
/// Whatever goes wrong while it is open, it runs on and wants to be fed: errors say so by `isOpen`.
public final class WatchdogDevice {
    public let location: WatchdogLocation
    /// WDIOC_GETSUPPORT, known once it was open.
    public private(set) var support = WatchdogSupport()
    /// WDIOC_GETBOOTSTATUS: why the board was reset, as far as the driver knows.
    public private(set) var bootStatus: WatchdogFlags = []
    public private(set) var limits = WatchdogLimits()
    /// In force now, in seconds: the driver's last word.
    public private(set) var timeout = 0
    /// How long before the reset the kernel warns (a panic, by most governors); 0: not.
    public private(set) var pretimeout = 0
    public var isOpen: Bool { descriptor >= 0 }

    private let kernel: any WatchdogKernel
    private var descriptor: Int32 = -1
    private var wanted = (timeout: 0, pretimeout: 0)
    private var feedsByWriting = false
    private var refusesToStop = false

    public init(_ location: WatchdogLocation, kernel: any WatchdogKernel) {
        self.location = location
        self.kernel = kernel
    }

    /// Let go without a word, the watchdog runs on and resets the board.
    deinit { if descriptor >= 0 { kernel.close(descriptor) } }

    /// sysfs's view of it.
    public var attributes: WatchdogAttributes { WatchdogAttributes(location.sysfs, kernel: kernel) }

    /// Whether `stop` can stop it, as far as the kernel knows; nil: only trying tells. A driver may be unable to and
    /// not say so: the profile knows.
    public var isStoppable: Bool? { refusesToStop ? false : attributes.noWayOut.map { !$0 } }

    // MARK: Opening

    /// Opens and so starts it, sets the timeout and feeds it once. timeout and pretimeout: seconds; the former is
    /// fitted to what the driver takes, the latter left out where it has none. maximum, stoppable: the profile's words.
    /// A watchdog that cannot be fed is stopped again, so that it does not reset the board for ever; one that is not
    /// stoppable, or is seen to run on, is left open, to try on.
    public func open(timeout: Int, pretimeout: Int = 0, maximum: Int? = nil, stoppable: Bool = true)
        throws(WatchdogError)
    {
        if isOpen { return try reset(timeout, pretimeout, maximum) }
        let opened = try openDescriptor()
        try adopt(opened, timeout: timeout, pretimeout: pretimeout, maximum: maximum, stoppable: stoppable)
    }

    private func openDescriptor() throws(WatchdogError) -> Int32 {
        var opened: Int32 = -1
        guard let errno = kernel.open(location.path, &opened) else { return opened }
        var problem = WatchdogError.opening(errno)
        if problem == .busy, let name = kernel.read("/proc/1/comm"), stands("systemd", in: name) {
            problem = .busyBySystemd
        }
        throw failure(problem, errno)
    }

    /// Goes on with a descriptor that an earlier program image left open: the watchdog never notices. Takes ownership.
    public func adopt(
        _ opened: Int32, timeout: Int, pretimeout: Int = 0, maximum: Int? = nil, stoppable: Bool = true
    ) throws(WatchdogError) {
        closeDescriptor()
        descriptor = opened
        feedsByWriting = false
        if let errno = kernel.support(descriptor, &support) {
            if errno.rawValue == ENOTTY || errno == .invalid {
                // Nothing is ever written to it.
                closeDescriptor()
                throw failure(.notAWatchdog, errno)
            }
            // Any other failure leaves a running watchdog: it is fed all the same.
            if WatchdogError.isGone(errno) { throw vanished(errno) }
            support = WatchdogSupport()
        }
        var status: Int32 = 0
        let failed = kernel.control(descriptor, .bootStatus, &status) != nil
        bootStatus = failed ? attributes.bootStatus : WatchdogFlags(bootStatus: UInt32(bitPattern: status))
        do throws(WatchdogError) {
            try reset(timeout, pretimeout, maximum)
        } catch {
            if isOpen, stoppable, isStoppable != false, stop() == .runsOn, let again = try? openDescriptor() {
                descriptor = again
            }
            throw error
        }
    }

    private func reset(_ timeout: Int, _ pretimeout: Int, _ maximum: Int?) throws(WatchdogError) {
        wanted = (max(timeout, 1), pretimeout)
        limits = attributes.limits.narrowed(toAtMost: maximum)
        try setTimeout(timeout)
        try feed()
    }

    // MARK: Timeouts

    /// Sets the timeout, and the pretimeout again, which the kernel drops when it no longer fits. `timeout` is what
    /// came of it.
    private func setTimeout(_ seconds: Int) throws(WatchdogError) {
        let asked = limits.clamp(seconds)
        var answer = Int32(clamping: asked)
        var errno = kernel.control(descriptor, .setTimeout, &answer)
        if errno == .invalid { errno = try setLargest(below: asked, &answer) }
        if let errno, WatchdogError.isGone(errno) { throw vanished(errno) }
        timeout = inForce(answered: errno == nil ? Int(answer) : 0, asked)
        setPretimeout()
    }

    /// The driver refuses `seconds`, and its limit is not known: finds the largest timeout that it takes.
    private func setLargest(below seconds: Int, _ answer: inout Int32) throws(WatchdogError) -> Errno? {
        var accepted: Int32 = 0
        var refused = Int32(clamping: seconds)
        while refused - accepted > 1 {
            let middle = accepted + (refused - accepted) / 2
            answer = middle
            switch kernel.control(descriptor, .setTimeout, &answer) {
            case nil: accepted = middle
            case Errno.invalid?: refused = middle
            case let errno?: return errno
            }
        }
        answer = accepted
        return accepted == 0 ? .invalid : kernel.control(descriptor, .setTimeout, &answer)
    }

    /// WDIOC_GETTIMEOUT; a driver that answers nonsense is believed elsewhere, and in the end taken for a short one.
    private func inForce(answered: Int, _ asked: Int) -> Int {
        let atMost = limits.maximum ?? Int(Int32.max)
        var value: Int32 = 0
        if kernel.control(descriptor, .getTimeout, &value) == nil, value > 0 {
            // Hardware rounds; a timeout that was taken never becomes more than double.
            return min(answered > 0 && Int(value) / 2 > asked ? asked : Int(value), atMost)
        }
        if answered > 0 { return min(answered, asked) }
        return attributes.timeout ?? min(asked, Self.assumedTimeout)
    }

    /// What a driver that neither takes nor tells a timeout is fed by, in seconds; most hardware has more.
    public static let assumedTimeout = 10

    private func setPretimeout() {
        pretimeout = 0
        guard support.options.contains(.pretimeout), wanted.pretimeout > 0, timeout > 1 else { return }
        var value = Int32(clamping: min(wanted.pretimeout, timeout - 1))
        guard kernel.control(descriptor, .setPretimeout, &value) == nil else { return }
        let known = kernel.control(descriptor, .getPretimeout, &value) == nil
        pretimeout = known && value > 0 && value < timeout ? Int(value) : 0
    }

    /// For the journal and `curfew status`: what became of the timeout that was asked for; nil when it is in force.
    public var timeoutRemark: String? {
        guard isOpen, timeout != wanted.timeout else { return nil }
        return joined([
            location.path, ": asked for a timeout of ", wanted.timeout.description, " s, the driver gives ",
            timeout.description, " s",
        ])
    }

    /// WDIOC_GETTIMELEFT, in seconds; nil where the driver has no word for it, or no sensible one.
    public func timeLeft() -> Int? {
        var value: Int32 = 0
        guard isOpen, kernel.control(descriptor, .timeLeft, &value) == nil else { return nil }
        return value >= 0 && value <= timeout ? Int(value) : nil
    }

    // MARK: Feeding and letting go

    /// WDIOC_KEEPALIVE, or a written byte where the driver has no such call. After an error other than `vanished` and
    /// `closed` the device is open still: try again before the timeout is over.
    public func feed() throws(WatchdogError) {
        guard isOpen else { throw failure(.closed) }
        var errno: Errno?
        if !feedsByWriting {
            var unused: Int32 = 0
            errno = kernel.control(descriptor, .keepAlive, &unused)
            feedsByWriting = errno == .notSupported || errno?.rawValue == ENOTTY || errno == .invalid
        }
        if feedsByWriting { errno = kernel.write(descriptor, 0) }
        guard let errno else { return }
        if WatchdogError.isGone(errno) { throw vanished(errno) }
        throw failure(.notFed, errno)
    }

    /// What became of a watchdog that was to be stopped.
    public enum Stop: Equatable, Sendable {
        case stopped
        /// It runs on and resets the board within `timeout` unless another process opens and feeds it.
        case runsOn
        /// The kernel does not say; it was asked to stop in the way that drivers understand.
        case unknown
    }

    /// Stops and closes it, by the magic close ("V" before the close). Where the kernel refuses to stop it (nowayout)
    /// the timeout is stretched before, so that who comes next has as much time as there is.
    @discardableResult
    public func stop() -> Stop {
        guard isOpen else { return .unknown }
        if isStoppable == false { try? setTimeout(limits.maximum ?? timeout) }
        _ = kernel.write(descriptor, UInt8(ascii: "V"))
        closeDescriptor()
        switch attributes.isActive {
        case true?:
            refusesToStop = true
            return .runsOn
        case false?: return .stopped
        case nil: return .unknown
        }
    }

    /// Feeds it and closes it without a word, for a successor that opens it within `timeout`. False: this driver
    /// stops at every close, so the board is unwatched until then.
    public func handOver() -> Bool {
        try? feed()
        let runsOn = attributes.noWayOut == true || support.options.contains(.magicClose)
        closeDescriptor()
        return runsOn
    }

    /// Gives the descriptor away, running and just fed, for `adopt` in the program that follows; nil when closed. It is
    /// close-on-exec.
    public func release() -> Int32? {
        guard isOpen else { return nil }
        try? feed()
        let released = descriptor
        descriptor = -1
        return released
    }

    // MARK: Sleep

    /// Before the board sleeps. `plan` knows how.
    public func prepareForSleep(_ plan: SleepPlan) throws(WatchdogError) {
        guard isOpen else { throw failure(.closed) }
        switch plan.before {
        case .feed: try feed()
        case .stretch: try stretch()
        case .stop:
            guard stop() == .runsOn else { return }
            // It did not stop after all: better long than unfed.
            try open(timeout: wanted.timeout, pretimeout: wanted.pretimeout, maximum: limits.maximum)
            try stretch()
        }
    }

    private func stretch() throws(WatchdogError) {
        if let maximum = limits.maximum, maximum > timeout { try setTimeout(maximum) }
        try feed()
    }

    /// After the board slept, or after `stop`: closed, opened, and the timeout set again, because hardware may have
    /// lost all of it while the kernel believes it active. One that cannot be stopped is never closed, only set again
    /// and fed: the kernel would not start it anew. stoppable: the profile's word.
    public func rearm(stoppable: Bool = true) throws(WatchdogError) {
        guard wanted.timeout > 0 else { throw failure(.closed) }
        if isOpen, stoppable, isStoppable != false { stop() }
        try open(
            timeout: wanted.timeout, pretimeout: wanted.pretimeout, maximum: limits.maximum, stoppable: stoppable)
    }

    // MARK: Ends

    private func closeDescriptor() {
        if isOpen { kernel.close(descriptor) }
        descriptor = -1
    }

    private func vanished(_ errno: Errno) -> WatchdogError {
        closeDescriptor()
        return failure(.vanished, errno)
    }

    private func failure(_ problem: WatchdogError.Problem, _ errno: Errno = Errno(rawValue: 0)) -> WatchdogError {
        WatchdogError(problem: problem, errno: errno, path: location.path)
    }
}
