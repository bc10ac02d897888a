internal import CLinux
internal import Configuration
internal import ControlGroup
internal import Journal
internal import Lifecycle
internal import ProcessControl
internal import SystemCalls

// What runs is in the hands of the next loop when one has died: the keeper has all processes and the sockets between us
// and the apps, the kernel the control groups.

extension Supervisor {
    /// What is kept for the loop after this one, and of this one's events.
    func keep(after former: KeptState.FormerState, _ texts: KeptTexts?) {
        keptState = KeptState(self, former)
        self.texts = texts
        formerTexts = KeptTexts(takenFrom: keeper)
        do throws(SystemError) {
            recorder = try FlightRecorder(self)
        } catch {
            log.daemon(.warning, error.text + "; no events are recorded")
        }
    }

    /// What was put off, at the daemon's end.
    func finishWriting() {
        preferenceSaving.catchUp()
        try? reports.catchUp()
        recorder?.close()
    }

    /// For the next loop; nil: there is none after this.
    func keep(_ name: String, _ descriptor: Int32) -> KeptCopy? {
        keptState == nil ? nil : KeptCopy(keeper, name, of: descriptor)
    }

    /// What an earlier loop has left and this one has not taken, before anything is started.
    func letGoOfRest() {
        keeper.endUnclaimed()
        keeper.dropKept()
    }

    /// What is told and kept of an app beside the core's state.
    func detailsDidChange(_ app: AppID) {
        control?.monitors.detailsDidChange(app)
        keptState?.note(app: app)
    }

    /// Takes all in hand that an earlier loop had and the core knows. Returns those instances.
    func regain(_ kept: KeptApps) -> [InstanceID] {
        var instances: [Int: InstanceID] = [:]
        for process in kept.processes {
            let instance = InstanceID(rawValue: process.instance)
            if let app = core.app(of: instance), core.isPresent(instance) { instances[app.rawValue] = instance }
        }
        for app in kept.apps { regain(app, instances) }
        var regained: [InstanceID] = []
        for process in kept.processes where core.app(of: InstanceID(rawValue: process.instance)) != nil {
            if regain(process) {
                regained.append(InstanceID(rawValue: process.instance))
            } else {
                try? groups?.open(process.group)?.kill()
            }
        }
        takeFormerTexts()
        return regained
    }

    /// instances: those that run, by their apps.
    private func regain(_ kept: KeptApps.App, _ instances: [Int: InstanceID]) {
        guard let number = Int(exactly: kept.id), let name = core.name(of: AppID(rawValue: number)) else { return }
        let id = AppID(rawValue: number)
        let adopter = UInt32(exactly: kept.adopter)
        // As it was started; what its file says now is for the next start. One whose file is gone is ended in order.
        let configuration =
            adopter == nil ? formerConfiguration(name, instances[number]) ?? configured(name) : nil
        let app = SupervisedApp(id, configuration ?? .init(name: name, exec: []), ownUsers, adopter: adopter)
        app.statusText = kept.status
        if !kept.hookFailure.isEmpty { app.failedHook = (kept.failedHook, kept.hookFailure) }
        app.notify = NotifyReceiver.regain(app, self, kept)
        app.door = AppDoor.regain(app, self)
        if !kept.output.isEmpty { app.output = OutputRing(self, kept.output) }
        apps[number] = app
    }

    /// False where it cannot be: it is ended then.
    private func regain(_ kept: KeptApps.Process) -> Bool {
        let instance = InstanceID(rawValue: kept.instance)
        guard let id = core.app(of: instance), let app = apps[id.rawValue] else { return false }
        var group: ControlGroup?
        if !kept.group.isEmpty {
            guard let open = groups?.open(kept.group) else { return false }
            group = open
        } else if groups != nil {
            return false
        }
        let isPresent = core.isPresent(instance)
        let process = AppProcess(kept, app, self, group: group, isSpawned: !isPresent || core.isSpawned(instance))
        if isPresent { app.process = process }
        processes[kept.instance] = process
        if kept.mainPID > 0, let pid = Int32(exactly: kept.mainPID) { process.followAgain(pid, kept.mainIdentity) }
        if kept.child != 0 { process.claim(kept.child, kept.started) }
        do throws(SystemError) {
            process.delegate = try regainDelegate(process, kept, app)
            try OutputRing.regain(instance, of: app, self)
        } catch {
            log.app(app.name, .warning, error.text)
        }
        process.watchMemoryLimit()
        return true
    }

    /// What an earlier loop was in the middle of with one that was regained: all else the core asks again.
    func goOn(with instance: InstanceID) {
        guard let process = processes[instance.rawValue] else { return }
        if let hook = process.delegate?.keptHook, hook.call != core.awaitedCall(of: instance)?.0 {
            process.delegate?.close()
        }
        // What this loop has given, as it took the app in hand, is awaited already: once more, and the answer to the
        // next call would be taken for it.
        if let (call, handler) = core.awaitedCall(of: instance), !process.hasGiven(call) {
            if process.delivered != call {
                process.deliver(call, handler, allowance: core.timeLeft(of: call, instance, at: now.monotonic) ?? .zero)
            } else if process.answered == call {
                process.delegate?.passOver(call)
                dispatch(.app(.handlerReturned(instance, call)))
            } else {
                process.delegate?.goOn(call, handler)
            }
        }
        if core.isAsked(toEnd: instance), !process.wasSentTerm { process.terminate() }
        process.goOn()
    }
}

extension AppProcess {
    /// For the loop after this one.
    var kept: KeptApps.Process {
        var kept = KeptApps.Process()
        kept.instance = instance.rawValue
        // Of one that is over the keeper still knows how it has ended, should the core not have heard it.
        if let child {
            kept.child = child.id
            kept.started = child.known
        }
        kept.group = group?.name ?? ""
        kept.user = user.map { Int64($0) } ?? -1
        kept.startedAt = startedAt
        kept.isAskedToEnd = isAskedToEnd
        kept.killedAt = killedAt ?? 0
        kept.heldExit = heldExit
        if let foreignMain, let pid = foreignMain.pid, let identity = foreignMain.identity {
            kept.mainPID = Int64(pid)
            kept.mainIdentity = identity
        }
        (kept.delivered, kept.answered, kept.wasSentTerm) = (delivered, answered, wasSentTerm)
        kept.wasRestAsked = wasRestAsked
        kept.hook = delegate?.keptHook
        kept.hasAttached = delegate?.hasAttached ?? false
        return kept
    }
}

extension SupervisedApp {
    /// For the loop after this one.
    var kept: KeptApps.App {
        var kept = KeptApps.App()
        kept.id = Int64(id.rawValue)
        kept.notifyPath = notify?.path ?? ""
        kept.notifyUser = notify?.admitted.map { Int64($0) } ?? -1
        kept.status = statusText
        if let failedHook { (kept.failedHook, kept.hookFailure) = (failedHook.handler, failedHook.text) }
        kept.adopter = adopter.map { Int64($0) } ?? -1
        return kept
    }
}
