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
        guard supervisor.groups != nil, group != nil else { return handle }
        return hasInGroup(handle) ? handle : nil
    }

    /// Whether a process is in the control group of this instance.
    func hasInGroup(_ handle: ProcessHandle) -> Bool {
        guard let group, supervisor.place(of: handle.pid) == .instance(group.name) else { return false }
        return handle.holdsPid
    }
}

extension Supervisor {
    /// Whether a process of this user can be one of an app's that runs: a stranger may keep the lock of its own
    /// directory in /proc, and who looks there waits for that. What starts as root may become any user.
    func mayBeOfAnApp(user: UInt32) -> Bool {
        user == 0 || processes.values.contains { $0.user == nil || $0.user == 0 || $0.user == user }
    }

    /// In which control group a process is.
    func place(of pid: Int32) -> ProcessPlace {
        groups?.place(of: pid, among: processes.values.lazy.compactMap { $0.group }) ?? .unknown
    }

    /// The instance a peer belongs to, by the kernel's word: its control group, read while its pidfd (or its
    /// connection) keeps the pid its own. Without control groups, the main process only.
    func instance(of peer: Peer) -> InstanceID? {
        guard groups != nil else {
            return processes.values.first { $0.mainPID == peer.pid }?.instance
        }
        guard mayBeOfAnApp(user: peer.uid), let name = place(of: peer.pid).instance else { return nil }
        if let pidfd = peer.pidfd, !ProcessHandle.holdsPid(pidfd) { return nil }
        return processes.values.first { $0.group?.name == name }?.instance
    }
}
