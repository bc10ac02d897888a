internal import Lifecycle

/// What an app has heard and said.
extension Checks {
    func didHear(_ process: PlayedProcess, _ method: String) {
        guard let record = record(of: process) else { return }
        guard let place = record.sent.firstIndex(where: { $0.method == method }) else {
            return complain("\(record.app) is called with \(method), which was not asked for")
        }
        if place != 0 { complain("\(record.app) is called with \(method) before \(record.sent[0].method)") }
        record.heard = record.sent.remove(at: place).call
    }

    func did(_ deed: OrderCheck.Deed, _ group: PlayedGroup?) {
        guard let group, let record = records.values.first(where: { $0.group === group }) else { return }
        if deed == .freeze, isLateFreeze(record) { return }
        if record.mayBeDoneAgain, record.wants(deed) { return }
        if !order.did(deed, record.instance), !struck(.groupWrite, .open, .signal, .watch) {
            complain("\(record.app): \(deed) was not asked for, or what comes after it was done before")
        }
    }

    func didAnswer(_ process: PlayedProcess) {
        guard let record = record(of: process) else { return }
        record.answers += 1
        if let call = record.heard { record.answered.append(call) }
    }

    func didSayNonsense(_ process: PlayedProcess) { record(of: process)?.hasSaidNonsense = true }

    func didPing(_ process: PlayedProcess) { record(of: process)?.pings += 1 }
    func didSayReady(_ process: PlayedProcess) {
        guard let record = record(of: process) else { return }
        record.readies += 1
        guard let plan = plan(record), plan.delegate == .signals, plan.acknowledges else { return }
        if let call = record.open.first { record.answered.append(call) }
    }
}
