import CLinux
import SystemCalls
import Testing
import Varlink

@testable import Lifecycle
@testable import Supervision

@Suite struct ReportStoreTests {
    /// A directory of its own, removed with everything in it.
    private func withDirectory(_ body: (String) throws -> Void) throws {
        var template = Array("/tmp/curfew-reports-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        let path = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
        defer {
            for name in (try? Files.list(path)) ?? [] { try? Files.remove(path + "/" + name) }
            rmdir(path)
        }
        try body(path)
    }

    private func report(_ id: Int, _ name: String = "camera", explanation: String = "x") -> Report {
        let reason = TerminationReason.launchFailed(errno: 2, explanation)
        let termination = Termination(
            app: AppID(rawValue: 0), name: name, instance: InstanceID(rawValue: 1), reason: reason,
            handler: .didEnterBackground, allowance: .seconds(5), taken: .seconds(5), uptime: .seconds(60),
            phase: .inactive, sleep: 3)
        return Report(
            id: id, time: 1_709_251_199_999_000_000, subject: .app(termination), cpuNanoseconds: 1_500_000_000,
            output: ["last words"])
    }

    @Test func whatWasWrittenIsReadBackByASuccessor() throws {
        try withDirectory { directory in
            let store = ReportStore(directory: directory)
            let first = store.nextID()
            try store.append(report(first))
            let successor = ReportStore(directory: directory)
            let kept = successor.all()
            #expect(kept.count == 1)
            #expect(kept.first?["code"]?.stringValue == "0x2")
            #expect(kept.first?["event"]?.stringValue == "DidEnterBackground")
            #expect(kept.first?["timeAllowance"]?.doubleValue == 5)
            #expect(kept.first?["output"]?.arrayValue?.first?.stringValue == "last words")
            #expect(successor.nextID() == first + 1)
        }
    }

    /// The power was lost before it was on the disk.
    @Test func whatWasBegunAnewIsReadFromWhatItWasMadeOf_whereItIsEmpty() throws {
        try withDirectory { directory in
            let store = ReportStore(directory: directory)
            let previous = directory + "/reports.jsonl.1"
            var count = 0
            while !Files.exists(previous), count < 2000 {
                count += 1
                try store.append(report(store.nextID(), explanation: String(repeating: "x", count: 1000)))
            }
            try Files.replace(previous, with: [], durable: false)
            let successor = ReportStore(directory: directory)
            let kept = successor.all()
            #expect(kept.count == count && kept.last?["report"]?.stringValue == "\(count)")
            // The next file that is begun anew is made of it too.
            let long = String(repeating: "x", count: ReportStore.fileLimit)
            try successor.append(report(successor.nextID(), "other", explanation: long))
            let last = ReportStore(directory: directory).all().suffix(ReportStore.keptOfApp + 1)
            let ids = (count + 1 - ReportStore.keptOfApp...count + 1).map { "\($0)" }
            #expect(last.compactMap { $0["report"]?.stringValue } == ids)
        }
    }

    @Test func aLineCutShortLosesNoOther() throws {
        try withDirectory { directory in
            let store = ReportStore(directory: directory)
            try store.append(report(1))
            let path = directory + "/reports.jsonl"
            let whole = try Files.read(path)
            try Files.replace(path, with: whole + whole.prefix(40))
            let successor = ReportStore(directory: directory)
            try successor.append(report(2))
            #expect(successor.all().compactMap { $0["report"]?.stringValue } == ["1", "2"])
        }
    }

    @Test func linesThatAreNoReportAreLeftOut() throws {
        try withDirectory { directory in
            let store = ReportStore(directory: directory)
            try store.append(report(7))
            let path = directory + "/reports.jsonl"
            let whole = try Files.read(path)
            let nonsense = Array("\0\0\0\n{}\n[]\nnull\n\u{fffd}\n".utf8)
            try Files.replace(path, with: nonsense + whole + whole.prefix(40))
            let successor = ReportStore(directory: directory)
            #expect(successor.all().compactMap { $0["report"]?.stringValue } == ["7"])
            #expect(successor.nextID() == 8)
        }
    }

    @Test(arguments: ["9223372036854775807", "9007199254740992", "9223372036854775808", "-1", "0"])
    func anIDThatNoneCanHaveCountedTo_isNone(_ id: String) throws {
        try withDirectory { directory in
            let lines = "{\"report\": \"7\"}\n{\"report\": \"\(id)\"}\n"
            try Files.replace(directory + "/reports.jsonl", with: Array(lines.utf8))
            let store = ReportStore(directory: directory)
            #expect(store.nextID() == 8)
            #expect(store.all().count == 1)
        }
    }

    @Test func theFileIsBegunAnew_whenLong() throws {
        try withDirectory { directory in
            let store = ReportStore(directory: directory)
            let long = String(repeating: "y", count: 10_000)
            for id in 1...60 { try store.append(report(id, explanation: long)) }
            #expect(Files.exists(directory + "/reports.jsonl.1"))
            let sizes = try Files.list(directory).map { try Files.read(directory + "/" + $0).count }
            #expect(sizes.allSatisfy { $0 <= ReportStore.fileLimit + 20_000 })
            #expect(store.all().last?["report"]?.stringValue == "60")
            #expect(ReportStore(directory: directory).nextID() == 61)
        }
    }

    @Test func anAppThatEndsAgainAndAgain_drivesOutNoReportButItsOwn() throws {
        try withDirectory { directory in
            let store = ReportStore(directory: directory)
            for id in 1...3 { try store.append(report(id, "camera")) }
            let long = String(repeating: "y", count: 4000)
            for id in 4...400 { try store.append(report(id, "noisy", explanation: long)) }
            for id in 401...2000 { try store.append(report(id, "task-\(id)")) }
            func count(_ isMeant: (String) -> Bool) -> Int {
                store.all().filter { isMeant($0["app"]?.stringValue ?? "") }.count
            }
            #expect(count { $0 == "camera" } == 3)
            #expect(count { $0 == "noisy" } >= ReportStore.keptOfApp)
            #expect(count { $0.hasPrefix("task-") } >= ReportStore.keptOfTasks)
            // The last of each, in their order.
            let ids = store.all().compactMap { $0["report"]?.stringValue.flatMap { Int($0) } }
            #expect(ids == ids.sorted())
            #expect(ids.contains(400) && ids.contains(2000) && !ids.contains(4))
            let sizes = try Files.list(directory).map { try Files.read(directory + "/" + $0).count }
            #expect(sizes.allSatisfy { $0 <= ReportStore.fileLimit + 20_000 })
        }
    }

    @Test func ofManyApps_fewerEndsEachAreKept() throws {
        try withDirectory { directory in
            let store = ReportStore(directory: directory)
            let long = String(repeating: "y", count: 1000)
            for id in 1...4000 { try store.append(report(id, "app-\(id % 1000)", explanation: long)) }
            let names = Set(store.all().compactMap { $0["app"]?.stringValue })
            #expect(names.count >= 300)
            let sizes = try Files.list(directory).map { try Files.read(directory + "/" + $0).count }
            #expect(sizes.allSatisfy { $0 <= 2 * ReportStore.fileLimit })
        }
    }

    @Test func reportsAreKeptInMemory_whenTheyCannotBeWritten() throws {
        try withDirectory { directory in
            // A file where the directory should be: nothing can be written, as on a full disk.
            try Files.replace(directory + "/state", with: [])
            let store = ReportStore(directory: directory + "/state")
            #expect(throws: SystemError.self) { try store.append(report(store.nextID())) }
            #expect(store.all().count == 1)
            #expect(store.nextID() == 2)
        }
    }

    private func ids(_ store: ReportStore) -> [Int] {
        store.all().compactMap { $0["report"]?.stringValue.flatMap { Int($0) } }
    }

    @Test func whatTheDiskDidNotTake_isWrittenBeforeTheNext() throws {
        try withDirectory { directory in
            // A file where the directory should be: nothing can be written, as on a full disk.
            try Files.replace(directory + "/state", with: [])
            let store = ReportStore(directory: directory + "/state")
            for id in 1...3 { #expect(throws: SystemError.self) { try store.append(report(id)) } }
            try Files.remove(directory + "/state")
            defer {
                try? Files.remove(directory + "/state/reports.jsonl")
                rmdir(directory + "/state")
            }
            try store.append(report(4))
            #expect(ids(store) == [1, 2, 3, 4])
            #expect(ids(ReportStore(directory: directory + "/state")) == [1, 2, 3, 4])
        }
    }

    @Test func whatTheDiskDidNotTake_isWrittenBeforeTheBoardIsReset() throws {
        try withDirectory { directory in
            try Files.createDirectories(directory + "/reports.jsonl/full")
            try Files.createDirectories(directory + "/reports.jsonl.broken/full")
            let store = ReportStore(directory: directory)
            #expect(throws: SystemError.self) { try store.append(report(1)) }
            rmdir(directory + "/reports.jsonl/full")
            rmdir(directory + "/reports.jsonl")
            rmdir(directory + "/reports.jsonl.broken/full")
            rmdir(directory + "/reports.jsonl.broken")
            store.sync()
            #expect(ids(ReportStore(directory: directory)) == [1])
        }
    }

    @Test func reportsAreInTheOrderOfTheirNumbers() throws {
        try withDirectory { directory in
            let lines = [1, 4, 2, 5, 3].map { "{\"report\": \"\($0)\"}\n" }.joined()
            try Files.replace(directory + "/reports.jsonl", with: Array(lines.utf8))
            #expect(ids(ReportStore(directory: directory)) == [1, 2, 3, 4, 5])
        }
    }

    @Test func aFileThatIsTooLongIsSetAside_andItsLastEndsAreKept() throws {
        try withDirectory { directory in
            let padding = String(repeating: "y", count: 1000)
            let lines = (1...2000).map { "{\"report\": \"\($0)\", \"app\": \"camera\", \"x\": \"\(padding)\"}\n" }
            let path = directory + "/reports.jsonl"
            try Files.replace(path, with: Array(lines.joined().utf8))
            let store = ReportStore(directory: directory)
            var said: [String] = []
            store.onTrouble = { said.append($0) }
            let next = store.nextID()
            #expect(next == 2001)
            try store.append(report(next))
            try store.append(report(next + 1))
            #expect(ids(store).suffix(3) == [2000, 2001, 2002])
            #expect(try Files.read(path).count < 2000)
            #expect(try Files.read(path + ".broken").count > 2_000_000)
            #expect(said == ["\(path) was set aside as \(path).broken, and a new one is begun: it is too long"])
        }
    }

    @Test func aDirectoryInTheWayIsSetAside() throws {
        try withDirectory { directory in
            let path = directory + "/reports.jsonl"
            for name in [path, path + ".1"] { try Files.createDirectories(name + "/full") }
            defer {
                for name in [path, path + ".1"].flatMap({ [$0, $0 + ".broken"] }) {
                    rmdir(name + "/full")
                    rmdir(name)
                }
            }
            let store = ReportStore(directory: directory)
            let long = String(repeating: "y", count: 10_000)
            for id in 1...60 { try store.append(report(id, explanation: long)) }
            #expect(ids(store).last == 60)
            #expect(try Files.read(path).count <= ReportStore.fileLimit)
            #expect(try Files.read(path + ".1").count > 100_000)
            #expect(Files.exists(path + ".broken/full") && Files.exists(path + ".1.broken/full"))
        }
    }

    @Test func whereNothingCanBeSetAside_theStoreGoesOn() throws {
        try withDirectory { directory in
            let path = directory + "/reports.jsonl"
            let inTheWay = [path + ".1", path + ".1.broken", path + ".broken"]
            for name in inTheWay { try Files.createDirectories(name + "/full") }
            defer {
                for name in inTheWay {
                    rmdir(name + "/full")
                    rmdir(name)
                }
            }
            let store = ReportStore(directory: directory)
            var said: [String] = []
            store.onTrouble = { said.append($0) }
            let long = String(repeating: "y", count: 20_000)
            for id in 1...80 { try store.append(report(id, explanation: long)) }
            #expect(ids(store).last == 80)
            #expect(said.count == 1 && said[0].hasPrefix("\(path) cannot be begun anew, and goes on: "))
            #expect(ReportStore(directory: directory).nextID() == 81)
        }
    }
}
