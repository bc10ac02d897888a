internal import CLinux
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

        /// What the loop before has put a lock into.
        init(_ kind: Inhibitor, _ socket: consuming FileDescriptor, _ copy: KeptCopy) {
            self.kind = kind
            self.socket = socket
            self.copy = copy
        }

        /// Puts a copy of a lock into a new one. nil: there is no room for it, or no loop after this one.
        init?(_ kind: Inhibitor, _ lock: Int32, _ supervisor: Supervisor) {
            var ends: [Int32] = [-1, -1]
            guard linux_packet_pair(&ends) == 0 else { return nil }
            let entry = FileDescriptor(owning: ends[0])
            let socket = FileDescriptor(owning: ends[1])
            guard linux_packet_send(entry.rawValue, "x", 1, [lock], 1) == 0,
                let copy = supervisor.keep(KeptLocks.name(of: kind), socket.rawValue)
            else { return nil }
            self.kind = kind
            self.socket = socket
            self.copy = copy
        }

        /// At once, whatever the keeper does.
        deinit {
            var (byte, lock, count, isLost) = (UInt8(0), Int32(-1), 1, false)
            if linux_packet_receive(socket.rawValue, &byte, 1, &lock, &count, &isLost, false) == 1, count == 1 {
                close(lock)
            }
        }
    }

    private unowned(unsafe) let supervisor: Supervisor
    private var own: [Box] = []
    private var regained: [Box] = []
    private var timer: TimerSource?

    init(_ supervisor: Supervisor) { self.supervisor = supervisor }

    /// The keeper lets go of these by itself where loops die one after the other.
    private static func name(of kind: Inhibitor) -> String { KeptDescriptors.locks + kind.name }

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
        if let box = Box(kind, descriptor, supervisor) { own.append(box) }
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
        regained.removeAll {
            $0.kind == .sleep && core.device.sleepState == .asleep || $0.kind == .shutdown && core.isShutdownOver
        }
    }
}
