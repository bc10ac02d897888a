import CLinux
import Foundation
import ProcessControl
import SystemCalls
import Testing

@testable import Supervision

@Suite struct NotifyObjectionTests {
    @Test func whyAMessageIsNotHeardIsSaid() throws {
        let path = NSTemporaryDirectory() + "/curfew-objection-\(getpid())"
        let socket = try NotifySocket.open(path)
        defer { unlink(path) }
        let sender = FileDescriptor(owning: CLinux.socket(AF_UNIX, linux_datagram_type, 0))
        try #require(linux_unix_connect(sender.rawValue, path) == 0)
        func objection(toMessageOf size: Int) throws -> String {
            #expect(linux_unix_send(sender.rawValue, [UInt8](repeating: 0x61, count: size), size) == size)
            return NotifyReceiver.objection(to: try #require(try socket.receive()), of: "camera")
        }
        #expect(try objection(toMessageOf: 4096) == "no process of camera")
        #expect(try objection(toMessageOf: 4097) == "it is longer than 4 KiB")
    }
}
