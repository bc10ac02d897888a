internal import SystemCalls

/// Why apps cannot have cgroups of their own here: the daemon then runs without freezing and without killing whole
/// trees.
public struct ControlGroupUnavailable: Error, Equatable, Sendable {
    /// For people: "no cgroup2 file system is mounted", "cannot write /sys/fs/cgroup/x: Permission denied".
    public let reason: String
    /// The directory of the groups, where another daemon has it.
    public let takenPlace: String?

    init(_ reason: String, takenPlace: String? = nil) {
        self.reason = reason
        self.takenPlace = takenPlace
    }
    init(writing path: String, _ error: SystemError) { self.init("cannot write \(path): \(error.errno.text)") }
}
