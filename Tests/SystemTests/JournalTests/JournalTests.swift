import CLinux
import Foundation
import Journal
import SystemCalls
import Testing

@Suite struct JournalTests {
    /// What goes to standard error ends up here.
    let errors: PipePair
    init() throws { errors = try PipePair() }

    func journal(_ socketPath: String?, streamPath: String = "/nonexistent") -> Journal {
        Journal(
            identifier: "curfewd", socketPath: socketPath, streamPath: streamPath, standardError: errors.writer.rawValue
        )
    }

    func errorText() -> String {
        var bytes = [UInt8](repeating: 0, count: 1 << 17)
        let count = read(errors.reader.rawValue, &bytes, bytes.count)
        return String(decoding: bytes[0..<max(count, 0)], as: UTF8.self)
    }

    @Test func entry_carriesAllFields() throws {
        let socket = try PlayedSocket.datagram()
        journal(socket.name).send(
            .warning, "Camera is late", messageID: .appKilledByWatchdog,
            fields: [("CURFEW_APP", "camera"), ("CURFEW_EVENT", "")])
        #expect(
            socket.receiveText() == """
                MESSAGE=Camera is late
                PRIORITY=4
                SYSLOG_IDENTIFIER=curfewd
                MESSAGE_ID=\(MessageID.appKilledByWatchdog.id)
                CURFEW_APP=camera
                CURFEW_EVENT=

                """)
        #expect(errorText() == "")
    }

    @Test func valueWithNewlines_isSentWithItsLength_soThatItAddsNoField() throws {
        let socket = try PlayedSocket.datagram()
        journal(socket.name).send(.info, "a\nPRIORITY=0\n", fields: [])
        let expected =
            Array("MESSAGE\n".utf8) + [13, 0, 0, 0, 0, 0, 0, 0]
            + Array("a\nPRIORITY=0\n\nPRIORITY=6\nSYSLOG_IDENTIFIER=curfewd\n".utf8)
        #expect(socket.receive() == expected)
    }

    /// journalctl shows none of a message that has others in it.
    @Test func controlCharacters_areSentAsBlanks() throws {
        let socket = try PlayedSocket.datagram()
        journal(socket.name).send(.info, "a\u{1B}[2Jb\u{9B}c\u{202E}d", fields: [])
        #expect(socket.receiveText()?.hasPrefix("MESSAGE=a [2Jb c d\n") == true)
    }

    @Test func fullSocket_stallsNothing_andTheLossIsNoted() throws {
        let socket = try PlayedSocket.datagram()
        let journal = self.journal(socket.name)
        let start = Clocks.monotonic
        let sent = 5000
        for number in 0..<sent { journal.send(.info, "\(number)") }
        #expect(Clocks.monotonic - start < 5_000_000_000)
        let lost = journal.dropped
        #expect(lost > 0 && lost < sent)
        var received = 0
        while socket.receive() != nil { received += 1 }
        #expect(received + lost == sent)
        journal.send(.info, "again")
        #expect(socket.receiveText()?.hasPrefix("MESSAGE=again\n") == true)
        let note = try #require(socket.receiveText())
        #expect(note.contains("CURFEW_DROPPED=\(lost)\n"))
        #expect(note.contains("MESSAGE_ID=\(MessageID.messagesDropped.id)\n"))
        #expect(journal.dropped == 0)
        #expect(errorText() == "")
    }

    /// It names an app, say, which is not to hide behind its own words.
    @Test func messageTooBigForADatagram_isCutShort() throws {
        let socket = try PlayedSocket.datagram()
        let journal = self.journal(socket.name)
        journal.send(.info, String(repeating: "x", count: 10_000_000))
        let text = try #require(socket.receiveText())
        let isCut = text.hasPrefix("MESSAGE=" + String(repeating: "x", count: 4096) + "\n")
        #expect(isCut && journal.dropped == 0)
    }

    /// Cut in the middle of a character, too.
    @Test(arguments: ["x", "x" + String(repeating: "é", count: 5000)])
    func whatIsTooBigAllTheSame_isDropped(_ message: String) throws {
        let socket = try PlayedSocket.datagram()
        let journal = self.journal(socket.name)
        journal.send(.info, message, fields: [("X", String(repeating: "x", count: 10_000_000))])
        let isSilent = socket.receive() == nil
        #expect(isSilent)
        #expect(journal.dropped == 1)
        #expect(errorText() == "")
    }

    @Test func withoutJournald_standardErrorGetsOneLine() throws {
        journal("/nonexistent/socket").send(
            .error, "Two\nlines", messageID: .busLost, fields: [("CURFEW_APP", "camera"), ("X", "a\u{1b}b")])
        #expect(errorText() == "error: Two lines CURFEW_APP=camera X=a b\n")
        journal(nil).send(.notice, "Ünïcödé")
        #expect(errorText() == "notice: Ünïcödé\n")
        journal(nil).send(.notice, "a\u{9b}31m\u{202e}b\u{2066}c\u{7f}")
        #expect(errorText() == "notice: a 31m b c \n")
    }

    @Test func standardErrorThatIsAFile_getsEachLine() throws {
        let file = try FileDescriptor.open("/dev/shm", O_TMPFILE | O_RDWR, mode: 0o600)
        let journal = Journal(identifier: "curfewd", socketPath: nil, standardError: file.rawValue)
        journal.send(.info, "one")
        journal.send(.info, "two")
        #expect(lseek(file.rawValue, 0, SEEK_SET) == 0)
        #expect(String(decoding: try file.readAll(limit: 100), as: UTF8.self) == "info: one\ninfo: two\n")
    }

    @Test func longLine_isCutAtACharacter() throws {
        journal(nil).send(.info, String(repeating: "é", count: 5000))
        let text = errorText()
        #expect(text.utf8.count <= 4096)
        #expect(text.utf8.count >= 4094)
        #expect(!text.contains("\u{fffd}"))
        #expect(text.hasSuffix("é\n"))
    }

    @Test func journald_mayComeAndGo() throws {
        let socket = try PlayedSocket.datagram(isOpen: false)
        let journal = self.journal(socket.name)
        journal.send(.info, "one")
        #expect(errorText() == "info: one\n")
        try socket.open()
        journal.send(.info, "two")
        #expect(socket.receiveText()?.hasPrefix("MESSAGE=two\n") == true)
        socket.close()
        journal.send(.info, "three")
        #expect(errorText() == "info: three\n")
        try socket.open()
        journal.send(.info, "four")
        #expect(socket.receiveText()?.hasPrefix("MESSAGE=four\n") == true)
        #expect(errorText() == "")
    }

    @Test(arguments: [false, true]) func standardErrorWithoutAReader_stallsNothing(isSocket: Bool) throws {
        var ends: [Int32] = [-1, -1]
        let made = isSocket ? socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) : pipe(&ends)
        try #require(made == 0)
        let reader = FileDescriptor(owning: ends[0])
        let writer = FileDescriptor(owning: ends[1])
        let journal = Journal(identifier: "curfewd", socketPath: nil, standardError: writer.rawValue)
        let start = Clocks.monotonic
        for number in 0..<1000 { journal.send(.info, "\(number) " + String(repeating: "x", count: 4000)) }
        #expect(Clocks.monotonic - start < 5_000_000_000)
        #expect(journal.dropped > 0 && journal.dropped < 1000)
        // Closed at the other end: no SIGPIPE either.
        reader.close()
        journal.send(.info, "unread")
        // The flags that others share are as they were.
        #expect(fcntl(writer.rawValue, F_GETFL) & O_NONBLOCK == 0)
    }

    @Test func messageIDs_areDifferentAndWellFormed() {
        let ids = MessageID.allCases.map(\.id)
        #expect(Set(ids).count == ids.count)
        for id in ids { #expect(id.count == 32 && id.allSatisfy { "0123456789abcdef".contains($0) }) }
    }

    @Test func stream_introducesItselfAndBlocksItsWriters() throws {
        let socket = try PlayedSocket.stream(backlog: 5)
        let stream = try journal(nil, streamPath: socket.name).stream(identifier: "curfew-cam\nera", priority: .info)
        let journald = try socket.accept()
        try stream.writeAll(Array("hello\n".utf8))
        let text = String(decoding: try #require(PlayedSocket.receive(journald.rawValue)), as: UTF8.self)
        #expect(text == "curfew-cam era\n\n6\n1\n0\n0\n0\nhello\n")
        #expect(fcntl(stream.rawValue, F_GETFL) & O_NONBLOCK == 0)
        #expect(fcntl(stream.rawValue, F_GETFD) & FD_CLOEXEC != 0)
    }

    @Test func stream_withoutJournald_orToABusyOne_throwsAtOnce() throws {
        let error = #expect(throws: SystemError.self) {
            _ = try self.journal(nil).stream(identifier: "curfew-camera", priority: .info).rawValue
        }
        #expect(error?.errno == .noEntry)
        let socket = try PlayedSocket.stream(backlog: 0)
        let journal = self.journal(nil, streamPath: socket.name)
        let start = Clocks.monotonic
        let busy = #expect(throws: SystemError.self) {
            var streams: [Int32] = []
            defer { for stream in streams { _ = Foundation.close(stream) } }
            for _ in 0..<100 { streams.append(try journal.stream(identifier: "a", priority: .info).take()) }
        }
        #expect(busy?.errno == .again)
        #expect(Clocks.monotonic - start < 5_000_000_000)
    }
}
