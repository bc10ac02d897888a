/// Everything that can go wrong on a simulated board, or merely happen at a bad moment.
public enum Fault: Int, CaseIterable, Sendable {
    // The kernel.
    case spawnFails, spawnSlow, freezeSlow, freezeNever, killSlow, killNever, leftovers, clearSlow
    case freezingUnavailable, freezingComesAndGoes
    // Apps.
    case appSlow, appHangs, appCrashes, appExits, appForks, appIgnoresTermination, appLies, appReplacesCalls
    case appCeasesPinging, appNeverReady, appStops, appExtends
    case appForgetsTasks, appGrabsTasks, appLiesOfTasks, appLimitsTasks
    // logind and its bus.
    case loginAbsent, loginOutage, lockRefused, lockLate, delayMaxUnknown, preparingUnknown
    case edgeDoubled, edgeLost, edgeLate, sleepFails, otherInhibitor, shortDelayMax, forcedSleep
    // The board.
    case announcedSleep, unannouncedSleep, monotonicRunsOn, loopStall, boardStall, clockSet, timerLate, wakeUnseen
    // Operators.
    case requests, abandonedRequests, strangeRequests, hookSleep, logicalSleep, reload, shutdown, stop, adoptions,
        memoryWarnings
    // Dark wakes: rolled by a generator of their own, so that older seeds keep their stories.
    case alarmFails, alarmLate, suspendRefused, suspendIgnored
    // The board's conditions: again with a generator of their own.
    case sessions, lid, charger, battery, batteryFalls, underVoltage, heat, memoryPressure, memoryLimits, network
    case powerKey, polling, lowPowerMode, hardwareWatchdog, nonsense, powerOffRefused, powerOffIgnored
    // Hardships, with a generator of their own and on rough boards only. What is asked for and never comes, or late.
    case spawnUnanswered, memoryUnanswered, preparingUnanswered, lockUnanswered, answersLate, answersDoubled,
        freezeIgnored
    // What cannot be read for a while.
    case supplyBlank, zonesBlank
    // More is wanted than there is.
    case hungryApp, foreignHog
    // Time that the board does not give.
    case stolenTime, idleSuspend
    // Things that happen at the worst moment of a sleep, or of an end.
    case tasksEndAsleep, someoneAtWake, racingRequests, lateResume, darkAdoptions, longLids, idlePeople
    case loginTwice, absurdPolicies, absurdReadings, longLife, shellDies
    // Drawn by a generator of their own, so that older rough seeds keep their stories.
    case headless, lateHook
    // Drawn anew for each call.
    case commandHeld

    /// Out of 1000 occasions, while the fault is on.
    var usualRate: Int {
        switch self {
        case .announcedSleep, .requests, .appSlow, .adoptions, .memoryWarnings: 1000
        case .appHangs, .appForks, .appIgnoresTermination, .appLies, .appCeasesPinging, .appNeverReady,
            .appForgetsTasks, .appGrabsTasks,
            .appLiesOfTasks, .appLimitsTasks, .forcedSleep:
            500
        case .appCrashes, .appExits, .otherInhibitor, .hookSleep, .monotonicRunsOn, .appExtends: 300
        case .edgeDoubled, .edgeLost, .edgeLate, .sleepFails, .lockRefused, .lockLate, .spawnFails, .leftovers: 200
        case .freezeSlow, .killSlow, .clearSlow, .spawnSlow, .wakeUnseen, .abandonedRequests, .reload: 150
        case .freezeNever, .killNever, .delayMaxUnknown, .preparingUnknown, .strangeRequests, .appStops: 80
        case .appReplacesCalls, .shutdown, .loopStall, .boardStall, .clockSet, .loginOutage, .alarmFails: 100
        case .unannouncedSleep, .logicalSleep, .freezingComesAndGoes: 100
        case .timerLate, .stop: 40
        case .freezingUnavailable, .loginAbsent: 1000
        case .shortDelayMax, .alarmLate, .suspendRefused, .suspendIgnored, .nonsense, .powerOffRefused,
            .powerOffIgnored:
            300
        case .sessions, .lid, .charger, .battery, .batteryFalls, .underVoltage, .heat, .memoryPressure, .memoryLimits,
            .network, .powerKey, .polling, .lowPowerMode, .hardwareWatchdog:
            1000
        case .spawnUnanswered, .memoryUnanswered, .preparingUnanswered, .lockUnanswered, .freezeIgnored: 100
        case .answersLate, .answersDoubled, .supplyBlank, .zonesBlank: 200
        case .hungryApp, .foreignHog, .stolenTime, .racingRequests, .longLids, .idlePeople, .loginTwice, .longLife,
            .shellDies, .darkAdoptions, .headless, .commandHeld:
            1000
        case .idleSuspend, .tasksEndAsleep, .someoneAtWake, .lateResume, .lateHook: 400
        case .absurdPolicies, .absurdReadings: 300
        }
    }

