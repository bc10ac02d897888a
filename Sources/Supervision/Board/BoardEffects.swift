internal import Configuration
internal import HardwareWatchdog
internal import Journal
internal import Lifecycle
internal import MessageBus
internal import SystemCalls

// What the core asks of the board itself, and where that is known.

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
        case .feed: keeper?.feed()
        case .rest: keeper?.rest()
        case .wake: keeper?.wake()
        case .restService: serviceWatchdog?.rest()
        case .wakeService: serviceWatchdog?.wake()
        }
    }

    /// What kind of board this is, and what follows from it. Said when it is another than before.
    func findBoard(_ configuration: Configuration) {
        guard followsBoard else {
            settings = BoardSettings(configuration.device, nil)
            return
        }
        let paths = ConfigurationPaths(root: paths.root.isEmpty ? nil : paths.root)
        let found = HardwareProfiles.select(configuration.device.profile, for: BoardIdentity.read(), paths: paths)
        for error in found.errors { log.daemon(.warning, error.text, .configurationInvalid) }
        let next = BoardSettings(configuration.device, found.profile)
        if let profile = found.profile, profile.name != settings.board.name {
            log.daemon(.info, "hardware profile: " + profile.name)
        }
        settings = next
    }

    /// Listens to the board from now on, or with other settings.
    func followBoard() {
        guard followsBoard else { return }
        if let boardWatch {
            boardWatch.change(settings)
        } else {
            boardWatch = BoardWatch(self, settings)
        }
        followPressure()
        interfaces?.openPrekillHook()
        takeKeyLocks()
    }

    /// Keeps the board's watchdog from now on, or with other settings. It writes to the disk: after the apps' start.
    func keepWatchdog() {
        guard followsBoard else { return }
        let keeper = self.keeper ?? WatchdogKeeper(self)
        self.keeper = keeper
        keeper.configure(settings)
    }

    /// What logind would do by itself with a key or the lid that is Curfew's by configuration.
    func takeKeyLocks() {
        guard followsBoard, let login else { return }
        let policy = settings.policy(configuration.device.policy)
        hold(.powerKey, policy.responses[.powerKey] == .sleep, login)
        hold(.lidSwitch, policy.responses[.lidClosed] == .sleep && policy.sleepsLogically, login)
    }
}
