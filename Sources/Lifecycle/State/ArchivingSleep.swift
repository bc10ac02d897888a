// The stages of a sleep.

extension SleepStage {
    mutating func archive(_ archive: inout StateArchive) {
        var state = Sleep(stage: self).state
        archive.raw(&state)
        switch state {
        case .awake: self = .awake
        case .preparing:
            var preparation = Sleep(stage: self).preparation ?? Preparation()
            preparation.archive(&archive)
            self = .preparing(preparation)
        case .asleep:
            var asleep = Sleep(stage: self).asleep ?? Asleep(released: Instant(monotonic: .zero, boottime: .zero))
            asleep.archive(&archive)
            self = .asleep(asleep)
        case .darkWake:
            var darkWake = Sleep(stage: self).darkWake ?? DarkWake(end: .zero)
            archive.value(&darkWake.end)
            archive.value(&darkWake.isReturning)
            self = .darkWake(darkWake)
        }
    }
}

extension Preparation {
    fileprivate mutating func archive(_ archive: inout StateArchive) {
        archive.value(&begun)
        archive.value(&allowance)
        archive.value(&allowanceEnd)
        archive.value(&orderEndsAt)
        archive.value(&release)
        archive.optional(&graceEnd, .zero) { $0.value(&$1) }
        overtime.archive(&archive)
        archive.value(&isOrderOver)
        archive.list(&waiting, WaitingClient(id: RequestID(rawValue: 0), isHook: false)) {
            $0.raw(&$1.id)
            $0.value(&$1.isHook)
        }
    }
}

extension Preparation.Overtime {
    fileprivate mutating func archive(_ archive: inout StateArchive) {
        archive.value(&isAllowanceOver)
        archive.value(&isGraceOver)
    }
}

extension Asleep {
    fileprivate mutating func archive(_ archive: inout StateArchive) {
        archive.value(&released.monotonic)
        archive.value(&released.boottime)
        overtime.archive(&archive)
        archive.value(&timeStopped)
        archive.optional(&alarm, .zero) { $0.value(&$1) }
        var isAsked = question == .asked
        archive.value(&isAsked)
        var due = question.due
        archive.optional(&due, .zero) { $0.value(&$1) }
        question = isAsked ? .asked : due.map { .due($0) } ?? .none
    }
}
