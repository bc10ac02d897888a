import Testing

@testable import Supervision

@Suite struct TimestampTests {
    @Test(arguments: [
        (Int64(0), "1970-01-01T00:00:00.000Z"),
        (951_782_400_000_000_000, "2000-02-29T00:00:00.000Z"),
        (1_709_251_199_999_000_000, "2024-02-29T23:59:59.999Z"),
        (1_709_251_200_000_000_000, "2024-03-01T00:00:00.000Z"),
        (4_107_542_399_000_000_000, "2100-02-28T23:59:59.000Z"),
        (4_107_542_400_000_000_000, "2100-03-01T00:00:00.000Z"),
    ])
    func isRFC3339(_ realtime: Int64, _ text: String) {
        #expect(Timestamp.text(realtime) == text)
    }
}
