import ProcessControl
import SystemCalls
import Testing
import Varlink

@testable import Lifecycle
@testable import Supervision

/// What an app says may be heard before the keeper's word that its program runs: it is proof enough.
@Suite struct EarlyWordTests {
    private static let ready =
        "import os, signal, socket; socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)"
        + ".sendto(b'READY=1', os.environ['NOTIFY_SOCKET']); signal.pause()"

    @Test func readyBeforeTheKeeperSaysThatItRuns() throws {
        let shell = try PlayedShell([
            "early": "exec = [\"/usr/bin/python3\", \"-S\", \"-E\", \"-c\", \"\(Self.ready)\"]\n"
                + "launch = \"manual\"\nreadiness = \"notify\"\n"
        ])
        shell.keeper.saysRunning = false
        func view() -> AppView? { shell.supervisor.core.view(of: AppID(rawValue: 0)) }
        let client = try shell.client()
        try client.call(Call("io.curfew.Control.Launch", ["app": "early"]))
        client.serve()
        try shell.run { view()?.phase == .active }
        let instance = view()?.instance
        // It is not launched twice for it.
        shell.keeper.saysRunning = true
        try shell.run { shell.supervisor.processes.values.first?.child?.isRunning == true }
        #expect(view()?.instance == instance && view()?.launches == 1)
    }
}
