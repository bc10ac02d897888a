import CLinux
import EventLoop
import SystemCalls

@testable import ProcessControl

/// A keeper in the test's own process and loop, with real processes. It can be held up.
final class TestKeeper {
    let loopSide: ProcessKeeper
    /// What it is asked waits until this is false.
    var isHeldUp = false {
        didSet { if !isHeldUp { takeHeld() } }
    }
    private var held: [[UInt8]] = []
    /// Whether a program runs is not said until this is true.
    var saysRunning = true {
        didSet {
            for id in unsaid where saysRunning { tell(KEEPER_RUNNING, id) { _ in } }
            if saysRunning { unsaid = [] }
        }
    }
    private var unsaid: [Int64] = []
    private let socket: FileDescriptor
    private let loop: EventLoop
    private var source: IOSource?
    private var children: [Int64: (pidfd: FileDescriptorBox, source: IOSource)] = [:]

    final class FileDescriptorBox {
        let descriptor: FileDescriptor
        init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }
    }

    init(_ loop: EventLoop) throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        guard linux_packet_pair(&ends) == 0 else { throw SystemError("socketpair") }
        socket = FileDescriptor(owning: ends[0])
        loopSide = ProcessKeeper(FileDescriptor(owning: ends[1]))
        self.loop = loop
        source = try loop.watch(ends[0], .readable) { [unowned self] _ in receive() }
    }

    deinit {
        source?.cancel()
        for child in children.values {
            child.source.cancel()
            _ = linux_pidfd_send_signal(child.pidfd.descriptor.rawValue, SIGKILL)
            var end = linux_exit()
            _ = linux_reap(child.pidfd.descriptor.rawValue, true, &end)
        }
    }

    private func receive() {
        var bytes = [UInt8](repeating: 0, count: Int(KEEPER_MAX_PACKET))
        var descriptors = [Int32](repeating: -1, count: Int(KEEPER_MAX_DESCRIPTORS))
        var count = descriptors.count
        var isLost = false
        let length = linux_packet_receive(socket.rawValue, &bytes, bytes.count, &descriptors, &count, &isLost, false)
        guard length > 0 else { return }
        let packet = Array(bytes[..<length])
        if isHeldUp { held.append(packet) } else { take(packet, Array(descriptors[..<count])) }
        for descriptor in descriptors[..<count] { close(descriptor) }
    }

    private func takeHeld() {
        let packets = held
        held = []
        for packet in packets { take(packet, [2, 2, 2]) }
    }

    private func take(_ packet: [UInt8], _ descriptors: [Int32]) {
        let order = packet.withUnsafeBytes { $0.load(as: keeper_signal.self) }
        switch Int(order.kind) {
        case KEEPER_START: start(packet, descriptors)
        case KEEPER_SIGNAL:
            if let child = children[order.id] {
                _ = linux_pidfd_send_signal(child.pidfd.descriptor.rawValue, order.signal)
            }
        default: break
        }
    }

    private func start(_ packet: [UInt8], _ descriptors: [Int32]) {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: packet.count, alignment: 8)
        defer { copy.deallocate() }
        copy.copyBytes(from: packet)
        var result = linux_spawn_result()
        let id = ReceivedStart.read(copy, descriptors[...]) { request, head in
            linux_spawn(&request, &result)
            return head.id
        }
        guard let id else { return }
        guard Int(result.step) == LINUX_SPAWN_DONE else {
            return tell(KEEPER_FAILED, id) {
                $0.step = result.step
                $0.error = result.error
            }
        }
        tell(KEEPER_STARTED, id) { $0.pid = result.pid }
        if saysRunning { tell(KEEPER_RUNNING, id) { _ in } } else { unsaid.append(id) }
        let source = try? loop.watch(result.pidfd, .readable) { [unowned self] _ in ended(id) }
        if let source { children[id] = (FileDescriptorBox(FileDescriptor(owning: result.pidfd)), source) }
    }

    private func ended(_ id: Int64) {
        var end = linux_exit()
        guard let child = children[id], linux_reap(child.pidfd.descriptor.rawValue, false, &end) == 1 else { return }
        child.source.cancel()
        children[id] = nil
        tell(KEEPER_ENDED, id) {
            $0.code = end.code
            $0.status = end.status
        }
    }

    func tell(_ kind: Int, _ id: Int64, _ fill: (inout keeper_word) -> Void) {
        var word = keeper_word()
        word.kind = UInt32(kind)
        word.id = id
        fill(&word)
        _ = linux_packet_send(socket.rawValue, &word, MemoryLayout<keeper_word>.size, nil, 0)
    }
}
