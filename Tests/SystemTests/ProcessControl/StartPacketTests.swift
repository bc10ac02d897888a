import CLinux
import ProcessControl
import SystemCalls
import Testing

/// What the keeper reads of a packet: all of it, or nothing. It stays inside the packet whatever that holds.
@Suite struct StartPacketTests {
    private static var request: SpawnRequest {
        var request = SpawnRequest(arguments: ["/bin/app", "one", ""], environment: ["A=1", "B=zwei"])
        request.pidVariables = ["WATCHDOG_PID"]
        request.workingDirectory = "/var/lib"
        request.credentials = Credentials(user: 7, group: 8, supplementaryGroups: [9, 10, 11])
        request.umask = 0o027
        request.nice = -5
        request.limits = [ResourceLimit(resource: 7, soft: 100, hard: ResourceLimit.unlimited)]
        request.forbidsNewPrivileges = true
        request.capabilities = 1 << 40 | 1
        request.standardOutput = 31
        request.standardError = 31
        request.passedDescriptors = [PassedDescriptor(source: 33, target: 5)]
        request.controlGroupDescriptor = 30
        request.sandbox = Sandbox(
            [.system, .network], places: [.writable("/srv/a"), .own("/home/b")], isOptional: true,
            filter: [6, 0x7fff_0000_0000_0006])
        return request
    }

    /// nil where it is not read.
    private func read<Result>(
        _ bytes: [UInt8], _ descriptors: [Int32], _ body: (linux_spawn_request, keeper_start) -> Result
    ) -> Result? {
        // Just as long as the packet, so that the sanitizer sees a step beyond it.
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(bytes.count, 1), alignment: 8)
        defer { copy.deallocate() }
        copy.copyBytes(from: bytes)
        let packet = UnsafeMutableRawBufferPointer(rebasing: copy[..<bytes.count])
        return ReceivedStart.read(packet, descriptors[...]) { body($0, $1) }
    }

    private static func strings(_ start: UnsafePointer<CChar>?, _ count: Int) -> [String] {
        var next = start
        return (0..<count).compactMap { _ in
            guard let text = next else { return nil }
            next = text + strlen(text) + 1
            return String(cString: text)
        }
    }

    @Test func allOfARequestArrives() throws {
        let packet = try StartPacket(Self.request, id: 77)
        // One that goes to two places is sent once.
        #expect(packet.descriptors == [30, 31, 33])
        let id = read(packet.bytes, [130, 131, 133]) { raw, head in
            #expect(Self.strings(raw.arguments, raw.argument_count) == ["/bin/app", "one", ""])
            let environment = Self.strings(UnsafePointer(raw.environment), raw.environment_count)
            #expect(environment == ["A=1", "B=zwei", "WATCHDOG_PID=           "])
            #expect(raw.pid_slot_count == 1 && raw.pid_slots[0] == "A=1 B=zwei WATCHDOG_PID=".utf8.count)
            #expect(String(cString: raw.directory) == "/var/lib" && raw.group == 130)
            #expect(raw.change_user && raw.uid == 7 && raw.gid == 8)
            #expect((0..<raw.group_count).map { raw.groups[$0] } == [9, 10, 11])
            #expect(raw.umask == 0o027 && raw.change_nice && raw.nice == -5 && raw.no_new_privileges)
            #expect(raw.limit_capabilities && raw.capabilities == 1 << 40 | 1)
            #expect(raw.limit_count == 1 && raw.limits[0].resource == 7 && raw.limits[0].soft == 100)
            #expect(raw.limits[0].hard == .max)
            let places = (0..<raw.descriptor_count).map { [raw.descriptors[$0].source, raw.descriptors[$0].target] }
            #expect(places == [[-1, 0], [131, 1], [131, 2], [133, 5]])
            #expect(raw.sandbox == 1 | 32 | 1 << 16 && !raw.enters && head.enter == 0)
            #expect(Self.strings(raw.sandbox_paths, raw.sandbox_path_count) == ["w/srv/a", "h/home/b"])
            #expect(raw.filter_count == 2 && raw.filter[1].code == 6 && raw.filter[1].value == 0x7fff_0000)
            return head.id
        }
        #expect(id == 77)
    }

    @Test func whatIsNotAskedForStaysOff() throws {
        let packet = try StartPacket(SpawnRequest(arguments: ["/bin/true"]), id: 1)
        #expect(packet.descriptors.isEmpty)
        let isRead = read(packet.bytes, []) { raw, _ in
            #expect(!raw.change_user && !raw.change_nice && !raw.no_new_privileges && !raw.limit_capabilities)
            #expect(raw.directory == nil && raw.group == -1 && raw.umask == -1)
            return true
        }
        #expect(isRead == true)
    }

    @Test func aPacketThatIsCutShort_orGoesOn_isNotRead() throws {
        let packet = try StartPacket(Self.request, id: 77)
        for length in 0..<packet.bytes.count {
            #expect(read(Array(packet.bytes[..<length]), [130, 131, 133]) { _, _ in true } == nil)
        }
        #expect(read(packet.bytes + [0], [130, 131, 133]) { _, _ in true } == nil)
    }

    @Test func descriptorsThatDidNotCome() throws {
        let packet = try StartPacket(Self.request, id: 77)
        for count in 0..<3 {
            #expect(read(packet.bytes, Array([130, 131, 133][..<count])) { _, _ in true } == nil)
        }
    }

    /// A pid would be written behind the environment.
    @Test(arguments: [0 as UInt64, 12, 13, 1 << 40, .max])
    func aSlotThatIsNotInTheEnvironment(offset: UInt64) throws {
        var request = SpawnRequest(arguments: ["/bin/true"])
        request.pidVariables = ["P"]
        var bytes = try StartPacket(request, id: 1).bytes
        let place = MemoryLayout<keeper_start>.size
        withUnsafeBytes(of: offset) { bytes.replaceSubrange(place..<place + 8, with: $0) }
        // "P=" and eleven places, and a NUL: only 0 and 2 leave room for a pid.
        #expect((read(bytes, []) { _, _ in true } != nil) == (offset == 0))
    }

    /// Whatever is in it: what is read lies inside.
    @Test func anyByteMayBeAnother() throws {
        let packet = try StartPacket(Self.request, id: 77)
        for place in packet.bytes.indices {
            for value: UInt8 in [0, 1, 127, 128, 255] {
                var bytes = packet.bytes
                bytes[place] = value
                _ = read(bytes, [130, 131, 133]) { raw, _ in
                    _ = Self.strings(raw.arguments, raw.argument_count)
                    _ = Self.strings(UnsafePointer(raw.environment), raw.environment_count)
                    for index in 0..<raw.pid_slot_count { raw.environment[raw.pid_slots[index] + 11] = 0 }
                    for index in 0..<raw.descriptor_count where raw.descriptors[index].source >= 0 {
                        #expect([131, 133].contains(raw.descriptors[index].source))
                    }
                }
            }
        }
    }

    @Test func whatDoesNotFitIntoAPacket() {
        let long = SpawnRequest(arguments: ["/bin/true"], environment: ["A=" + String(repeating: "x", count: 1 << 17)])
        #expect(throws: SpawnError.self) { try StartPacket(long, id: 1) }
        #expect(throws: SpawnError.self) { try StartPacket(SpawnRequest(arguments: ["/bin/a\0b"]), id: 1) }
        var many = SpawnRequest(arguments: ["/bin/true"])
        many.passedDescriptors = (0..<100).map { PassedDescriptor(source: 100 + $0, target: 3 + $0) }
        #expect(throws: SpawnError.self) { try StartPacket(many, id: 1) }
    }
}
