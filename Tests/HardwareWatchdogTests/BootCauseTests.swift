import CLinux
import HardwareWatchdog
import SystemCalls
import Testing

@Suite struct BootCauseTests {
    typealias Evidence = BootCause.Evidence

    @Test func strongestEvidenceWins() {
        let cases: [(Evidence, BootCause.Kind, String)] = [
            (Evidence(), .unknown, "no last words of the boot before"),
            (Evidence(bootStatus: .cardReset), .watchdog, "watchdog reset"),
            (Evidence(bootStatus: .cardReset, lastWord: .running), .watchdog, "watchdog reset"),
            (Evidence(bootStatus: .cardReset, lastWord: .poweringOff), .watchdog, "hung while it went down"),
            (Evidence(bootStatus: .cardReset, lastWord: .stopped), .watchdog, "after curfewd had been stopped"),
            (Evidence(bootStatus: .cardReset, lastWord: .rebooting), .reboot, "the watchdog's bit is set"),
            (Evidence(bootStatus: .cardReset, lastWord: .running, panic: true), .panic, "watchdog reset"),
            (Evidence(lastWord: .running, panic: true), .panic, "the kernel panicked:"),
            (
                Evidence(bootStatus: [.overheat, .cardReset], lastWord: .running), .overheat,
                "overheated, watchdog reset"
            ),
            (Evidence(bootStatus: .powerUnder, lastWord: .running), .powerLoss, "power bad"),
            (Evidence(bootStatus: .external1, lastWord: .running), .unknown, "external relay 1"),
            (Evidence(lastWord: .rebooting), .reboot, "in good order"),
            (Evidence(lastWord: .goingDown), .shutdown, "in good order"),
            (Evidence(lastWord: .poweringOff), .shutdown, "in good order"),
            (Evidence(lastWord: .poweringOffBattery), .lowBattery, "critical"),
            (Evidence(lastWord: .runningLow), .lowBattery, "most likely"),
            (Evidence(lastWord: .stopped), .unknown, "it was not watched"),
        ]
        for (evidence, kind, words) in cases {
            let cause = BootCause(evidence)
            #expect(cause.kind == kind && cause.explanation.contains(words), "\(evidence): \(cause)")
        }
    }

    /// What the board cannot tell is not claimed to be known.
    @Test func silenceMeansSomethingOnlyWhereTheWatchdogReports() {
        let silent = BootCause(Evidence(lastWord: .running))
        #expect(silent.kind == .unknown && silent.explanation.contains("cannot be told apart"))
        let excluded = BootCause(Evidence(reportsResets: true, lastWord: .running))
        #expect(excluded.kind == .powerLoss && excluded.explanation.contains("not by its watchdog"))
    }

    @Test func orderIsKnownWithoutTheWords() {
        let cases: [(Evidence, Bool?)] = [
            (Evidence(), nil), (Evidence(bootStatus: .external1, oops: true), nil),
            (Evidence(lastWord: .rebooting), true), (Evidence(lastWord: .goingDown), true),
            (Evidence(bootStatus: .external1, lastWord: .poweringOff), true),
            (Evidence(bootStatus: .cardReset, lastWord: .rebooting), false),
            (Evidence(lastWord: .rebooting, oops: true), false), (Evidence(lastWord: .rebooting, panic: true), false),
            (Evidence(bootStatus: .cardReset, lastWord: .goingDown), false),
            (Evidence(bootStatus: .overheat, lastWord: .goingDown), false),
            (Evidence(bootStatus: .powerUnder), false), (Evidence(bootStatus: .cardReset), false),
            (Evidence(lastWord: .running), false), (Evidence(lastWord: .runningLow), false),
            (Evidence(lastWord: .stopped), false), (Evidence(lastWord: .poweringOffBattery), false),
        ]
        for (evidence, isOrderly) in cases { #expect(BootCause(evidence).wasOrderly == isOrderly, "\(evidence)") }
    }

    @Test func oopsIsNoCauseButIsTold() {
        let cause = BootCause(Evidence(bootStatus: .cardReset, lastWord: .running, oops: true))
        #expect(cause.kind == .watchdog && cause.explanation.contains("oops"))
        #expect(BootCause(Evidence(lastWord: .running, oops: true)).kind == .unknown)
    }
}

/// A state directory, a boot id and a pstore of the test's own.
final class PlayedBoard {
    let root: String

