import Lifecycle
import Testing
import Varlink
import Vocabulary

@testable import Supervision

@Suite struct ReportMembersTests {
    /// What ListTerminations gives of a stored report is all that a new one says of itself.
    @Test func everyMemberOfAnEndIsListed() throws {
        let end = Termination(
            app: AppID(rawValue: 0), name: "camera", instance: InstanceID(rawValue: 1), reason: .exited(status: 1),
            uptime: .seconds(1), phase: .active)
        let report = Report(id: 1, time: 0, subject: .app(end), cpuNanoseconds: nil, output: [])
        guard case .object(let members) = report.control else { throw MissingMembers() }
        #expect(members.members.map(\.name).sorted() == Report.controlMembers.sorted())
    }

    private struct MissingMembers: Error {}
}
