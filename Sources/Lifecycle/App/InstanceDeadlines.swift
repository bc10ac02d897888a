// When an instance is to be looked at, and what is over by then.

extension Instance {
    /// What is over, so that it is ended or given up.
    enum Overdue {
        case start
        /// The budget of its tasks is empty, and it holds one.
        case budget
        case call(PendingCall, taken: Nanoseconds)
        case exit(allowance: Nanoseconds)
        case liveness(interval: Nanoseconds)
        /// Killed and not gone.
        case death
        /// Gone, and not all that it left behind.
        case clearing
    }

    /// When its start is given up.
    private var spawnDue: Nanoseconds {
        let due = startedAt + Self.spawnBound
        return cause == nil ? due : min(due, waitingSince + Self.unwantedSpawnBound)
    }

    /// The first of what is over, after the event at hand, which may have been the sign of life or have ended the last
    /// task. The budget comes before the call: the time of an expiration handler ends with the pool at the latest, and
    /// it is the budget that the app has overrun then.
    func overdue(at now: Nanoseconds, reprieveEnd: Nanoseconds) -> Overdue? {
        func isOver(_ due: Nanoseconds) -> Bool { judgement(of: due, reprieveEnd) ?? .max <= now }
        switch stage {
        case .spawning: return isOver(spawnDue) ? .start : nil
        case .running, .stopping:
            if let due = tasks.poolEnd, isOver(due), !tasks.isEmpty { return .budget }
            if let call, isOver(call.deadline) { return .call(call, taken: clock.reading(at: now) - call.issued) }
            if let stop, let due = stop.exitDue, isOver(due) { return .exit(allowance: stop.exitAllowance) }
            if let due = liveness.due, isOver(due), let interval = liveness.interval {
                return .liveness(interval: interval)
            }
            return nil
        case .killing: return !isReportedStuck && waitingSince + Self.killBound <= now ? .death : nil
        case .clearing: return !isReportedStuck && waitingSince + Self.clearBound <= now ? .clearing : nil
        }
    }

    /// Its time to keep the board awake is over.
    func isKeepAwakeOver(at now: Nanoseconds) -> Bool {
        tasks.keepAwakeEnd.map { clock.moment(of: $0) ?? .max <= now } ?? false
    }

    /// Whether to look: which handlers are called is decided when the app is settled (`settleExpirations`). lead: of
    /// the pool, before its end.
    func isExpirationDue(lead: Nanoseconds, at now: Nanoseconds) -> Bool {
        expirationDue(lead: lead).map { clock.moment(of: $0) ?? .max <= now } ?? false
    }

    /// The reading at which the next expiration handler is due; nil: none is, or none can be called.
    private func expirationDue(lead: Nanoseconds) -> Nanoseconds? {
        canBeCalled ? tasks.nextExpiration(lead: lead) : nil
    }

    /// Adds its own deadlines to those of its app.
    func addDeadlines(
        to next: inout Deadline, _ app: AppID, lead: Nanoseconds, freezeBound: Nanoseconds, reprieveEnd: Nanoseconds
    ) {
        func consider(_ due: Nanoseconds?, _ reason: Deadline.Reason) {
            if let due { next.consider(judgement(of: due, reprieveEnd), reason) }
        }
        switch stage {
        case .spawning: consider(spawnDue, .spawn(app))
        case .running, .stopping:
            if let call { consider(call.deadline, .handler(app, call.call.handler)) }
            consider(stop?.exitDue, .exit(app))
            consider(liveness.due, .liveness(app))
            next.consider(news.limitQuietEnd, .memoryLimit(app))
            consider(tasks.poolEnd, .taskBudget(app))
            if let due = tasks.keepAwakeEnd { next.consider(clock.moment(of: due), .keepAwakeBudget(app)) }
            if let due = expirationDue(lead: lead) { next.consider(clock.moment(of: due), .taskExpiration(app)) }
            if freezer == .freezing { next.consider(waitingSince + freezeBound, .freeze(app)) }
            next.consider(heldLock.due, .sleepLock(app))
        case .killing: if !isReportedStuck { next.consider(waitingSince + Self.killBound, .death(app)) }
        case .clearing: if !isReportedStuck { next.consider(waitingSince + Self.clearBound, .clearing(app)) }
        }
    }

    /// When it is judged for a reading of its clock; nil while that stands still.
    private func judgement(of due: Nanoseconds, _ reprieveEnd: Nanoseconds) -> Nanoseconds? {
        clock.moment(of: due).map { max($0, min($0 + Self.longestReprieve, reprieveEnd)) }
    }
}
