internal import CLinux
internal import PlayedKernel

// Files, directories and descriptors, as the daemon calls for them.

/// A call that has failed. Returns -1.
func failed(_ errno: Int32) -> Int32 {
    played_set_errno(errno)
    return -1
}

private func text(_ path: UnsafePointer<CChar>?) -> String { path.map { String(cString: $0) } ?? "" }

@_cdecl("played_open")
func playedOpen(_ path: UnsafePointer<CChar>?, _ flags: Int32, _ mode: mode_t) -> Int32 {
    guard let kernel = flags & O_CREAT != 0 ? Kernel.atPoint("open") : Kernel.playing else {
        return played_real_open(path, flags, mode)
    }
    if let errno = kernel.faults.strike(.open) { return failed(errno) }
    let path = text(path)
    let place = kernel.place(path)
    if place != path, flags & O_DIRECTORY == 0 { return kernel.openOwn(path, flags) }
    let descriptor = played_real_open(place, flags, mode)
    if descriptor >= 0 { kernel.descriptors.add(descriptor, flags & O_DIRECTORY != 0 ? .directory(path) : .file(path)) }
    return descriptor
}

extension Kernel {
    /// A file of /proc or of a control group.
    func openOwn(_ path: String, _ flags: Int32) -> Int32 {
        let group = groups.group(ofFile: path)
        if GroupTree.contains(path), __real_access(place(path), F_OK) != 0 { return failed(ENOENT) }
        let file = KernelFile(path, group)
        guard let text = text(of: file) else { return failed(ENOENT) }
        let descriptor = played_memory_file("kernel")
        guard descriptor >= 0 else { return -1 }
        fill(descriptor, text)
        descriptors.add(descriptor, .kernelFile(file))
        if file.name == "cgroup.events" || file.name == "memory.events" { group?.watchers.append(file) }
        return descriptor
    }

    func fill(_ descriptor: Int32, _ text: String) {
        _ = ftruncate(descriptor, 0)
        var text = text
        text.withUTF8 { _ = pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    }
}

@_cdecl("played_fcntl")
func playedFcntl(_ descriptor: Int32, _ command: Int32, _ argument: Int) -> Int32 {
    guard let kernel = Kernel.playing else { return played_real_fcntl(descriptor, command, argument) }
    if command == F_DUPFD_CLOEXEC, let errno = kernel.faults.strike(.duplicate) { return failed(errno) }
    let result = played_real_fcntl(descriptor, command, argument)
    if command == F_DUPFD_CLOEXEC, result >= 0 {
        kernel.descriptors.add(result, kernel.descriptors[descriptor] ?? .file("a copy"))
    }
    return result
}

@_cdecl("__wrap_close") func wrapClose(_ descriptor: Int32) -> Int32 {
    guard let kernel = Kernel.atPoint("close") else {
        if Kernel.isDead { _ = Kernel.present?.descriptors.remove(descriptor) }
        return __real_close(descriptor)
    }
    let kind = kernel.descriptors[descriptor]
    if !kernel.descriptors.remove(descriptor) {
        kernel.judge.complain("descriptor \(descriptor) is closed, which is not open")
        return failed(EBADF)
    }
    if kernel.descriptors.watched.contains(descriptor) {
        kernel.judge.complain("descriptor \(descriptor) is closed, which is still watched")
        kernel.descriptors.watch(descriptor, false)
    }
    switch kind {
    case .kernelFile(let file): file.group?.watchers.removeAll { $0 === file }
    case .process(let pid): kernel.processes.all[pid]?.forget(descriptor)
    default: break
    }
    return __real_close(descriptor)
}

@_cdecl("__wrap_read") func wrapRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ size: Int) -> Int {
    guard let kernel = Kernel.atPoint("read") else { return __real_read(descriptor, buffer, size) }
    if let errno = kernel.faults.strike(.read) { return Int(failed(errno)) }
    // A file of the kernel's comes in one piece.
    if case .kernelFile? = kernel.descriptors[descriptor] { return __real_read(descriptor, buffer, size) }
    return __real_read(descriptor, buffer, kernel.faults.length(size, .read))
}

@_cdecl("__wrap_pread")
func wrapPread(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ size: Int, _ offset: off_t) -> Int {
    guard let kernel = Kernel.playing, case .kernelFile(let file)? = kernel.descriptors[descriptor] else {
        return __real_pread(descriptor, buffer, size, offset)
    }
    if let errno = kernel.faults.strike(.eventRead) { return Int(failed(errno)) }
    if file.group?.isRemoved == true { return Int(failed(ENODEV)) }
    kernel.fill(descriptor, kernel.text(of: file) ?? "")
    file.hasChanged = false
    return __real_pread(descriptor, buffer, size, offset)
}

