internal import CLinux
internal import PlayedKernel

// epoll: the true kernel's, as what is watched by it is. Which of the ready ones come first, and how many at a time, is
// left to chance.

@_cdecl("__wrap_epoll_create1") func wrapEpollCreate(_ flags: Int32) -> Int32 {
    let descriptor = __real_epoll_create1(flags)
    if descriptor >= 0 { Kernel.playing?.descriptors.add(descriptor, .epoll) }
    return descriptor
}

@_cdecl("__wrap_epoll_ctl")
func wrapEpollControl(
    _ epoll: Int32, _ operation: Int32, _ descriptor: Int32, _ event: UnsafeMutablePointer<epoll_event>?
) -> Int32 {
    guard let kernel = Kernel.playing else { return __real_epoll_ctl(epoll, operation, descriptor, event) }
    if kernel.descriptors[descriptor] == nil {
        kernel.judge.complain("descriptor \(descriptor) is watched, which is not open")
        return failed(EBADF)
    }
    if operation == EPOLL_CTL_ADD, let errno = kernel.faults.strike(.watch) { return failed(errno) }
    let result = __real_epoll_ctl(epoll, operation, descriptor, event)
    if result == 0 { kernel.descriptors.watch(descriptor, operation != EPOLL_CTL_DEL) }
    return result
}

@_cdecl("__wrap_epoll_wait")
func wrapEpollWait(_ epoll: Int32, _ events: UnsafeMutablePointer<epoll_event>?, _ limit: Int32, _ timeout: Int32)
    -> Int32
{
    guard let kernel = Kernel.playing, let events else { return __real_epoll_wait(epoll, events, limit, timeout) }
    if timeout != 0 { kernel.judge.complain("the daemon waits outside of its loop") }
    let count = __real_epoll_wait(epoll, events, kernel.loop.share(of: limit), 0)
    if count > 1 { kernel.loop.shuffle(UnsafeMutableBufferPointer(start: events, count: Int(count))) }
    return count
}
