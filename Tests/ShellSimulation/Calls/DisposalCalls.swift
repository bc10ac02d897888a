internal import CLinux
internal import PlayedKernel

// The thread that gets rid of what others have put into sockets: done at once, and told by the bell as the thread does.

@_cdecl("__wrap_eventfd") func wrapEventfd(_ count: UInt32, _ flags: Int32) -> Int32 {
    guard let kernel = Kernel.playing else { return __real_eventfd(count, flags) }
    if let errno = kernel.faults.strike(.pipe) { return failed(errno) }
    let descriptor = __real_eventfd(count, flags)
    if descriptor >= 0 { kernel.descriptors.add(descriptor, .pipe) }
    return descriptor
}

@_cdecl("__wrap_linux_dispose")
func wrapDispose(_ kind: linux_disposal_kind, _ descriptors: UnsafePointer<Int32>?, _ count: Int, _ bell: Int32)
    -> UnsafeMutablePointer<linux_disposal>?
{
    guard let kernel = Kernel.playing, let descriptors else { return nil }
    if let errno = kernel.faults.strike(.socketpair) {
        _ = failed(errno)
        return nil
    }
    if kind == LINUX_TAKE_DATAGRAM {
        var byte: UInt8 = 0
        _ = __real_recv(descriptors[0], &byte, 1, Int32(MSG_DONTWAIT))
        _ = wrapClose(descriptors[0])
    }
    let room = MemoryLayout<linux_disposal>.size + (count + 1) * MemoryLayout<Int32>.size
    let disposal = UnsafeMutableRawPointer.allocate(byteCount: room, alignment: 16).bindMemory(
        to: linux_disposal.self, capacity: 1)
    kernel.disposals[disposal] = kind == LINUX_CLOSE_SOCKETS ? (0..<count).map { descriptors[$0] } : []
    var one: UInt64 = 1
    _ = __real_write(bell, &one, 8)
    return disposal
}

@_cdecl("__wrap_linux_is_disposed")
func wrapIsDisposed(_ disposal: UnsafeMutablePointer<linux_disposal>?) -> Bool {
    disposal.map { Kernel.playing?.disposals[$0] != nil } ?? false
}

@_cdecl("__wrap_linux_finish_disposal")
func wrapFinishDisposal(_ disposal: UnsafeMutablePointer<linux_disposal>?) {
    guard let kernel = Kernel.playing, let disposal else { return }
    guard let sockets = kernel.disposals.removeValue(forKey: disposal) else {
        return kernel.judge.complain("what a thread does is finished twice")
    }
    for socket in sockets { _ = wrapClose(socket) }
    UnsafeMutableRawPointer(disposal).deallocate()
}