@_cdecl("__wrap_write") func wrapWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ size: Int) -> Int {
    guard let kernel = Kernel.playing else { return Kernel.isDead ? size : __real_write(descriptor, bytes, size) }
    if descriptor <= 2 {
        let line = String(decoding: UnsafeRawBufferPointer(start: bytes, count: size), as: UTF8.self)
        kernel.judge.note("log: " + line)
        return size
    }
    if case .kernelFile(let file)? = kernel.descriptors[descriptor] {
        kernel.points.pass(kernel, "write to \(file.path)")
        if let errno = kernel.faults.strike(.groupWrite) { return Int(failed(errno)) }
        let text = String(decoding: UnsafeRawBufferPointer(start: bytes, count: size), as: UTF8.self)
        let errno = kernel.aside { kernel.write(text, to: file) }
        return errno == 0 ? size : Int(failed(errno))
    }
    kernel.points.pass(kernel, "write")
    if let errno = kernel.faults.strike(.write) { return Int(failed(errno)) }
    return __real_write(descriptor, bytes, kernel.faults.length(size, .write))
}

@_cdecl("__wrap_fsync") func wrapFsync(_ descriptor: Int32) -> Int32 {
    if let errno = Kernel.atPoint("fsync")?.faults.strike(.fsync) { return failed(errno) }
    return Kernel.playing == nil ? __real_fsync(descriptor) : 0
}

@_cdecl("__wrap_pipe2") func wrapPipe(_ ends: UnsafeMutablePointer<Int32>?, _ flags: Int32) -> Int32 {
    guard let kernel = Kernel.playing, let ends else { return __real_pipe2(ends, flags) }
    if let errno = kernel.faults.strike(.pipe) { return failed(errno) }
    let result = __real_pipe2(ends, flags)
    if result == 0 {
        kernel.descriptors.add(ends[0], .pipe)
        kernel.descriptors.add(ends[1], .pipe)
    }
    return result
}

@_cdecl("__wrap_poll")
func wrapPoll(_ entries: UnsafeMutablePointer<pollfd>?, _ count: nfds_t, _ timeout: Int32) -> Int32 {
    guard let kernel = Kernel.playing, timeout > 0 else { return __real_poll(entries, count, timeout) }
    // The daemon waits here, and the board goes on.
    let end = kernel.clock.monotonic + Int64(timeout) * 1_000_000
    while true {
        let ready = kernel.pollOnce(entries, count)
        if ready != 0 || kernel.clock.monotonic >= end { return ready }
        kernel.aside {
            kernel.clock.pass(to: min(end, max(kernel.clock.monotonic + 1000, kernel.loop.world?.nextMoment ?? end)))
            kernel.loop.world?.runDue()
        }
    }
}

extension Kernel {
    fileprivate func pollOnce(_ entries: UnsafeMutablePointer<pollfd>?, _ count: nfds_t) -> Int32 {
        for index in 0..<Int(count) {
            guard let entry = entries?[index], case .kernelFile(let file)? = descriptors[entry.fd] else { continue }
            entries?[index].revents = file.hasChanged ? Int16(POLLPRI | POLLERR) : 0
            return file.hasChanged ? 1 : 0
        }
        return __real_poll(entries, count, 0)
    }
}

// MARK: Paths

@_cdecl("__wrap_access") func wrapAccess(_ path: UnsafePointer<CChar>?, _ mode: Int32) -> Int32 {
    guard let kernel = Kernel.playing else { return __real_access(path, mode) }
    return __real_access(kernel.place(text(path)), mode)
}

@_cdecl("__wrap_stat") func wrapStat(_ path: UnsafePointer<CChar>?, _ out: UnsafeMutablePointer<stat>?) -> Int32 {
    guard let kernel = Kernel.playing else { return __real_stat(path, out) }
    return __real_stat(kernel.place(text(path)), out)
}

@_cdecl("__wrap_fstat") func wrapFstat(_ descriptor: Int32, _ out: UnsafeMutablePointer<stat>?) -> Int32 {
    let result = __real_fstat(descriptor, out)
    // Whatever the simulation itself has there, its log is a pipe.
    if Kernel.playing != nil, descriptor <= 2 { out?.pointee.st_mode = mode_t(S_IFIFO) }
    return result
}

