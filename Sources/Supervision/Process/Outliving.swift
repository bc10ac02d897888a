internal import CLinux
internal import Configuration
internal import ControlGroup
internal import Journal
internal import Lifecycle
internal import ProcessControl
internal import SystemCalls

// What outlives an app's processes, or keeps them from ending: by its user, since the kernel knows no other owner.

extension AppProcess {
    /// Nanoseconds after which a tracer has had the time to see an end.
    private static let promptDeath: Int64 = 1_000_000_000
    /// Processes of an app that are looked at for tracers.
    private static let mostTraced = 256
    /// For whose sake file systems of others are ended: the keeper looks for one after the other.
    private static let mostAwaiting = 8

    /// Of a user that no other has. Where one that cannot be killed was left behind, its processes are that user's
    /// still, and nothing is removed.
    func removeIPC() {
        guard let ownUser, !configuration.sandbox.hasPrivateIPC else { return }
        supervisor.keeper.removeIPC(of: ownUser)
    }

    func reportStuck(_ stuck: Stuck) {
        if stuck == .unkillable {
            abortOthersFUSE()
            endTracers()
        }
        let lock = stuck == .unfreezable ? supervisor.appLocks.giveUp(on: self) : nil
        if let lock { return supervisor.log.stuck(app.name, stuck, lock) }
        let names = (group?.unfrozenProcesses() ?? []).map { $0.text }.joined(separator: ", ")
        let who = names.isEmpty ? "pid \(mainPID.map { "\($0)" } ?? "unknown")" : names
        supervisor.log.stuck(app.name, stuck, who)
    }

    /// One of the app's own user traces it, and does not let it end. What others trace is named by `unfrozenProcesses`
    /// alone: a debugger of root's, say.
    private func endTracers() {
        guard let user, user != 0, let killedAt, Clocks.monotonic - killedAt >= Self.promptDeath else { return }
        let main = mainPID ?? child?.pid
        var left = group?.processes().prefix(Self.mostTraced).filter { $0 != main } ?? []
        if let main { left.append(main) }
        for pid in left {
            for tracer in Tracers.of(pid) {
                guard let handle = Tracers.open(tracer, of: pid, user: user) else { continue }
                supervisor.log.app(
                    app.name, .warning,
                    "pid \(tracer), of its own user, traces pid \(pid) and holds back its end: killed")
                try? handle.signal(SIGKILL)
            }
        }
    }

    /// With all of its processes: what hangs on a file system of the app's own is beyond SIGKILL until that has ended.
    func abortFUSE() {
        if let ownUser { supervisor.keeper.abortFUSE(of: ownUser) }
    }

    /// Others of that user may have such file systems too, and other apps may serve one that it waits for: so only
    /// once the kill has not worked.
    func abortOthersFUSE() {
        if let user, user != 0 { supervisor.keeper.abortFUSE(of: user) }
        let left = group?.processes() ?? mainPID.map { [$0] } ?? []
        guard !left.isEmpty, Files.exists("/sys/fs/fuse/connections") else { return }
        for pid in left.prefix(Self.mostAwaiting) { supervisor.keeper.abortFUSE(awaitedBy: pid) }
        supervisor.log.app(
            app.name, .notice,
            "should a FUSE file system of another app or a person, which does not answer, hold it, that is ended")
    }

    /// That it shares with no other app and no person.
    private var ownUser: UInt32? {
        guard configuration.user == AppConfiguration.ownUser, let user, OwnUsers.isOwn(user) else { return nil }
        return user
    }
}
