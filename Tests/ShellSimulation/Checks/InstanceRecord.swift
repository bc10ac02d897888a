internal import Lifecycle

/// What was asked of the shell for one instance, what it has told the core of it, and what is true.
final class InstanceRecord {
    let instance: InstanceID
    let app: String
    var process: PlayedProcess?
    var group: PlayedGroup?
    /// By MAINPID=, where the app has sent one.
    private(set) var named: PlayedProcess?
    /// The main ones before it: what was said last may not have been heard, where a call fails.
    private var mainBefore: [PlayedProcess] = []
    /// How its start was told: spawned, or not.
    var startsTold = 0
    var isStarted = false
    var endsTold = 0
    var emptiedTold = 0
    var isKillAsked = false
    var isClearAsked = false
    /// It was to end: by willTerminate, or by SIGTERM.
    var isEndAsked = false
    var isTermAsked = false
    /// What its main process has left behind, and was sent SIGTERM.
    var restAsked: Set<Int32> = []
    /// Since when its main process and the rest are gone, and that is not told. MONOTONIC.
    var allGoneSince: Int64?
    /// The last word to the freezer; nil: none yet.
    var wantsFrozen: Bool?
    /// It was asked for, and nothing was done yet.
    var isFreezeOwed = false
    /// A loop has died: the next one does what that has asked for, once more.
    var mayBeDoneAgain = false
    /// MONOTONIC.
    var frozenWantedAt: Int64 = 0
    var isFrozenTold = false
    /// Handlers called and not heard by the app yet, with the time of the call.
    var sent: [(method: String, call: CallID, at: Int64)] = []
    /// Calls that have not returned.
    var open: [CallID] = []
    /// What the app has said that may make a call return, or the app ready, and was not told yet.
    var answers = 0
    var readies = 0
    var pings = 0
    /// In place of an answer.
    var hasSaidNonsense = false
    /// The call that the app has heard last, and those that it has answered.
    var heard: CallID?
    var answered: [CallID] = []
    /// Hooks that were started, and the calls they are for.
    var hooks: [(process: PlayedProcess, call: CallID)] = []
    /// Since when its process gets the processor; nil: it does not. MONOTONIC.
    var runsSince: Int64?
    /// Since when the kernel keeps it frozen against what was asked for. MONOTONIC.
    var stuckFrozenSince: Int64?
    /// When its last process was gone. MONOTONIC.
    var emptySince: Int64?

    init(_ instance: InstanceID, _ app: String) {
        self.instance = instance
        self.app = app
    }

    func name(_ main: PlayedProcess) {
        mainBefore += [named ?? process].compactMap { $0 }
        named = main
    }

    /// Asked for at any time before.
    func wants(_ deed: OrderCheck.Deed) -> Bool {
        switch deed {
        case .freeze: wantsFrozen == true
        case .thaw: wantsFrozen != true
        case .terminate: isEndAsked
        }
    }

    /// One that was the main process once has ended.
    var hasLostAMainProcess: Bool { mainBefore.contains { $0.state != .running } }
}
