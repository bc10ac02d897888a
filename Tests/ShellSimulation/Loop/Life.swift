internal import CLinux
internal import CSystemd
internal import PlayedKernel

/// One life of the loop, in a thread of its own: where it dies in the middle of a call, the thread stays there, and
/// nothing of what would have come after that is done.
final class Life {
    private nonisolated(unsafe) static var present: Life?
    private let body: () -> Int32
    private var status: Int32?
    private var bell: [Int32] = [-1, -1]

    private init(_ body: @escaping () -> Int32) { self.body = body }

    /// Returns what it has returned; nil: it has died.
    static func live(_ body: @escaping () -> Int32) -> Int32? {
        let life = Life(body)
        guard __real_pipe2(&life.bell, O_CLOEXEC) == 0 else { fatalError("no pipe") }
        present = life
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setstacksize(&attributes, 16 << 20)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        var thread = pthread_t()
        let context = Unmanaged.passRetained(life).toOpaque()
        let error = pthread_create(&thread, &attributes, { Life.begin($0) }, context)
        pthread_attr_destroy(&attributes)
        guard error == 0 else { fatalError("no thread") }
        var byte: UInt8 = 0
        while __real_read(life.bell[0], &byte, 1) < 0 {}
        for end in life.bell { _ = __real_close(end) }
        return life.status
    }

    private static func begin(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let context else { return nil }
        let life = Unmanaged<Life>.fromOpaque(context).takeRetainedValue()
        life.status = life.body()
        life.ring()
        return nil
    }

    private func ring() {
        var byte: UInt8 = 0
        _ = __real_write(bell[1], &byte, 1)
    }

    /// The present one ends here, by SIGKILL.
    static func end() -> Never {
        present?.ring()
        while true { pause() }
    }
}
