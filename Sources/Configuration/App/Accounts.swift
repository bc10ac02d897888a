internal import CLinux
internal import SystemCalls

/// The users and groups of the system.
public struct Accounts: Sendable {
    /// What the user database says of a name.
    public enum Answer: Equatable, Sendable {
        case exists(id: UInt32)
        case missing
        /// The database could not be asked: an app is not condemned for that, its launch will tell.
        case unknown
    }

    public let user: @Sendable (_ name: String) -> Answer
    public let group: @Sendable (_ name: String) -> Answer

    public init(
        user: @escaping @Sendable (_ name: String) -> Answer, group: @escaping @Sendable (_ name: String) -> Answer
    ) {
        self.user = user
        self.group = group
    }

    /// Nothing is known of them.
    static var unasked: Accounts { Accounts(user: { _ in .unknown }, group: { _ in .unknown }) }

    /// getpwnam_r(3) and getgrnam_r(3). With a remote user database these may take their time.
    public static var system: Accounts {
        Accounts(
            user: { name in
                ask { buffer, count in
                    var record = passwd()
                    var found: UnsafeMutablePointer<passwd>?
                    let code = getpwnam_r(name, &record, buffer, count, &found)
                    return (code, found.map { $0.pointee.pw_uid })
                }
            },
            group: { name in
                ask { buffer, count in
                    var record = CLinux.group()
                    var found: UnsafeMutablePointer<CLinux.group>?
                    let code = getgrnam_r(name, &record, buffer, count, &found)
                    return (code, found.map { $0.pointee.gr_gid })
                }
            })
    }

    /// Asks with a growing buffer.
    private static func ask(_ question: (UnsafeMutablePointer<CChar>, Int) -> (code: Int32, id: UInt32?)) -> Answer {
        var size = 1024
        while size <= 1 << 20 {
            var buffer = [CChar](repeating: 0, count: size)
            let answer = buffer.withUnsafeMutableBufferPointer { space in
                space.baseAddress.map { question($0, space.count) }
            }
            guard let answer else { return .unknown }
            if let id = answer.id { return .exists(id: id) }
            switch Errno(rawValue: answer.code) {
            case Errno(rawValue: ERANGE): size *= 4
            case Errno(rawValue: 0), .noEntry, .noProcess, .notPermitted: return .missing
            case .interrupted: continue
            default: return .unknown
            }
        }
        return .unknown
    }
}

/// Asks for each name once.
final class KnownAccounts {
    private let accounts: Accounts
    private var users: [String: Accounts.Answer] = [:]
    private var groups: [String: Accounts.Answer] = [:]

    init(_ accounts: Accounts) { self.accounts = accounts }

    func user(_ name: String) -> Accounts.Answer {
        if let answer = users[name] { return answer }
        let answer = accounts.user(name)
        users[name] = answer
        return answer
    }

    func group(_ name: String) -> Accounts.Answer {
        if let answer = groups[name] { return answer }
        let answer = accounts.group(name)
        groups[name] = answer
        return answer
    }
}
