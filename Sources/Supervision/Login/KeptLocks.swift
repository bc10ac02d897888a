internal import EventLoop
internal import Lifecycle
internal import MessageBus
internal import ProcessControl
internal import SystemCalls

/// Our locks at logind outlive the loop: the keeper has a copy of each. The next loop has that until logind has given
/// it one of its own, or there is nothing to hold up any more: a sleep that was announced to the loop before waits for
/// its apps.
final class KeptLocks {
    /// A lock that blocks, and is not wanted any more, is let go of after so many nanoseconds.
    private static let blockTime: Int64 = 5_000_000_000

    private final class Bridge {
        let kind: Inhibitor
        private let lock: FileDescriptor
        // Of the keeper's.
        private let copy: KeptCopy

        init(_ kind: Inhibitor, _ lock: consuming FileDescriptor, _ copy: KeptCopy) {
            self.kind = kind
            self.lock = lock
            self.copy = copy
        }
    }

    private unowned(unsafe) let supervisor: Supervisor
    private var copies: [(kind: Inhibitor, copy: KeptCopy)] = []
    private var bridges: [Bridge] = []
    private var timer: TimerSource?

    init(_ supervisor: Supervisor) { self.supervisor = supervisor }

    /// The keeper lets go of these by itself where loops die one after the other.
    private static func name(of kind: Inhibitor) -> String { KeptDescriptors.locks + kind.name }

    /// What the loop before had.
    func regain() {
        for kind in Inhibitor.allCases {
            let name = Self.name(of: kind)
            guard let lock = supervisor.keeper.takeKept(name) else { continue }
            bridges.append(Bridge(kind, lock, KeptCopy(takenFrom: supervisor.keeper, name)))
        }
        guard !bridges.isEmpty else { return }
        timer = try? supervisor.loop.timer { [unowned(unsafe) self] in
            bridges.removeAll { $0.kind != .sleep && $0.kind != .shutdown }
        }
        timer?.arm(at: Clocks.monotonic + Self.blockTime)
    }

    var hasRegained: Bool { !bridges.isEmpty }

    func wasTaken(_ kind: Inhibitor, _ descriptor: Int32) {
        // First what was had of it: its end has the keeper drop the name.
        release(kind)
        if let copy = supervisor.keep(Self.name(of: kind), descriptor) { copies.append((kind, copy)) }
    }

    func release(_ kind: Inhibitor) {
        bridges.removeAll { $0.kind == kind }
        copies.removeAll { $0.kind == kind }
    }

    func releaseAll() { (bridges, copies) = ([], []) }

    /// After each event: the core does not know of what was regained.
    func judge() {
        if bridges.isEmpty { return }
        let core = supervisor.core
        bridges.removeAll {
            $0.kind == .sleep && core.device.sleepState == .asleep || $0.kind == .shutdown && core.isShutdownOver
        }
    }
}
