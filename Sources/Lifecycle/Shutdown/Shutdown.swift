/// The end of everything: the board's shutdown, or the daemon's.
///
/// Apps end in waves, those first that no other app comes `after`; each wave gets its share of the time that is left.
struct Shutdown: Equatable {
    /// logind announced it (and may cancel it).
    var isAnnounced = false
    /// The daemon itself has to leave when all apps are gone.
    var stopsDaemon = false
    /// MONOTONIC: when the last app must be gone; nil: each app's own allowance is the limit.
    var end: Nanoseconds?
    /// Between `end` and logind's limit.
    var margin = Nanoseconds.zero
    /// The level of the apps that are being ended; nil before the first wave.
    var wave: Int?
    var waveEnd: Nanoseconds?
    /// Its time was over, and who was left has been killed.
    var isWaveForced = false
    /// All apps are gone, and it was said.
    var isOver = false
    /// The battery is critical: when all apps are gone the board is to be switched off.
    var isLowBattery = false
    /// MONOTONIC: asked for, and asked for again then.
    var powerOffDue: Nanoseconds?

    var isRunning: Bool { isAnnounced || stopsDaemon || isLowBattery }

    var nextDeadline: Deadline? {
        if let due = powerOffDue { return Deadline(at: due, reason: .shutdown) }
        guard isRunning, !isOver, let end = waveEnd else { return nil }
        return Deadline(at: end, reason: .shutdown)
    }

    /// The next one is counted anew.
    mutating func forgetWave() {
        wave = nil
        waveEnd = nil
        isWaveForced = false
    }
}

extension DeviceLifecycle {
    /// Why apps are ended at present.
    private var endingReason: TerminationReason {
        shutdown.isLowBattery ? .lowBattery(level: conditions.batteryLevel) : .shutdown
    }

    mutating func hearPrepareForShutdown(_ start: Bool, delayMax: Nanoseconds?, signalled: Nanoseconds) {
        login.hear(delayMax: delayMax)
        guard start else {
            // Not ours to cancel, perhaps: a lock that was refused can be had now.
            return shutdown.isAnnounced ? cancelShutdown() : takeLock(.shutdown)
        }
        guard !shutdown.isAnnounced else { return }
        shutdown.isAnnounced = true
        shutdown.powerOffDue = nil
        shutdown.margin = policy.sleepMargin
        if login.locks[.shutdown] == .held {
            let delay = login.inhibitDelay
            shutdown.margin = min(policy.sleepMargin, delay / 2)
            shutdown.end = min(signalled, now.monotonic) + delay - shutdown.margin
        } else {
            shutdown.end = now.monotonic + policy.sleepAllowanceWithoutLogind
        }
        beginShutdown()
    }

    mutating func stopDaemonWhenEnded() {
        if shutdown.stopsDaemon {
            // The daemon may have died before it had left.
            if shutdown.isOver { emit(.stopDaemon) }
            return
        }
        shutdown.stopsDaemon = true
        beginShutdown()
    }

    mutating func beginShutdown() {
        // No app sleeps again after this: what is still to run does, and hears of its end.
        endDarkWake()
        // It would freeze apps in the middle of their end, and need never be over.
        if sleep.state == .preparing, sleep.isLogical { endSleep(cancelled: true, heardFromLogin: false) }
        let allowance = shutdown.end.map { $0 - now.monotonic }
        emit(.note(.shutdown(.preparing(allowance: allowance))))
        denyLaunches(.shuttingDown, isForGood: true)
        shutdown.isOver = false
        shutdown.forgetWave()
        touchAll()
    }

    mutating func cancelShutdown() {
        guard shutdown.isAnnounced else { return }
        takeLock(.shutdown)
        cancelEnding()
    }

