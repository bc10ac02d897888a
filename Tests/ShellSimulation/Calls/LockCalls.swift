internal import CLinux
internal import PlayedKernel

// A thread that asks logind for a lock, and what it says. It shares nothing with the loop but its end of a socket.

@_cdecl("__wrap_linux_packet_pair") func wrapPacketPair(_ out: UnsafeMutablePointer<Int32>?) -> Int32 {
    playPair(out) { __real_linux_packet_pair(out) }
}

@_cdecl("__wrap_linux_start_thread")
func wrapStartThread(
    _ name: UnsafePointer<CChar>?, _ run: (@convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?)?,
    _ context: UnsafeMutableRawPointer?
) -> Int32 {
    guard let kernel = Kernel.atPoint("thread"), let context else { return EAGAIN }
    if name.map({ String(cString: $0) }) == "curfewd-record" {
        // It has the disk to itself: its own calls are the true ones.
        kernel.aside { _ = run?(context) }
        return 0
    }
    guard name.map({ String(cString: $0) }) == "curfewd-lock" else {
        kernel.judge.complain("a thread that is not played")
        return EAGAIN
    }
    if let errno = kernel.faults.strike(.socketpair) { return errno }
    kernel.aside {
        // Its descriptors are no more the loop's.
        let order = context.assumingMemoryBound(to: linux_lock_order.self)
        _ = kernel.descriptors.remove(order.pointee.socket)
        kernel.loop.world?.login.lockWanted(order)
    }
    return 0
}

@_cdecl("__wrap_linux_hear_lock")
func wrapHearLock(
    _ socket: Int32, _ answer: UnsafeMutablePointer<linux_lock_answer>?, _ lock: UnsafeMutablePointer<Int32>?
) -> Bool {
    guard let kernel = Kernel.playing, let answer, let lock else { return false }
    lock.pointee = -1
    let size = MemoryLayout<linux_lock_answer>.size
    let length = played_receive_lock(socket, answer, size, lock)
    guard length == size else {
        if length == 0 { played_set_errno(EPIPE) }
        return false
    }
    if lock.pointee >= 0 { kernel.descriptors.add(lock.pointee, .pipe) }
    if answer.pointee.error == 0, lock.pointee < 0 { answer.pointee.error = EPROTO }
    return true
}
