internal import CLinux
internal import PlayedKernel

// Clocks and the kernel's timers.

@_cdecl("__wrap_clock_gettime")
func wrapClock(_ clock: clockid_t, _ out: UnsafeMutablePointer<timespec>?) -> Int32 {
    guard let kernel = Kernel.present else { return failed(EINVAL) }
    var time = kernel.clock.look()
    if clock != CLOCK_MONOTONIC { time = kernel.clock.boottime }
    if clock == CLOCK_REALTIME { time += 1_790_000_000_000_000_000 }
    out?.pointee = timespec(tv_sec: Int(time / 1_000_000_000), tv_nsec: Int(time % 1_000_000_000))
    return 0
}

@_cdecl("__wrap_timerfd_create") func wrapTimerCreate(_ clock: Int32, _ flags: Int32) -> Int32 {
    guard let kernel = Kernel.playing else { return failed(EINVAL) }
    let descriptor = __real_eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    guard descriptor >= 0 else { return -1 }
    kernel.descriptors.add(descriptor, clock == CLOCK_REALTIME ? .clockChange : .alarm(Descriptors.Alarm()))
    return descriptor
}

@_cdecl("__wrap_timerfd_settime")
func wrapTimerSet(
    _ descriptor: Int32, _ flags: Int32, _ value: UnsafePointer<itimerspec>?, _ old: UnsafeMutableRawPointer?
) -> Int32 {
    guard let kernel = Kernel.playing else { return failed(EINVAL) }
    guard case .alarm(let alarm)? = kernel.descriptors[descriptor], let value = value?.pointee else { return 0 }
    let due = Int64(value.it_value.tv_sec) * 1_000_000_000 + Int64(value.it_value.tv_nsec)
    alarm.due = due == 0 ? nil : due
    kernel.judge.note("kernel: the alarm is set to \(due)")
    kernel.loop.world?.alarmChanged(descriptor, alarm)
    return 0
}
