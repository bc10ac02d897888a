internal import EventLoop
internal import Journal
internal import Lifecycle
internal import MessageBus
internal import SystemCalls
internal import WakeAlarm

// Waking the board by ourselves.

extension Supervisor {
    /// moment: BOOTTIME; nil: no alarm any more.
    func setWakeAlarm(_ moment: Nanoseconds?) {
        do throws(SystemError) {
            guard let moment else {
                try wakeAlarm?.clear()
                return
            }
            try openWakeAlarm().set(at: moment.rawValue - skipped)
        } catch {
            if !saidNoAlarm { log.daemon(.warning, "the board cannot be woken for background tasks: \(error.text)") }
            saidNoAlarm = true
        }
    }

    private func openWakeAlarm() throws(SystemError) -> WakeAlarm {
        if let wakeAlarm { return wakeAlarm }
        let alarm = try WakeAlarm()
        wakeAlarmSource = try loop.watch(alarm.descriptor, .readable) { [unowned(unsafe) self] _ in
            if alarm.acknowledge() { dispatch(.timePassed) }
        }
        wakeAlarm = alarm
        return alarm
    }
}
