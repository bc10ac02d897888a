internal import Lifecycle

// What the clients of the interfaces are told.

extension Supervisor {
    func perform(_ effect: ClientEffect) {
        switch effect {
        case .reply(let request, let outcome): answers.answer(request, outcome)
        case .taskChanged(_, let instance, let task, let change): taskFollowers.didChange(instance, task, change)
        case .appChanged(let app): appDidChange(app)
        case .deviceChanged:
            control?.deviceDidChange()
            watchdog?.deviceDidChange(core.device)
        }
    }

    private func appDidChange(_ id: AppID) {
        control?.appDidChange(id)
        forgetIfGone(id)
    }

    /// An app that is not configured any more, once its last process is gone: one is said before the other.
    func forgetIfGone(_ id: AppID) {
        guard core.view(of: id) == nil, let app = apps[id.rawValue], app.process == nil else { return }
        if app.isAdopted { lastReports[id.rawValue] = nil }
        apps[id.rawValue] = nil
    }
}
