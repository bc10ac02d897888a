internal import Configuration
internal import ControlGroup
internal import EventLoop
internal import Journal
internal import Lifecycle
internal import MessageBus
internal import ProcessControl
internal import SystemCalls

/// Delay locks on sleep that apps hold at logind by themselves. One that is frozen cannot let go of its own, and logind
/// would wait for it as long as it waits at all. So on the way to sleep it is asked who holds some, and those apps are
/// frozen when they have let go; one that was suspended before is thawed for that. One that does not let go counts as
/// one that cannot be frozen, which the core bounds; one that runs through sleeps has the same time.
final class AppLocks {
    /// Between two questions, while an app holds one; nanoseconds.
    private static let interval: Int64 = 50_000_000
    /// How long apps that may hold none wait for an answer; nanoseconds. What comes later is heard all the same.
    private static let answerWait: Int64 = 100_000_000
    /// The same for the keeper's, which looks at all that apps have open.
    private static let searchWait: Int64 = 400_000_000

    private unowned(unsafe) let supervisor: Supervisor
    private var isAsking = false
    /// What it answers to that is older than what is to be confirmed.
    private var isOldQuestion = false
    /// The answer is awaited with patience.
    private var isAnswerAwaited = false
    /// By instance, as logind said last in this sleep.
    private var holders: [Int64: ForeignLock] = [:]
    /// Instances that are to be frozen.
    private var waiting: [Int64] = []
    /// Instances that run through sleeps, and of which the core has heard that they hold one.
    private var running: [Int64] = []
    /// Our own lock was refused, and it is asked why.
    private var isCrowded = false
    private var timer: TimerSource?
    /// logind has announced the present sleep: in no other does an app hear that it is to let go.
    private var isLogins = false
    /// The apps that were told of, in this sleep.
    private var said: [String] = []
    /// Of locks whose holder is not known for sure.
    private let strays: LockHolders

    init(_ supervisor: Supervisor) {
        self.supervisor = supervisor
        strays = LockHolders(supervisor)
    }

    /// logind has announced a sleep.
    func sleepBegins() {
        isLogins = true
        said = []
        holders = [:]
        running = []
        strays.reset()
        ask()
    }

    /// It is over: what is asked next is another one.
    func sleepEnded() {
        isLogins = false
        isAnswerAwaited = false
        holders = [:]
        running = []
        strays.reset()
        timer?.disarm()
        // What is to stay suspended waits for no lock now; the others are to be thawed first.
        if !waiting.isEmpty { arm(after: 0) }
    }

    private func ask() {
        isOldQuestion = false
        guard let login = supervisor.login else { return }
        isAsking = true
        isAnswerAwaited = true
        login.readForeignLocks()
        if isAsking { arm(after: Self.answerWait) }
    }

    /// After what was said before.
    func askAnew() {
        if isAsking { isOldQuestion = true } else { ask() }
    }

    /// Whether it is not to be frozen yet; it is put on the list then, and will be, by `freezeNow`.
    func deferFreezing(of process: AppProcess) -> Bool {
        let instance = process.instance.rawValue
        guard isLogins, !supervisor.isUp, isAnswerAwaited || holders[instance] != nil else { return false }
        // The answer may be older than its handler, in which it may have let go.
        if waiting.isEmpty, !isAsking { ask() }
        if !waiting.contains(instance) { waiting.append(instance) }
        return true
    }

    /// logind may be kept busy, and so may the keeper: what holds no lock as far as is known is frozen without their
    /// answer.
    private func timeIsOver() {
        guard isLogins else { return freezeFree() }
        guard isAsking || isAnswerAwaited else { return ask() }
        isAnswerAwaited = false
        strays.giveUpWaiting()
        freezeFree()
        if !isAsking { arm(after: Self.interval) }
    }

    private func freezeFree() {
        let free = waiting.filter { holders[$0] == nil }
        waiting.removeAll { holders[$0] == nil }
        for instance in free { supervisor.processes[instance]?.freezeNow() }
    }

    /// locks: nil where logind does not say. One that is gone waits for none; what it said before holds otherwise.
    func hear(_ locks: [ForeignLock]?) {
        isAsking = false
        isCrowded = false
        timer?.disarm()
        if locks != nil || supervisor.isLoginLost {
            holders = [:]
            strays.hear(locks ?? [])
        }
        // What was suspended before may have had our lock released by now.
        let isOnTheWay = isLogins && !supervisor.isUp
        if isOnTheWay, locks != nil, !isOldQuestion { strays.confirm() }
        var named: [AppProcess] = []
        for lock in isOnTheWay ? locks ?? [] : [] {
            for process in holder(of: lock).map({ [$0] }) ?? strays.holders(of: lock) {
                holders[process.instance.rawValue] = lock
                if name(process, lock) { named.append(process) }
            }
        }
        isAnswerAwaited = strays.isAnswerAwaited
        for process in named { tell(of: process) }
        if isOldQuestion, isOnTheWay, !isAsking { ask() }
        tellOfReleases()
        if isAnswerAwaited { return arm(after: Self.searchWait) }
        freezeFree()
        // An answer that has not come may be the one that names a holder.
        if mustWait || locks == nil && isOnTheWay && !supervisor.isLoginLost { arm(after: Self.interval) }
    }

    /// Some app is to let go of its lock.
    private var mustWait: Bool { !waiting.isEmpty || !running.isEmpty }