    init() throws {
        var name = Array("/tmp/curfew-words-XXXXXX".utf8CString)
        root = String(cString: try #require(mkdtemp(&name)))
        for directory in ["pstore", "archive"] { try Files.createDirectories("\(root)/\(directory)") }
        try boot("boot-a")
    }

    deinit { remove(root) }

    private func remove(_ path: String) {
        for name in (try? Files.list(path)) ?? [] { remove("\(path)/\(name)") }
        _ = CLinux.remove(path)
    }

    func boot(_ identifier: String) throws { try put("boot_id", identifier + "\n") }

    func put(_ path: String, _ text: String) throws {
        try Files.createDirectories(Files.directoryName(of: "\(root)/\(path)"))
        try Files.replace("\(root)/\(path)", with: Array(text.utf8), durable: false)
    }

    var words: LastWords { words(in: root) }

    func words(in state: String) -> LastWords {
        LastWords(
            path: state + "/last-words", bootIdentifier: root + "/boot_id", pstore: root + "/pstore",
            archive: root + "/archive")
    }

    func cause(_ words: LastWords, _ status: WatchdogFlags = []) -> BootCause {
        words.bootCause(bootStatus: status, reportsResets: false)
    }

    /// Boots, judges and says that it runs.
    @discardableResult
    func start(_ identifier: String, _ status: WatchdogFlags = []) throws -> BootCause {
        try boot(identifier)
        let words = words
        let judged = cause(words, status)
        try words.say(.running)
        return judged
    }
}

@Suite struct LastWordsTests {
    let board: PlayedBoard

    init() throws { board = try PlayedBoard() }

    /// Some boards restart by their watchdog, and no word tells a restart from the rest.
    @Test func resetOnTheWayDownIsNoHang_asFarAsIsKnown() throws {
        try board.start("one")
        let words = board.words
        _ = board.cause(words)
        try words.say(.goingDown)
        let cause = try board.start("two", .cardReset)
        #expect(cause.kind == .shutdown && cause.explanation.contains("this board restarts by it, or hung on the way"))
    }

    @Test func everyWordIsFoundByTheNextBoot() throws {
        for word in LastWord.allCases {
            try board.start("before-\(word)")
            let words = board.words
            _ = board.cause(words)
            try words.say(word)
            try board.boot("after-\(word)")
            #expect(board.words.ofBootBefore == word)
        }
    }

    @Test func runningFromAnotherBootWentDownWithoutAWord() throws {
        #expect(try board.start("boot-a").kind == .unknown)
        let cause = try board.start("boot-b")
        #expect(cause.explanation.contains("went down without a word"))
    }

    @Test func causeIsJudgedOnceABoot() throws {
        try board.start("boot-a")
        let judged = try board.start("boot-b", .cardReset)
        #expect(judged.kind == .watchdog)
        // The daemon starts again: its own words are this boot's now, and no evidence of how it started.
        let again = board.words
        #expect(again.ofBootBefore == nil)
        #expect(board.cause(again) == judged)
        try again.say(.stopped)
        #expect(board.cause(board.words) == judged)
        #expect(try board.start("boot-c").explanation.contains("it was not watched"))
    }

    @Test func writtenOnlyWhenSomethingChanged() throws {
        let words = board.words
        _ = board.cause(words)
        try words.say(.running)
        try Files.remove(board.root + "/last-words")
        try words.say(.running)
        #expect(!Files.exists(board.root + "/last-words"))
        try words.say(.runningLow)
        #expect(Files.exists(board.root + "/last-words"))
        // Nor after a restart of the daemon.
        let again = board.words
        _ = board.cause(again)
        try Files.remove(board.root + "/last-words")
        try again.say(.runningLow)
        #expect(!Files.exists(board.root + "/last-words"))
    }

    @Test func directoryThatCannotBeWrittenIsAnError() throws {
        let words = board.words(in: board.root + "/nowhere")
        #expect(throws: SystemError.self) { try words.say(.running) }
        #expect(board.cause(words).kind == .unknown)
    }

