import CLinux
import SystemCalls
import Testing
import Varlink

struct ListenerTests {
    private let place: TestDirectory
    private let path: String

    init() throws {
        place = try TestDirectory()
        path = place.path("socket")
    }

    private func status() throws -> stat {
        var status = stat()
        #expect(linux_stat(path, &status) == 0)
        return status
    }

    @Test func modeAndGroupAreExact() throws {
        let mask = umask(0o077)
        defer { umask(mask) }
        let listener = try Listener(path: path, mode: 0o666, group: geteuid() == 0 ? 12345 : getegid())
        #expect(try status().st_mode & 0o7777 == 0o666)
        #expect(try status().st_gid == (geteuid() == 0 ? 12345 : getegid()))
        #expect(!Files.exists(path + ".new"))
        listener.removePath()
        #expect(!Files.exists(path))
    }

    @Test func aDeadSocketIsReplaced() throws {
        _ = try Listener(path: path, mode: 0o600)
        #expect(Files.exists(path))
        let error = try #require(throws: VarlinkError.self) { try Client(path: path) }
        #expect(error == .notRunning(path: path, .connectionRefused))
        let listener = try Listener(path: path, mode: 0o600)
        _ = try Client(path: path)
        #expect(listener.path == path)
    }

    @Test func aLivingOneIsNot() throws {
        let first = try Listener(path: path, mode: 0o600)
        let error = try #require(throws: SystemError.self) { try Listener(path: path, mode: 0o600) }
        #expect(error.errno == .addressInUse)
        // Neither when its queue is full.
        var clients: [FileDescriptorBox] = []
        while true {
            let client = FileDescriptorBox(linux_unix_socket())
            _ = linux_set_flags(client.rawValue, O_NONBLOCK)
            if linux_unix_connect(client.rawValue, path) != 0 { break }
            clients.append(client)
        }
        let full = try #require(throws: SystemError.self) { try Listener(path: path, mode: 0o600) }
        #expect(full.errno == .addressInUse)
        #expect(first.path == path)
    }

    @Test func somethingElseIsLeftAlone() throws {
        try Files.replace(path, with: [1, 2, 3])
        let error = try #require(throws: SystemError.self) { try Listener(path: path, mode: 0o600) }
        #expect(error.errno == .exists)
        #expect(error.text.contains("remove what lies there, which is no socket: \(path)"))
        #expect(try Files.read(path) == [1, 2, 3])
    }

    @Test func whatIsInTheWayOfTheNewSocketIsNamed() throws {
        try #require(mkdir(path + ".new", 0o700) == 0)
        let error = try #require(throws: SystemError.self) { try Listener(path: path, mode: 0o600) }
        #expect(error.text.hasPrefix("unlink \(path).new: "))
    }

    @Test func pathsThatCannotBe() throws {
        let missing = try #require(throws: SystemError.self) {
            try Listener(path: place.path("none/socket"), mode: 0o600)
        }
        #expect(missing.errno == .noEntry)
        let long = try #require(throws: SystemError.self) {
            try Listener(path: place.path(String(repeating: "x", count: 120)), mode: 0o600)
        }
        #expect(long.errno.rawValue == ENAMETOOLONG)
    }

    @Test func anAdoptedSocketGoesOnListening() throws {
        let first = try Listener(path: path, mode: 0o600)
        let handedOn = try FileDescriptor.duplicate(of: first.descriptor)
        let second = Listener(adopting: handedOn, path: path)
        _ = try Client(path: path)
        guard case .socket = second.accept() else {
            Issue.record("no client came")
            return
        }
    }
}

/// A descriptor that an array can hold.
final class FileDescriptorBox {
    private let descriptor: FileDescriptor

    init(_ rawValue: Int32) { descriptor = FileDescriptor(owning: rawValue) }

    var rawValue: Int32 { descriptor.rawValue }
}
