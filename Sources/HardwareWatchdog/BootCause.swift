/// Why the board started: how the boot before this one ended.
public struct BootCause: Equatable, Sendable {
    /// What ended the boot before.
    public enum Kind: UInt8, CaseIterable, Sendable {
        case unknown, watchdog, powerLoss, panic, overheat, reboot, shutdown, lowBattery

        private static let names: [StaticString] = [
            "unknown", "watchdog", "power-loss", "panic", "overheat", "reboot", "shutdown", "low-battery",
        ]
        /// "power-loss".
        public var name: String { "\(Self.names[Int(rawValue)])" }
    }

    /// What is known of a boot's end.
    public struct Evidence: Equatable, Sendable {
        /// The watchdogs' word (`WatchdogLocation.bootStatus`).
        public var bootStatus: WatchdogFlags
        /// Whether the board's watchdog is known to report its resets (`WatchdogFlags.cardReset` among the driver's
        /// options, or the profile's word): only then does its silence mean something.
        public var reportsResets: Bool
        /// Ours; nil: none were left.
        public var lastWord: LastWord?
        /// Whether pstore has new records of a panic, and of an oops.
        public var panic: Bool
        public var oops: Bool

        public init(
            bootStatus: WatchdogFlags = [], reportsResets: Bool = false, lastWord: LastWord? = nil,
            panic: Bool = false, oops: Bool = false
        ) {
            self.bootStatus = bootStatus
            self.reportsResets = reportsResets
            self.lastWord = lastWord
            self.panic = panic
            self.oops = oops
        }
    }

    public let evidence: Evidence
    public init(_ evidence: Evidence) { self.evidence = evidence }

    private var wasReset: Bool { evidence.bootStatus.contains(.cardReset) }
    private var wasHot: Bool { !evidence.bootStatus.isDisjoint(with: [.overheat, .fanFault]) }
    private var hadBadPower: Bool { !evidence.bootStatus.isDisjoint(with: [.powerUnder, .powerOver]) }
    /// Some boards restart by their watchdog: when it was to go down, the bit alone means nothing.
    private var wasResetUnasked: Bool {
        switch evidence.lastWord {
        case .rebooting, .goingDown: false
        case .running, .runningLow, .stopped, .poweringOff, .poweringOffBattery, nil: wasReset
        }
    }

    /// The strongest evidence first: hardware, then the kernel's records, then our own words. Hardware seldom says more
    /// than one bit, and of a power cut or a reset button nothing at all.
    public var kind: Kind {
        if wasHot { return .overheat }
        if evidence.panic { return .panic }
        if wasResetUnasked { return .watchdog }
        if hadBadPower { return .powerLoss }
        switch evidence.lastWord {
        case .rebooting: return .reboot
        case .goingDown, .poweringOff: return .shutdown
        case .poweringOffBattery, .runningLow: return .lowBattery
        case .running: return evidence.reportsResets ? .powerLoss : .unknown
        case .stopped, nil: return .unknown
        }
    }

    /// Whether the boot before ended as it should; nil: nothing is known of its end.
    public var wasOrderly: Bool? {
        if wasHot || evidence.panic || wasResetUnasked || hadBadPower { return false }
        switch evidence.lastWord {
        case .rebooting, .goingDown, .poweringOff: return !wasReset && !evidence.oops
        case .running, .runningLow, .stopped, .poweringOffBattery: return false
        case nil: return nil
        }
    }

    /// What became of the board by our last word alone.
    private static let words: [StaticString] = [
        """
        went down without a word: power loss, a reset by hand and a reset by the watchdog cannot be told apart on this \
        board
        """,
        "went down without a word while the battery was low: most likely it ran out",
        "went down after curfewd had been stopped: it was not watched", "shut down or restarted in good order",
        "powered off in good order", "powered off because the battery was critical",
        "restarted in good order",
    ]

    /// One line for people, with what cannot be told apart.
    public var explanation: String {
        let word = evidence.lastWord
        var text: String
        if wasHot {
            text = "stopped by its hardware for the temperature"
        } else if evidence.panic {
            text = "the kernel panicked: see /sys/fs/pstore or /var/lib/systemd/pstore"
        } else if wasResetUnasked {
            text = "reset by the hardware watchdog"
            if word == .stopped { text += ", after curfewd had been stopped" }
            if word?.isGoingDown == true { text += ": it hung while it went down" }
        } else if hadBadPower {
            text = "reset for bad power"
        } else if word == .running, evidence.reportsResets {
            text = "went down without a word, and not by its watchdog: power was lost, or it was reset by hand"
        } else if let word {
            text = "\(Self.words[Int(word.rawValue)])"
            if wasReset { text += "; the watchdog's bit is set: this board restarts by it, or hung on the way" }
        } else {
            text = "no last words of the boot before"
        }
        let causes = evidence.bootStatus.causeText
        return joined([
            text, causes.isEmpty ? "" : " (boot status: ", causes, causes.isEmpty ? "" : ")",
            evidence.oops && !evidence.panic ? "; the kernel had reported an oops before" : "",
        ])
    }
}
