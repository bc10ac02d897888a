internal import CLinux
internal import CSystemd
internal import PlayedKernel

// libsystemd's event loop, played.

private var loop: PlayedLoop? { Kernel.present?.loop }

@_cdecl("__wrap_sd_event_new") func eventNew(_ out: UnsafeMutablePointer<OpaquePointer?>?) -> Int32 {
    guard let loop else { return -ENOMEM }
    out?.pointee = OpaquePointer(Unmanaged.passUnretained(loop).toOpaque())
    return 0
}

@_cdecl("__wrap_sd_event_unref") func eventUnref(_ event: OpaquePointer?) -> OpaquePointer? { nil }

@_cdecl("__wrap_sd_event_loop") func eventLoop(_ event: OpaquePointer?) -> Int32 {
    guard let kernel = Kernel.present else { return -EIO }
    return kernel.loop.run(kernel)
}

@_cdecl("__wrap_sd_event_exit") func eventExit(_ event: OpaquePointer?, _ code: Int32) -> Int32 {
    loop?.exitCode = code
    return 0
}

private func add(
    _ source: PlayedSource, _ enabled: Int32, _ out: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
    guard let loop else { return -ENOMEM }
    source.enabled = enabled
    out?.pointee = loop.add(source)
    return 0
}

@_cdecl("__wrap_sd_event_add_io")
func eventAddIO(
    _ event: OpaquePointer?, _ out: UnsafeMutablePointer<OpaquePointer?>?, _ descriptor: Int32, _ interest: UInt32,
    _ handler: sd_event_io_handler_t?, _ userdata: UnsafeMutableRawPointer?
) -> Int32 {
    if Kernel.present?.descriptors[descriptor] == nil {
        Kernel.present?.judge.complain("descriptor \(descriptor) is watched, which is not open")
        return -EBADF
    }
    if let errno = Kernel.playing?.faults.strike(.watch) { return -errno }
    let source = PlayedSource(.io(descriptor), userdata)
    source.interest = interest
    source.onIO = handler
    return add(source, Int32(SD_EVENT_ON), out)
}

@_cdecl("__wrap_sd_event_add_time")
func eventAddTime(
    _ event: OpaquePointer?, _ out: UnsafeMutablePointer<OpaquePointer?>?, _ clock: clockid_t, _ due: UInt64,
    _ accuracy: UInt64, _ handler: sd_event_time_handler_t?, _ userdata: UnsafeMutableRawPointer?
) -> Int32 {
    let source = PlayedSource(.time, userdata)
    source.due = due
    source.onTime = handler
    return add(source, Int32(SD_EVENT_ONESHOT), out)
}

@_cdecl("__wrap_sd_event_add_defer")
func eventAddDefer(
    _ event: OpaquePointer?, _ out: UnsafeMutablePointer<OpaquePointer?>?, _ handler: sd_event_handler_t?,
    _ userdata: UnsafeMutableRawPointer?
) -> Int32 {
    let source = PlayedSource(.deferred, userdata)
    source.onEvent = handler
    return add(source, Int32(SD_EVENT_ONESHOT), out)
}

@_cdecl("__wrap_sd_event_source_set_destroy_callback")
func sourceSetDestroy(_ source: OpaquePointer?, _ callback: sd_event_destroy_t?) -> Int32 {
    PlayedSource.at(source)?.destroy = callback
    return 0
}

@_cdecl("__wrap_sd_event_source_set_enabled")
func sourceSetEnabled(_ source: OpaquePointer?, _ enabled: Int32) -> Int32 {
    PlayedSource.at(source)?.enabled = enabled
    return 0
}

@_cdecl("__wrap_sd_event_source_set_priority")
func sourceSetPriority(_ source: OpaquePointer?, _ priority: Int64) -> Int32 {
    PlayedSource.at(source)?.priority = priority
    return 0
}

@_cdecl("__wrap_sd_event_source_set_io_events")
func sourceSetInterest(_ source: OpaquePointer?, _ interest: UInt32) -> Int32 {
    PlayedSource.at(source)?.interest = interest
    return 0
}

@_cdecl("__wrap_sd_event_source_set_time")
func sourceSetTime(_ source: OpaquePointer?, _ due: UInt64) -> Int32 {
    PlayedSource.at(source)?.due = due
    return 0
}

@_cdecl("__wrap_sd_event_source_disable_unref")
func sourceFree(_ source: OpaquePointer?) -> OpaquePointer? {
    if let source = PlayedSource.at(source) { Kernel.present?.loop.free(source) }
    return nil
}

@_cdecl("__wrap_sd_watchdog_enabled")
func watchdogEnabled(_ unset: Int32, _ microseconds: UnsafeMutablePointer<UInt64>?) -> Int32 { 0 }