    /// Boards without a freezer or without logind are rarer than boards with one that fails.
    var isRare: Bool {
        switch self {
        case .freezingUnavailable, .loginAbsent: true
        default: false
        }
    }

    var isOfDarkWakes: Bool {
        switch self {
        case .alarmFails, .alarmLate, .suspendRefused, .suspendIgnored: true
        default: false
        }
    }

    var isOfConditions: Bool { rawValue >= Fault.sessions.rawValue && !isHardship }

    var isOfLives: Bool { rawValue >= Fault.headless.rawValue }

    var isHardship: Bool { rawValue >= Fault.spawnUnanswered.rawValue }

    /// What changes a board so much that it is rare.
    private var hardshipShare: Int {
        switch self {
        case .longLife, .shellDies, .absurdPolicies: 100
        case .loginTwice: 200
        default: 350
        }
    }

    /// The same on a dense board, on which much coincides.
    private var denseHardshipShare: Int {
        switch self {
        case .longLife: 30
        case .absurdPolicies: 100
        case .shellDies: 300
        case .loginTwice: 400
        default: 600
        }
    }

    private var denseRate: Int {
        switch self {
        case .shutdown, .loginOutage: 250
        case .loopStall, .boardStall: 400
        default: usualRate
        }
    }

    func rate(isDense: Bool) -> Int { isDense ? denseRate : usualRate }

    func isSuffered(_ hard: inout SeededGenerator, isDense: Bool) -> Bool {
        hard.chance(perMille: isDense ? denseHardshipShare : hardshipShare)
    }
}

/// Which faults a seed suffers, and how often. Swarm testing: each seed has a random half of them switched off, so
/// that a frequent fault does not hide what only happens without it.
struct FaultPlan {
    /// 0: off.
    private var rates: [Int]
    /// Drawn for like the others, and without effect.
    private var isSpared: [Bool]
    /// Everything is well from now on: for the end of a run.
    var isOver = false

    /// dark: for the faults of dark wakes; storm: for those of the board's conditions, where there are any; hard: for
    /// hardships, where the board is rough. dense: more of them at once.
    init(
        _ random: inout SeededGenerator, dark: inout SeededGenerator, storm: inout SeededGenerator, storms: Bool,
        hard: inout SeededGenerator, isRough: Bool, isDense: Bool, without spared: [Fault] = []
    ) {
        isSpared = Fault.allCases.map { spared.contains($0) }
        let intensity = random.pick([1, 2, 4])
        rates = Fault.allCases.map { fault in
            let share = fault.isRare ? 80 : isDense ? 700 : 500
            let isOn: Bool
            if fault.isOfLives { return 0 }
            if fault.isHardship {
                guard isRough, fault.isSuffered(&hard, isDense: isDense) else { return 0 }
                return fault.rate(isDense: isDense)
            }
            if fault.isOfConditions {
                isOn = storms && storm.chance(perMille: fault == .batteryFalls ? 200 : share)
            } else {
                isOn = fault.isOfDarkWakes ? dark.chance(perMille: share) : random.chance(perMille: share)
            }
            return isOn ? min(fault.rate(isDense: isDense) * intensity / 2, 1000) : 0
        }
    }

    /// It happens on this board, whatever was rolled.
    mutating func insist(on fault: Fault) { rates[fault.rawValue] = fault.usualRate }

    /// It never happens on this board.
    mutating func spare(_ fault: Fault) { rates[fault.rawValue] = 0 }

    /// It is one of this board's, whether or not its time is over.
    func had(_ fault: Fault) -> Bool { rates[fault.rawValue] > 0 && !isSpared[fault.rawValue] }

    func has(_ fault: Fault) -> Bool { !isOver && had(fault) }

    func strikes(_ fault: Fault, _ random: inout SeededGenerator) -> Bool {
        let rate = rates[fault.rawValue]
        return rate > 0 && !isOver && random.chance(perMille: rate) && !isSpared[fault.rawValue]
    }

    var active: [Fault] { Fault.allCases.filter { rates[$0.rawValue] > 0 && !isSpared[$0.rawValue] } }

    var description: String {
        active.map { "\($0)" }.joined(separator: " ")
    }
}
