internal import CLinux
internal import Lifecycle

/// Holds what the production shell tells the core, and does for it, against what is true on the played board.
final class Checks {
    private unowned let kernel: Kernel
    private var records: [Int64: InstanceRecord] = [:]
    /// Asked for and not told yet, in order.
    private var starting: [InstanceRecord] = []
    private var deadline: Deadline?
    private var said: Set<String> = []
    private(set) var events = 0

    init(_ kernel: Kernel) { self.kernel = kernel }

    private func complain(_ text: String) {
        // Once each: what does not hold will not hold at the next look either.
        if said.insert(text).inserted { kernel.judge.complain(text) }
    }

    private func record(_ instance: InstanceID) -> InstanceRecord? {
        let found = records[instance.rawValue]
        if found == nil { complain("instance \(instance.rawValue) is spoken of, which was never started") }
        return found
    }

    private func record(of process: PlayedProcess) -> InstanceRecord? {
        records.values.first { $0.process === process }
    }

    private func struck(_ calls: Faults.Call...) -> Bool { calls.contains { kernel.faults.struck[$0] != nil } }

    // MARK: What the core is told

    func heard(_ event: Event, _ effects: [Effect], _ next: Deadline?, _ name: (AppID) -> String?) {
        events += 1
        kernel.judge.note("event \(event)")
        switch event {
        case .process(let event): heard(event)
        case .app(.handlerReturned(let instance, let call)): returned(instance, call)
        case .app(.ready(let instance)):
            guard let record = record(instance) else { break }
            record.readies -= 1
            if record.readies < 0 { complain("\(record.app) is told to be ready, and has not said so") }
        default: break
        }
        deadline = next
        for effect in effects { saw(effect, name) }
    }

    private func heard(_ event: ProcessEvent) {
        switch event {
        case .spawned(let instance): toldStart(instance, isStarted: true)
        case .spawnFailed(let instance, _, _): toldStart(instance, isStarted: false)
        case .exited(let instance, let status): toldEnd(instance, status)
        case .groupEmptied(let instance): toldEmpty(instance)
        case .frozen(let instance):
            guard let record = record(instance) else { return }
            record.isFrozenTold = true
            if record.group?.isFrozen != true { complain("\(record.app) is told to be frozen, and is not") }
        }
    }

    private func toldStart(_ instance: InstanceID, isStarted: Bool) {
        guard let record = record(instance) else { return }
        record.startsTold += 1
        record.isStarted = isStarted
        starting.removeAll { $0 === record }
        if record.startsTold > 1 { complain("the start of \(record.app) is told twice") }
        if isStarted, record.process == nil { complain("\(record.app) is told to be started, and is not") }
        if !isStarted, let process = record.process, process.state == .running, !process.isKilled {
            complain("\(record.app) is told not to have started, and runs")
        }
    }

    private func toldEnd(_ instance: InstanceID, _ status: ExitStatus) {
        guard let record = record(instance) else { return }
        record.endsTold += 1
        if record.endsTold > 1 { complain("the end of \(record.app) is told twice") }
        guard let process = record.process else {
            return complain("\(record.app) is told to have ended: it never began")
        }
        if process.state == .running { complain("\(record.app) is told to have ended, and runs") }
        guard let end = process.end else { return }
        let truth: ExitStatus =
            end.code == CLD_EXITED_VALUE ? .exited(end.status) : .signalled(end.status)
        if status != truth { complain("\(record.app) has ended with \(truth), and \(status) is told") }
    }

    private func toldEmpty(_ instance: InstanceID) {
        guard let record = record(instance) else { return }
        record.emptiedTold += 1
        if record.emptiedTold > 1 { complain("\(record.app) is told twice to have left nothing") }
        if record.group?.isPopulated == true { complain("\(record.app) is told to have left nothing, and has") }
        if let group = record.group, !group.isRemoved, !struck(.rmdir) { complain("the group of \(record.app) stays") }
    }

    private func returned(_ instance: InstanceID, _ call: CallID) {
        guard let record = record(instance) else { return }
        guard let place = record.open.firstIndex(of: call) else {
            return complain("call \(call.rawValue) of \(record.app) returns, which is not open")
        }
        record.open.remove(at: place)
        guard let plan = kernel.loop.world?.apps.plans.first(where: { $0.name == record.app }) else { return }
        switch plan.delegate {
        case .varlink:
            record.answers -= 1
            if record.answers < 0 { complain("a handler of \(record.app) returns, and the app has not answered") }
        case .signals where plan.acknowledges:
            // It is the same word as the one that makes an app ready.
            if record.readies < 0 { complain("a handler of \(record.app) returns, and it has not said READY=1") }
        default: break
        }
    }

    // MARK: What the core asks for

