internal import Lifecycle

// What the core asks of the board itself.

extension Supervisor {
    func perform(_ effect: BoardEffect) {
        switch effect {
        case .poll: boardWatch?.poll()
        }
    }

    func perform(_ effect: MemoryEffect) {
        switch effect {
        case .read(let uses): readMemory(uses: uses)
        case .watchLimit(let instance): processes[instance.rawValue]?.watchMemoryLimit()
        }
    }

    func perform(_ effect: WatchdogEffect) {
        switch effect {
        case .feed: watchdog?.feed()
        case .rest: watchdog?.rest()
        case .wake: watchdog?.wake()
        case .retry: watchdog?.retry()
        case .restService: serviceWatchdog?.rest()
        case .wakeService: serviceWatchdog?.wake()
        }
    }
}
