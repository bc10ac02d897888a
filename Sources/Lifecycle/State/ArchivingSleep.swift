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
            var nap = Sleep(stage: self).nap ?? Nap(released: Instant(monotonic: .zero, boottime: .zero))
            nap.archive(&archive)
            self = .asleep(nap)
        case .darkWake:
            var darkness = Sleep(stage: self).darkness ?? Darkness(end: .zero)
            archive.value(&darkness.end)
            archive.value(&darkness.isReturning)
            self = .darkWake(darkness)
        }
    }
}

extension Preparation {
    fileprivate mutating func archive(_ archive: inout StateArchive) {
        archive.value(&allowance)
        archive.value(&allowanceEnd)
        archive.value(&forcedAt)
        archive.value(&release)
        archive.optional(&graceEnd, .zero) { $0.value(&$1) }
        overtime.archive(&archive)
        archive.value(&isForced)
        archive.list(&waiting, Sleeper(id: RequestID(rawValue: 0), isHook: false)) {
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

extension Nap {
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
