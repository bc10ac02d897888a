internal import Lifecycle
internal import PlayedKernel

/// That an end is told once all of what was asked to end is gone, and that all of it was asked.
extension Checks {
    /// SIGTERM. To what its main process has left behind only once that is gone, and when the end was asked for.
    func didAsk(_ process: PlayedProcess) {
        guard let group = process.group, let record = records.values.first(where: { $0.group === group }),
            let main = record.named ?? record.process, main !== process, main.state != .running
        else { return did(.terminate, process.group) }
        record.restAsked.insert(process.pid)
        if !record.isEndAsked { complain("\(process.pid) of \(record.app) is asked to end, and it is not to") }
    }

    func toldLeftBehind(_ instance: InstanceID) {
        guard let record = records[instance.rawValue] else { return complain("what was never started leaves others") }
        let main = record.named ?? record.process
        if main?.state == .running, !record.hasLostAMainProcess {
            complain("\(record.app) is told to have left others behind, and runs")
        }
        if !record.isEndAsked { complain("\(record.app) is told to have left others, and was not asked to end") }
    }

    func judgeEnd(_ record: InstanceRecord, _ process: PlayedProcess) {
        guard process.state == .gone, record.endsTold == 0, record.named == nil, !record.isClearAsked else {
            record.allGoneSince = nil
            return
        }
        if kernel.keeper.questions.contains(process.pid) || kernel.keeper.isBusy { return }
        // Once it is killed, nothing is waited for.
        guard record.isEndAsked, !record.isKillAsked, let group = record.group else {
            return complain("\(record.app) (\(process.pid)) has ended, and the core is not told")
        }
        if group.isPopulated { return judgeRest(record, group) }
        let since = record.allGoneSince ?? kernel.clock.monotonic
        record.allGoneSince = since
        if kernel.clock.monotonic - since > 1_000_000_000, !struck(.open, .read) {
            complain("all of \(record.app) has ended, and the core is not told")
        }
    }

    private func judgeRest(_ record: InstanceRecord, _ group: PlayedGroup) {
        let isHookAtWork = record.hooks.contains { $0.process.state == .running && record.open.contains($0.call) }
        guard record.isTermAsked, !record.isKillAsked, !isHookAtWork, !struck(.open, .read, .pidfd, .signal) else {
            return
        }
        for process in group.living where !process.isKilled && !record.restAsked.contains(process.pid) {
            complain("\(process.pid), which \(record.app) has left behind, is not asked to end")
        }
    }
}
