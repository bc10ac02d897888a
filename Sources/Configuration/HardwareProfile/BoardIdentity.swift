internal import CLinux
internal import SystemCalls

/// What the firmware says of the board it runs on.
public struct BoardIdentity: Equatable, Sendable {
    /// Files below /sys/class/dmi/id that a profile can ask for.
    public static let dmiKeys = [
        "sys_vendor", "product_name", "product_family", "product_sku", "product_version", "board_vendor", "board_name",
    ]

    /// The device tree's, the most specific first; empty without a device tree.
    public var compatible: [String]
    /// One for each of `dmiKeys`; empty strings where there is nothing.
    public var dmi: [String]
    /// As uname(2) has it: "aarch64".
    public var architecture: String

    public init(compatible: [String] = [], dmi: [String]? = nil, architecture: String = "") {
        self.compatible = compatible
        self.dmi = dmi ?? Self.dmiKeys.map { _ in "" }
        self.architecture = architecture
    }

    /// Reads /sys/firmware/devicetree, /sys/class/dmi and /proc/sys/kernel/arch below `root`; empty: the system's own.
    public static func read(root: String = "") -> BoardIdentity {
        var tree = bytes(root + "/sys/firmware/devicetree/base/compatible")
        if tree.isEmpty { tree = bytes(root + "/proc/device-tree/compatible") }
        var architecture = text(root + "/proc/sys/kernel/arch")
        if architecture.isEmpty {
            // Before Linux 6.1.
            var name = utsname()
            if uname(&name) == 0 {
                architecture = withUnsafePointer(to: &name.machine.0) { String(cString: $0) }
            }
        }
        var compatible: [String] = []
        var start = 0
        for end in tree.indices where tree[end] == 0 {
            compatible.append(string(tree, start, end))
            start = end + 1
        }
        return BoardIdentity(
            compatible: compatible, dmi: dmiKeys.map { text(root + "/sys/class/dmi/id/" + $0) },
            architecture: architecture)
    }

    @inline(never)
    private static func bytes(_ path: String) -> [UInt8] {
        do throws(SystemError) { return try Files.read(path, limit: 4096) } catch { return [] }
    }

    /// A line, without blanks around it.
    @inline(never)
    private static func text(_ path: String) -> String {
        let line = bytes(path)
        var start = 0
        var end = line.count
        while end > 0, line[end - 1] <= UInt8(ascii: " ") { end -= 1 }
        while start < end, line[start] <= UInt8(ascii: " ") { start += 1 }
        return string(line, start, end)
    }

    @inline(never)
    private static func string(_ bytes: [UInt8], _ start: Int, _ end: Int) -> String {
        bytes.withUnsafeBufferPointer { String(decoding: $0[start..<end], as: UTF8.self) }
    }
}

/// Which boards a profile is for.
public struct BoardMatch: Equatable, Sendable {
    /// One of them is in the board's device tree.
    public var compatible: [String] = []
    /// Or all of one of these are the board's: texts for `BoardIdentity.dmiKeys`, empty where anything goes; one that
    /// ends in "*" stands for all that begin so.
    public var dmi: [[String]] = []
    /// Or the board has this architecture.
    public var architecture = ""

    public init() {}

    /// How well a board fits: 0: not at all. A device tree's word counts more than DMI's, that more than an
    /// architecture; an earlier name in the tree more than a later one, more DMI texts more than fewer.
    public func rank(_ board: BoardIdentity) -> Int {
        for (place, name) in board.compatible.enumerated() where compatible.contains(name) { return 1_000_000 - place }
        var best = !architecture.isEmpty && architecture == board.architecture ? Self.generic : 0
        for texts in dmi {
            var rank = 0
            for (place, pattern) in texts.enumerated() where !pattern.isEmpty {
                let fit = Self.fit(pattern, board.dmi[place])
                rank = fit == 0 || rank < 0 ? -1 : rank + fit
            }
            best = max(best, rank)
        }
        return best
    }

    /// The rank of a profile for an architecture.
    static let generic = 1

    /// A whole text fits better than the beginning of one.
    private static func fit(_ pattern: String, _ text: String) -> Int {
        if pattern == text { return 101 }
        let pattern = Array(pattern.utf8)
        let text = Array(text.utf8)
        var same = 0
        while same < pattern.count, same < text.count, pattern[same] == text[same] { same += 1 }
        return !text.isEmpty && same == pattern.count - 1 && pattern[same] == UInt8(ascii: "*") ? 100 : 0
    }
}
