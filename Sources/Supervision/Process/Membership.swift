internal import ControlGroup
internal import Lifecycle
internal import ProcessControl
internal import SystemCalls
internal import Varlink

// Which instance a process belongs to.

extension AppProcess {
    /// A process of this instance, held so that its end can be heard; nil for any other. Without
    /// control groups it is not known whose a process is: any that runs, of which its end alone is heard.
    func member(_ pid: Int32) -> ProcessHandle? {
        guard pid > 0, let handle = try? ProcessHandle.open(pid), handle.isRunning else { return nil }
        guard let groups = supervisor.groups, let group else { return handle }
        guard let place = handle.controlGroup, groups.instance(ofControlGroup: place) == group.name else { return nil }
        return handle
    }
}

extension Supervisor {
    /// Whether a process of this user can be one of an app's that runs: a stranger may keep the lock of its own
    /// directory in /proc, and who looks there waits for that. What starts as root may become any user.
    func mayBeOfAnApp(user: UInt32) -> Bool {
        user == 0 || processes.values.contains { $0.user == nil || $0.user == 0 || $0.user == user }
    }

    /// The instance a peer belongs to, by the kernel's word: its control group, read while its pidfd (or its
    /// connection) keeps the pid its own. Without control groups, the main process only.
    func instance(of peer: Peer) -> InstanceID? {
        guard let groups else {
            return processes.values.first { $0.mainPID == peer.pid }?.instance
        }
        guard mayBeOfAnApp(user: peer.uid), let place = ProcessHandle.controlGroup(of: peer.pid),
            let name = groups.instance(ofControlGroup: place)
        else { return nil }
        if let pidfd = peer.pidfd, !ProcessHandle.holdsPid(pidfd) { return nil }
        return processes.values.first { $0.group?.name == name }?.instance
    }
}
