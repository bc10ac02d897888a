import Testing
import Vocabulary

@testable import Lifecycle

@Suite struct FreezeRecordTests {
    /// Whether each of these sleeps ends the app, and the record after them.
    private static func counted(_ sleeps: [Int]) -> (ends: [Bool], record: OverdueSleeps) {
        var record = OverdueSleeps()
        return (sleeps.map { record.count($0) }, record)
    }

    @Test(arguments: [
        ([1], [false]), ([1, 2], [false, true]), ([1, 2, 3], [false, true, true]), ([1, 3], [false, false]),
        ([1, 3, 5], [false, false, true]), ([1, 11, 21], [false, false, true]), ([1, 12, 23], [false, false, false]),
        ([1, 3, 14, 16], [false, false, false, false]), ([1, 1], [false, false]), ([1, 2, 13], [false, true, false]),
    ])
    func twoInARowAreTooMany_orThreeOfTen(_ sleeps: [Int], _ ends: [Bool]) {
        #expect(Self.counted(sleeps).ends == ends)
    }

    @Test func theTimeIsHalved_forTenSleeps_butNotInTheSleepItself() {
        let record = Self.counted([4]).record
        let bounds = [4, 5, 14, 15].map { record.bound(inSleep: $0) }
        #expect(bounds == [.seconds(2), .seconds(1), .seconds(1), .seconds(2)])
    }

    @Test func theTimeIsNeverLessThanHalfASecond() {
        let bounds = [1, 2, 3, 4].map { Self.counted(Array(1...$0)).record.bound(inSleep: $0 + 1) }
        #expect(bounds == [.seconds(1), .milliseconds(500), .milliseconds(500), .milliseconds(500)])
        #expect(OverdueSleeps().bound(inSleep: 1) == .seconds(2))
    }
}
