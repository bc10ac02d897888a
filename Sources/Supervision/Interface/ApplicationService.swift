internal import ControlGroup
internal import Lifecycle
internal import ProcessControl
internal import SystemCalls
internal import Varlink

/// `io.curfew.Application`: what an app asks of the device. Who asks is settled when its connection is accepted.
final class ApplicationService {
    static let name = "io.curfew.Application"

    private unowned(unsafe) let supervisor: Supervisor

    init(_ supervisor: Supervisor) { self.supervisor = supervisor }

    func handle(_ request: Varlink.Request, from instance: InstanceID?) {
        guard let instance, let id = supervisor.processes[instance.rawValue]?.app.id,
            let view = supervisor.core.view(of: id), view.instance == instance
        else { return request.fail(error: "io.curfew.Application.NotAnApp") }
        switch request.method.dropFirst(Self.name.utf8.count + 1) {
        case "GetState": request.reply(["state": supervisor.applicationState(view), "tasks": []])
        default: request.fail(.methodNotImplemented(method: request.method))
        }
    }
}

extension Supervisor {
    /// The instance a peer belongs to, by the kernel's word: its control group, read while its pidfd (or its
    /// connection) keeps the pid its own. Without control groups, the main process only.
    func instance(of peer: Peer) -> InstanceID? {
        guard let groups else {
            return processes.values.first { $0.mainPID == peer.pid }?.instance
        }
        guard let place = ProcessHandle.controlGroup(of: peer.pid), let name = groups.instance(ofControlGroup: place)
        else { return nil }
        if let pidfd = peer.pidfd, !ProcessHandle.holdsPid(pidfd) { return nil }
        return processes.values.first { $0.group?.name == name }?.instance
    }
}
