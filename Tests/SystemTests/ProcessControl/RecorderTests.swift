import CLinux
import Foundation
import SystemCalls
import Testing

/// The thread that writes memory to a file.
@Suite final class RecorderTests {
    private let folder: String
    private var path: String { folder + "/recording" }
    private let memory: FileDescriptor
    private let bell: FileDescriptor
    private static let headSize = MemoryLayout<linux_recorder_head>.size

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "curfew-recorder-\(UUID())").path()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        memory = FileDescriptor(owning: linux_memory("recorder-test"))
        bell = FileDescriptor(owning: eventfd(0, Int32(EFD_CLOEXEC)))
        try setHead(begin: Self.headSize, length: -1)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func setHead(begin: Int, length: Int) throws {
        var head = linux_recorder_head(begin: Int64(begin), length: Int64(length))
        try #require(pwrite(memory.rawValue, &head, Self.headSize, 0) == Self.headSize)
    }

    private var head: linux_recorder_head {
        var head = linux_recorder_head()
        _ = pread(memory.rawValue, &head, Self.headSize, 0)
        return head
    }

    /// Appends to the memory; where it ends then.
    private func add(_ text: String) throws -> Int64 {
        let bytes = Array(text.utf8)
        let end = lseek(memory.rawValue, 0, SEEK_END)
        try #require(pwrite(memory.rawValue, bytes, bytes.count, end) == bytes.count)
        return Int64(end + bytes.count)
    }

    /// Returns when it is done: an errno or 0, and the file's length.
    private func record(to end: Int64, renews: Bool = false) throws -> (outcome: Int32, size: Int64) {
        let recording = try #require(linux_record(memory.rawValue, end, path, renews, true, bell.rawValue))
        var count: UInt64 = 0
        try #require(read(bell.rawValue, &count, 8) == 8)
        var size: Int64 = -1
        let outcome = linux_recorded(recording, &size)
        linux_finish_recording(recording)
        return (outcome, size)
    }

    private func content(_ path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }

    @Test func whatIsNewIsAppended() throws {
        #expect(try record(to: add("one,")) == (0, 4))
        let end = try add("two,")
        #expect(try record(to: end) == (0, 8))
        #expect(content(path) == "one,two,")
        #expect(head.begin == end && head.length == -1)
    }

    @Test func upToTheEndThatIsSaidAndNoFurther() throws {
        let end = try add("now")
        _ = try add("later")
        #expect(try record(to: end) == (0, 3))
        #expect(content(path) == "now")
    }

    @Test func whatADeadWriterLeftOfItIsTakenBack() throws {
        try "before".write(toFile: path, atomically: false, encoding: .utf8)
        let end = try add(",whole")
        try setHead(begin: Self.headSize, length: 6)
        let file = try FileDescriptor.openRegular(path, O_WRONLY | O_APPEND)
        try file.writeAll(Array(",wh".utf8))
        #expect(try record(to: end) == (0, 12))
        #expect(content(path) == "before,whole")
    }

    @Test func aNewFileIsBegunBesideTheFormerOne() throws {
        try "former".write(toFile: path, atomically: false, encoding: .utf8)
        #expect(try record(to: add("new"), renews: true) == (0, 3))
        #expect(content(path) == "new" && content(path + ".1") == "former")
    }

    @Test func whatCannotBeWrittenLeavesTheFileAsItWas() throws {
        try "before".write(toFile: path, atomically: false, encoding: .utf8)
        let end = try add("x")
        // More than there is in the memory.
        #expect(try record(to: end + 100) == (EIO, 6))
        #expect(content(path) == "before")
    }

    /// A disk that fills in between.
    @Test func aNewFileThatCannotBeWrittenCostsNoOther() throws {
        try "former".write(toFile: path, atomically: false, encoding: .utf8)
        try "older".write(toFile: path + ".1", atomically: false, encoding: .utf8)
        let end = try add("new")
        #expect(try record(to: end + 100, renews: true).outcome == EIO)
        #expect(content(path) == "former" && content(path + ".1") == "older" && content(path + ".next") == nil)
        #expect(head.begin == Int64(Self.headSize))
        #expect(try record(to: end, renews: true) == (0, 3))
        #expect(content(path) == "new" && content(path + ".1") == "former")
    }

    @Test func whatADeadWriterLeftOfANewFileIsWrittenAnew() throws {
        try "new,wh".write(toFile: path, atomically: false, encoding: .utf8)
        let end = try add("new,whole")
        try setHead(begin: Self.headSize, length: 0)
        #expect(try record(to: end) == (0, 9))
        #expect(content(path) == "new,whole")
    }

    @Test func whatIsInTheFileTakesNoMemory() throws {
        let end = try add(String(repeating: "x", count: 1 << 20))
        let last = try add("last")
        #expect(try record(to: end).outcome == 0)
        linux_forget_recorded(memory.rawValue, Int64(Self.headSize), end)
        var status = stat()
        try #require(fstat(memory.rawValue, &status) == 0)
        #expect(status.st_blocks <= 2 * 4096 / 512 && head.begin == end)
        #expect(try record(to: last) == (0, (1 << 20) + 4))
        #expect(content(path)?.hasSuffix("xlast") == true)
    }

    @Test func onlyAFileIsWrittenTo() throws {
        try #require(mkfifo(path, 0o600) == 0)
        #expect(try record(to: add("x")).outcome == ENXIO)
        try #require(unlink(path) == 0)
        try #require(symlink("/etc/passwd", path) == 0)
        #expect(try record(to: add("x")).outcome == ELOOP)
    }
}
