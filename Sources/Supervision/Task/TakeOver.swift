internal import CLinux
internal import Configuration
internal import ControlGroup
internal import EventLoop
internal import Lifecycle
internal import ProcessControl
internal import SystemCalls
internal import Varlink

/// Why a process is not taken over.
enum AdoptionRefusal: Error {
    /// A parameter of the call makes no sense.
    case parameter(String)
    case denied(Cause)

    enum Cause {
        /// It is not a child of the caller's, or of another user.
        case notYours
        case ofAnApp
        case nameTaken(String)
        /// So many run already: of this user, or of all users but root.
        case tooMany(ofUser: Bool, limit: Int)

        var explanation: String {
            switch self {
            case .notYours: "not your process"
            case .ofAnApp: "it belongs to an app; curfew run inside an app is a task of that app"
            case .nameTaken(let name): Denial.nameTaken(name).explanation
            case .tooMany(let ofUser, let limit):
                "\(limit) commands of \(ofUser ? "this user" : "all users but root") run already, and no more may"
            }
        }
    }
}

// AdoptTask: a process that its caller has started, as an app of its own.

extension Supervisor {
    /// Commands of one user at a time, and of all users together but root.
    private static let mostOfUser = 64
    private static let mostOfUsers = 256

    /// The wish behind a call of AdoptTask, once its process is known to be the caller's to give away.
    func adoption(_ request: Request) -> Result<ClientRequest, AdoptionRefusal> {
        let name = request.parameters["name"]?.stringValue ?? ""
        guard AppName.isWellFormed("task-" + name), !name.isEmpty else { return .failure(.parameter("name")) }
        var wish = TaskParameters(name: name, keepAwake: request.parameters["keepAwake"]?.boolValue)
        if let seconds = request.parameters["budget"]?.doubleValue {
            guard let budget = ApplicationService.duration(seconds) else { return .failure(.parameter("budget")) }
            wish.timeAllowed = budget
        }
        let number = request.parameters["processIdentifier"]?.intValue ?? 0
        guard let pid = Int32(exactly: number), pid > 0, let handle = try? ProcessHandle.open(pid), handle.isRunning
        else {
            return .failure(.parameter("processIdentifier"))
        }
        guard let peer = request.peer, handle.isChild(of: peer.pid, user: peer.uid) else {
            return .failure(.denied(.notYours))
        }
        if groups != nil {
            switch place(of: pid) {
            case .elsewhere: break
            case .instance: return .failure(.denied(.ofAnApp))
            case .unknown: return .failure(.parameter("processIdentifier"))
            }
        }
        if let refusal = refusal(of: peer.uid) { return .failure(.denied(refusal)) }
        let app = "task-" + name
        guard adoptions[app] == nil else { return .failure(.denied(.nameTaken(app))) }
        adoptions[app] = (handle, peer.uid)
        // What the core refuses is not to be remembered.
        loop.post { [unowned(unsafe) self] in adoptions[app] = nil }
        return .success(.adopt(app: app, wish))
    }

    /// Each is watched, listed and ended like an app: those of others than root are no more than that allows.
    private func refusal(of user: UInt32) -> AdoptionRefusal.Cause? {
        if user == 0 { return nil }
        let users = adoptions.values.map { $0.user } + apps.values.compactMap { $0.process == nil ? nil : $0.adopter }
        let (ofUser, ofUsers) = (users.count { $0 == user }, users.count { $0 != 0 })
        if ofUser >= Self.mostOfUser { return .tooMany(ofUser: true, limit: Self.mostOfUser) }
        return ofUsers >= Self.mostOfUsers ? .tooMany(ofUser: false, limit: Self.mostOfUsers) : nil
    }

    func takeOver(_ handle: ProcessHandle, for user: UInt32, _ id: AppID, _ instance: InstanceID) {
        guard let name = core.view(of: id)?.name else {
            return dispatch(.process(.spawnFailed(instance, code: ENOENT, explanation: "it is not known any more")))
        }
        let app = SupervisedApp(id, AppConfiguration(name: name, exec: []), ownUsers, adopter: user)
        let process: AppProcess
        do throws(LaunchFailure) {
            process = AppProcess(instance, app, self, group: try makeGroup(app))
        } catch {
            return dispatch(.process(.spawnFailed(instance, code: error.code, explanation: error.text)))
        }
        apps[id.rawValue] = app
        do throws(SystemError) {
            try process.takeOver(handle)
        } catch {
            try? process.group?.remove()
            return dispatch(.process(.spawnFailed(instance, code: error.errno.rawValue, explanation: error.text)))
        }
        app.process = process
        processes[instance.rawValue] = process
        process.wasChanged()
        keptState?.note(app: id)
        dispatch(.process(.spawned(instance)))
    }
}
