internal import CLinux
internal import SystemCalls

extension ChildProcess {
    /// Starts a program in a session of its own, with all signals at their defaults and unblocked, and with no
    /// descriptors but those in the request. Returns when exec has succeeded: about 0.2 ms, in which this thread stands
    /// still. The process outlives the daemon, should that die. Kernel: clone3(CLONE_VM | CLONE_VFORK | CLONE_PIDFD |
    /// CLONE_INTO_CGROUP), or clone and a write to cgroup.procs where that is refused.
    public static func spawn(_ request: SpawnRequest) throws(SpawnError) -> ChildProcess {
        var strings = StringBlock()
        for argument in request.arguments { try strings.append(argument) }
        var environment = StringBlock()
        for entry in request.environment { try environment.append(entry) }
        var slots: [Int] = []
        for name in request.pidVariables { slots.append(try environment.appendPidSlot(name)) }
        let result = start(request, strings, &environment, slots)
        guard Int(result.step) == LINUX_SPAWN_DONE else { throw SpawnError(result, request) }
        return ChildProcess(pid: result.pid, pidfd: FileDescriptor(owning: result.pidfd))
    }

    private static func start(
        _ request: SpawnRequest, _ arguments: StringBlock, _ environment: inout StringBlock, _ slots: [Int]
    ) -> linux_spawn_result {
        let limits = request.limits.map { linux_spawn_limit(resource: $0.resource, soft: $0.soft, hard: $0.hard) }
        let descriptors = self.descriptors(of: request)
        let groups = request.credentials?.supplementaryGroups ?? []
        var raw = linux_spawn_request()
        raw.argument_count = arguments.count
        raw.environment_count = environment.count
        raw.pid_slot_count = slots.count
        raw.group = request.controlGroupDescriptor ?? -1
        raw.umask = request.umask.map { Int32($0 & 0o7777) } ?? -1
        raw.change_nice = request.nice != nil
        raw.nice = request.nice ?? 0
        raw.no_new_privileges = request.forbidsNewPrivileges
        if let credentials = request.credentials {
            raw.change_user = true
            raw.uid = credentials.user
            raw.gid = credentials.group
            raw.group_count = groups.count
        }
        raw.limit_count = limits.count
        raw.descriptor_count = descriptors.count
        var result = linux_spawn_result()
        arguments.bytes.withUnsafeBufferPointer { argumentBytes in
            environment.bytes.withUnsafeMutableBufferPointer { environmentBytes in
                slots.withUnsafeBufferPointer { slots in
                    groups.withUnsafeBufferPointer { groups in
                        limits.withUnsafeBufferPointer { limits in
                            descriptors.withUnsafeBufferPointer { descriptors in
                                raw.arguments = argumentBytes.baseAddress
                                raw.environment = environmentBytes.baseAddress
                                slots.withMemoryRebound(to: size_t.self) { raw.pid_slots = $0.baseAddress }
                                raw.groups = groups.baseAddress
                                raw.limits = limits.baseAddress
                                raw.descriptors = descriptors.baseAddress
                                withDirectory(of: request) { directory in
                                    raw.directory = directory
                                    linux_spawn(&raw, &result)
                                }
                            }
                        }
                    }
                }
            }
        }
        return result
    }

    private static func descriptors(of request: SpawnRequest) -> [linux_spawn_descriptor] {
        let standard = [request.standardInput, request.standardOutput, request.standardError]
        var descriptors: [linux_spawn_descriptor] = []
        for (target, source) in standard.enumerated() {
            descriptors.append(linux_spawn_descriptor(source: source ?? -1, target: Int32(target)))
        }
        for passed in request.passedDescriptors {
            descriptors.append(linux_spawn_descriptor(source: passed.source, target: passed.target))
        }
        return descriptors
    }

    private static func withDirectory(of request: SpawnRequest, _ body: (UnsafePointer<CChar>?) -> Void) {
        if let directory = request.workingDirectory {
            directory.withCString { body($0) }
        } else {
            body(nil)
        }
    }
}

/// Strings one after the other, each with its NUL, as linux_spawn takes them.
private struct StringBlock {
    private(set) var count = 0
    var bytes: [CChar] = []

    mutating func append(_ string: String) throws(SpawnError) {
        for byte in string.utf8 {
            // The kernel would see two strings.
            if byte == 0 { throw SpawnError(invalid: string) }
            bytes.append(CChar(bitPattern: byte))
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
