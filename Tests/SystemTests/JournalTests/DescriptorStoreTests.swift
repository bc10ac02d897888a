import CLinux
import Journal
import SystemCalls
import Testing

@Suite struct DescriptorStoreTests {
    @Test func whatIsPutAndRemoved_isTold() throws {
        let manager = try PlayedSocket.datagram()
        let store = DescriptorStore(address: manager.name)
        store.put("/run/curfew/io.curfew.Control", 0)
        store.remove("/run/curfew/io.curfew.Control")
        #expect(manager.receiveText() == "FDSTORE=1\nFDNAME=/run/curfew/io.curfew.Control")
        #expect(manager.receiveText() == "FDSTOREREMOVE=1\nFDNAME=/run/curfew/io.curfew.Control")
        #expect(!store.isBehind)
    }

    @Test(arguments: ["", "with space", "a:b", "two\nlines", "caf\u{e9}", String(repeating: "x", count: 256)])
    func nameThatTheManagerDoesNotTake_isLeftOut(name: String) throws {
        let manager = try PlayedSocket.datagram()
        let store = DescriptorStore(address: manager.name)
        store.put(name, 0)
        store.remove(name)
        #expect(manager.receive() == nil)
        store.put(String(repeating: "x", count: 255), 0)
        #expect(manager.receiveText() != nil)
    }

    @Test func managerThatIsBehind_hearsAllInOrder() throws {
        let manager = try PlayedSocket.datagram()
        let store = DescriptorStore(address: manager.name)
        for number in 0..<300 { store.put("\(number)", 0) }
        store.remove("7")
        #expect(store.isBehind)
        var heard: [String] = []
        for _ in 0..<400 where heard.count < 301 {
            while let text = manager.receiveText() { heard.append(text) }
            store.flush()
        }
        #expect(heard == (0..<300).map { "FDSTORE=1\nFDNAME=\($0)" } + ["FDSTOREREMOVE=1\nFDNAME=7"])
        #expect(!store.isBehind)
    }

    @Test func managerThatNeverReads_costsABoundedNumberOfDescriptors() throws {
        let manager = try PlayedSocket.datagram()
        let store = DescriptorStore(address: manager.name)
        let before = try descriptors()
        for number in 0..<2000 { store.put("\(number)", 0) }
        #expect(try descriptors() - before <= 600)
    }

    /// Other tests have some, too, at any time.
    private func descriptors() throws -> Int {
        try Files.list("/proc/self/fd").count
    }

    @Test func managerThatNeverReads_isAskedLessAndLess() throws {
        let manager = try PlayedSocket.datagram()
        let store = DescriptorStore(address: manager.name)
        #expect(store.millisecondsLeft == -1)
        for number in 0..<20 { store.put("\(number)", 0) }
        #expect(store.millisecondsLeft > 0)
        for _ in 0..<10 { store.flush() }
        #expect(store.millisecondsLeft == 1000)
        // What else it is to be told has room.
        #expect(ServiceNotifier(address: manager.name).notify("READY=1"))
        for _ in 0..<4 { _ = manager.receiveText() }
        _ = manager.receiveText()
        store.flush()
        #expect(store.millisecondsLeft == 5)
    }

    @Test func managerThatComesAgain_isTold() throws {
        let manager = try PlayedSocket.datagram()
        let store = DescriptorStore(address: manager.name)
        store.put("one", 0)
        manager.close()
        // However many: it is by looks that it is given up.
        for number in 2...20 { store.put("\(number)", 0) }
        #expect(store.isBehind)
        try manager.open()
        var heard: [String] = []
        for _ in 0..<40 {
            store.flush()
            while let text = manager.receiveText() { heard.append(text) }
        }
        #expect(heard == (2...20).map { "FDSTORE=1\nFDNAME=\($0)" })
    }

    @Test func managerThatIsGoneForGood_isGivenUp() throws {
        let manager = try PlayedSocket.datagram()
        let store = DescriptorStore(address: manager.name)
        manager.close()
        store.put("one", 0)
        for _ in 0..<20 where store.isBehind { store.flush() }
        #expect(!store.isBehind)
        store.put("two", 0)
        store.flush()
        #expect(!store.isBehind)
        // One that is there all the same is told, and awaited again.
        try manager.open()
        store.put("three", 0)
        #expect(manager.receiveText() == "FDSTORE=1\nFDNAME=three")
        manager.close()
        store.put("four", 0)
        #expect(store.isBehind)
    }

    @Test func withoutAManager_nothingIsDone() {
        let store = DescriptorStore(address: nil)
        store.put("one", 0)
        store.remove("one")
        #expect(!store.isBehind)
    }

    @Test(
        .serialized,
        arguments: [
            ("1", "1", "one"), ("", "1", "one"), ("self", "0", ""), ("self", "-1", "one"), ("self", "much", "one"),
            ("self", "99999999", "one"),
        ])
    func whatIsMeantForAnother_isNotTaken(process: String, count: String, names: String) {
        setenv("LISTEN_PID", process == "self" ? "\(getpid())" : process, 1)
        setenv("LISTEN_FDS", count, 1)
        setenv("LISTEN_FDNAMES", names, 1)
        #expect(DescriptorStore.take().isEmpty)
        for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { #expect(getenv(name) == nil) }
    }
}
