import CLinux
import SystemCalls
import Testing

/// A copy of a part of /sys, of a test's own.
final class Tree {
    let root: String

    init() throws {
        var name = Array("/tmp/curfew-sysfs-XXXXXX".utf8CString)
        root = String(cString: try #require(mkdtemp(&name)))
    }

    deinit { remove("") }

    /// Writes attributes into a directory below the root, which is made.
    func add(_ directory: String, _ attributes: [String: String]) throws {
        for (name, text) in attributes {
            let path = "\(root)/\(directory)/\(name)"
            try Files.createDirectories(Files.directoryName(of: path))
            let file = try FileDescriptor.open(path, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644)
            try file.writeAll(Array(text.utf8))
        }
    }

    func supply(_ name: String, _ attributes: [String: String]) throws {
        try add("class/power_supply/\(name)", attributes)
    }

    func remove(_ path: String) { remove(absolute: root + "/" + path) }

    private func remove(absolute path: String) {
        for name in (try? Files.list(path)) ?? [] { remove(absolute: path + "/" + name) }
        _ = CLinux.remove(path)
    }
}
