internal import CLinux
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
    }

    /// Plays one board, in a directory that is there and empty. seconds: of its life, before it is left in peace.
    public static func run(seed: UInt64, seconds: Int64, directory: String, keepsTrace: Bool = false) -> Outcome {
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
        plan(world, kernel, root, seconds, seed)
        var lives = 1
        while live(world, kernel, root) == .killed, judge.complaints.isEmpty { lives += 1 }
        world.login.dropLocks()
        world.visitors.leave()
        return Outcome(
            complaints: judge.complaints, trace: judge.trace, events: world.checks.events,
            turns: kernel.loop.turns, sleeps: world.login.sleeps, lives: lives)
    }

    private enum End {
        case killed
        case itself
    }

    /// One life of the daemon, from its start to its end.
    private static func live(_ world: World, _ kernel: Kernel, _ root: String) -> End {
        Observation.ear = { world.checks.heard($0, $1, $2, $3) }
        Kernel.playing = kernel
        let status = Daemon.runLoop(
            ["--root", root, "--cgroup", GroupTree.base, "--no-board"],
            keeper: FileDescriptor(owning: kernel.keeper.startLoop()))
        Kernel.playing = nil
        Observation.ear = nil
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

    private static func plan(_ world: World, _ kernel: Kernel, _ root: String, _ seconds: Int64, _ seed: UInt64) {
        let start = kernel.clock.monotonic
        world.quietFrom = start + seconds * 1_000_000_000
        world.after(1_000_000_000) { kernel.faults.turn(on: true) }
        world.visitors.begin(root)
        planEnds(world, kernel, Int(seconds))
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
        if world.random.chance(perMille: 200) {
            world.after(Int64(world.random.below(seconds * 1_000_000_000))) {
                world.endDaemon("the service manager ends the daemon early")
            }
        }
    }
}
