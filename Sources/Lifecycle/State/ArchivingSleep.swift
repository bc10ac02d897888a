// The stages of a sleep.

extension SleepStage {
    mutating func archive(_ archive: inout StateArchive) {
        var state = Sleep(stage: self).state
        archive.raw(1, &state)
        switch state {
        case .awake: self = .awake
        case .preparing:
            var preparation = Sleep(stage: self).preparation ?? Preparation()
            archive.group(2) { preparation.archive(&$0) }
            self = .preparing(preparation)
        case .asleep:
            var asleep = Sleep(stage: self).asleep ?? Asleep(released: Instant(monotonic: .zero, boottime: .zero))
            archive.group(3) { asleep.archive(&$0) }
            self = .asleep(asleep)
        case .darkWake:
            var darkWake = Sleep(stage: self).darkWake ?? DarkWake(end: .zero)
            archive.value(4, &darkWake.end)
            archive.value(5, &darkWake.isReturning)
            self = .darkWake(darkWake)
        }
    }
}

extension Preparation {
    fileprivate mutating func archive(_ archive: inout StateArchive) {
        archive.value(1, &begun)
        archive.value(2, &allowance)
        archive.value(3, &allowanceEnd)
        archive.value(4, &orderEndsAt)
        archive.value(5, &release)
        archive.optional(6, &graceEnd, .zero) { $0.value(1, &$1) }
        archive.group(7) { overtime.archive(&$0) }
        archive.value(8, &isOrderOver)
        archive.list(9, &waiting, WaitingClient(id: RequestID(rawValue: 0), isHook: false)) {
            $0.raw(1, &$1.id)
            $0.value(1, &$1.isHook)
        }
    }
}

extension Preparation.Overtime {
    fileprivate mutating func archive(_ archive: inout StateArchive) {
        archive.value(1, &isAllowanceOver)
        archive.value(2, &isGraceOver)
    }
}

extension Asleep {
    fileprivate mutating func archive(_ archive: inout StateArchive) {
        archive.value(1, &released.monotonic)
        archive.value(2, &released.boottime)
        archive.group(3) { overtime.archive(&$0) }
        archive.value(4, &timeStopped)
        archive.optional(5, &alarm, .zero) { $0.value(1, &$1) }
        var isAsked = question == .asked
        archive.value(6, &isAsked)
        var due = question.due
        archive.optional(7, &due, .zero) { $0.value(1, &$1) }
        question = isAsked ? .asked : due.map { .due($0) } ?? .none
    }
}
