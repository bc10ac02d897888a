import CLinux
import SystemCalls
import Testing

@Suite struct FilesTests {
    /// A directory of its own, removed with everything in it.
    private func withDirectory(_ body: (String) throws -> Void) throws {
        var template = Array("/tmp/curfew-files-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        let path = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
        defer {
            for name in (try? Files.list(path)) ?? [] { _ = CLinux.remove(path + "/" + name) }
            rmdir(path)
        }
        try body(path)
    }

    @Test func whatIsNoRegularFile_isNotRead_andNotWaitedFor() throws {
        try withDirectory { directory in
            let fifo = directory + "/fifo"
            try #require(mkfifo(fifo, 0o600) == 0)
            for path in [fifo, "/dev/zero", directory] {
                #expect(throws: SystemError.self) { try Files.read(path, limit: 10) }
            }
            #expect(try !Files.read("/proc/self/stat", limit: 10).isEmpty)
        }
    }

    @Test func replace_makesANewFile_whateverTheOldOnesAre() throws {
        try withDirectory { directory in
            let path = directory + "/file"
            let temporary = path + ".new"
            let elsewhere = directory + "/elsewhere"
            try Files.replace(elsewhere, with: [7], durable: false)
            for make in [
                { mkfifo(temporary, 0o600) }, { symlink(elsewhere, temporary) },
                { symlink("/nowhere/at/all", temporary) }, { link(elsewhere, temporary) }, { mkfifo(path, 0o600) },
            ] {
                try #require(make() == 0)
                try Files.replace(path, with: [1, 2], mode: 0o600, durable: false)
                #expect(try Files.read(path) == [1, 2])
                #expect(try Files.list(directory) == ["elsewhere", "file"])
                #expect(try Files.read(elsewhere) == [7])
                try Files.remove(path)
            }
        }
    }

    @Test func whatCannotBeReplaced_leavesNothingBesideIt() throws {
        try withDirectory { directory in
            try #require(mkdir(directory + "/taken", 0o700) == 0)
            #expect(throws: SystemError.self) { try Files.replace(directory + "/taken", with: [1], durable: false) }
            #expect(try Files.list(directory) == ["taken"])
        }
    }
}
