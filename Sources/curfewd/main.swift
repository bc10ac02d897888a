import SystemCalls

do throws(SystemError) {
    try FileDescriptor.writeAll(Array("curfewd \(Clocks.monotonic)\n".utf8), to: 1)
} catch {}
