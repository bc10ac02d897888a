import Testing

@testable import Lifecycle

@Suite struct TerminationReasonTests {
    struct Row: Sendable {
        let reason: TerminationReason
        let name: String
        let namespace: TerminationNamespace
        let code: UInt64
        var key: String?
        var isFailure = false
        let words: String
        /// In the archive: its kind, numbers and texts.
        let archived: String
    }

    static let rows = [
        Row(
            reason: .handlerOverrun(.didEnterBackground, allowance: .seconds(5)), name: "handlerOverrun",
            namespace: .watchdog, code: 0x8bad_f00d, key: "[allowances] did-enter-background", isFailure: true,
            words: "scene-update: DidEnterBackground did not return within 5 s", archived: "0 2 3 5000000000 0 "),
        Row(
            reason: .handlerOverrun(.backgroundTaskWillExpire, allowance: .seconds(5)), name: "handlerOverrun",
            namespace: .backgroundTask, code: 0x2182_bad2, key: "[background] task-budget",
            words: "BackgroundTaskWillExpire did not return within 5 s", archived: "0 2 6 5000000000 0 "),
        Row(
            reason: .readinessMissed(allowance: .seconds(20)), name: "readinessMissed", namespace: .watchdog,
            code: 0x8bad_f00d, key: "[allowances] did-finish-launching", isFailure: true,
            words: "process-launch: no READY=1 within 20 s", archived: "1 1 20000000000 0 "),
        Row(
            reason: .exitOverrun(allowance: .seconds(5)), name: "exitOverrun", namespace: .watchdog,
            code: 0x8bad_f00d, key: "[allowances] will-terminate", isFailure: true,
            words: "process-exit: the app did not exit within 5 s of being asked to", archived: "2 1 5000000000 0 "),
        Row(
            reason: .livenessMissed(interval: .seconds(10)), name: "livenessMissed", namespace: .watchdog,
            code: 0x8bad_f00d, key: "liveness", isFailure: true, words: "liveness: no WATCHDOG=1 for 10 s",
            archived: "3 1 10000000000 0 "),
        Row(
            reason: .unfreezable, name: "unfreezable", namespace: .watchdog, code: 0x8bad_f00d, isFailure: true,
            words: "suspension: it could not be frozen at sleep after sleep", archived: "19 0 0 "),
        Row(
            reason: .sleepLockHeld, name: "sleepLockHeld", namespace: .watchdog, code: 0x8bad_f00d, isFailure: true,
            words: "sleep-lock: it kept its own lock on sleep at logind, at sleep after sleep", archived: "20 0 0 "),
        Row(
            reason: .lockTableFilled, name: "lockTableFilled", namespace: .watchdog, code: 0x8bad_f00d, isFailure: true,
            words: "sleep-lock: so many locks at logind were its own that curfewd's was refused", archived: "21 0 0 "),
        Row(
            reason: .taskBudgetSpent(budget: .seconds(30), held: ["a"], more: 0), name: "taskBudgetSpent",
            namespace: .backgroundTask, code: 0x2182_bad2, key: "[background] task-budget",
            words: "background task \"a\" was still held when the budget of 30 s was spent",
            archived: "4 2 30000000000 0 1 1:a "),
        Row(
            reason: .taskBudgetSpent(budget: .seconds(30), held: ["a", "b", "c"], more: 2), name: "taskBudgetSpent",
            namespace: .backgroundTask, code: 0x2182_bad2, key: "[background] task-budget",
            words: "background tasks \"a\", \"b\", \"c\" and 2 more were still held when the budget of 30 s was spent",
            archived: "4 2 30000000000 2 3 1:a 1:b 1:c "),
        Row(
            reason: .taskBudgetRanOut(budget: .seconds(600)), name: "taskBudgetRanOut", namespace: .backgroundTask,
            code: 0x2182_bad2, key: "[background] task-budget", words: "asked to end as its budget of 10 min ran out",
            archived: "5 1 600000000000 0 "),
        Row(
            reason: .memoryCritical(available: 3 << 20, bytes: 12 << 20, isProtected: true), name: "memoryCritical",
            namespace: .jetsam, code: 0,
            words: "memory was critically short (3 MiB available); the app had 12 MiB and was protected, "
                + "but no other was left to be ended", archived: "6 3 3145728 12582912 1 0 "),
        Row(
            reason: .killedForMemory(by: .kernel), name: "killedForMemory", namespace: .jetsam, code: 9,
            words: "killed by the kernel: the app's memory limit, or the board's memory, was used up",
            archived: "7 1 0 0 "),
        Row(
            reason: .killedForMemory(by: .oomd), name: "killedForMemory", namespace: .jetsam, code: 9,
            words: "killed by systemd-oomd, which found memory or swap short", archived: "7 1 1 0 "),
        Row(
            reason: .overheated, name: "overheated", namespace: .thermal, code: 0xc000_10ff,
            words: "the board is critically hot", archived: "8 0 0 "),
        Row(
            reason: .lowBattery(level: 2), name: "lowBattery", namespace: .lowBattery, code: 0,
            words: "the battery is at 2 %: the board is switched off", archived: "9 1 2 0 "),
        Row(
            reason: .lowBattery(level: nil), name: "lowBattery", namespace: .lowBattery, code: 0,
            words: "the battery is critically low: the board is switched off", archived: "9 0 0 "),
        Row(
            reason: .endedByOperator(isForced: false), name: "endedByOperator", namespace: .user, code: 0,
            words: "ended by an operator", archived: "10 1 0 0 "),
        Row(
            reason: .endedByOperator(isForced: true), name: "endedByOperator", namespace: .user, code: 0,
            words: "ended by an operator, at once", archived: "10 1 1 0 "),
        Row(
            reason: .configurationRemoved, name: "configurationRemoved", namespace: .user, code: 0,
            words: "its configuration was removed", archived: "11 0 0 "),
        Row(
            reason: .exited(status: 0), name: "exited", namespace: .exit, code: 0, words: "exited by itself",
            archived: "12 1 0 0 "),
        Row(
            reason: .exited(status: 3), name: "exited", namespace: .exit, code: 3, isFailure: true,
            words: "exited by itself with status 3", archived: "12 1 3 0 "),
        Row(
            reason: .exitedUnseen, name: "exitedUnseen", namespace: .exit, code: 0,
            words: "ended by itself; who started it knows how", archived: "13 0 0 "),
        Row(
            reason: .signalled(11), name: "signalled", namespace: .crash, code: 11, isFailure: true,
            words: "killed by signal 11", archived: "14 1 11 0 "),
        Row(
            reason: .launchFailed(errno: 2, "exec /x: No such file"), name: "launchFailed", namespace: .launchFailure,
            code: 2, isFailure: true, words: "exec /x: No such file", archived: "15 1 2 1 21:exec /x: No such file "),
        Row(
            reason: .launchTimedOut(bound: .seconds(30)), name: "launchTimedOut", namespace: .launchFailure, code: 110,
            isFailure: true, words: "its program was not started within 30 s", archived: "16 1 30000000000 0 "),
        Row(
            reason: .shutdown, name: "shutdown", namespace: .shutdown, code: 0,
            words: "the board shuts down or the supervisor was stopped", archived: "17 0 0 "),
        Row(
            reason: .loopDied(signal: 11), name: "daemonDied", namespace: .unknown, code: 0,
            words: "signal 11 ended curfewd's loop, and the app was ended with it", archived: "22 1 11 0 "),
        Row(
            reason: .unknown, name: "unknown", namespace: .unknown, code: 0, isFailure: true,
            words: "ended, and curfewd could not learn how", archived: "18 0 0 "),
    ]

