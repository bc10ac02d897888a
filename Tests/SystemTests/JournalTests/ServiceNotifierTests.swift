import Foundation
import Journal
import SystemCalls
import Testing

@Suite struct ServiceNotifierTests {
    @Test(arguments: [false, true]) func states_arrive(isAbstract: Bool) throws {
        let manager = try PlayedSocket.datagram(isAbstract: isAbstract)
        let notifier = ServiceNotifier(address: manager.name)
        notifier.ready()
        notifier.ready(status: "3 apps")
        notifier.status("two\nlines")
        notifier.mainProcess(42)
        notifier.watchdog()
        notifier.stopping()
        let texts = (0..<6).map { _ in manager.receiveText() }
        #expect(
            texts == [
                "READY=1", "READY=1\nSTATUS=3 apps", "STATUS=two lines", "MAINPID=42", "WATCHDOG=1", "STOPPING=1",
            ])
        #expect(manager.receive() == nil)
    }

    @Test func reloading_carriesTheTime() throws {
        let manager = try PlayedSocket.datagram()
        let before = Clocks.monotonic / 1000
        ServiceNotifier(address: manager.name).reloading()
        let text = try #require(manager.receiveText())
        let prefix = "RELOADING=1\nMONOTONIC_USEC="
        try #require(text.hasPrefix(prefix))
        let time = try #require(Int64(text.dropFirst(prefix.count)))
        #expect(time >= before && time <= Clocks.monotonic / 1000)
    }

    @Test func noReceiver_isNoError() {
        #expect(ServiceNotifier(address: nil).notify("READY=1") == false)
        #expect(ServiceNotifier(address: "").notify("READY=1") == false)
        #expect(ServiceNotifier(address: "/" + String(repeating: "x", count: 200)).notify("READY=1") == false)
        #expect(ServiceNotifier(address: "/nonexistent/notify").notify("READY=1") == false)
    }

    @Test func managerThatIsBehind_stallsNothing() throws {
        let manager = try PlayedSocket.datagram()
        let notifier = ServiceNotifier(address: manager.name)
        let start = Clocks.monotonic
        var refused = 0
        for _ in 0..<5000 where !notifier.notify("WATCHDOG=1") { refused += 1 }
        #expect(refused > 0)
        #expect(Clocks.monotonic - start < 5_000_000_000)
    }

    @Test func environment_isTakenAndRemoved() {
        setenv("NOTIFY_SOCKET", "@curfew-not-there", 1)
        let notifier = ServiceNotifier()
        #expect(notifier.address == "@curfew-not-there")
        #expect(getenv("NOTIFY_SOCKET") == nil)
        #expect(ServiceNotifier().address == nil)
    }
}
