internal import EventLoop
internal import Lifecycle
internal import MessageBus
internal import ProcessControl
internal import SystemCalls

/// Our locks at logind outlive the loop: a copy of each is on its way in a socket, which the keeper has too. The next
/// loop has that until logind has given it one of its own, or there is nothing to hold up any more: a sleep that was
/// announced to the loop before waits for its apps.
///
/// The keeper has no copy itself: to give a lock back is to take it out of the socket, and nothing else is waited for.
final class KeptLocks {
    /// A lock that blocks, and is not wanted any more, is let go of after so many nanoseconds.
    private static let blockTime: Int64 = 5_000_000_000

    private final class Box {
        let kind: Inhibitor
        private let socket: FileDescriptor
        private let copy: KeptCopy

        init(_ kind: Inhibitor, _ socket: consuming FileDescriptor, _ copy: KeptCopy) {
            self.kind = kind
            self.socket = socket
            self.copy = copy
        }

        /// At once, whatever the keeper does.
        deinit { LockBox.empty(socket.rawValue) }
    }

    private unowned(unsafe) let supervisor: Supervisor
    private var own: [Box] = []
    private var regained: [Box] = []
    private var timer: TimerSource?
    /// A sleep, when the core was looked at last.
    private var wasPreparing = false

    init(_ supervisor: Supervisor) { self.supervisor = supervisor }

    /// The keeper lets go of these by itself where loops die one after the other.
    private static func name(of kind: Inhibitor) -> String { LockBox.names + kind.name }

    /// What the loop before had.
    func regain() {
        for kind in Inhibitor.allCases {
            let name = Self.name(of: kind)
            guard let box = supervisor.keeper.takeKept(name) else { continue }
            regained.append(Box(kind, box, KeptCopy(takenFrom: supervisor.keeper, name)))
        }
        guard !regained.isEmpty else { return }
        timer = try? supervisor.loop.timer { [unowned(unsafe) self] in
            regained.removeAll { $0.kind != .sleep && $0.kind != .shutdown }
        }
        timer?.arm(at: Clocks.monotonic + Self.blockTime)
    }

    var hasRegained: Bool { !regained.isEmpty }

    func wasTaken(_ kind: Inhibitor, _ descriptor: Int32) {
        // First what was had of it: its end has the keeper drop the name.
        release(kind)
        guard let box = LockBox.make(of: descriptor),
            let copy = supervisor.keep(Self.name(of: kind), box.rawValue)
        else { return }
        own.append(Box(kind, box, copy))
    }

    func release(_ kind: Inhibitor) {
        regained.removeAll { $0.kind == kind }
        own.removeAll { $0.kind == kind }
    }

    func releaseAll() { (regained, own) = ([], []) }

    /// After each event: the core does not know of what was regained.
    func judge() {
        if regained.isEmpty { return }
        let core = supervisor.core
        let state = core.device.sleepState
        // One that an operator has ended by hand is over for us, too.
        let isOver = state == .asleep || wasPreparing && state != .preparing
        wasPreparing = state == .preparing
        regained.removeAll { $0.kind == .sleep && isOver || $0.kind == .shutdown && core.isShutdownOver }
    }
}
