import CLinux
import EventLoop
import SystemCalls
import Testing

@testable import ProcessControl

@Suite struct NotifySocketTests {
    private func withSocket(_ body: (NotifySocket) throws -> Void) throws {
        try withTemporaryDirectory { directory in
            let socket = try NotifySocket.open(directory + "/notify")
            try body(socket)
        }
    }

    private func trySend(_ bytes: [UInt8], to path: String, passing descriptors: [Int32] = []) -> Int32 {
        let sender = CLinux.socket(AF_UNIX, linux_datagram_type, 0)
        defer { close(sender) }
        return bytes.withUnsafeBytes { bytes in
            linux_notify_send(sender, path, bytes.baseAddress, bytes.count, descriptors, descriptors.count)
        }
    }

    private func send(_ bytes: [UInt8], to socket: NotifySocket, passing descriptors: [Int32] = []) throws {
        try #require(trySend(bytes, to: socket.path, passing: descriptors) == 0)
    }

    private func send(_ text: String, to socket: NotifySocket, passing descriptors: [Int32] = []) throws {
        try send(Array(text.utf8), to: socket, passing: descriptors)
    }

    @Test func messageWithTheKernelsWordOnItsSender() throws {
        try withSocket { socket in
            #expect(try socket.receive() == nil)
            try send("READY=1\nSTATUS=all = well\nEMPTY=\n", to: socket)
            #expect(waitReadable(socket.descriptor))
            let message = try #require(try socket.receive())
            #expect(message.senderPid == getpid() && message.senderUser == geteuid())
            #expect(message.fields.map { $0.name } == ["READY", "STATUS", "EMPTY"])
            #expect(message.value(of: "STATUS") == "all = well")
            #expect(message.value(of: "WATCHDOG") == nil)
            #expect(message.defect == nil && !message.isBarrier)
            if let descriptor = message.senderDescriptor { #expect(linux_pidfd_pid(descriptor) == getpid()) }
            #expect(try socket.receive() == nil)
        }
    }

    @Test func realProgram_asAnotherUser() throws {
        try withSocket { socket in
            try #require(chmod(Files.directoryName(of: socket.path), 0o755) == 0)
            // Until it is opened to all, others have no way in.
            var status = stat()
            #expect(stat(socket.path, &status) == 0 && status.st_mode & 0o777 == 0o600)
            try socket.admit(only: nil)
            var request = SpawnRequest(
                arguments: [
                    "/usr/bin/python3", "-c",
                    """
                    import os, socket
                    s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
                    s.sendto(b"READY=1", os.environ["NOTIFY_SOCKET"])
                    """,
                ], environment: [socket.environment])
            if isRoot { request.credentials = Credentials(user: 65534, group: 65534) }
            let child = try ChildProcess.spawn(request)
            #expect(waitReadable(socket.descriptor))
            let message = try #require(try socket.receive())
            #expect(message.senderPid == child.pid)
            #expect(message.senderUser == (isRoot ? 65534 : geteuid()))
            _ = try waitForEnd(of: child)
        }
    }

    /// Seen where it is, and in the place of the folder that it is in.
    @Test func hiddenFolder_isFoundByItsPathAlone() throws {
        try withTemporaryDirectory { directory in
            let parent = directory + "/hidden"
            try HiddenFolder.clear(parent)
            let (one, other) = (
                try HiddenFolder.make(in: parent, for: "one"), try HiddenFolder.make(in: parent, for: "other")
            )
            #expect(one.socket != other.socket)
            var status = stat()
            #expect(stat(parent, &status) == 0 && status.st_mode & 0o777 == 0o711)
            let socket = try NotifySocket.open(directory + "/notify")
            try socket.keep(at: one.socket)
            try one.show()
            try one.show()
            #expect(trySend([0x41], to: one.socket) == 0)
            // The same path, seen in the place of the parent; it is not told where the view lies.
            let name = one.socket.dropFirst(parent.utf8.count)
            #expect(trySend([0x41], to: one.view + name) == 0)
            #expect(one.view == parent + "/.own/one")
            #expect(stat(parent + "/.own", &status) == 0 && status.st_mode & 0o777 == 0o700)
            one.remove()
            #expect(try Files.list(parent).count == 2 && Files.list(parent + "/.own") == ["other"])
            // As one that was killed has left it.
            try Files.replace(other.socket, with: [], durable: false)
            try HiddenFolder.clear(parent)
            #expect(try Files.list(parent) == [".own"] && Files.list(parent + "/.own") == [])
        }
    }

    @Test func garbageIsLeftOut() throws {
        try withSocket { socket in
            try send(
                [0xFF, 0xFE, 0x3D, 0x31, 0x0A] + Array("noequals\n=value\nWATCHDOG=1\nX=".utf8) + [0xC0], to: socket)
            let message = try #require(try socket.receive())
            #expect(message.fields == [Notification.Field(name: "WATCHDOG", value: "1")])
            #expect(message.rejectedLines == 4)
            try send([], to: socket)
            #expect(try socket.receive()?.fields.isEmpty == true)
            try send([0, 0, 10, 10, 61], to: socket)
            #expect(try socket.receive()?.fields.isEmpty == true)
        }
    }

    @Test func oversizedMessage_saysNothing() throws {
        try withSocket { socket in
            let start = Array("READY=1\nSTATUS=".utf8)
            try send(start + [UInt8](repeating: 0x61, count: 4096 - start.count), to: socket)
            #expect(try socket.receive()?.value(of: "READY") == "1", "4096 bytes are allowed")
            try send(start + [UInt8](repeating: 0x61, count: 4097 - start.count), to: socket)
            let message = try #require(try socket.receive())
            #expect(message.defect == .oversized && message.fields.isEmpty && message.senderPid == getpid())
        }
    }

    /// Takes all that is there, whatever has descriptors with it by a thread.
    private func receiveAll(_ socket: NotifySocket, _ hear: (Notification) -> Void) throws {
        let loop = try EventLoop()
        let disposal = Disposal(loop)
        while let copy = try socket.receive(atMost: 10, hear) {
            var isDone = false
            disposal.takeDatagram(from: copy) { isDone = true }
            try loop.run { isDone }
        }
    }

    @Test func barrier_endsWhenWhatCameBeforeWasDealtWith() throws {
        try withSocket { socket in
            let pipe = try Pipe()
            try send("READY=1", to: socket)
            try send("BARRIER=1", to: socket, passing: [pipe.writing.rawValue])
            try send("STATUS=after", to: socket)
            let reading = try FileDescriptor.duplicate(of: pipe.reading.rawValue)
            pipe.close()
            var seen: [String] = []
            try receiveAll(socket) { message in
                seen.append(message.fields.first?.name ?? "")
                #expect(message.isBarrier == (seen.count == 2) && message.hasDescriptors == message.isBarrier)
                let isLetGo = waitReadable(reading.rawValue, events: POLLHUP, bound: seen.count == 3 ? 10_000 : 0)
                #expect(isLetGo == (seen.count == 3))
            }
            #expect(seen == ["READY", "BARRIER", "STATUS"])
        }
    }

    /// Of this process, for the same file.
    private func count(ofDescriptorsLike descriptor: Int32) throws -> Int {
        var wanted = stat()
        try #require(fstat(descriptor, &wanted) == 0)
        return try Files.list("/proc/self/fd").count { name in
            var found = stat()
            return stat("/proc/self/fd/" + name, &found) == 0 && found.st_ino == wanted.st_ino
        }
    }

    @Test func descriptorsAreNeverOpenedHere() throws {
        try withSocket { socket in
            let pipe = try Pipe()
            let writing = pipe.writing.rawValue
            let before = try count(ofDescriptorsLike: writing)
            try send("FDSTORE=1", to: socket, passing: [writing, writing, writing])
            try send("", to: socket, passing: [writing])
            let first = try #require(try socket.receive())
            #expect(first.hasDescriptors && !first.isBarrier && first.senderPid == getpid())
            #expect(first.senderDescriptor == nil, "its place would be a descriptor's of the sender's")
            #expect(try count(ofDescriptorsLike: writing) == before)
            #expect(try socket.receive()?.hasDescriptors == true, "it stays")
            let reading = try FileDescriptor.duplicate(of: pipe.reading.rawValue)
            pipe.close()
            var count = 0
            try receiveAll(socket) { _ in count += 1 }
            #expect(count == 2)
            #expect(waitReadable(reading.rawValue, events: POLLHUP), "the writing end is closed everywhere")
        }
    }

    @Test func closed_whatHasDescriptorsIsLeft() throws {
        for passes in [false, true] {
            try withSocket { socket in
                let pipe = try Pipe()
                for text in ["READY=1", "", "STATUS=x"] { try send(text, to: socket) }
                if passes { try send("", to: socket, passing: [pipe.writing.rawValue]) }
                let left = socket.close()
                let isLeft = left != nil
                #expect(isLeft == passes)
                #expect(trySend([], to: socket.path) == -1)
            }
        }
    }

    @Test func floodIsTakenInPortions() throws {
        try withSocket { socket in
            for number in 0..<8 { try send("N=\(number)", to: socket) }
            var seen: [String] = []
            _ = try socket.receive(atMost: 5) { seen.append($0.value(of: "N") ?? "") }
            #expect(seen == ["0", "1", "2", "3", "4"])
            #expect(waitReadable(socket.descriptor, bound: 0), "the rest is still there")
            _ = try socket.receive(atMost: 5) { seen.append($0.value(of: "N") ?? "") }
            #expect(seen.count == 8)
        }
    }

    @Test func paths() throws {
        try withTemporaryDirectory { directory in
            let path = directory + "/notify"
            let first = try NotifySocket.open(path)
            _ = first
            let second = try NotifySocket.open(path)
            #expect(second.environment == "NOTIFY_SOCKET=\(path)")
            let long = directory + "/" + String(repeating: "x", count: 108)
            #expect(throws: SystemError.self) { _ = try NotifySocket.open(long) }
            #expect(throws: SystemError.self) { _ = try NotifySocket.open("/nowhere/notify") }
        }
    }
}
