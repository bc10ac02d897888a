internal import Configuration
internal import ProcessControl

// What outlives an app's processes, or keeps them from ending: by its user, since the kernel knows no other owner.

extension AppProcess {
    /// Of a user that no other has: nothing of the app runs that could still use it.
    func removeIPC() {
        guard let ownUser, !configuration.sandbox.hasPrivateIPC,
            !supervisor.processes.values.contains(where: { $0 !== self && $0.app === app })
        else { return }
        supervisor.keeper.removeIPC(of: ownUser)
    }

    /// With all of its processes: what hangs on a file system of the app's own is beyond SIGKILL until that has ended.
    func abortFUSE() {
        if let ownUser { supervisor.keeper.abortFUSE(of: ownUser) }
    }

    /// Others of that user may have such file systems too, so only once the kill has not worked.
    func abortSharedFUSE() {
        if let user, user != 0 { supervisor.keeper.abortFUSE(of: user) }
    }

    /// That it shares with no other app and no person.
    private var ownUser: UInt32? {
        guard configuration.user == AppConfiguration.ownUser, let user, OwnUsers.isOwn(user) else { return nil }
        return user
    }
}