    /// All apps come back, unless there is another reason left to end.
    mutating func cancelEnding() {
        let stopsDaemon = shutdown.stopsDaemon
        shutdown = Shutdown()
        shutdown.stopsDaemon = stopsDaemon
        guard !stopsDaemon else { return beginShutdown() }
        emit(.note(.shutdown(.cancelled)))
        for index in apps.indices { apps[index].instance?.forgetShutdownLimit() }
        for index in apps.indices where apps[index].endedForShutdown {
            apps[index].endedForShutdown = false
            if apps[index].isRetired { continue }
            if apps[index].instance?.spare() == true || apps[index].launch.queued != nil { continue }
            if apps[index].hasEnded, apps[index].lastTermination?.reason.isOfTheBoard == true {
                // It waited for the board to be well.
                apps[index].launch.returnsWhenWell = true
                continue
            }
            let reason = apps[index].adoption == nil ? LaunchReason.restart : .backgroundTask
            queueLaunch(index, reason)
        }
        touchAll()
    }

    /// Starts the next wave when the last one is gone, but for those that cannot be killed.
    mutating func advanceShutdown() {
        guard shutdown.isRunning, !shutdown.isOver, touched.isEmpty else { return }
        var levels: [Int] = []
        for index in apps.indices where holdsUpShutdown(index) && !levels.contains(apps[index].level) {
            levels.append(apps[index].level)
        }
        guard let highest = levels.max() else { return finishShutdown() }
        if let wave = shutdown.wave, highest >= wave { return joinWave(wave) }
        shutdown.wave = highest
        shutdown.isWaveForced = false
        shutdown.waveEnd = shutdown.end.map { now.monotonic + ($0 - now.monotonic) / Int64(levels.count) }
        for index in apps.indices where apps[index].level == highest && holdsUpShutdown(index) {
            if isEndedByShutdown(index) { apps[index].endedForShutdown = true }
            stop(index, endingReason, waveEnd: shutdown.waveEnd)
        }
    }

    /// A reload has moved apps into the present wave or before it: they are ended with it.
    private mutating func joinWave(_ wave: Int) {
        for index in apps.indices where apps[index].level >= wave && holdsUpShutdown(index) {
            guard let instance = apps[index].instance, instance.isAlive || instance.stage == .spawning,
                instance.stop == nil, instance.cause == nil
            else { continue }
            apps[index].endedForShutdown = true
            stop(index, endingReason, waveEnd: shutdown.waveEnd)
        }
    }

    /// And is back should that be cancelled. What ends for reasons of its own comes back for them, or does not.
    private func isEndedByShutdown(_ index: Int) -> Bool {
        guard let instance = apps[index].instance else { return false }
        if instance.stage == .spawning { return instance.cause == nil }
        // One that was not asked to end yet, or is ending by its own wish.
        return instance.isAlive && instance.stop?.isOwnWish ?? true
    }

    private func holdsUpShutdown(_ index: Int) -> Bool {
        guard let instance = apps[index].instance else { return false }
        return instance.isAlive || !instance.isReportedStuck
    }

    private mutating func finishShutdown() {
        shutdown.isOver = true
        if shutdown.isAnnounced { releaseLock(.shutdown) }
        askForPowerOff()
        guard shutdown.stopsDaemon else { return }
        deny(.shuttingDown) { _ in true }
        emit(.stopDaemon)
    }

    /// The wave's time is over: who is left is killed, and who is still left a little later is beyond that.
    mutating func judgeShutdown() {
        guard shutdown.isRunning, !shutdown.isOver, let end = shutdown.waveEnd, end <= now.monotonic else { return }
        let isForced = shutdown.isWaveForced
        shutdown.isWaveForced = true
        shutdown.waveEnd = isForced ? nil : now.monotonic + shutdown.margin / 2
        for index in apps.indices where apps[index].level >= shutdown.wave ?? 0 && holdsUpShutdown(index) {
            if isForced {
                reportStuck(index, apps[index].instance?.stage == .spawning ? .unstarted : .unkillable)
            } else {
                stop(index, endingReason, force: true)
            }
        }
    }
}

/// What the journal is told of the end of all apps.
public enum ShutdownNotice: Equatable, Sendable {
    case preparing(allowance: Nanoseconds?)
    case cancelled
    /// The board is about to be switched off.
    case criticalBattery(level: Int?)
}
