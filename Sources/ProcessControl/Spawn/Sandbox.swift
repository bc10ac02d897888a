internal import CLinux

/// A program's own view of the system (namespaces(7), seccomp(2)): what it can see and change,
/// besides the rights of its user.
public struct Sandbox: Equatable, Sendable {
    /// What is not the system's own.
    public struct Parts: OptionSet, Equatable, Sendable {
        public let rawValue: UInt32

        public init(rawValue: UInt32) { self.rawValue = rawValue }

        /// All is read-only, but for /dev, /proc, /sys and the writable paths.
        public static let system = Parts(rawValue: UInt32(LINUX_SANDBOX_SYSTEM))
        /// /dev has the usual nodes and the listed devices alone.
        public static let devices = Parts(rawValue: UInt32(LINUX_SANDBOX_DEVICES))
        /// /tmp, /var/tmp and /dev/shm are its own, in memory.
        public static let temporary = Parts(rawValue: UInt32(LINUX_SANDBOX_TMP))
        /// /home, /root and /run/user are empty.
        public static let homes = Parts(rawValue: UInt32(LINUX_SANDBOX_HOMES))
        /// /proc does not show the processes of other users. Needs Linux 5.8.
        public static let processes = Parts(rawValue: UInt32(LINUX_SANDBOX_PROCESSES))
        /// No network interface but a lo of its own, which is down.
        public static let network = Parts(rawValue: UInt32(LINUX_SANDBOX_NETWORK))
        /// With `network`: lo is up.
        public static let loopback = Parts(rawValue: UInt32(LINUX_SANDBOX_LOOPBACK))
        /// System V and POSIX messages, and System V memory, are its own.
        public static let ipc = Parts(rawValue: UInt32(LINUX_SANDBOX_IPC))
        /// Told of as missing: namespaces at all.
        public static let namespaces = Parts(rawValue: UInt32(LINUX_SANDBOX_OPTIONAL))
    }

    /// A path, and what it is for.
    public enum Place: Equatable, Sendable {
        /// Has to be there.
        case writable(String)
        /// Seen even in a folder that is empty otherwise; has to be there.
        case readable(String)
        /// Writable, where it is there and belongs to the program's user: a home.
        case own(String)
        /// Below /dev: seen where it is there.
        case device(String)
        /// FOLDER/X/NAME, a folder: seen in the place of FOLDER.
        case cover(String)

        var path: String {
            switch self {
            case .writable(let path), .readable(let path), .own(let path), .device(let path), .cover(let path): path
            }
        }

        /// As the packet has it.
        var text: String {
            let kind =
                switch self {
                case .writable: LINUX_SANDBOX_WRITABLE
                case .readable: LINUX_SANDBOX_READABLE
                case .own: LINUX_SANDBOX_OWN
                case .device: LINUX_SANDBOX_DEVICE
                case .cover: LINUX_SANDBOX_COVER
                }
            return String(decoding: [UInt8(kind)], as: UTF8.self) + path
        }
    }

    public var parts: Parts
    /// With the nine of a private /dev no more than LINUX_SANDBOX_MAX_PATHS (64).
    public var places: [Place]
    /// A part that cannot be had is gone without, and told of; false: the start fails.
    public var isOptional: Bool
    /// A filter of system calls, as the kernel takes it (8 bytes a step); needs `forbidsNewPrivileges`.
    public var filter: [UInt64]

    public init(_ parts: Parts, places: [Place] = [], isOptional: Bool = false, filter: [UInt64] = []) {
        self.parts = parts
        self.places = places
        self.isOptional = isOptional
        self.filter = filter
    }

    var flags: UInt32 { parts.rawValue | (isOptional ? UInt32(LINUX_SANDBOX_OPTIONAL) : 0) }

    /// With the key that names it.
    private func path(_ place: Int) -> String {
        guard places.indices.contains(place) else { return "" }
        switch places[place] {
        case .writable(let path): return "read-write-paths: " + path
        case .readable(let path): return "read-only-paths: " + path
        case .own(let path), .device(let path), .cover(let path): return path
        }
    }

    /// What a failed step was about.
    func subject(_ detail: Int32) -> String {
        if Int(detail) >= LINUX_SANDBOX_LINK {
            return path(Int(detail) - LINUX_SANDBOX_LINK)
                + ", on whose way is a symbolic link of another user's; name the path that it leads to"
        }
        if Int(detail) >= LINUX_SANDBOX_PATH { return path(Int(detail) - LINUX_SANDBOX_PATH) }
        return (detail == 0 ? .namespaces : Parts(rawValue: UInt32(bitPattern: detail))).text
    }
}

extension Sandbox.Parts {
    /// "a private /tmp", "hidden homes".
    public var names: [String] {
        let names: [(Sandbox.Parts, String)] = [
            (.namespaces, "namespaces"), (.system, "a read-only system"), (.devices, "a private /dev"),
            (.temporary, "a private /tmp"), (.homes, "hidden homes"), (.processes, "hidden processes"),
            (.network, "a network of its own"), (.ipc, "private IPC"),
        ]
        return names.filter { contains($0.0) }.map { $0.1 }
    }

    /// The same for a sentence.
    public var text: String { names.joined(separator: ", ") }
}
