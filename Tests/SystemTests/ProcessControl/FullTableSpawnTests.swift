import CLinux
import Glibc
import SystemCalls
import Testing

/// A table of descriptors that is full, in a process of its own: the limit is a process's.
@Suite struct FullTableSpawnTests {
    @Test func startsFailAndLeaveNothing_andGoOnWithRoom() async {
        await #expect(processExitsWith: .success) {
            // To the walk, a group is a folder with a file cgroup.procs.
            let folder = try #require(mkdtemp(strdup("/tmp/curfew-group-XXXXXX")))
            defer { free(folder) }
            let procs = String(cString: folder) + "/cgroup.procs"
            _ = try FileDescriptor.open(procs, O_WRONLY | O_CREAT)
            let group = try FileDescriptor.open(String(cString: folder), O_RDONLY | O_DIRECTORY)

            var limit = rlimit(rlim_cur: 64, rlim_max: 64)
            try #require(setrlimit(__rlimit_resource_t(7), &limit) == 0)
            while dup(0) >= 0 {}
            try #require(errno == EMFILE)
            #expect(spawn(into: group.rawValue) == LINUX_SPAWN_CLONE)
            // For the child's gate.
            close(63)
            close(62)
            #expect(spawn(into: group.rawValue) == LINUX_SPAWN_JOIN_GROUP)
            #expect(waitpid(-1, nil, WNOHANG) == -1 && errno == ECHILD)
            // And for what it is given.
            for descriptor: Int32 in 54..<62 { close(descriptor) }
            for _ in 0..<100 { #expect(spawn(into: group.rawValue) == LINUX_SPAWN_DONE) }
            unlink(procs)
            rmdir(folder)
        }
    }
}

/// The step that failed, or LINUX_SPAWN_DONE.
private func spawn(into group: Int32) -> Int {
    let descriptors = (0..<3).map { linux_spawn_descriptor(source: -1, target: $0) }
    var result = linux_spawn_result()
    var environment: [CChar] = [0]
    "/bin/true".withCString { program in
        environment.withUnsafeMutableBufferPointer { environment in
            descriptors.withUnsafeBufferPointer { descriptors in
                var request = linux_spawn_request()
                request.arguments = program
                request.argument_count = 1
                request.environment = environment.baseAddress
                request.group = group
                request.write_group = true
                request.umask = -1
                request.descriptors = descriptors.baseAddress
                request.descriptor_count = descriptors.count
                linux_spawn(&request, &result)
            }
        }
    }
    if Int(result.step) == LINUX_SPAWN_DONE {
        waitpid(result.pid, nil, 0)
        close(result.pidfd)
    }
    return Int(result.step)
}
