import CLinux
import Foundation
import Testing

@testable import ProcessControl

/// Users that apps have for themselves.
@Suite(.enabled(if: geteuid() == 0, "users are given away by root")) struct OwnUsersTests {
    private let folder = FileManager.default.temporaryDirectory.path + "/own-users-\(UUID().uuidString)"

    /// Two names for which the same number is looked at first.
    private static let alike: (String, String) = {
        var known: [UInt32: String] = [:]
        for number in 0... {
            let name = "app-\(number)"
            var hash: UInt32 = 2_166_136_261
            for byte in name.utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
            if let other = known[hash % OwnUsers.count] { return (other, name) }
            known[hash % OwnUsers.count] = name
        }
        fatalError("there are more names than numbers")
    }()

    private func users() -> OwnUsers { OwnUsers(directory: folder + "/apps", root: "") }

    @Test func twoApps_areNeverTheSameUser() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (first, second) = Self.alike
        let users = users()
        let one = try users.credentials(of: first, group: nil)
        let other = try users.credentials(of: second, group: nil)
        #expect(one.user != other.user && OwnUsers.isOwn(one.user) && OwnUsers.isOwn(other.user))
        // For good, and for another daemon: by its folder.
        let later = OwnUsers(directory: folder + "/apps")
        #expect(try later.credentials(of: second, group: nil).user == other.user)
        #expect(try later.credentials(of: first, group: nil).user == one.user)
    }

    @Test func folderOfAnother_isNotTakenForItsOwn() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(atPath: folder + "/apps/app/kept", withIntermediateDirectories: true)
        #expect(throws: CredentialsError.self) { _ = try users().credentials(of: "app", group: nil) }
        // An empty one has nothing of another's.
        try FileManager.default.removeItem(atPath: folder + "/apps/app/kept")
        #expect(OwnUsers.isOwn(try users().credentials(of: "app", group: nil).user))
    }
}
