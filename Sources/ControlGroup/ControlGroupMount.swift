internal import SystemCalls

/// Where the cgroup v2 hierarchy is mounted: alone (unified), or beside the old controllers (hybrid).
struct ControlGroupMount: Equatable {
    /// The directory, "/sys/fs/cgroup/unified".
    let point: String
    /// Which cgroup shows at that directory: "/" but for bind mounts and some containers.
    let root: String

    /// The first mount of type cgroup2 in a /proc/PID/mountinfo.
    static func find(inMountInfo text: [UInt8]) -> ControlGroupMount? {
        for line in text.split(separator: UInt8(ascii: "\n")) {
            // ID PARENT DEV ROOT POINT OPTIONS [TAG...] - TYPE SOURCE OPTIONS
            let fields = line.split(separator: UInt8(ascii: " "))
            guard let separator = fields.firstIndex(where: { $0.elementsEqual([UInt8(ascii: "-")]) }),
                separator >= 5, separator + 1 < fields.count,
                fields[separator + 1].elementsEqual("cgroup2".utf8)
            else { continue }
            return ControlGroupMount(point: unescape(fields[4]), root: unescape(fields[3]))
        }
        return nil
    }

    /// The directory of a cgroup as /proc/PID/cgroup names it; nil where this mount does not show it.
    func directory(of controlGroup: String) -> String? {
        guard let below = Self.path(controlGroup, below: root) else { return nil }
        return below.isEmpty ? point : point + "/" + below
    }

    /// What /proc/PID/cgroup says of processes in a directory; nil where it is not in this mount.
    func controlGroup(of directory: String) -> String? {
        guard let below = Self.path(directory, below: point) else { return nil }
        if below.isEmpty { return root }
        return root == "/" ? "/" + below : root + "/" + below
    }

    /// "b/c" for "/a/b/c" below "/a", "" for the same path, nil for one elsewhere.
    static func path(_ path: String, below ancestor: String) -> String? {
        if path == ancestor { return "" }
        let prefix = ancestor == "/" ? "/" : ancestor + "/"
        guard path.utf8.starts(with: prefix.utf8) else { return nil }
        return String(decoding: Array(path.utf8.dropFirst(prefix.utf8.count)), as: UTF8.self)
    }

    /// mountinfo writes space, tab, newline and backslash as \ooo.
    private static func unescape(_ field: ArraySlice<UInt8>) -> String {
        let bytes = Array(field)
        var plain: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "\\"), index + 3 < bytes.count,
                let value = octal(bytes[(index + 1)...(index + 3)])
            {
                plain.append(value)
                index += 4
            } else {
                plain.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: plain, as: UTF8.self)
    }

    private static func octal(_ digits: ArraySlice<UInt8>) -> UInt8? {
        var value = 0
        for digit in digits {
            guard digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "7") else { return nil }
            value = value * 8 + Int(digit - UInt8(ascii: "0"))
        }
        return UInt8(exactly: value)
    }
}
