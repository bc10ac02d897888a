internal import Configuration
internal import ControlGroup
internal import EventLoop
internal import Journal
internal import Lifecycle
internal import SystemCalls

// The board's memory: the kernel says when something waits for it (psi(7)), and is asked how much there is.

extension Supervisor {
    /// A root of one's own may bring its own files, for trials: of a control group, say.
    private func boardFile(_ path: String) -> String {
        let own = paths.root + path
        return !paths.root.isEmpty && Files.exists(own) ? own : path
    }

    /// For what is to be known of the kernel's own sleeps.
    var sysfs: String { boardFile("/sys") }

    /// Listens from now on, or with other thresholds.
    func followPressure() {
        let warning = settings.board.memory.pressureWarning
        let critical = settings.board.memory.pressureCritical
        guard warning != pressureWarning || critical != pressureCritical else { return }
        leavePressure()
        do throws(PressureUnavailable) {
            try watchPressure(.some, percent: warning, .warning)
            try watchPressure(.full, percent: critical, .critical)
            pressureWarning = warning
            pressureCritical = critical
            pressureTrouble = ""
        } catch {
            leavePressure()
            // Each reload tries again.
            if error.text != pressureTrouble { log.daemon(.notice, "memory pressure is not heard of: " + error.text) }
            pressureTrouble = error.text
        }
    }

    private func leavePressure() {
        pressureSources = []
        pressure = []
        pressureWarning = 0
        pressureCritical = 0
    }

    /// percent: of a second.
    private func watchPressure(
        _ stall: PressureThreshold.Stall, percent: Int, _ level: MemoryLevel
    ) throws(PressureUnavailable) {
        let threshold = PressureThreshold(stall, time: Int64(percent) * 10_000, window: 1_000_000)
        let path = boardFile(PressureTrigger.board)
        let trigger = try PressureTrigger(threshold, path: path)
        do throws(SystemError) {
            let source = try loop.watch(trigger.descriptor, .priority) { [unowned(unsafe) self] readiness in
                if readiness.contains(.error) {
                    // Its control group is gone; only a trial's can be.
                    leavePressure()
                    log.daemon(.notice, "memory pressure is not heard of any more")
                } else {
                    dispatch(.memory(.pressure(level)))
                }
            }
            pressureSources.append(source)
            pressure.append(trigger)
        } catch {
            throw .failed(SystemError("watch", path, errno: error.errno))
        }
    }

    func readMemory(uses: Bool) {
        var sizes: [MemoryUse] = []
        if uses {
            for process in processes.values {
                sizes.append(MemoryUse(instance: process.instance, bytes: process.group?.footprintBytes))
            }
        }
        if let reading = try? MemoryReading(path: boardFile("/proc/meminfo")) {
            dispatch(.memory(.read(available: reading.availableBytes, total: reading.totalBytes, sizes)))
        } else {
            // No app is ended for memory whose size is unknown.
            dispatch(.memory(.read(available: 1, total: 1, [])))
        }
    }
}

extension AppProcess {
    /// Listens to its control group's own limit, where it has one.
    func watchMemoryLimit() {
        guard configuration.limits.memoryHigh != nil, let group else { return }
        do throws(SystemError) {
            if let memorySource, let memoryEvents {
                // What happened meanwhile is past; if it goes on, the kernel says so at once.
                highCount = try memoryEvents.read()?.high ?? highCount
                return try memorySource.setEnabled(true)
            }
            guard let events = try group.openMemoryEvents() else { return }
            memoryEvents = events
            highCount = try events.read()?.high ?? 0
            memorySource = try supervisor.loop.watch(events.descriptor, .priority) { [unowned(unsafe) self] _ in
                let high = (try? events.read())?.high ?? highCount
                guard high > highCount else { return }
                highCount = high
                // Up to a hundred times a second: once is enough until the core wants to know again.
                try? memorySource?.setEnabled(false)
                supervisor.dispatch(.memory(.limitReached(instance)))
            }
        } catch {
            supervisor.log.app(app.name, .warning, "its memory limit is not heard of: " + error.text)
        }
    }

    /// Whose hunt for memory has ended one of its processes.
    var memoryKiller: MemoryKiller? {
        guard let group else { return nil }
        if group.oomdKills > 0 { return .oomd }
        if let oomdAnnounced, Clocks.monotonic - oomdAnnounced < PrekillHook.killWindow { return .oomd }
        guard let events = memoryEvents ?? (try? group.openMemoryEvents()) else { return nil }
        return ((try? events.read())?.oomKill ?? 0) > 0 ? .kernel : nil
    }
}
