internal import CSystemd
internal import SystemCalls

/// What a C callback finds behind its userdata pointer. The source owns one reference and lets go of it when it is
/// freed, which sd-event puts off until a handler that is running has returned.
class Retained {
    func retained() -> UnsafeMutableRawPointer { Unmanaged<Retained>.passRetained(self).toOpaque() }

    static let release: @convention(c) (UnsafeMutableRawPointer?) -> Void = { pointer in
        if let pointer { Unmanaged<Retained>.fromOpaque(pointer).release() }
    }
}

final class Callback<Argument>: Retained {
    let run: (Argument) -> Void
    init(_ run: @escaping (Argument) -> Void) { self.run = run }
}

/// One reference to an sd_event_source; the source stops when it goes.
struct SourceHandle: ~Copyable {
    let pointer: OpaquePointer

    /// Takes over what an sd_event_add_*() call made with `userdata.retained()`, or its error.
    init(owning pointer: OpaquePointer?, of userdata: Retained, _ result: Int32, _ operation: String)
        throws(SystemError)
    {
        guard result >= 0, let pointer else {
            Unmanaged<Retained>.passUnretained(userdata).release()
            throw SystemError(operation, errno: Errno(rawValue: -result))
        }
        sd_event_source_set_destroy_callback(pointer, Retained.release)
        self.pointer = pointer
    }

    deinit { sd_event_source_disable_unref(pointer) }
}

/// The result of an sd-event call, or its negative errno as an error.
@discardableResult
func check(_ result: Int32, _ operation: String) throws(SystemError) -> Int32 {
    guard result >= 0 else { throw SystemError(operation, errno: Errno(rawValue: -result)) }
    return result
}
