internal import CLinux
internal import PlayedKernel

// Sockets: the true kernel's, but for who is at the other end.

@_cdecl("__wrap_socket") func wrapSocket(_ family: Int32, _ type: Int32, _ rule: Int32) -> Int32 {
    guard let kernel = Kernel.playing else { return __real_socket(family, type, rule) }
    if let errno = kernel.faults.strike(.socketpair) { return failed(errno) }
    let descriptor = __real_socket(family, type, rule)
    if descriptor >= 0 { kernel.descriptors.add(descriptor, .socket) }
    return descriptor
}

@_cdecl("__wrap_socketpair")
func wrapSocketpair(_ family: Int32, _ type: Int32, _ rule: Int32, _ out: UnsafeMutablePointer<Int32>?) -> Int32 {
    playPair(out) { __real_socketpair(family, type, rule, out) }
}

/// make: the true call, which fills `out`.
func playPair(_ out: UnsafeMutablePointer<Int32>?, _ make: () -> Int32) -> Int32 {
    guard let kernel = Kernel.playing, let out else { return make() }
    if let errno = kernel.faults.strike(.socketpair) { return failed(errno) }
    let result = make()
    if result == 0 {
        kernel.descriptors.add(out[0], .socket)
        kernel.descriptors.add(out[1], .socket)
    }
    return result
}

@_cdecl("__wrap_accept4")
func wrapAccept(
    _ listener: Int32, _ address: UnsafeMutablePointer<sockaddr>?, _ length: UnsafeMutablePointer<socklen_t>?,
    _ flags: Int32
) -> Int32 {
    guard let kernel = Kernel.atPoint("accept") else { return __real_accept4(listener, address, length, flags) }
    if let errno = kernel.faults.strike(.accept) { return failed(errno) }
    let descriptor = __real_accept4(listener, address, length, flags)
    if descriptor >= 0 { kernel.descriptors.add(descriptor, .socket) }
    return descriptor
}

@_cdecl("__wrap_send")
func wrapSend(_ socket: Int32, _ bytes: UnsafeRawPointer?, _ size: Int, _ flags: Int32) -> Int {
    guard let kernel = Kernel.atPoint("send") else { return __real_send(socket, bytes, size, flags) }
    if let errno = kernel.faults.strike(.send) { return Int(failed(errno)) }
    return __real_send(socket, bytes, kernel.faults.length(size, .send), flags)
}

@_cdecl("__wrap_recv")
func wrapRecv(_ socket: Int32, _ buffer: UnsafeMutableRawPointer?, _ size: Int, _ flags: Int32) -> Int {
    guard let kernel = Kernel.atPoint("recv") else { return __real_recv(socket, buffer, size, flags) }
    if let errno = kernel.faults.strike(.receive) { return Int(failed(errno)) }
    return __real_recv(socket, buffer, kernel.faults.length(size, .receive), flags)
}

@_cdecl("__wrap_recvmsg")
func wrapRecvmsg(_ socket: Int32, _ message: UnsafeMutablePointer<msghdr>?, _ flags: Int32) -> Int {
    guard let kernel = Kernel.atPoint("recvmsg"), let message else { return __real_recvmsg(socket, message, flags) }
    if let errno = kernel.faults.strike(.receive) { return Int(failed(errno)) }
    var sender: pid_t = 0
    let length = played_receive(socket, message, flags, &sender)
    if length >= 0 { played_set_credentials(message, sender, kernel.processes.all[sender]?.user ?? 65534) }
    return length
}

private let peerCredentials: Int32 = 17
private let peerPidfd: Int32 = 77

@_cdecl("__wrap_setsockopt")
func wrapSetsockopt(_ socket: Int32, _ level: Int32, _ name: Int32, _ value: UnsafeRawPointer?, _ size: socklen_t)
    -> Int32
{
    // SO_PASSPIDFD would hand out processes of the true kernel.
    if Kernel.playing != nil, name == 76 { return failed(ENOPROTOOPT) }
    return __real_setsockopt(socket, level, name, value, size)
}

@_cdecl("__wrap_getsockopt")
func wrapGetsockopt(
    _ socket: Int32, _ level: Int32, _ name: Int32, _ value: UnsafeMutableRawPointer?,
    _ length: UnsafeMutablePointer<socklen_t>?
) -> Int32 {
    guard let kernel = Kernel.playing, level == SOL_SOCKET, name == peerCredentials || name == peerPidfd else {
        return __real_getsockopt(socket, level, name, value, length)
    }
    var pid = played_peer(socket)
    if pid == 0 { pid = ProcessTable.daemon }
    if name == peerCredentials {
        let user = kernel.processes.all[pid]?.user ?? 0
        value?.storeBytes(of: ucred(pid: pid, uid: user, gid: user), as: ucred.self)
        return 0
    }
    let pidfd = kernel.openProcess(pid)
    guard pidfd >= 0 else { return -1 }
    value?.storeBytes(of: pidfd, as: Int32.self)
    return 0
}
