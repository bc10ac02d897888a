import Testing
import Varlink

@testable import Lifecycle
@testable import Supervision

/// Clients that are gone before they are answered.
@Suite struct GoneClientTests {
    @Test func aClientThatHangsUp_leavesNothingThatCanBeDenied() throws {
        let shell = try PlayedShell([
            "slow": "exec = [\"/bin/sleep\", \"1000\"]\nlaunch = \"manual\"\nreadiness = \"notify\"\n"
        ])
        let client = try shell.client()
        try client.call(Call("io.curfew.Control.Activate", ["app": "slow"]))
        client.serve()
        #expect(shell.supervisor.core.requests.all.count == 1)
        client.hangUp()
        client.serve()
        #expect(shell.supervisor.core.requests.isEmpty)
    }

    /// A hook that sends the word and goes: there is no reply to wait for.
    @Test func aSleepThatIsAnnouncedByAOneWayCall_isHeardThoughItsSenderIsGone() throws {
        let shell = try PlayedShell()
        let client = try shell.client()
        try client.call(Call("io.curfew.Control.PrepareForSleep", ["start": true, "kind": "suspend"], oneway: true))
        client.hangUp()
        client.serve()
        #expect(shell.supervisor.core.device.sleepState != .awake)
    }

    /// The board has slept by then.
    @Test func aSleepWhoseReplyIsNotAwaitedAnyMore_isNotPreparedFor() throws {
        let shell = try PlayedShell()
        let client = try shell.client()
        try client.call(Call("io.curfew.Control.PrepareForSleep", ["start": true, "kind": "suspend"]))
        client.hangUp()
        client.serve()
        #expect(shell.supervisor.core.device.sleepState == .awake)
    }
}