@_cdecl("__wrap_lstat") func wrapLstat(_ path: UnsafePointer<CChar>?, _ out: UnsafeMutablePointer<stat>?) -> Int32 {
    guard let kernel = Kernel.playing else { return __real_lstat(path, out) }
    return __real_lstat(kernel.place(text(path)), out)
}

@_cdecl("__wrap_statfs") func wrapStatfs(_ path: UnsafePointer<CChar>?, _ out: UnsafeMutablePointer<statfs>?) -> Int32 {
    guard let kernel = Kernel.playing else { return __real_statfs(path, out) }
    let path = text(path)
    let result = __real_statfs(kernel.place(path), out)
    if result == 0, GroupTree.contains(path) { out?.pointee.f_type = 0x6367_7270 }
    return result
}

@_cdecl("__wrap_opendir") func wrapOpendir(_ path: UnsafePointer<CChar>?) -> OpaquePointer? {
    guard let kernel = Kernel.playing else { return __real_opendir(path) }
    return __real_opendir(kernel.place(text(path)))
}

@_cdecl("__wrap_mkdir") func wrapMkdir(_ path: UnsafePointer<CChar>?, _ mode: mode_t) -> Int32 {
    guard let kernel = Kernel.atPoint("mkdir") else { return Kernel.isDead ? failed(EIO) : __real_mkdir(path, mode) }
    if let errno = kernel.faults.strike(.mkdir) { return failed(errno) }
    let path = text(path)
    return GroupTree.contains(path) ? kernel.aside { kernel.groups.make(path) } : __real_mkdir(path, mode)
}

@_cdecl("__wrap_rmdir") func wrapRmdir(_ path: UnsafePointer<CChar>?) -> Int32 {
    guard let kernel = Kernel.atPoint("rmdir") else { return Kernel.isDead ? failed(EIO) : __real_rmdir(path) }
    if let errno = kernel.faults.strike(.rmdir) { return failed(errno) }
    let path = text(path)
    guard GroupTree.contains(path) else { return __real_rmdir(path) }
    let errno = kernel.aside { kernel.groups.remove(path) }
    return errno == 0 ? 0 : failed(errno)
}

@_cdecl("__wrap_rename")
func wrapRename(_ from: UnsafePointer<CChar>?, _ to: UnsafePointer<CChar>?) -> Int32 {
    if let errno = Kernel.atPoint("rename")?.faults.strike(.rename) { return failed(errno) }
    if Kernel.isDead { return failed(EIO) }
    return __real_rename(from, to)
}

@_cdecl("__wrap_unlink") func wrapUnlink(_ path: UnsafePointer<CChar>?) -> Int32 {
    _ = Kernel.atPoint("unlink")
    return Kernel.isDead ? failed(EIO) : __real_unlink(path)
}

@_cdecl("__wrap_setxattr")
func wrapSetxattr(
    _ path: UnsafePointer<CChar>?, _ name: UnsafePointer<CChar>?, _ value: UnsafeRawPointer?, _ size: Int,
    _ flags: Int32
) -> Int32 { 0 }

@_cdecl("__wrap_getxattr")
func wrapGetxattr(
    _ path: UnsafePointer<CChar>?, _ name: UnsafePointer<CChar>?, _ value: UnsafeMutableRawPointer?, _ size: Int
) -> Int { Int(failed(ENODATA)) }

// MARK: The daemon's own process

@_cdecl("__wrap_mlockall") func wrapMlockall(_ flags: Int32) -> Int32 { 0 }
@_cdecl("__wrap_setrlimit") func wrapSetrlimit(_ resource: UInt32, _ limit: UnsafeRawPointer?) -> Int32 { 0 }
@_cdecl("__wrap_umask") func wrapUmask(_ mask: mode_t) -> mode_t { 0o022 }
@_cdecl("__wrap_mallopt") func wrapMallopt(_ name: Int32, _ value: Int32) -> Int32 { 1 }
@_cdecl("__wrap_getenv") func wrapGetenv(_ name: UnsafePointer<CChar>?) -> UnsafeMutablePointer<CChar>? { nil }
@_cdecl("__wrap_getpid") func wrapGetpid() -> Int32 { ProcessTable.daemon }

@_cdecl("__wrap_memfd_create") func wrapMemory(_ name: UnsafePointer<CChar>?, _ flags: UInt32) -> Int32 {
    let descriptor = __real_memfd_create(name, flags)
    if descriptor >= 0 { Kernel.playing?.descriptors.add(descriptor, .file("memory")) }
    return descriptor
}
