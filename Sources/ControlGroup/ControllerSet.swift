/// Controllers of cgroup v2 that limits and figures depend on. On a hybrid system the old hierarchy has them.
public struct ControllerSet: OptionSet, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let memory = ControllerSet(rawValue: 1)
    public static let processes = ControllerSet(rawValue: 2)
    public static let cpu = ControllerSet(rawValue: 4)

    /// With the kernel's names.
    static let named: [(name: String, set: ControllerSet)] = [
        ("memory", .memory), ("pids", .processes), ("cpu", .cpu),
    ]

    /// "memory pids".
    public var text: String {
        Self.named.filter { contains($0.set) }.map { $0.name }.joined(separator: " ")
    }

    /// From cgroup.controllers or cgroup.subtree_control: names with blanks between.
    init(parsing text: [UInt8]) {
        var set: ControllerSet = []
        for word in text.split(whereSeparator: { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }) {
            for (name, controller) in Self.named where word.elementsEqual(name.utf8) { set.insert(controller) }
        }
        self = set
    }
}