    @Test(arguments: [
        "", "\n", "L1", "L1aaaaa", "L1aaaaaboot-x", "L2aaaaaboot-x\n\n", "L1zaaaaboot-x\n\n", "L1aaza boot-x\n\n",
        "running boot-x\n", "\u{0}\u{ff}\u{0}\n\u{0}\n", "L1aaaa\nboot-x\n",
        String(repeating: "\u{1}L1aaaaaboot-x\n\u{fffd}", count: 400),
    ])
    func damagedWordsAreNone(_ text: String) throws {
        try board.put("last-words", text)
        #expect(board.words.ofBootBefore == nil)
        #expect(try board.start("boot-b").explanation == "no last words of the boot before")
        #expect(try board.start("boot-c").explanation.contains("without a word"))
    }

    @Test func boardThatTellsNoBootIsTakenForANewOne() throws {
        try board.start("")
        #expect(board.words.ofBootBefore == .running)
        try Files.remove(board.root + "/boot_id")
        #expect(board.words.ofBootBefore == .running)
    }

    // MARK: - pstore

    @Test func panicIsFoundInPstore() throws {
        try board.start("boot-a")
        try board.put("pstore/dmesg-ramoops-0", "Panic#1 Part1\n<0>Kernel panic - not syncing\n")
        try board.put("pstore/console-ramoops-0", "Panic#1\n")
        #expect(try board.start("boot-b").kind == .panic)
        // It lies there still, and says nothing of the next boot.
        #expect(try board.start("boot-c").kind == .unknown)
        // Another under the same name.
        try board.put("pstore/dmesg-ramoops-0", "Panic#1 Part1\n<0>Another\n")
        #expect(try board.start("boot-d").kind == .panic)
    }

    @Test func panicIsFoundWhereSystemdPutsItAway() throws {
        try board.start("boot-a")
        try board.put("archive/1763700000/1/dmesg-efi_pstore-176370000001001", "Panic#1 Part1\n<0>x\n")
        try board.put("archive/1763700000/1/dmesg.txt", "Panic#1 Part1\n<0>x\n")
        #expect(try board.start("boot-b").kind == .panic)
        #expect(try board.start("boot-c").kind == .unknown)
    }

    /// Read before it was put away, and found in its new place a boot later.
    @Test func recordThatWasMovedIsTheSame() throws {
        try board.start("boot-a")
        try board.put("pstore/dmesg-efi_pstore-1", "Panic#1 Part1\n<0>x\n")
        #expect(try board.start("boot-b").kind == .panic)
        try Files.remove(board.root + "/pstore/dmesg-efi_pstore-1")
        try board.put("archive/17/dmesg-efi_pstore-1", "Panic#1 Part1\n<0>x\n")
        #expect(try board.start("boot-c").kind == .unknown)
    }

    @Test func withoutARecordOfOursTheArchiveIsOld() throws {
        try board.put("archive/17/dmesg-efi_pstore-1", "Panic#1 Part1\n<0>x\n")
        #expect(try board.start("boot-a").kind == .unknown)
        #expect(try board.start("boot-b").kind == .unknown)
    }

    @Test func oopsWhileRunningIsToldOfAtTheNextBoot() throws {
        try board.start("boot-a")
        try board.put("pstore/dmesg-ramoops-0", "Oops#1 Part1\n<4>x\n")
        #expect(board.cause(board.words).explanation.contains("oops") == false)
        #expect(try board.start("boot-b", .cardReset).explanation.contains("oops"))
    }

    @Test func manyRecordsStayBounded() throws {
        for number in 0..<200 {
            try board.put("archive/\(1000 + number)/dmesg-efi_pstore-\(number)", "Oops#1 Part1\n<4>x\n")
        }
        #expect(KernelCrash.found(in: board.root + "/archive").count == 64)
        try board.start("boot-a")
        try board.put("archive/2000/dmesg-efi_pstore-2000", "Panic#1 Part1\n<4>x\n")
        #expect(try board.start("boot-b").kind == .panic)
        #expect(try board.start("boot-c").kind == .unknown)
        let file = try Files.read(board.root + "/last-words")
        #expect(file.count < 4096)
    }
}
