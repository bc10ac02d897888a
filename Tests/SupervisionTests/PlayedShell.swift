import CLinux
import Configuration
import EventLoop
import Foundation
import Journal
import SystemCalls
import Testing
import Varlink

@testable import Lifecycle
@testable import Supervision

/// The shell in a root of its own: with real processes, and without a bus, control groups and a board.
final class PlayedShell {
    let root: String
    let loop: EventLoop
    let keeper: TestKeeper
    let supervisor: Supervisor

    /// apps: their files, by name. device: curfew.toml.
    init(_ apps: [String: String] = [:], device: String? = nil) throws {
        var template = Array((NSTemporaryDirectory() + "/curfew-shell-XXXXXX").utf8CString)
        root = String(cString: try #require(mkdtemp(&template)))
        for path in ["/etc/curfew/apps", "/run/curfew/notify", "/run/curfew/apps"] {
            try Files.createDirectories(root + path)
        }
        for (name, text) in apps { try Files.replace(Self.file(name, root), with: Array(text.utf8), durable: false) }
        if let device { try Files.replace(root + "/etc/curfew/curfew.toml", with: Array(device.utf8), durable: false) }
        loop = try EventLoop()
        keeper = try TestKeeper(loop)
        supervisor = try Supervisor(
            loop: loop, keeper: keeper.loopSide, paths: RuntimePaths(root: root),
            log: Log(journal: Journal(identifier: "curfewd", socketPath: nil)), groups: nil,
            configuration: Configuration.load(paths: ConfigurationPaths(root: root)))
        supervisor.followsBoard = false
        supervisor.start()
    }

    deinit {
        try? FileManager.default.removeItem(atPath: root)
    }

    private static func file(_ name: String, _ root: String) -> String { root + "/etc/curfew/apps/\(name).toml" }

    /// text: nil: the app is gone.
    func configure(_ name: String, _ text: String?) throws {
        if let text {
            try Files.replace(Self.file(name, root), with: Array(text.utf8), durable: false)
        } else {
            try Files.remove(Self.file(name, root))
        }
        _ = try supervisor.reload().get()
    }

    func run(until condition: () -> Bool) throws {
        let end = Clocks.monotonic + 20_000_000_000
        while !condition(), Clocks.monotonic < end { _ = try loop.runOnce(timeoutMicroseconds: 20_000) }
        try #require(condition())
    }

    /// What a client of the Control interface calls, and hears.
    func client() throws -> ShellClient { try ShellClient(supervisor) }
}

/// A client whose connection is served when the test says so.
final class ShellClient {
    private let service: ControlService
    private let connection: Connection
    private var socket: FileDescriptor?

    fileprivate init(_ supervisor: Supervisor) throws {
        let pair = try SocketPair()
        let service = ControlService(supervisor)
        self.service = service
        let peer = try Peer(of: pair.ours.rawValue)
        connection = Connection(owning: pair.ours, role: .server, peer: peer)
        connection.onRequest = { service.handle($0) }
        socket = .some(pair.theirs)
    }

    deinit { connection.close() }

    func call(_ call: Call) throws {
        switch socket {
        case .some(let open): try open.writeAll(call.encode())
        case .none: Issue.record("it has hung up")
        }
    }

    /// close(2) alone may not be the end of it: a child that another test is about to start has a copy up to its exec.
    func hangUp() {
        switch socket {
        case .some(let open): _ = shutdown(open.rawValue, Int32(SHUT_RDWR))
        case .none: break
        }
        socket = nil
    }

    /// The shell reads what has come.
    func serve() {
        connection.onReadable()
        if connection.hasHungUp { connection.onHangup() }
    }
}
