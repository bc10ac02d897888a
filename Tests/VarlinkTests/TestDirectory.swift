import CLinux
import Foundation
import Testing

/// A directory of a test's own, removed with it.
final class TestDirectory {
    let path: String

    init() throws {
        var template = Array((NSTemporaryDirectory() + "/curfew-varlink-XXXXXX").utf8CString)
        path = String(cString: try #require(mkdtemp(&template)))
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func path(_ name: String) -> String { path + "/" + name }
}
