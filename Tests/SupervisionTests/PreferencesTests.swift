import CLinux
import SystemCalls
import Testing

@testable import Supervision

@Suite struct PreferencesTests {
    @Test(arguments: [
        "", "{", "[]", "{\"lowPowerMode\": \"yes\"}", "\0\0\0\0",
        "{\"lowPowerMode\": " + String(repeating: "9", count: 5000),
    ])
    func nonsenseIsAsIfNothingHadBeenSaid_andIsWrittenOver(_ text: String) throws {
        var template = Array("/tmp/curfew-preferences-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        let directory = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
        defer {
            for name in (try? Files.list(directory)) ?? [] { try? Files.remove(directory + "/" + name) }
            rmdir(directory)
        }
        try Files.replace(directory + "/preferences.json", with: Array(text.utf8))
        var preferences = Preferences(directory: directory)
        #expect(preferences.lowPower == nil)
        preferences.lowPower = true
        try preferences.save()
        #expect(Preferences(directory: directory).lowPower == true)
    }
}
