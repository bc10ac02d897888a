import Testing

@testable import Lifecycle

/// A daemon that starts again from its snapshot stands where the last one stood.
@Suite struct StateArchiveTests {
    /// A board that writes its state down and reads it back after every event, and one that never does.
    private struct Twins {
        var plain: Board
        var archived: Board
        var steps = 0

        init(_ apps: [AppPolicy]) {
            plain = Board(apps)
            archived = Board(apps)
        }

        mutating func take(_ step: (inout Board) throws -> [String]) throws {
            let bytes = archived.core.archived()
            archived.core = try #require(DeviceLifecycle(archive: bytes))
            #expect(archived.core == plain.core)
            #expect(archived.core.archived() == bytes)
            #expect(try step(&archived) == step(&plain))
            #expect(archived.core.nextDeadline == plain.core.nextDeadline)
            steps += 1
        }
    }

    let steps: [(inout Board) throws -> [String]] = [
        {
            $0.login(); return []
        }, { $0.tell(.started) }, { $0.spawned("storage") }, { $0.ready("storage") },
        { $0.returned("storage") }, { $0.spawned("camera") }, { $0.returned("camera") }, { $0.returned("camera") },
        { $0.returned("storage") }, { $0.pass(.seconds(2)) },
        { try $0.ask(1, .background($0.id("camera"))) }, { $0.returned("camera") }, { $0.returned("camera") },
        { $0.frozen("camera") }, { try $0.ask(2, .activate($0.id("camera"))) }, { $0.returned("camera") },
        { $0.returned("camera") }, { $0.sleepSignal(true) }, { $0.ask(3, .sleep(start: true, logical: false)) },
        { $0.returned("camera") }, { $0.pass(.seconds(1)) }, { $0.pass(.seconds(4)) },
        { $0.exited("storage", .signalled(9)) }, { $0.emptied("storage") }, { $0.frozen("camera") },
        { $0.pass(.seconds(30)) }, { $0.tell(.login(.preparingForSleep(true))) },
        {
            $0.slept = .seconds(60); return $0.tell(.timePassed)
        },
        { $0.tell(.login(.lockRefused(.sleep))) }, { $0.tell(.login(.preparingForSleep(true))) },
        { $0.sleepSignal(false) },
        { $0.spawned("storage") }, { $0.pass(.seconds(1)) },
        { try $0.ask(4, .terminate($0.id("camera"), force: false)) }, { $0.pass(.seconds(20)) },
        { $0.shutdownSignal(true) }, { $0.pass(.seconds(1)) }, { $0.exited("storage", .exited(0)) },
        { $0.emptied("storage") }, { $0.pass(.seconds(9)) }, { $0.shutdownSignal(false) }, { $0.tell(.stopRequested) },
    ]

    var apps: [AppPolicy] {
        [
            app("camera") {
                $0.after = ["storage"]; $0.liveness = .seconds(60)
            },
            app("storage") {
                $0.readiness = .notify; $0.restartDelay = .zero
            },
        ]
    }

    @Test func nothingIsLost_whenReadBackAfterEachStep() throws {
        var twins = Twins(apps)
        for step in steps { try twins.take(step) }
        #expect(twins.steps == steps.count)
    }

    @Test func damagedStateIsRefusedOrHarmless_whateverByteIsWrong() throws {
        var board = Board(apps)
        for step in steps.prefix(21) { _ = try step(&board) }
        let bytes = board.core.archived()
        for index in stride(from: 0, to: bytes.count, by: 1) {
            var damaged = bytes
            damaged[index] = index % 3 == 0 ? UInt8(ascii: "9") : index % 3 == 1 ? UInt8(ascii: "x") : 0xff
            _ = DeviceLifecycle(archive: damaged)
            #expect(DeviceLifecycle(archive: Array(bytes[..<index])) == nil)
        }
    }

    @Test(arguments: ["", " ", "1", "2 ", "1 99999999999999999999 ", "-", "1 5:abc ", "1 0 0 0 0 1000000000000 "])
    func textThatIsNoStateIsRefused_whenRead(_ text: String) {
        #expect(DeviceLifecycle(archive: Array(text.utf8)) == nil)
    }

