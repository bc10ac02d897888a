internal import CLinux
internal import Configuration
internal import ControlGroup
internal import Lifecycle
internal import ProcessControl
internal import SystemCalls

/// What the shell keeps of a configured app beside the core: how to start it, and where it speaks to us.
final class SupervisedApp {
    let id: AppID
    let name: String
    var configuration: AppConfiguration
    /// As whom it is started, with its folder.
    private(set) var credentials: Result<Credentials?, CredentialsError>
    /// The same without: looked up when the configuration was read, as the users data base may be slow.
    private var listed: Result<Credentials?, CredentialsError>
    var process: AppProcess?
    var notify: NotifyReceiver?
    var door: AppDoor?
    /// What the present instance last said of itself: STATUS=, RELOADING=1 or ERRNO=.
    var statusText: String?
    /// The hook that failed last and has not succeeded since, and how.
    var failedHook: (handler: Handler, text: String)?
    /// What it wrote last, where there is no journal to ask.
    var output: OutputRing?
    /// It has no file: a process that was taken over, for this user.
    let adopter: UInt32?
    var isAdopted: Bool { adopter != nil }
    /// Seconds; what the app asked between two background fetches. nil: never.
    var fetchInterval: Double?

    /// What the present instance's sandbox goes without.
    var sandboxLacks: Sandbox.Parts = []

    /// What its limits need and this kernel does not have.
    var missingControllers: ControllerSet = []
    /// For want of that controller all processes of its user are counted, which has no others (RLIMIT_NPROC).
    private(set) var countsByUser = false

    /// Does without the controllers that others things stand in for.
    func findSubstitutes() {
        // The kernel counts no process that may do without the limit.
        let exempt = UInt64(1) << UInt64(CAP_SYS_ADMIN) | 1 << UInt64(CAP_SYS_RESOURCE)
        let isOwn = configuration.user == AppConfiguration.ownUser && (user ?? 0) != 0
        countsByUser =
            missingControllers.contains(.processes) && isOwn && (configuration.capabilities ?? 0) & exempt == 0
        if countsByUser { missingControllers.remove(.processes) }
    }

    private let ownUsers: OwnUsers

    init(_ id: AppID, _ configuration: AppConfiguration, _ ownUsers: OwnUsers, adopter: UInt32? = nil) {
        self.ownUsers = ownUsers
        self.adopter = adopter
        self.id = id
        name = configuration.policy.name
        self.configuration = configuration
        listed = Self.lookUp(configuration)
        credentials = Self.withFolder(listed, configuration, ownUsers)
    }

    /// Returns whether it is another.
    func update(_ configuration: AppConfiguration) -> Bool {
        guard configuration != self.configuration else { return false }
        self.configuration = configuration
        listed = Self.lookUp(configuration)
        // What runs keeps its own.
        if process == nil {
            renewFolder()
            forgetRemovedHook()
        }
        return true
    }

    /// No instance runs: a hook that the next one does not have can neither fail nor succeed.
    func forgetRemovedHook() {
        if let failedHook, configuration.hook(for: failedHook.handler) == nil { self.failedHook = nil }
    }

    /// Before each start: the folder may have been given away or removed since.
    func renewFolder() {
        // A name service that did not answer in time may do so now.
        if case .failure(.lookupFailed) = listed { listed = Self.lookUp(configuration) }
        credentials = Self.withFolder(listed, configuration, ownUsers)
    }

    /// The number of the user as whom it is started, or whose command was taken over; nil where that is not known.
    var user: UInt32? {
        if let adopter { return adopter }
        return switch credentials {
        case .success(let credentials): credentials?.user ?? Self.daemonsUser
        case .failure: nil
        }
    }

    private static let daemonsUser = geteuid()

    /// Who is not root starts apps as the same user.
    private static let isRoot = daemonsUser == 0

    private static func lookUp(_ configuration: AppConfiguration) -> Result<Credentials?, CredentialsError> {
        guard configuration.user != nil || configuration.group != nil,
            configuration.user != AppConfiguration.ownUser
        else { return .success(nil) }
        do throws(CredentialsError) {
            return .success(try Credentials.resolve(user: configuration.user, group: configuration.group))
        } catch {
            return .failure(error)
        }
    }

    private static func withFolder(
        _ listed: Result<Credentials?, CredentialsError>, _ configuration: AppConfiguration, _ ownUsers: OwnUsers
    ) -> Result<Credentials?, CredentialsError> {
        guard isRoot, case .success(let found) = listed else { return listed }
        let name = configuration.policy.name
        do throws(CredentialsError) {
            if configuration.user == AppConfiguration.ownUser {
                return .success(try ownUsers.credentials(of: name, group: configuration.group))
            }
            guard let found, configuration.sandbox.level != .off else { return listed }
            return .success(try ownUsers.folder(of: name, for: found))
        } catch {
            return .failure(error)
        }
    }
}
