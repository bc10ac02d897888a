import Testing

@testable import Lifecycle
@testable import Supervision

/// What a board that is about to be reset says: it has to outlive the reset.
@Suite struct BoardAtRiskTests {
    /// journald writes to the disk at once what is critical or worse, and everything else minutes later.
    @Test func anEssentialAppThatIsLostIsSaidSoThatItIsWrittenAtOnce() throws {
        let shell = try SilentShell()
        shell.supervisor.say(.app(.essentialAppLost(AppID(rawValue: 7), reset: .seconds(20))))
        let said = try shell.said()
        #expect(said.hasPrefix("critical: app 7: is essential and gone for good: "))
        #expect(said.contains("the board resets in 20 s"))
    }
}