    @Test(arguments: rows) func eachReasonHasItsWords(_ row: Row) {
        #expect(row.reason.name == row.name)
        #expect(row.reason.namespace == row.namespace)
        #expect(row.reason.code == row.code)
        #expect(row.reason.limitKey == row.key)
        #expect(row.reason.isFailure == row.isFailure)
        #expect(row.reason.explanation == row.words)
    }

    /// The fields that a reason has in an archive, from "kind count numbers count length:text".
    private func archived(_ notation: String) throws -> [UInt8] {
        var parts = notation.split(separator: " ", maxSplits: 2)
        var kind = try #require(Int64(parts[0]))
        let numberCount = try #require(Int(parts[1]))
        parts = parts[2].split(separator: " ", maxSplits: numberCount, omittingEmptySubsequences: false)
        var numbers = try parts[..<numberCount].map { try #require(Int64($0)) }
        var texts: [String] = []
        var rest = parts[numberCount].drop { $0 != " " }.dropFirst()
        while let colon = rest.firstIndex(of: ":") {
            let length = try #require(Int(rest[..<colon]))
            texts.append(String(rest[rest.index(after: colon)...].prefix(length)))
            rest = rest[rest.index(after: colon)...].dropFirst(length + 1)
        }
        var archive = StateArchive()
        archive.value(1, &kind)
        archive.list(2, &numbers, 0) { $0.value(1, &$1) }
        archive.list(3, &texts, "") { $0.value(1, &$1) }
        return archive.bytes
    }

    private func restored(_ notation: String) throws -> TerminationReason? {
        var archive = StateArchive(reading: try archived(notation))
        var reason = TerminationReason.unknown
        reason.archive(&archive)
        return archive.failed ? nil : reason
    }

    @Test(arguments: rows) func eachReasonIsReadBackAsItWasWritten(_ row: Row) throws {
        #expect(try restored(row.archived) == row.reason)
        var archive = StateArchive()
        var reason = row.reason
        reason.archive(&archive)
        #expect(archive.bytes == (try archived(row.archived)))
    }

    @Test(arguments: [
        "0 2 99 5 0 ", "15 1 2 0 ", "15 1 9999999999 1 1:x ", "12 1 -9999999999 0 ", "7 1 7 0 ", "23 0 0 ",
    ])
    func reasonOfNoKindIsRefused(_ notation: String) throws { #expect(try restored(notation) == nil) }
}
