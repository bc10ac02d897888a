import Testing

@testable import Configuration

@Suite struct QuantityTests {
    @Test(arguments: [
        ("5", 5_000_000_000), ("0", 0), ("5s", 5_000_000_000), ("5 s", 5_000_000_000), (" 5s ", 5_000_000_000),
        ("5sec", 5_000_000_000), ("1second", 1_000_000_000), ("2 seconds", 2_000_000_000),
        ("500ms", 500_000_000), ("500msec", 500_000_000), ("100us", 100_000), ("100usec", 100_000),
        ("100µs", 100_000), ("100μs", 100_000), ("1m", 60_000_000_000), ("10min", 600_000_000_000),
        ("1minute", 60_000_000_000), ("2minutes", 120_000_000_000), ("1h", 3_600_000_000_000),
        ("1hr", 3_600_000_000_000), ("1hour", 3_600_000_000_000), ("2hours", 7_200_000_000_000),
        ("1d", 86_400_000_000_000), ("1day", 86_400_000_000_000), ("2days", 172_800_000_000_000),
        ("1w", 604_800_000_000_000), ("1week", 604_800_000_000_000), ("2weeks", 1_209_600_000_000_000),
        ("1h 30min", 5_400_000_000_000), ("1h30min", 5_400_000_000_000), ("1min 2.5s", 62_500_000_000),
        ("2.5s", 2_500_000_000), ("0.000000001s", 1), ("0.0000000001s", 0), ("1.5h", 5_400_000_000_000),
        ("0.1d", 8_640_000_000_000), ("9223372036", 9_223_372_036_000_000_000),
    ])
    func duration(text: String, nanoseconds: Int64) {
        #expect(Quantity.duration.parse(text) == .value(nanoseconds))
    }

    @Test(arguments: [
        "", " ", "s", "5x", "5S", "5M", "-5s", "--5s", "+5s", "5.s", ".5s", "5..5s", "1.5.5s", "5s,", "5s -1s", "1e3s",
        "0x5s", "infinity", "٣s", "9223372037", "99999999999999999999", "106752 days", "15251w", "5 s s", "5s\u{0}",
    ])
    func noDuration(text: String) {
        guard case .value(let value) = Quantity.duration.parse(text) else { return }
        Issue.record("\(text) was read as \(value)")
    }

    @Test(arguments: [
        ("64", 64), ("64B", 64), ("1K", 1024), ("64M", 64 << 20), ("1.5G", 3 << 29), ("2T", 2 << 40),
        ("64 M", 64 << 20),
        ("0", 0), ("8388607T", 8_388_607 << 40),
    ])
    func size(text: String, bytes: Int64) { #expect(Quantity.size.parse(text) == .value(bytes)) }

    @Test(arguments: ["", "M", "64MB", "64m", "64Mi", "-1", "64M 1K", "50%", "infinity", "8388608T", "1.M"])
    func noSize(text: String) {
        guard case .value(let value) = Quantity.size.parse(text) else { return }
        Issue.record("\(text) was read as \(value)")
    }

    @Test(arguments: [
        ("SIGUSR1", 10), ("USR1", 10), ("SIGHUP", 1), ("TERM", 15), ("SIGRTMIN", 34), ("SIGRTMIN+3", 37),
        ("RTMAX", 64), ("SIGRTMAX-14", 50), ("SIGRTMIN+30", 64),
    ])
    func signal(name: String, number: Int32) { #expect(SignalName.number(name) == number) }

    @Test(arguments: [
        "", "SIG", "KILL", "SIGKILL", "SIGSTOP", "10", "sigusr1", "SIGUSR3", "SIGRTMIN+31", "SIGRTMIN-1", "SIGRTMAX+1",
        "SIGRTMIN+", "SIGRTMIN+x", "SIGSIGUSR1", "SIGRTMIN+099",
    ])
    func noSignal(name: String) { #expect(SignalName.number(name) == nil) }

    @Test(arguments: [
        ("resart", "restart"), ("RESTART", "restart"), ("user", "user"), ("usr", "user"), ("nise", "nice"),
        ("memory_max", "memory-max"),
    ])
    func suggestion(typed: String, meant: String) {
        #expect(
            Suggestion.closest(to: typed, among: ["restart", "restart-delay", "user", "nice", "memory-max"]) == meant)
    }

    @Test func noSuggestion() {
        #expect(Suggestion.closest(to: "colour", among: ["restart", "user"]) == nil)
        #expect(Suggestion.closest(to: String(repeating: "x", count: 100_000), among: ["restart"]) == nil)
        #expect(Suggestion.closest(to: "ab", among: ["nice", "user"]) == nil)
    }
}
