internal import CLinux
internal import Keeper
internal import Lifecycle
internal import LifecycleSimulation
internal import PlayedKernel
internal import Supervision
internal import SystemCalls

/// The production shell, from its arguments to its exit status, on a played kernel.
public enum ShellSimulation {
    /// What became of one seed.
    public struct Outcome: Sendable {
        /// The rules that were broken, in the order in which they were.
        public let complaints: [String]
        /// What happened, where it was asked for.
        public let trace: [String]
        /// Events that the core was told.
        public let events: Int
        /// Turns of the daemon's loop.
        public let turns: Int
        public let sleeps: Int
        /// How often the daemon was started.
        public let lives: Int
        /// Of its loop, that others can see.
        public let calls: Int
    }

    /// When the daemon dies.
    public enum Deaths: Equatable, Sendable {
        /// By chance: the whole daemon, or its loop.
        case some
        case none
        /// Its loop, before the call of this number that others can see.
        case atCall(Int)
        /// Its loop, once in each sleep.
        case inSleeps
    }

    /// Plays one board, in a directory that is there and empty. seconds: of its life, before it is left in peace.
    public static func run(
        seed: UInt64, seconds: Int64, directory: String, deaths: Deaths = .some, keepsTrace: Bool = false
    ) -> Outcome {
        var moment: () -> Int64 = { 0 }
        let judge = Judge { moment() }
        judge.keepsTrace = keepsTrace
        let kernel = Kernel(directory: directory, seed: seed, judge: judge)
        moment = { [unowned kernel] in kernel.clock.monotonic }
        Kernel.present = kernel
        let world = World(kernel: kernel, seed: seed)
        let root = directory + "/root"
        makeTree(kernel, root)
        world.apps.configure(root)
        plan(world, kernel, root, seconds, seed, deaths)
        var lives = 1
        var end = live(world, kernel, root, after: nil)
        while end != .itself, judge.complaints.isEmpty {
            lives += 1
            end = live(world, kernel, root, after: end)
        }
        world.login.dropLocks()
        world.visitors.leave()
        return Outcome(
            complaints: judge.complaints, trace: judge.trace, events: world.checks.events,
            turns: kernel.loop.turns, sleeps: world.login.sleeps, lives: lives, calls: kernel.points.count)
    }

    private enum End {
        /// The keeper has died, too.
        case killed
        case loopKilled
        case itself
    }

    /// One life of the daemon's loop, from its start to its end.
    private static func live(_ world: World, _ kernel: Kernel, _ root: String, after before: End?) -> End {
        Observation.ear = { world.checks.heard($0, $1, $2, $3) }
        let isNext = before == .loopKilled
        // A start that cannot have what it needs ends with 1.
        if isNext, kernel.faults.isOn {
            kernel.faults.turn(on: false)
            world.after(3_000_000_000) {
                kernel.faults.turn(on: kernel.clock.monotonic < world.quietFrom && !world.isEnding)
            }
        }
        let status = Life.live {
            Kernel.playing = kernel
            defer { Kernel.playing = nil }
            var last = LoopBefore()
            if isNext { last.signal = SIGKILL }
            return Daemon.runLoop(
                ["--root", root, "--cgroup", GroupTree.base, "--no-board"],
                keeper: FileDescriptor(owning: kernel.keeper.startLoop()), after: last,
                kept: kernel.keeper.copies(kernel.descriptors))
        }
        Observation.ear = nil
        guard let status else {
            kernel.buryLoop()
            world.checks.loopDied()
            return .loopKilled
        }
        let isKilled = Kernel.isDead
        if !isKilled {
            if status != 0 { kernel.judge.complain("the daemon ends with \(status)") }
            world.checks.ended(root)
            for (number, kind) in kernel.descriptors.open {
                kernel.judge.complain("descriptor \(number), \(kind), stays open")
            }
        }
        kernel.bury()
        world.checks.forget()
        world.login.dropLocks()
        return isKilled ? .killed : .itself
    }

    private static func makeTree(_ kernel: Kernel, _ root: String) {
        for path in ["", "/etc", "/etc/curfew", "/etc/curfew/apps", "/run", "/var", "/var/lib"] {
            _ = __real_mkdir(root + path, 0o755)
        }
        for path in ["", "/sys", "/sys/fs"] { _ = __real_mkdir(kernel.directory + "/kernel" + path, 0o755) }
        for path in [GroupTree.mount, GroupTree.mount + "/daemon"] { _ = kernel.groups.make(path) }
    }

    private static func plan(
        _ world: World, _ kernel: Kernel, _ root: String, _ seconds: Int64, _ seed: UInt64,
        _ deaths: Deaths
    ) {
        let start = kernel.clock.monotonic
        world.quietFrom = start + seconds * 1_000_000_000
        // What dies in the middle of something is judged by that alone.
        world.login.refuses = deaths == .some
        if deaths == .some { world.after(1_000_000_000) { kernel.faults.turn(on: true) } }
        world.visitors.begin(root)
        switch deaths {
        case .some: planEnds(world, kernel, Int(seconds))
        case .none: break
        case .atCall(let number): kernel.points.fatal = number
        case .inSleeps:
            world.login.whenSleepIsAnnounced = {
                world.after(Int64(world.random.below(8_000_000_000))) { kernel.points.dieSoon(world.random.below(30)) }
            }
        }
        world.at(world.quietFrom) {
            kernel.judge.note("the board is left in peace")
            kernel.faults.turn(on: false)
            world.visitors.wake(root)
        }
        world.at(world.quietFrom + 200_000_000_000) {
            world.visitors.judgeOpenCalls()
            // By logind, and without.
            if seed % 2 == 0 { world.login.shutdownWanted(isCalledOff: false) }
            world.after(20_000_000_000) { world.endDaemon("the service manager ends the daemon") }
        }
    }

    /// Ends of the daemon in the middle of all that happens: its death, and a stop in good order.
    private static func planEnds(_ world: World, _ kernel: Kernel, _ seconds: Int) {
        if kernel.hasGroups, world.random.chance(perMille: 300) {
            world.after(Int64(world.random.below(seconds * 1_000_000_000))) {
                guard !world.isEnding else { return }
                // A start that cannot have what it needs ends with 1, and systemd tries again.
                kernel.faults.turn(on: false)
                kernel.die()
                world.after(3_000_000_000) {
                    kernel.faults.turn(on: kernel.clock.monotonic < world.quietFrom && !world.isEnding)
                }
            }
        }
        if world.random.chance(perMille: 300) {
            world.after(Int64(world.random.below(seconds * 1_000_000_000))) {
                kernel.points.dieSoon(world.random.below(40))
            }
        }
        if world.random.chance(perMille: 200) {
            world.after(Int64(world.random.below(seconds * 1_000_000_000))) {
                world.endDaemon("the service manager ends the daemon early")
            }
        }
    }
}
