internal import Lifecycle

// What the core asks of an app's processes, and what it tells its delegate.

extension Supervisor {
    func perform(_ effect: ProcessEffect) {
        switch effect {
        case .spawn(let app, let instance, let reason, let background):
            spawn(app, instance, reason, background: background)
        case .terminate(let instance): processes[instance.rawValue]?.terminate()
        case .kill(let instance): processes[instance.rawValue]?.kill()
        case .clear(let instance): clear(instance)
        case .freeze(let instance): processes[instance.rawValue]?.freeze()
        case .thaw(let instance): processes[instance.rawValue]?.thaw()
        case .reportStuck(let instance, let stuck): processes[instance.rawValue]?.reportStuck(stuck)
        }
    }

    /// One that was never started, or is gone, has left nothing.
    func clear(_ instance: InstanceID) {
        guard let process = processes[instance.rawValue] else {
            if !isResuming { dispatch(.process(.groupEmptied(instance))) }
            return
        }
        process.clear()
    }

    func perform(_ effect: AppEffect) {
        switch effect {
        case .call(let instance, let call, let handler, let allowance):
            trial?.called(instance, call, handler, allowance: allowance)
            processes[instance.rawValue]?.deliver(call, handler, allowance: allowance)
        case .giveUp(let instance, let call): processes[instance.rawValue]?.delegate?.giveUp(call)
        case .inform(let instance, let information): processes[instance.rawValue]?.inform(information)
        }
    }
}
