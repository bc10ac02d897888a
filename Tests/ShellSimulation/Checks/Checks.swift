internal import CLinux
internal import Lifecycle
internal import PlayedKernel

/// Holds what the production shell tells the core, and does for it, against what is true on the played board.
final class Checks {
    unowned let kernel: Kernel
    private(set) var records: [Int64: InstanceRecord] = [:]
    /// Asked for and not told yet, in order.
    private var starting: [InstanceRecord] = []
    private var deadline: Deadline?
    private var said: Set<String> = []
    let order = OrderCheck()
    private var isLoginTold = false
    private(set) var events = 0
    /// Ends that were to be written down, over all lives of the daemon.
    private var reports = 0

    init(_ kernel: Kernel) { self.kernel = kernel }

    func complain(_ text: String) {
        // Once each: what does not hold will not hold at the next look either.
        if said.insert(text).inserted { kernel.judge.complain(text) }
    }

    private func record(_ instance: InstanceID) -> InstanceRecord? {
        let found = records[instance.rawValue]
        if found == nil { complain("instance \(instance.rawValue) is spoken of, which was never started") }
        return found
    }

    func record(of process: PlayedProcess) -> InstanceRecord? {
        records.values.first { $0.process === process }
    }

    func struck(_ calls: Faults.Call...) -> Bool { calls.contains { kernel.faults.struck[$0] != nil } }

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
        case .app(.ping(let instance)):
            guard let record = record(instance) else { break }
            record.pings -= 1
            if record.pings < 0 { complain("\(record.app) is told to live, and has not said so") }
        case .started:
            // A loop before this one has died before it had begun.
            records = [:]
            starting = []
        case .login(.available): isLoginTold = true
        case .login(.unavailable): isLoginTold = false
        default: break
        }
        deadline = next
        order.begin(effects)
        for effect in effects { saw(effect, name) }
    }

    private func heard(_ event: ProcessEvent) {
        switch event {
        case .spawned(let instance): toldStart(instance, isStarted: true)
        case .spawnFailed(let instance, _, _): toldStart(instance, isStarted: false)
        case .exited(let instance, let status): toldEnd(instance, status)
        case .leftBehind(let instance): toldLeftBehind(instance)
        case .groupEmptied(let instance): toldEmpty(instance)
        case .regained: break
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
        if isStarted, record.process == nil {
            record.process = adopted(record.app)
            record.group = record.process?.group
        }
        if isStarted, record.process == nil { complain("\(record.app) is told to be started, and is not") }
        if !isStarted, let process = record.process, process.state == .running, !process.isKilled {
            complain("\(record.app) is told not to have started, and runs")
        }
    }

    /// The process behind a task that was taken over.
    private func adopted(_ app: String) -> PlayedProcess? {
        guard app.utf8.starts(with: "task-".utf8) else { return nil }
        return kernel.loop.world?.visitors.offered
    }

    /// Without a group, MAINPID= is not heeded.
    func didName(_ main: PlayedProcess, instead process: PlayedProcess) {
        if kernel.hasGroups { record(of: process)?.name(main) }
    }

    private func toldEnd(_ instance: InstanceID, _ status: ExitStatus) {
        guard let record = record(instance) else { return }
        record.endsTold += 1
        // The keeper tells a loop that claims it all that it knows; the core has heard it, and does nothing.
        if record.endsTold > 1, record.mayBeDoneAgain { return }
        if record.endsTold > 1 { complain("the end of \(record.app) is told twice") }
        // Another process may have become the main one, whose end the kernel does not tell us.
        if status == .unknown, let main = record.named ?? record.process {
            if main.state == .running, !record.hasLostAMainProcess || !struck(.open, .receive, .pidfd, .watch) {
                complain("\(record.app) is told to have ended, and runs")
            }
            if main === record.process, main.parent == ProcessTable.daemon, !struck(.receive, .pidfd, .open, .watch) {
                complain("how \(record.app) has ended can be known, and is not told")
            }
            return
        }
        // It was asked for in an event, and that loop died before it had asked the keeper.
        if record.mayBeDoneAgain, record.process == nil, status == .withLoop(signal: SIGKILL) {
            starting.removeAll { $0 === record }
            record.startsTold += 1
            return
        }
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
        record.answered.removeAll { $0 == call }
        guard let plan = plan(record) else { return }
        switch plan.delegate {
        case .varlink:
            record.answers -= 1
            // A loop has died as it was about to read it: it counts, or the next one might die of it.
            if record.answers < 0, record.mayBeDoneAgain, record.hasSaidNonsense {
                record.answers = 0
                record.hasSaidNonsense = false
            }
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
        case .process(.terminate(let instance)):
            record(instance)?.isEndAsked = true
            record(instance)?.isTermAsked = true
        case .process(.kill(let instance)): record(instance)?.isKillAsked = true
        case .process(.clear(let instance)): record(instance)?.isClearAsked = true
        case .process(.freeze(let instance)):
            guard let record = record(instance) else { return }
            if record.wantsFrozen != true { record.frozenWantedAt = kernel.clock.monotonic }
            record.isFreezeOwed = true
            record.wantsFrozen = true
            record.isFrozenTold = false
        case .process(.thaw(let instance)):
            record(instance)?.wantsFrozen = false
            record(instance)?.isFreezeOwed = false
        case .app(.call(let instance, let call, let handler, _)):
            guard let record = record(instance) else { return }
            record.open.append(call)
            if handler.handler == .willTerminate { record.isEndAsked = true }
            record.sent.append((handler.handler.method, call, kernel.clock.monotonic))
        case .report(let end):
            if case .loopDied = end.reason { break }
            reports += 1
        case .note(.fault(let fault, _)): complain("the core is broken: \(fault.name)")
        default: break
        }
    }

    // MARK: What is true

    /// It is on its way to its program.
    func didBegin(_ process: PlayedProcess, _ arguments: [String]) {
        guard arguments.count >= 2, arguments[0] == "/bin/app" else { return }
        guard
            let record = records.values.filter({ $0.app == arguments[1] && $0.process == nil && $0.startsTold == 0 })
                .min(by: { $0.instance.rawValue < $1.instance.rawValue })
        else {
            return complain("\(arguments[1]) is started, and was not asked for")
        }
        record.process = process
        record.group = process.group
    }

    func didSpawn(_ process: PlayedProcess, _ arguments: [String], _ variables: [String: String]) {
        guard arguments[0] == "/bin/app" else {
            // One that was on its way when the app ended is started, and killed with what is left.
            let asking = records.values.filter { $0.app == arguments[1] && $0.emptiedTold == 0 && !$0.open.isEmpty }
            guard let record = asking.first, let call = record.open.last else {
                return complain("a hook of \(arguments[1]) is run, and no handler was called")
            }
            if record.group !== process.group { complain("a hook of \(record.app) runs outside of its group") }
            record.hooks.append((process, call))
            return
        }
        guard let record = record(of: process) else { return }
        for other in kernel.processes.running where other !== process && !other.isKilled {
            guard let program = other.program as? AppProgram, program.plan.name == record.app else { continue }
            complain("\(record.app) runs twice, as \(other.pid) and \(process.pid)")
        }
        if variables["CURFEW_APP"] != record.app { complain("\(record.app) is started without CURFEW_APP") }
    }

    func willSleep() {}

    func lockWasLate(_ kind: String, faults: Bool) {
        if !faults { complain("logind has waited for a \(kind) lock for as long as it does") }
    }

    /// Nothing is ready: all that the kernel has said has been heard.
    func atRest() {
        for record in starting
        where record.emptiedTold == 0 && !kernel.keeper.isStarting(record.app) && !kernel.keeper.isBusy {
            complain("the start of \(record.app) was asked for, and nothing is told")
        }
        for record in records.values { judge(record) }
        judgeTimer()
        if isLoginTold, kernel.loop.world?.login.isLongGone == true {
            complain("logind is gone, and the core is not told")
        }
    }

    private func judge(_ record: InstanceRecord) {
        guard record.isStarted, let process = record.process else { return }
        // Until it is reaped, the keeper has not said so.
        judgeEnd(record, process)
        if record.isKillAsked, process.state == .running, !process.isKilled, !kernel.keeper.isBusy {
            complain("\(record.app) is to be killed, and is not")
        }
        judgeFreezer(record)
        judgeThaw(record)
        judgeWords(record, process)
        judgeClearing(record)
        judgeHearing(record, process)
    }

    /// Counted from when it can run: a thaw that the kernel refuses is tried again later.
    private func judgeHearing(_ record: InstanceRecord, _ process: PlayedProcess) {
        guard process.canRun else {
            record.runsSince = nil
            return
        }
        let since = record.runsSince ?? kernel.clock.monotonic
        record.runsSince = since
        guard let first = record.sent.first, process.files[3] != nil, record.emptiedTold == 0, record.endsTold == 0,
            !record.isKillAsked
        else { return }
        if kernel.clock.monotonic - max(first.at, since) > 2_000_000_000 {
            complain("\(record.app) is called with \(first.method), and hears nothing")
        }
    }

    /// What the app has said has been heard.
    private func judgeWords(_ record: InstanceRecord, _ process: PlayedProcess) {
        guard process.state == .running, !process.isKilled, record.endsTold == 0, !record.isKillAsked else { return }
        if record.readies > 0, !record.mayBeDoneAgain {
            complain("\(record.app) has said READY=1, and the core is not told")
        }
        // One that a dead loop has read, and not heard: another will come.
        if record.pings > 0, !record.mayBeDoneAgain {
            complain("\(record.app) has said WATCHDOG=1, and the core is not told")
        }
        if let call = record.answered.first(where: { record.open.contains($0) }) {
            complain("\(record.app) has answered call \(call.rawValue), and the core is not told")
        }
        for hook in record.hooks
        where hook.process.state == .gone && record.open.contains(hook.call) && !kernel.keeper.isBusy {
            complain("a hook of \(record.app) has ended, and the core is not told")
        }
        for hook in record.hooks
        where hook.process.state == .running && !hook.process.isKilled && !record.open.contains(hook.call)
            && !kernel.keeper.isBusy
        {
            complain("a hook of \(record.app) runs on, and its call has returned")
        }
    }

    func plan(_ record: InstanceRecord) -> AppPlan? {
        kernel.loop.world?.apps.plans.first { $0.name == record.app }
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

    /// The next loop goes on with all of them.
    func loopDied() {
        for record in records.values {
            record.mayBeDoneAgain = true
        }
        isLoginTold = false
    }

    /// Another daemon knows nothing of these.
    func forget() {
        records = [:]
        starting = []
        deadline = nil
        isLoginTold = false
    }

    /// The daemon has come to its end.
    func ended(_ root: String) {
        for process in kernel.processes.running where process.group != nil && !process.isKilled {
            complain("process \(process.pid) is left running")
        }
        for record in records.values where record.isStarted && record.emptiedTold == 0 {
            complain("\(record.app) was started, and the core never heard that it left nothing")
        }
        for group in kernel.groups.present where !struck(.rmdir, .open) && !group.isLeftOver {
            complain("the group \(group.name) is left")
        }
        let written = Self.lines(root + "/var/lib/curfew/reports.jsonl")
        if written != reports, !struck(.open, .write, .mkdir, .read) {
            complain("\(reports) ends were to be written down, and \(written) are")
        }
    }

    /// But for those of which no core knows: what a daemon that died had left.
    private static func lines(_ path: String) -> Int {
        var count = 0
        for path in [path, path + ".1"] {
            let file = played_real_open(path, O_RDONLY | O_CLOEXEC, 0)
            guard file >= 0 else { continue }
            var bytes = [UInt8](repeating: 0, count: 1 << 20)
            let size = __real_read(file, &bytes, bytes.count)
            for line in bytes[..<max(size, 0)].split(separator: UInt8(ascii: "\n")) {
                let text = String(decoding: line, as: UTF8.self)
                count += text.split(separator: "daemonDied", omittingEmptySubsequences: false).count > 1 ? 0 : 1
            }
            _ = __real_close(file)
        }
        return count
    }
}
