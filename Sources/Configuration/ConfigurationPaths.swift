/// Where the daemon's files are, all below one root.
public struct ConfigurationPaths: Equatable, Sendable {
    /// What comes before every path; empty for the system itself.
    public let root: String
    /// Read to say what a daemon will take that is root's, by whatever user.
    private let isForRootsDaemon: Bool

    /// root: as given to `--root`; nil for the system itself.
    public init(root: String? = nil, isForRootsDaemon: Bool = false) {
        self.isForRootsDaemon = isForRootsDaemon
        var bytes = Array((root ?? "").utf8)
        while bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
        self.root = String(decoding: bytes, as: UTF8.self)
    }

    var owners: Ownership { isForRootsDaemon ? .ofRoot : .ofReader }

    /// Whether a file is one of the directories that are read without being named.
    func holds(_ path: String) -> Bool {
        [vendor, administrator].contains { path.utf8.starts(with: ($0 + "/").utf8) }
    }

    /// The vendor's directory.
    public var vendor: String { root + "/usr/lib/curfew" }
    /// The administrator's directory: a file here replaces the vendor's of the same name.
    public var administrator: String { root + "/etc/curfew" }

    /// Of apps whose files do not say: a trial below a root of its own runs them as they are.
    var sandbox: SandboxConfiguration.Level { root.isEmpty ? .standard : .off }

    /// Where hardware profiles are; one in a later directory replaces one of the same name.
    public var profiles: [String] {
        [root + "/usr/share/curfew/hardware-profiles", administrator + "/hardware-profiles"]
    }

    static let deviceFile = "curfew.toml"
    static let appsDirectory = "apps"
}
