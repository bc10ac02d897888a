import CLinux
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

    private func send(_ bytes: [UInt8], to socket: NotifySocket, passing descriptors: [Int32] = []) throws {
        let sender = CLinux.socket(AF_UNIX, linux_datagram_type, 0)
        defer { close(sender) }
        let result = bytes.withUnsafeBytes { bytes in
            linux_notify_send(sender, socket.path, bytes.baseAddress, bytes.count, descriptors, descriptors.count)
        }
        try #require(result == 0)
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

    @Test func barrier_endsWhenTheMessageIsLetGo() throws {
        try withSocket { socket in
            let pipe = try Pipe()
            try send("READY=1", to: socket)
            try send("BARRIER=1", to: socket, passing: [pipe.writing.rawValue])
            let reading = try FileDescriptor.duplicate(of: pipe.reading.rawValue)
            pipe.close()
            var seen: [String] = []
            try socket.receive(atMost: 10) { message in
                seen.append(message.fields.first?.name ?? "")
                #expect(message.isBarrier == (seen.count == 2))
                #expect(!waitReadable(reading.rawValue, events: POLLHUP, bound: 0), "not before it was dealt with")
            }
            #expect(seen == ["READY", "BARRIER"])
            #expect(waitReadable(reading.rawValue, events: POLLHUP))
        }
    }

    @Test func descriptorsOfOtherMessages_areClosed() throws {
        try withSocket { socket in
            let pipe = try Pipe()
            let writing = pipe.writing.rawValue
            try send("FDSTORE=1", to: socket, passing: [writing, writing, writing])
            try send("BARRIER=1", to: socket, passing: [writing, writing])
            let reading = try FileDescriptor.duplicate(of: pipe.reading.rawValue)
            pipe.close()
            let first = try #require(try socket.receive())
            let second = try #require(try socket.receive())
            #expect(first.refusedDescriptors == 3 && second.refusedDescriptors == 2)
            #expect(!first.isBarrier && !second.isBarrier)
            #expect(waitReadable(reading.rawValue, events: POLLHUP), "the writing end is closed everywhere")
        }
    }

    @Test func floodIsTakenInPortions() throws {
        try withSocket { socket in
            for number in 0..<8 { try send("N=\(number)", to: socket) }
            var seen: [String] = []
            try socket.receive(atMost: 5) { seen.append($0.value(of: "N") ?? "") }
            #expect(seen == ["0", "1", "2", "3", "4"])
            #expect(waitReadable(socket.descriptor, bound: 0), "the rest is still there")
            try socket.receive(atMost: 5) { seen.append($0.value(of: "N") ?? "") }
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
