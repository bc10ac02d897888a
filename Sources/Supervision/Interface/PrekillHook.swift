internal import ControlGroup
internal import Journal
internal import Lifecycle
internal import ProcessControl
internal import SystemCalls
internal import Varlink

/// systemd-oomd's word on whom it is about to kill, so that the end of an app can be recorded as what it is. It calls
/// every socket of a directory, and waits a little for the answers.
final class PrekillHook {
    /// A kill that comes so long after its announcement is not systemd-oomd's: it waits PrekillHookTimeoutSec= of
    /// oomd.conf, which is less. Nanoseconds.
    static let killWindow: Int64 = 60_000_000_000

    let path: String
    /// Who may call beside root; nil where there is no such user.
    private let user: UInt32?
    private unowned(unsafe) let supervisor: Supervisor

    /// nil where there is no systemd-oomd with hooks.
    init?(_ supervisor: Supervisor) {
        let directory = supervisor.paths.root + "/run/systemd/oomd.prekill.hook"
        guard Files.exists(directory) else { return nil }
        path = directory + "/io.curfew"
        user = try? Credentials.resolve(user: "systemd-oom", group: nil).user
        self.supervisor = supervisor
    }

    func admits(_ peer: Peer) -> Bool { peer.uid == 0 || peer.uid == user }

    func handle(_ request: Request) {
        // At once: its kill waits for it.
        request.reply()
        guard let name = supervisor.groups?.instance(ofControlGroup: request.parameters["cgroup"]?.stringValue ?? ""),
            let process = supervisor.processes.values.first(where: { $0.group?.name == name })
        else { return }
        process.oomdAnnounced = Clocks.monotonic
        supervisor.log.app(process.app.name, .warning, "systemd-oomd is about to end it")
    }
}
