internal import CLinux
internal import Lifecycle
internal import LifecycleSimulation
internal import PlayedKernel

/// Everything on the board that is not the daemon: what it does, and when.
final class World {
    private struct Happening {
        let moment: Int64
        let number: Int
        let process: PlayedProcess?
        let body: () -> Void
    }

    /// A descriptor of the world's that waits for something to read.
    struct Ear {
        let file: Int32
        let process: PlayedProcess?
        let listener: any Listener
    }

    let kernel: Kernel
    let login: PlayedLogin
    let apps: Apps
    let visitors: Visitors
    let checks: Checks
    var random: SeededGenerator
    private var queue: [Happening] = []
    private var number = 0
    /// What processes would do that do not get the processor.
    private var parked: [Happening] = []
    /// Files that have been heard, and whose reader is on its way.
    private var heard: Set<Int32> = []
    /// MONOTONIC: nothing new is begun after it.
    var quietFrom = Int64.max
    private(set) var isEnding = false

    init(kernel: Kernel, seed: UInt64) {
        self.kernel = kernel
        random = SeededGenerator(seed: seed)
        checks = Checks(kernel)
        login = PlayedLogin(kernel, seed: seed)
        apps = Apps(kernel, seed: seed)
        visitors = Visitors(kernel, seed: seed)
        kernel.loop.world = self
    }

    // MARK: Time

    func at(_ moment: Int64, of process: PlayedProcess? = nil, _ body: @escaping () -> Void) {
        number += 1
        let happening = Happening(moment: moment, number: number, process: process, body: body)
        let place = queue.lastIndex { $0.moment <= moment }.map { $0 + 1 } ?? 0
        queue.insert(happening, at: place)
    }

    func after(_ time: Int64, _ body: @escaping () -> Void) { at(kernel.clock.monotonic + time, body) }

    /// What a process does: not while it is frozen, and never once it has ended.
    func run(_ process: PlayedProcess, after time: Int64, _ body: @escaping () -> Void) {
        at(kernel.clock.monotonic + time, of: process, body)
    }

    var nextMoment: Int64 { min(queue.first?.moment ?? .max, nextAlarm ?? .max) }

    func runDue() {
        ringAlarms()
        if !parked.isEmpty {
            let waiting = parked
            parked = []
            for happening in waiting { run(happening) }
        }
        while let first = queue.first, first.moment <= kernel.clock.monotonic {
            queue.removeFirst()
            run(first)
        }
    }

    private func run(_ happening: Happening) {
        guard let process = happening.process else { return happening.body() }
        guard process.state == .running, !process.isKilled else { return }
        if process.canRun { happening.body() } else { parked.append(happening) }
    }

    // MARK: Alarms

    func alarmChanged(_ descriptor: Int32, _ alarm: Descriptors.Alarm) { ringAlarms() }

    /// MONOTONIC.
    var nextAlarm: Int64? {
        alarms.compactMap { $0.1.due }.min().map { $0 - kernel.clock.asleep }
    }

    private var alarms: [(Int32, Descriptors.Alarm)] {
        kernel.descriptors.open.compactMap { entry in
            if case .alarm(let alarm) = entry.value { (entry.key, alarm) } else { nil }
        }
    }

    private func ringAlarms() {
        for (descriptor, alarm) in alarms where alarm.due.map({ $0 <= kernel.clock.boottime }) == true {
            alarm.due = nil
            var one: UInt64 = 1
            _ = __real_write(descriptor, &one, 8)
        }
    }

    /// The clock of the day jumps: it was set, or the board has slept.
    func jumpClocks() {
        var one: UInt64 = 1
        for case (let descriptor, .clockChange) in kernel.descriptors.open { _ = __real_write(descriptor, &one, 8) }
    }

    // MARK: Ears

    func ears() -> [Ear] {
        var ears: [Ear] = []
        for process in kernel.processes.running where process.canRun {
            guard let program = process.program as? any Listener & Program else { continue }
            for file in program.listens { ears.append(Ear(file: file, process: process, listener: program)) }
        }
        ears += visitors.ears()
        return ears.filter { !heard.contains($0.file) }.sorted { $0.file < $1.file }
    }

    func hear(_ ear: Ear) {
        heard.insert(ear.file)
        let delay = random.chance(perMille: 900) ? 50_000 : kernel.loop.latency(50_000, 30_000_000)
        after(delay) { [self] in
            heard.remove(ear.file)
            if let process = ear.process, !process.canRun { return }
            ear.listener.isReadable(ear.file)
        }
    }

    func didSpawn(_ process: PlayedProcess, _ arguments: [String], _ environment: [String]) {
        apps.didSpawn(process, arguments, environment)
    }

    /// The service manager ends the daemon, at any moment of its life. Once, however often it is asked to.
    func endDaemon(_ why: String) {
        guard !isEnding else { return }
        // One that has just died, or does not listen yet, is asked again.
        guard kernel.keeper.hasLoop else { return after(1_000_000_000) { [self] in endDaemon(why) } }
        isEnding = true
        kernel.judge.note(why)
        kernel.faults.turn(on: false)
        kernel.keeper.order(SIGTERM)
        after(300_000_000_000) { [kernel] in
            kernel.judge.complain("the daemon does not end")
            kernel.loop.exitCode = 1
        }
    }

    /// Nothing is ready: what the daemon has been told it must have told the core, and what the core wants is done.
    func judgeWait() {
        checks.atRest()
        kernel.bus.judge(kernel)
    }
}

/// Reads what has come over a descriptor of its own.
protocol Listener: AnyObject {
    func isReadable(_ file: Int32)
}
