internal import Configuration
internal import HardwareWatchdog
internal import Journal
internal import Lifecycle
internal import MessageBus
internal import SystemCalls

// What kind of board this is, and what is heard of it.

extension Supervisor {
    /// What kind of board this is, and what follows from it. Said when it is another than before.
    func findBoard(_ configuration: Configuration) {
        guard followsBoard else {
            settings = BoardSettings(configuration.device, nil)
            return
        }
        let paths = ConfigurationPaths(root: paths.root.isEmpty ? nil : paths.root)
        let selection = configuration.device.profile
        let read = Errand.run(at: .profiles, within: 3000) {
            HardwareProfiles.select(selection, for: BoardIdentity.read(), paths: paths)
        }
        guard let found = read else {
            log.daemon(.warning, "hardware profiles were not read in time; curfew reload tries again")
            settings = BoardSettings(configuration.device, settings.board)
            return
        }
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
        keyLocks.take()
    }

    /// Keeps the board's watchdog from now on, or with other settings. It writes to the disk: after the apps' start.
    func keepWatchdog() {
        guard followsBoard else { return }
        let watchdog = self.watchdog ?? WatchdogFeeder(self)
        self.watchdog = watchdog
        watchdog.configure(settings)
    }
}
