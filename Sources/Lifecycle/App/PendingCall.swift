/// A call of the delegate that has not returned.
struct PendingCall: Equatable {
    var id: CallID
    var call: HandlerCall
    /// The time that the app was told it has.
    var allowance: Nanoseconds
    /// Readings of the instance's clock.
    var issued: Nanoseconds
    var deadline: Nanoseconds
    /// The delegate's reply is awaited: otherwise only READY=1, at launch.
    var awaitsReply: Bool
    var awaitsReady: Bool
    /// It is a command that does not run yet.
    var isStarting = false

    /// Returns whether it was awaited.
    mutating func hearReply(to id: CallID) -> Bool {
        guard id == self.id, awaitsReply else { return false }
        (awaitsReply, isStarting) = (false, false)
        return true
    }

    mutating func noteStart(of id: CallID, isUnderWay: Bool) {
        if id == self.id, awaitsReply { isStarting = isUnderWay }
    }

    /// Only a launch and an end may take longer than the app was told.
    var isExtensible: Bool {
        switch call.handler {
        case .didFinishLaunching, .willTerminate: true
        case .didBecomeActive, .willResignActive, .didEnterBackground, .willEnterForeground, .backgroundTaskWillExpire:
            false
        }
    }

    mutating func extend(to wanted: Nanoseconds) {
        deadline = max(deadline, min(wanted, issued + Allowances.longest(of: allowance)))
    }

    static let blank = PendingCall(
        id: CallID(rawValue: 0), call: .didBecomeActive, allowance: .zero, issued: .zero, deadline: .zero,
        awaitsReply: false, awaitsReady: false)

    @inline(never)
    mutating func archive(_ archive: inout StateArchive) {
        archive.raw(1, &id)
        archive.group(2) { call.archive(&$0) }
        archive.value(3, &allowance)
        archive.value(4, &issued)
        archive.value(5, &deadline)
        archive.value(6, &awaitsReply)
        archive.value(7, &awaitsReady)
        archive.value(8, &isStarting)
    }
}

extension HandlerCall {
    fileprivate mutating func archive(_ archive: inout StateArchive) {
        var handler = handler
        archive.raw(1, &handler)
        switch handler {
        case .didFinishLaunching:
            var reason = LaunchReason.user
            if case .didFinishLaunching(let present) = self { reason = present }
            archive.raw(2, &reason)
            self = .didFinishLaunching(reason)
        case .didBecomeActive: self = .didBecomeActive
        case .willResignActive: self = .willResignActive
        case .didEnterBackground: self = .didEnterBackground
        case .willEnterForeground: self = .willEnterForeground
        case .willTerminate:
            var reason = ""
            if case .willTerminate(let present) = self { reason = present }
            archive.value(3, &reason)
            self = .willTerminate(reason)
        case .backgroundTaskWillExpire:
            var task = BackgroundTaskID(rawValue: 0)
            var name = ""
            if case .backgroundTaskWillExpire(let id, let present) = self { (task, name) = (id, present) }
            archive.raw(4, &task)
            archive.value(5, &name)
            self = .backgroundTaskWillExpire(task, name: name)
        }
    }
}