    @Test func stateOfAnotherVersionIsRefused_whenRead() throws {
        #expect(DeviceLifecycle(archive: DeviceLifecycle().archived()) == DeviceLifecycle())
        #expect(DeviceLifecycle(archive: DeviceLifecycle().archived() + [32]) == nil)
        var text = try #require(StateArchive.opened(DeviceLifecycle().archived()))
        #expect(DeviceLifecycle(archive: StateArchive.sealed(text)) == DeviceLifecycle())
        // The first field, a number: 18, folded.
        #expect(text[..<2] == [1 << 2 | 1, 36])
        text[1] = 38
        #expect(DeviceLifecycle(archive: StateArchive.sealed(text)) == nil)
    }

    // MARK: Fields

    /// One that knows fewer fields than the other.
    private struct Old: Equatable {
        var number: Int64 = 7
        var name = "none"
        var parts: [Int] = [1]
        mutating func archive(_ archive: inout StateArchive) {
            archive.value(2, &number)
            archive.value(4, &name)
            archive.list(6, &parts, 0) { $0.value(1, &$1) }
        }
    }

    private struct New: Equatable {
        var first: Int64 = 1
        var old = Old()
        var group = Old()
        var choice: Int? = 5
        var gone: Int? = 6
        var last = "last"
        mutating func archive(_ archive: inout StateArchive) {
            archive.value(1, &first)
            archive.value(2, &old.number)
            archive.group(3) { group.archive(&$0) }
            archive.value(4, &old.name)
            archive.optional(5, &choice, 0) { $0.value(1, &$1) }
            archive.list(6, &old.parts, 0) {
                $0.value(1, &$1)
                // More than it was made of.
                var more = "more"
                $0.value(2, &more)
            }
            archive.optional(7, &gone, 0) { $0.value(1, &$1) }
            archive.value(200, &last)
        }
    }

    @Test func whatAnOlderReaderDoesNotKnowIsPassedOver() {
        var new = New(old: Old(number: .min, name: String(repeating: "n", count: 300), parts: [3, -4]), choice: nil)
        var archive = StateArchive()
        new.archive(&archive)
        var reading = StateArchive(reading: archive.bytes)
        var old = Old()
        old.archive(&reading)
        #expect(!reading.failed && old == new.old)
    }

    @Test func whatAnOlderWriterDidNotKnowStaysAsItIs() {
        var old = Old(number: .max, name: "", parts: [])
        var archive = StateArchive()
        old.archive(&archive)
        var reading = StateArchive(reading: archive.bytes)
        var new = New()
        new.archive(&reading)
        #expect(!reading.failed && new == New(old: old))
        // What is known to be absent is.
        new.gone = nil
        archive = StateArchive()
        new.archive(&archive)
        reading = StateArchive(reading: archive.bytes)
        var again = New()
        again.archive(&reading)
        #expect(!reading.failed && again == new && again.gone == nil)
    }

    @Test func fieldOfAnotherKindIsRefused() {
        var archive = StateArchive()
        var text = "seven"
        archive.value(2, &text)
        var reading = StateArchive(reading: archive.bytes)
        var old = Old()
        old.archive(&reading)
        #expect(reading.failed)
    }

    /// Whatever passes the checksum.
    @Test func bytesThatAreNoArchiveCrashNothing_andAreNotReadBeyondTheirEnd() throws {
        var board = Board(apps)
        for step in steps.prefix(21) { _ = try step(&board) }
        let bytes = try #require(StateArchive.opened(board.core.archived()))
        for index in bytes.indices {
            for value in [0, 0x7f, 0x80, 0xff, bytes[index] &+ 1] {
                var damaged = bytes
                damaged[index] = value
                _ = DeviceLifecycle(archive: StateArchive.sealed(damaged))
            }
            _ = DeviceLifecycle(archive: StateArchive.sealed(Array(bytes[..<index])))
        }
    }
}
