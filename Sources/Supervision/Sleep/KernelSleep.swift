internal import DeviceMonitor
internal import Lifecycle

// What the kernel itself counts of sleeps (/sys/power/suspend_stats): whether an announced one has taken place.

extension Supervisor {
    /// What is kept from a sleep's announcement to its end: the note for a successor, and the kernel's counts.
    func keepTraces(_ notice: SleepNotice) {
        switch notice {
        case .preparing:
            noteSleep()
            suspendsBefore = SuspendStatistics(sysfs: sysfs)
            saidSuspendRefused = false
        case .ended:
            removeSleepNote()
            appLocks.sleepEnded()
        case .released, .darkWake, .unannounced: break
        }
    }

    /// What the kernel has counted since the present sleep was announced, before the word that the board is awake.
    func tellIfKernelSlept() {
        guard core.device.sleepState == .asleep || core.device.sleepState == .preparing,
            let before = suspendsBefore, let now = SuspendStatistics(sysfs: sysfs)
        else { return }
        if now.successes > before.successes {
            dispatch(.sleep(.kernelSlept(true)))
        } else if now.failures > before.failures {
            dispatch(.sleep(.kernelSlept(false)))
        }
    }

    /// What refused the present sleep, for people; nil: the kernel has counted no refusal of it.
    var kernelsRefusal: String? {
        guard let before = suspendsBefore, let now = SuspendStatistics(sysfs: sysfs), now.failures > before.failures
        else { return nil }
        return SuspendStatistics.lastRefusal(sysfs: sysfs).text
    }
}
