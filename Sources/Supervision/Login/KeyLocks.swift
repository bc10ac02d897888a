internal import Configuration
internal import EventLoop
internal import Lifecycle
internal import MessageBus
internal import SystemCalls

/// Our block locks on the power key and the lid: what logind would do by itself with one that is Curfew's by
/// configuration. The core knows nothing of them.
final class KeyLocks {
    /// Between two tries to get those that were refused, twice as long each time; nanoseconds.
    static let firstPause: Int64 = 1_000_000_000
    private static let longestPause: Int64 = 64_000_000_000

    private unowned(unsafe) let supervisor: Supervisor
    private var timer: TimerSource?
    private(set) var pause = KeyLocks.firstPause

    init(_ supervisor: Supervisor) { self.supervisor = supervisor }

    /// Those that are wanted, and no others. One that is held or asked for stays so.
    func take() {
        guard supervisor.followsBoard, let login = supervisor.login else { return }
        let policy = supervisor.settings.policy(supervisor.configuration.device.policy)
        set(.powerKey, policy.responses[.powerKey] == .sleep, login)
        set(.lidSwitch, policy.responses[.lidClosed] == .sleep && policy.sleepsLogically, login)
    }

    private func set(_ kind: Inhibitor, _ wanted: Bool, _ login: any LoginService) {
        if wanted { return login.takeLock(kind, mode: .block) }
        login.releaseLock(kind)
        supervisor.keptLocks.release(kind)
    }

    func wasTaken() { pause = Self.firstPause }

    /// A logind that is gone is asked when it is back.
    func wasRefused() {
        guard !supervisor.isLoginLost else { return }
        if timer == nil { timer = try? supervisor.loop.timer { [unowned(unsafe) self] in takeAgain() } }
        timer?.arm(at: Clocks.monotonic + pause)
    }

    private func takeAgain() {
        pause = min(2 * pause, Self.longestPause)
        take()
    }
}
