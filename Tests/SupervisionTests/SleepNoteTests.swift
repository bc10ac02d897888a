import CLinux
import SystemCalls
import Testing

@testable import Lifecycle
@testable import Supervision

@Suite struct SleepNoteTests {
    private func withFile(_ body: (String) throws -> Void) throws {
        var template = Array("/tmp/curfew-note-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        let folder = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
        defer {
            for name in (try? Files.list(folder)) ?? [] { _ = CLinux.remove(folder + "/" + name) }
            rmdir(folder)
        }
        try body(folder + "/announced")
    }

    /// One of an earlier version, which others could read.
    @Test(arguments: [["", ".spare"], [""], [".spare"]])
    func othersCannotReadIt(places: [String]) throws {
        try withFile { path in
            for place in places { try Files.replace(path + place, with: [1], mode: 0o644, durable: false) }
            let file = ReservedFile(path: path, size: 21)
            try file.reserve()
            for place in places {
                var status = stat()
                #expect(stat(path + place, &status) == 0 && status.st_mode & 0o777 == 0o600)
            }
        }
    }

    @Test func whatWasWrittenIsRead() throws {
        try withFile { path in
            for slept in [0, 1, 90_000_000_000, Int64.max / 2] {
                try SleepNote.write(Nanoseconds(rawValue: slept), to: path)
                #expect(try SleepNote.read(path, now: Nanoseconds(rawValue: slept))?.rawValue == slept)
            }
            try SleepNote.write(.seconds(60), to: path)
            #expect(try SleepNote.read(path, now: .seconds(3600)) == .seconds(60))
        }
    }

    /// The board has slept less by now than when it was written: it is of another boot.
    @Test func aNoteFromTheFutureIsNone() throws {
        try withFile { path in
            try SleepNote.write(.seconds(60), to: path)
            #expect(try SleepNote.read(path, now: .seconds(30)) == nil)
        }
    }

    @Test(arguments: [
        "", "\n", "12", "12\n\n", "-12\n", "+12\n", " 12\n", "0x12\n", "twelve\n", "12 13\n", "\0\n",
        "9223372036854775808\n", "99999999999999999999999\n", String(repeating: "1", count: 1_000_000),
    ])
    func garbageIsNoNote(_ text: String) throws {
        try withFile { path in
            try Files.replace(path, with: Array(text.utf8), durable: false)
            #expect(try SleepNote.read(path, now: .max) == nil)
        }
    }

    @Test func whatIsNoFileIsNoNote() throws {
        try withFile { path in
            #expect(throws: SystemError("open", path, errno: .noEntry)) { try SleepNote.read(path, now: .max) }
            // It would be waited for.
            try #require(mkfifo(path, 0o600) == 0)
            #expect(try SleepNote.read(path, now: .max) == nil)
            _ = unlink(path)
            try #require(mkdir(path, 0o700) == 0)
            #expect(throws: SystemError.self) { try SleepNote.read(path, now: .max) }
        }
        try withFile { path in
            try SleepNote.write(.zero, to: path + ".other")
            try #require(symlink(path + ".other", path) == 0)
            #expect(throws: SystemError.self) { try SleepNote.read(path, now: .max) }
        }
    }
}
