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
    /// Looked up when the configuration was read: the users data base may be slow.
    var credentials: Result<Credentials?, CredentialsError>
    var process: AppProcess?
    var notify: NotifyReceiver?
    /// What the present instance last said of itself: STATUS=, RELOADING=1 or ERRNO=.
    var statusText: String?
    /// What it wrote last, where there is no journal to ask.
    var output: OutputRing?
    /// It has no file: a process that was taken over.
    let isAdopted: Bool
    /// Seconds; what the app asked between two background fetches. nil: never.
    var fetchInterval: Double?

    init(_ id: AppID, _ configuration: AppConfiguration, isAdopted: Bool = false) {
        self.isAdopted = isAdopted
        self.id = id
        name = configuration.policy.name
        self.configuration = configuration
        credentials = Self.credentials(of: configuration)
    }

    func update(_ configuration: AppConfiguration) {
        guard configuration != self.configuration else { return }
        self.configuration = configuration
        credentials = Self.credentials(of: configuration)
    }

    private static func credentials(of configuration: AppConfiguration) -> Result<Credentials?, CredentialsError> {
        guard configuration.user != nil || configuration.group != nil else { return .success(nil) }
        do throws(CredentialsError) {
            return .success(try Credentials.resolve(user: configuration.user, group: configuration.group))
        } catch {
            return .failure(error)
        }
    }
}
