internal import CLinux

/// A start as the keeper is asked for it: one packet (struct keeper_start), and the descriptors that go with it.
public struct StartPacket {
    public private(set) var bytes: [UInt8] = []
    /// The caller's; the packet does not own them.
    public private(set) var descriptors: [Int32] = []

    /// E2BIG where it is longer than a packet may be (128 KiB), EINVAL for a string with a NUL.
    public init(_ request: SpawnRequest, id: Int64) throws(SpawnError) {
        var arguments = StringBlock()
        for argument in request.arguments { try arguments.append(argument) }
        var environment = StringBlock()
        for entry in request.environment { try environment.append(entry) }
        var slots: [UInt64] = []
        for name in request.pidVariables { slots.append(UInt64(try environment.appendPidSlot(name))) }
        var directory = StringBlock()
        if let path = request.workingDirectory { try directory.append(path) }

        var paths = StringBlock()
        for place in request.sandbox?.places ?? [] { try paths.append(place.text) }

        var head = Self.head(of: request, id: id)
        head.slot_count = UInt32(slots.count)
        head.argument_count = UInt32(arguments.count)
        head.argument_bytes = UInt32(arguments.bytes.count)
        head.environment_count = UInt32(environment.count)
        head.environment_bytes = UInt32(environment.bytes.count)
        head.directory_bytes = UInt32(directory.bytes.count)
        head.path_count = UInt32(paths.count)
        head.path_bytes = UInt32(paths.bytes.count)
        let places = pass(request)
        head.descriptor_count = UInt32(places.count)

        append(head)
        for limit in request.limits {
            append(linux_spawn_limit(resource: limit.resource, soft: limit.soft, hard: limit.hard))
        }
        for slot in slots { append(slot) }
        for place in places { append(place) }
        for step in request.sandbox?.filter ?? [] { append(step) }
        for group in request.credentials?.supplementaryGroups ?? [] { append(group) }
        bytes += arguments.bytes
        bytes += environment.bytes
        bytes += paths.bytes
        bytes += directory.bytes
        if bytes.count > KEEPER_MAX_PACKET || descriptors.count > KEEPER_MAX_DESCRIPTORS {
            throw SpawnError(.prepare, request.arguments.first ?? "", E2BIG)
        }
    }

    private static func head(of request: SpawnRequest, id: Int64) -> keeper_start {
        var head = keeper_start()
        head.kind = UInt32(KEEPER_START)
        head.id = id
        head.limit_count = UInt32(request.limits.count)
        head.umask = request.umask.map { Int32($0 & 0o7777) } ?? -1
        if let credentials = request.credentials {
            head.flags |= UInt32(KEEPER_CHANGES_USER)
            head.uid = credentials.user
            head.gid = credentials.group
            head.group_count = UInt32(credentials.supplementaryGroups.count)
        }
        if let nice = request.nice {
            head.flags |= UInt32(KEEPER_CHANGES_NICE)
            head.nice = nice
        }
        if request.controlGroupDescriptor != nil { head.flags |= UInt32(KEEPER_HAS_GROUP) }
        if let capabilities = request.capabilities {
            head.flags |= UInt32(KEEPER_LIMITS_CAPABILITIES)
            head.capabilities = capabilities
        }
        if request.forbidsNewPrivileges { head.flags |= UInt32(KEEPER_NO_NEW_PRIVILEGES) }
        if request.workingDirectory != nil { head.flags |= UInt32(KEEPER_HAS_DIRECTORY) }
        if let sandbox = request.sandbox {
            head.sandbox = sandbox.flags
            head.filter_count = UInt32(sandbox.filter.count)
        }
        head.enter = request.companion?.id ?? 0
        return head
    }

    /// Which of the packet's descriptors goes where; each is sent once.
    private mutating func pass(_ request: SpawnRequest) -> [linux_spawn_descriptor] {
        var places: [linux_spawn_descriptor] = []
        if let group = request.controlGroupDescriptor { descriptors.append(group) }
        let first = descriptors.count
        let standard = [request.standardInput, request.standardOutput, request.standardError]
        func place(_ source: Int32?, at target: Int32) {
            guard let source else { return places.append(linux_spawn_descriptor(source: -1, target: target)) }
            let known = descriptors[first...].firstIndex(of: source)
            if known == nil { descriptors.append(source) }
            let index = (known ?? descriptors.count - 1) - first
            places.append(linux_spawn_descriptor(source: Int32(index), target: target))
        }
        for (target, source) in standard.enumerated() { place(source, at: Int32(target)) }
        for passed in request.passedDescriptors { place(passed.source, at: passed.target) }
        return places
    }

    private mutating func append<Value>(_ value: Value) {
        withUnsafeBytes(of: value) { bytes += $0 }
    }
}

/// Strings one after the other, each with its NUL.
private struct StringBlock {
    private(set) var count = 0
    private(set) var bytes: [UInt8] = []

    mutating func append(_ string: String) throws(SpawnError) {
        for byte in string.utf8 {
            // The kernel would see two strings.
            if byte == 0 { throw SpawnError(.prepare, string, EINVAL) }
            bytes.append(byte)
        }
        bytes.append(0)
        count += 1
    }

    /// "NAME=" and room for a pid; where that room is.
    mutating func appendPidSlot(_ name: String) throws(SpawnError) -> Int {
        try append(name + "=" + "           ")
        return bytes.count - 12
    }
}
