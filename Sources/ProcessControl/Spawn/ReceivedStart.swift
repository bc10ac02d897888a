public import CLinux

/// A start packet that has come, read where it lies: nothing of it is copied, and no length in it is believed.
public enum ReceivedStart {
    /// Calls `body` with the request that the packet holds; nil where its lengths do not add up. bytes: at an address
    /// that is a multiple of 8; changed in place. descriptors: those that came with it; they stay the caller's,
    /// who also looks for the namespaces that it is to enter.
    public static func read<Result>(
        _ bytes: UnsafeMutableRawBufferPointer, _ descriptors: ArraySlice<Int32>,
        _ body: (inout linux_spawn_request, keeper_start) -> Result
    ) -> Result? {
        guard let base = bytes.baseAddress, bytes.count >= MemoryLayout<keeper_start>.size else { return nil }
        let head = base.load(as: keeper_start.self)
        var rest = Rest(
            next: base + MemoryLayout<keeper_start>.size, count: bytes.count - MemoryLayout<keeper_start>.size)
        let hasGroup = head.flags & UInt32(KEEPER_HAS_GROUP) != 0
        guard let limits = rest.take(linux_spawn_limit.self, head.limit_count),
            let slots = rest.take(UInt64.self, head.slot_count),
            let places = rest.take(linux_spawn_descriptor.self, head.descriptor_count),
            let filter = rest.take(linux_filter_step.self, head.filter_count),
            let groups = rest.take(UInt32.self, head.group_count),
            let arguments = rest.takeStrings(head.argument_bytes, head.argument_count),
            let environment = rest.takeStrings(head.environment_bytes, head.environment_count),
            let paths = rest.takeStrings(head.path_bytes, head.path_count),
            let directory = rest.takeStrings(
                head.directory_bytes, head.flags & UInt32(KEEPER_HAS_DIRECTORY) != 0 ? 1 : 0),
            rest.count == 0, !hasGroup || !descriptors.isEmpty, head.filter_count <= UInt32(LINUX_MAX_FILTER_STEPS),
            resolve(places, Int(head.descriptor_count), descriptors.dropFirst(hasGroup ? 1 : 0)),
            areInside(slots, Int(head.slot_count), head.environment_bytes)
        else { return nil }
        var request = linux_spawn_request()
        request.arguments = UnsafePointer(arguments)
        request.argument_count = Int(head.argument_count)
        request.environment = environment
        request.environment_count = Int(head.environment_count)
        request.pid_slots = UnsafePointer(UnsafeMutableRawPointer(slots).assumingMemoryBound(to: Int.self))
        request.pid_slot_count = Int(head.slot_count)
        if head.flags & UInt32(KEEPER_HAS_DIRECTORY) != 0 { request.directory = UnsafePointer(directory) }
        request.group = hasGroup ? descriptors[descriptors.startIndex] : -1
        // No next daemon would find it.
        request.ends_with_parent = !hasGroup
        request.change_user = head.flags & UInt32(KEEPER_CHANGES_USER) != 0
        request.uid = head.uid
        request.gid = head.gid
        request.groups = UnsafePointer(groups)
        request.group_count = Int(head.group_count)
        request.umask = head.umask
        request.change_nice = head.flags & UInt32(KEEPER_CHANGES_NICE) != 0
        request.nice = head.nice
        request.no_new_privileges = head.flags & UInt32(KEEPER_NO_NEW_PRIVILEGES) != 0
        request.limit_capabilities = head.flags & UInt32(KEEPER_LIMITS_CAPABILITIES) != 0
        request.capabilities = head.capabilities
        request.limits = UnsafePointer(limits)
        request.limit_count = Int(head.limit_count)
        request.descriptors = UnsafePointer(places)
        request.descriptor_count = Int(head.descriptor_count)
        request.sandbox = head.sandbox
        request.sandbox_paths = UnsafePointer(paths)
        request.sandbox_path_count = Int(head.path_count)
        request.filter = UnsafePointer(filter)
        request.filter_count = Int(head.filter_count)
        return body(&request, head)
    }

    /// Numbers of the packet become those of this process.
    private static func resolve(
        _ places: UnsafeMutablePointer<linux_spawn_descriptor>, _ count: Int, _ descriptors: ArraySlice<Int32>
    ) -> Bool {
        for index in 0..<count where places[index].source >= 0 {
            guard Int(places[index].source) < descriptors.count else { return false }
            places[index].source = descriptors[descriptors.startIndex + Int(places[index].source)]
        }
        return true
    }

    /// Eleven digits and a NUL fit behind each.
    private static func areInside(_ slots: UnsafeMutablePointer<UInt64>, _ count: Int, _ bytes: UInt32) -> Bool {
        for index in 0..<count where slots[index] > UInt64(bytes) || UInt64(bytes) - slots[index] < 12 { return false }
        return true
    }
}

/// What of a packet has not been read yet.
private struct Rest {
    var next: UnsafeMutableRawPointer
    var count: Int

    mutating func take<Value>(_ type: Value.Type, _ number: UInt32) -> UnsafeMutablePointer<Value>? {
        let size = Int(number) * MemoryLayout<Value>.stride
        guard size <= count else { return nil }
        let start = next.assumingMemoryBound(to: type)
        next += size
        count -= size
        return start
    }

    /// So many strings, each with its NUL.
    mutating func takeStrings(_ bytes: UInt32, _ number: UInt32) -> UnsafeMutablePointer<CChar>? {
        guard let start = take(CChar.self, bytes) else { return nil }
        var ends: UInt32 = 0
        for index in 0..<Int(bytes) where start[index] == 0 { ends += 1 }
        guard ends == number, bytes == 0 || start[Int(bytes) - 1] == 0 else { return nil }
        return start
    }
}