    private func saw(_ effect: Effect, _ name: (AppID) -> String?) {
        kernel.judge.note("  effect \(effect)")
        switch effect {
        case .process(.spawn(let app, let instance, _, _)):
            let record = InstanceRecord(instance, name(app) ?? "?")
            records[instance.rawValue] = record
            starting.append(record)
        case .process(.kill(let instance)): record(instance)?.isKillAsked = true
        case .process(.clear(let instance)): record(instance)?.isClearAsked = true
        case .process(.freeze(let instance)):
            guard let record = record(instance) else { return }
            record.wantsFrozen = true
            record.isFrozenTold = false
        case .process(.thaw(let instance)): record(instance)?.wantsFrozen = false
        case .app(.call(let instance, let call, let handler, _)):
            guard let record = record(instance) else { return }
            record.open.append(call)
            record.sent.append((handler.handler.method, call, kernel.clock.monotonic))
        case .note(.fault(let fault, _)): complain("the core is broken: \(fault.name)")
        default: break
        }
    }

    // MARK: What is true

    func didSpawn(_ process: PlayedProcess, _ arguments: [String], _ variables: [String: String]) {
        guard arguments[0] == "/bin/app" else { return }
        guard let record = starting.first(where: { $0.app == arguments[1] && $0.process == nil }) else {
            return complain("\(arguments[1]) is started, and was not asked for")
        }
        let others = records.values.filter { $0.app == record.app && $0.process?.state == .running }
        if let other = others.first, other.process?.isKilled != true {
            complain("\(record.app) runs twice, as \(other.instance.rawValue) and \(record.instance.rawValue)")
        }
        record.process = process
        record.group = process.group
        if variables["CURFEW_APP"] != record.app { complain("\(record.app) is started without CURFEW_APP") }
    }

    func didHear(_ process: PlayedProcess, _ method: String) {
        guard let record = record(of: process) else { return }
        guard let place = record.sent.firstIndex(where: { $0.method == method }) else {
            return complain("\(record.app) is called with \(method), which was not asked for")
        }
        if place != 0 { complain("\(record.app) is called with \(method) before \(record.sent[0].method)") }
        record.sent.remove(at: place)
    }

    func didAnswer(_ process: PlayedProcess) { record(of: process)?.answers += 1 }
    func didSayReady(_ process: PlayedProcess) { record(of: process)?.readies += 1 }
    func willSleep() {}

    func lockWasLate(faults: Bool) {
        if !faults { complain("logind has waited for a sleep lock for as long as it does") }
    }

    /// Nothing is ready: all that the kernel has said has been heard.
    func atRest() {
        for record in starting { complain("the start of \(record.app) was asked for, and nothing is told") }
        for process in kernel.processes.all.values
        where process.state == .zombie && process.parent == ProcessTable.daemon && !struck(.reap) {
            complain("process \(process.pid) has ended and is not reaped")
        }
        for record in records.values { judge(record) }
        judgeTimer()
    }

    private func judge(_ record: InstanceRecord) {
        guard record.isStarted, let process = record.process else { return }
        if process.state != .running, record.endsTold == 0 {
            complain("\(record.app) (\(process.pid)) has ended, and the core is not told")
        }
        if record.isKillAsked, process.state == .running, !process.isKilled {
            complain("\(record.app) is to be killed, and is not")
        }
        judgeFreezer(record)
        judgeClearing(record)
        if let first = record.sent.first, process.canRun, process.files[3] != nil, record.emptiedTold == 0,
            kernel.clock.monotonic - first.at > 2_000_000_000, record.endsTold == 0, !record.isKillAsked
        {
            complain("\(record.app) is called with \(first.method), and hears nothing")
        }
    }

    private func judgeFreezer(_ record: InstanceRecord) {
        guard let group = record.group, !group.isRemoved, let wanted = record.wantsFrozen, !record.isKillAsked,
            record.endsTold == 0, !struck(.groupWrite, .open)
        else { return }
        if group.wantsFrozen != wanted {
            complain("\(record.app) is to be \(wanted ? "frozen" : "thawed"), and is not")
        }
        if wanted, group.isFrozen, !record.isFrozenTold {
            complain("\(record.app) is frozen, and the core is not told")
        }
    }

    private func judgeClearing(_ record: InstanceRecord) {
        guard record.isClearAsked, record.emptiedTold == 0, let group = record.group, !group.isPopulated else {
            record.emptySince = nil
            return
        }
        let since = record.emptySince ?? kernel.clock.monotonic
        record.emptySince = since
        if kernel.clock.monotonic - since > 1_000_000_000, !struck(.open, .groupWrite) {
            complain("\(record.app) has left nothing, and the core is not told")
        }
    }

    private func judgeTimer() {
        guard let deadline, deadline.at != .max else { return }
        let armed = kernel.loop.sources.compactMap { source -> UInt64? in
            if case .time = source.kind, source.enabled != 0 { source.due } else { nil }
        }
        let wanted = UInt64(max(deadline.at.rawValue, 0) / 1000) + 1
        if !armed.contains(where: { $0 <= wanted }) {
            complain("the core waits for \(deadline.reason), and no timer is set for it")
        }
    }

    /// The daemon has come to its end.
    func ended() {
        for process in kernel.processes.running where process.group != nil && !process.isKilled {
            complain("process \(process.pid) is left running")
        }
        for record in records.values where record.isStarted && record.emptiedTold == 0 {
            complain("\(record.app) was started, and the core never heard that it left nothing")
        }
    }
}
