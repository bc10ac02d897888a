/// What the daemon has open, by number. Whatever it closes twice, or never, shows here.
final class Descriptors {
    enum Kind {
        case file(String)
        case directory(String)
        /// One of the kernel's own files, with what it says when it is read.
        case kernelFile(KernelFile)
        case socket
        case epoll
        case pipe
        case process(Int32)
        case clockChange
        case alarm(Alarm)
    }

    /// A timer that wakes the board.
    final class Alarm {
        /// BOOTTIME; nil: not set.
        var due: Int64?
    }

    private(set) var open: [Int32: Kind] = [:]
    /// Members of an epoll: they leave it before they are closed.
    private(set) var watched: Set<Int32> = []

    func add(_ number: Int32, _ kind: Kind) { open[number] = kind }

    /// Whether it was open.
    func remove(_ number: Int32) -> Bool { open.removeValue(forKey: number) != nil }

    func forgetAll() {
        open = [:]
        watched = []
    }

    /// Said of a member of an epoll.
    func watch(_ number: Int32, _ isWatched: Bool) {
        if isWatched { watched.insert(number) } else { watched.remove(number) }
    }

    subscript(number: Int32) -> Kind? { open[number] }
}

/// A file below /proc or of a control group.
final class KernelFile {
    let path: String
    /// Of a control group; nil for the others.
    let group: PlayedGroup?
    let name: String
    /// Changed since it was read last: EPOLLPRI.
    var hasChanged = false

    init(_ path: String, _ group: PlayedGroup?) {
        self.path = path
        self.group = group
        name = String(path.split(separator: "/").last ?? "")
    }
}
