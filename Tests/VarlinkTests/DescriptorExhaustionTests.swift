import CLinux
import Glibc
import SystemCalls
import Testing
import Varlink

/// Running out of descriptors, in processes of their own: the limit is a process's.
struct DescriptorExhaustionTests {
    @Test func clientsAreTurnedAwayWithoutSpinning() async {
        await #expect(processExitsWith: .success) {
            let scarcity = try Scarcity()
            // One more takes the last free descriptor, then there are none.
            scarcity.fill()
            let first = scarcity.connect(0)
            let second = scarcity.connect(1)
            scarcity.loop.runUntilQuiet()
            #expect(first.receiveToEnd().ended && second.receiveToEnd().ended)
            #expect(scarcity.server.connectionCount == 0)
            #expect(scarcity.failures.first?.errno == .tooManyFiles)
            #expect(scarcity.server.wantsAccept)
            // Turned away once each, and then it is quiet.
            #expect(scarcity.loop.wakes <= 2)

            scarcity.release()
            let third = scarcity.connect(2)
            scarcity.loop.runUntilQuiet()
            #expect(!third.receive().ended)
            #expect(scarcity.server.connectionCount == 1)
            #expect(third.receive() == Received("", ended: false))
        }
    }

    @Test func clientsOfAnotherSocketAreTurnedAwayToo() async {
        await #expect(processExitsWith: .success) {
            let scarcity = try Scarcity()
            let place = scarcity.server.path + ".door"
            let door = try Listener.listen(at: place, mode: 0o600)
            scarcity.fill()
            // The first takes the last free descriptor.
            let clients = [scarcity.connect(0, at: place), scarcity.connect(1, at: place)]
            scarcity.server.onAcceptable(at: door.rawValue)
            scarcity.loop.runUntilQuiet()
            #expect(clients.allSatisfy { $0.receive().ended })
        }
    }

    @Test func withoutAReserveItWaitsForAConnectionToEnd() async {
        await #expect(processExitsWith: .success) {
            let scarcity = try Scarcity()
            let inside = scarcity.connect(0)
            scarcity.loop.runUntilQuiet()
            #expect(scarcity.server.connectionCount == 1)
            scarcity.stealReserve()
            let outside = scarcity.connect(1)
            scarcity.loop.runUntilQuiet()
            #expect(!scarcity.server.wantsAccept)
            let wakes = scarcity.loop.wakes
            scarcity.loop.runUntilQuiet()
            #expect(scarcity.loop.wakes == wakes)
            #expect(!outside.receive().ended)

            inside.shutdownWriting()
            scarcity.loop.runUntilQuiet()
            #expect(scarcity.server.wantsAccept)
            #expect(scarcity.server.connectionCount == 1)
        }
    }
}

/// A server in a process whose descriptors can be made to run out.
private final class Scarcity {
    let loop = PollLoop()
    let server: Server
    private(set) var failures: [SystemError] = []
    private let place: TestDirectory
    private var clients: [RawPeer] = []
    private var sockets: [Int32] = []
    private var fillers: [FileDescriptorBox] = []

    init() throws {
        startDisturbance()
        takeDescriptorsOfItsOwn()
        place = try TestDirectory()
        let service = try Service(product: "test", version: "0", url: "")
        server = Server(try Listener(path: place.path("socket"), mode: 0o600), service)
        // The clients' sockets are there before the descriptors run out.
        for _ in 0..<4 {
            let socket = linux_unix_socket()
            sockets.append(socket)
            clients.append(RawPeer(socket: FileDescriptor(owning: socket)))
        }
        server.onAcceptFailed = { [weak self] in self?.failures.append($0) }
        loop.add(server)
    }

    func connect(_ index: Int, at path: String? = nil) -> RawPeer {
        #expect(linux_unix_connect(sockets[index], path ?? server.path) == 0)
        return clients[index]
    }

    func fill() {
        var limit = rlimit(rlim_cur: 200, rlim_max: 200)
        #expect(setrlimit(RLIMIT_NOFILE, &limit) == 0)
        while true {
            let descriptor = linux_dup_cloexec(0)
            if descriptor < 0 { break }
            fillers.append(FileDescriptorBox(descriptor))
        }
        #expect(Errno.current == .tooManyFiles)
    }

    func release() { fillers = [] }

    /// Leaves not even the server's reserve: the limit is put below every number that is in use.
    func stealReserve() {
        fill()
        var limit = rlimit(rlim_cur: 3, rlim_max: 200)
        #expect(setrlimit(RLIMIT_NOFILE, &limit) == 0)
        raiseWhenOneEnds()
    }

    private func raiseWhenOneEnds() {
        let ended = server.onDisconnected
        server.onDisconnected = { [unowned self] connection, reason in
            release()
            var limit = rlimit(rlim_cur: 200, rlim_max: 200)
            _ = setrlimit(RLIMIT_NOFILE, &limit)
            ended?(connection, reason)
        }
    }
}

/// Threads of a runtime open and close files when they like; this one does it all the time.
private func startDisturbance() {
    var thread = pthread_t()
    let failed = pthread_create(
        &thread, nil,
        { _ in
            while true { _ = Glibc.close(Glibc.open("/dev/null", O_RDONLY)) }
        }, nil)
    #expect(failed == 0)
}

/// unshare(2) with CLONE_FILES: from here on this thread alone opens and closes what it sees. What the process's other
/// threads do would else free a descriptor, or take one, between two steps. Glibc's module does not have the function.
private func takeDescriptorsOfItsOwn() {
    typealias Unshare = @convention(c) (Int32) -> Int32
    let unshare = unsafeBitCast(dlsym(nil, "unshare"), to: Unshare.self)
    #expect(unshare(0x400) == 0)
}