    private func tell(of process: AppProcess) {
        if !process.app.configuration.policy.suspend { running.append(process.instance.rawValue) }
        supervisor.dispatch(.login(.appHoldsLock(process.instance)))
    }

    private func tellOfReleases() {
        if isAnswerAwaited { return }
        let free = running.filter { holders[$0] == nil }
        running.removeAll { holders[$0] == nil }
        for instance in free {
            guard let process = supervisor.processes[instance] else { continue }
            supervisor.log.caused(by: process.app.name, .debug, "let go of its lock on sleep at logind")
            supervisor.dispatch(.login(.appReleasedLock(process.instance)))
        }
    }

    /// The keeper has found a process of this app's that has the lock.
    func found(_ process: AppProcess, _ lock: ForeignLock) {
        guard isLogins, !supervisor.isUp else { return }
        holders[process.instance.rawValue] = lock
        if name(process, lock) { tell(of: process) }
    }

    /// Our lock was refused: whose are all those that logind has?
    func lookForCrowds() {
        isCrowded = true
        supervisor.login?.readForeignLocks()
    }

    /// Where apps share a user they answer for it together.
    func hearCrowds(_ locks: [ForeignLock]) {
        guard isCrowded else { return }
        isCrowded = false
        for lock in locks {
            let apps = supervisor.apps.values.filter { $0.user == lock.user && lock.user != 0 }
            for process in apps.compactMap({ $0.process }) {
                supervisor.dispatch(.login(.appFillsLocks(process.instance)))
            }
        }
    }

    /// It has ended in the middle of a sleep, and may have given its lock to another.
    func hasEnded(_ process: AppProcess) {
        let instance = process.instance.rawValue
        waiting.removeAll { $0 == instance }
        running.removeAll { $0 == instance }
        guard holders.removeValue(forKey: instance) != nil, isLogins, !supervisor.isUp else { return }
        strays.searchAgain(after: process.instance)
        if !isAsking { ask() }
    }

    /// All that is held by others is known.
    func searchesAreOver() {
        guard isAnswerAwaited, !isAsking else { return }
        isAnswerAwaited = false
        freezeFree()
        if mustWait { arm(after: Self.interval) }
    }

    /// The time in which it should have let go is over, of one that runs through sleeps. What it holds, for people.
    func stopAsking(for process: AppProcess) -> String? {
        let instance = process.instance.rawValue
        running.removeAll { $0 == instance }
        return holders[instance].map { words(of: $0, process) }
    }

    /// The time in which it should have been frozen is over. What it holds, for people. It is left running: frozen, it
    /// could not even let go late, and logind would wait for it as long as it waits at all.
    func giveUp(on process: AppProcess) -> String? {
        let instance = process.instance.rawValue
        guard let place = waiting.firstIndex(of: instance) else { return nil }
        if let lock = holders[instance] { return "holds logind's lock on sleep, " + words(of: lock, process) }
        waiting.remove(at: place)
        process.freezeNow()
        return nil
    }

    /// With who gave it to the app, which may not have asked for it.
    private func words(of lock: ForeignLock, _ holder: AppProcess) -> String {
        let names = supervisor.apps.values.filter { $0.user == lock.user }.map { $0.name }.sorted()
        let taker = holder.user == lock.user ? "" : names.joined(separator: " or ")
        return lock.words + (taker.isEmpty ? strays.doubt(of: lock) : "; \(taker) took it")
    }

    /// Whose it is for sure: by its pid, where that still is a process of the app's and of the lock's user, as pids are
    /// given anew. Who took it may be gone, and have left it to others of its app: then a user that no other app has
    /// tells which, where the pid is another process's by now, too, if it is the app's own. nil: it has to be looked
    /// for.
    private func holder(of lock: ForeignLock) -> AppProcess? {
        guard supervisor.groups != nil else { return nil }
        let apps = supervisor.apps.values.filter { $0.user == lock.user }
        let only = apps.count == 1 ? apps[0].process : nil
        // Of a stranger nothing is looked up: see `mayBeOfAnApp`.
        if apps.isEmpty, !supervisor.processes.values.contains(where: { $0.user == lock.user }) { return nil }
        switch supervisor.place(of: lock.pid) {
        case .instance(let name):
            return supervisor.processes.values.first { $0.user == lock.user && $0.group?.name == name }
        case .elsewhere: return OwnUsers.isOwn(lock.user) ? only : nil
        case .unknown: return lock.user == 0 ? nil : only
        }
    }

    /// Returns whether it has not been named in this sleep.
    private func name(_ process: AppProcess, _ lock: ForeignLock) -> Bool {
        guard !said.contains(process.app.name) else { return false }
        said.append(process.app.name)
        let isFrozen = process.app.configuration.policy.suspend
        let what = strays.isLost(lock) ? "answers for a lock that its user took" : "holds a lock of its own"
        supervisor.log.caused(
            by: process.app.name, .debug,
            what + " on sleep at logind, \(lock.words)" + (isFrozen ? ": frozen after it" : ""))
        return true
    }

    private func arm(after time: Int64) {
        if timer == nil { timer = try? supervisor.loop.timer { [unowned(unsafe) self] in timeIsOver() } }
        guard let timer else {
            isAnswerAwaited = false
            holders = [:]
            return freezeFree()
        }
        timer.arm(at: Clocks.monotonic + time)
    }
}
