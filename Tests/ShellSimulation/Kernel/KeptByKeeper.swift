internal import CLinux
internal import PlayedKernel
internal import ProcessControl

// What outlives a loop: the keeper has it for the next one.

extension PlayedKeeper {
    static func text(_ bytes: UnsafeRawBufferPointer) -> String {
        String(decoding: bytes[MemoryLayout<keeper_signal>.size...], as: UTF8.self)
    }

    func keep(_ name: String, _ descriptor: Int32) {
        drop(name)
        let copy = played_real_fcntl(descriptor, F_DUPFD_CLOEXEC, 250)
        if copy >= 0 { kept[name] = copy }
    }

    func drop(_ name: String) {
        if let descriptor = kept.removeValue(forKey: name) { _ = __real_close(descriptor) }
    }

    /// Copies for a loop that begins.
    func copies(_ descriptors: Descriptors) -> KeptDescriptors {
        var copies: [(name: String, descriptor: Int32)] = []
        for (name, descriptor) in kept.sorted(by: { $0.key < $1.key }) {
            let copy = played_real_fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
            guard copy >= 0 else { continue }
            descriptors.add(copy, .file("kept as " + name))
            copies.append((name, copy))
        }
        return KeptDescriptors(copies)
    }

    /// All that is known of it is told again.
    func claim(_ id: Int64) {
        next { [self] in
            guard let (pid, child) = children.first(where: { $0.value.id == id }) else {
                if let end = ends[id] { return tell(end) }
                return tell(KEEPER_UNKNOWN, id) { _ in }
            }
            children[pid]?.isAbandoned = false
            tell(KEEPER_STARTED, id) { $0.pid = pid }
            if child.isRunning { tell(KEEPER_RUNNING, id) { _ in } }
        }
    }

    /// No loop wants it any more.
    func endAbandoned() {
        for child in children.values.sorted(by: { $0.id < $1.id }) where child.isAbandoned {
            send(SIGKILL, to: child)
        }
    }
}
