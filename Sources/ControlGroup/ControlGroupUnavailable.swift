internal import SystemCalls

/// Why apps cannot have cgroups of their own here: the daemon then runs without freezing and without killing whole
/// trees.
public struct ControlGroupUnavailable: Error, Equatable, Sendable {
    /// For people: "no cgroup2 file system is mounted", "cannot write /sys/fs/cgroup/x: Permission denied".
    public let reason: String

    init(_ reason: String) { self.reason = reason }
    init(writing path: String, _ error: SystemError) { self.init("cannot write \(path): \(error.errno.text)") }
}
