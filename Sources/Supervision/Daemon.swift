internal import CLinux
internal import Configuration
internal import ControlGroup
internal import EventLoop
internal import Journal
public import Keeper
internal import Lifecycle
internal import MessageBus
public import ProcessControl
public import SystemCalls

/// `curfewd`, from its arguments to its exit status.
public enum Daemon {
    /// The version of the daemon and its interfaces.
    public static let version = "0.1.0"

    /// arguments: without the program's name. Returns the exit status: 0 after SIGTERM, 1 when it cannot run, 2 for
    /// wrong arguments.
    public static func run(_ arguments: [String]) -> Int32 {
        let options: DaemonOptions
        switch DaemonOptions.parse(arguments) {
        case .run(let parsed): options = parsed
        case .print(let text):
            write(text, to: 1)
            return 0
        case .wrong(let text):
            write("curfewd: \(text)\n" + DaemonOptions.usage, to: 2)
            return 2
        }
        if options.checksOnly { return check(options) }
        if let meaning = options.rehearses { return Upgrading.rehearse(meaning: meaning) }
        linux_tune_memory()
        linux_ignore(SIGPIPE)
        umask(0o022)
        let descriptorLimit = raiseDescriptorLimit()
        do throws(SystemError) {
            return try Keeper.run { socket, before, kept in
                runLoop(options, ProcessKeeper(socket, kept: kept), before, descriptorLimit)
            }
        } catch {
            write("curfewd: \(error.text)\n", to: 2)
            return 1
        }
    }

    /// The loop's process alone, by the other end of its keeper's socket: for a keeper that is played.
    public static func runLoop(
        _ arguments: [String], keeper: consuming FileDescriptor, after before: LoopBefore,
        kept: consuming KeptDescriptors
    ) -> Int32 {
        guard case .run(let options) = DaemonOptions.parse(arguments) else { return 2 }
        return runLoop(options, ProcessKeeper(keeper, kept: kept), before, [])
    }

    private static func runLoop(
        _ options: DaemonOptions, _ keeper: ProcessKeeper, _ before: LoopBefore, _ descriptorLimit: [ResourceLimit]
    ) -> Int32 {
        do throws(SystemError) {
            return try supervise(options, keeper, before, descriptorLimit)
        } catch {
            write("curfewd: \(error.text)\n", to: 2)
            return 1
        }
    }

    static func write(_ text: String, to descriptor: Int32) {
        try? FileDescriptor.writeAll(Array(text.utf8), to: descriptor)
    }

    private static func check(_ options: DaemonOptions) -> Int32 {
        let configuration = Configuration.check(paths: ConfigurationPaths(root: options.root))
        for error in configuration.allErrors { write("\(error.text)\n", to: 1) }
        for warning in configuration.warnings { write("\(warning.text(as: "warning: "))\n", to: 1) }
        let bad = configuration.allErrors.count
        write("\(count(configuration.apps.count, "app")): \(bad == 0 ? "no errors" : count(bad, "error"))\n", to: 1)
        return bad == 0 ? 0 : 1
    }

    private static func count(_ number: Int, _ thing: String) -> String {
        number == 1 ? "1 \(thing)" : "\(number) \(thing)s"
    }

    private static func supervise(
        _ options: DaemonOptions, _ keeper: ProcessKeeper, _ before: LoopBefore, _ descriptorLimit: [ResourceLimit]
    ) throws(SystemError) -> Int32 {
        let lastEnd = before.signal
        let caller = Upgrading.takeCaller(keeper)
        let paths = RuntimePaths(root: options.root)
        var problem: SystemError?
        let place = try takePlace(paths, keeper, &problem)
        let notifier = ServiceNotifier { [unowned(unsafe) keeper] in keeper.notify($0) }
        let log = Log(
            journal: Journal(
                identifier: "curfewd", socketPath: paths.root + "/run/systemd/journal/socket",
                streamPath: paths.root + "/run/systemd/journal/stdout"))
        let former = formerState(options, keeper, lastEnd, log)
        tidy(paths, problem, log, former)
        let (configuration, texts) = KeptTexts.readConfiguration(ConfigurationPaths(root: options.root), after: former)
        let loop = try EventLoop()
        let (groups, freezingProblem, leftovers) = try openGroups(options, paths, log, keeper, former)
        let supervisor = try Supervisor(
            loop: loop, keeper: keeper, paths: paths, log: log, groups: groups, configuration: configuration)
        supervisor.freezingProblem = freezingProblem
        supervisor.appLimits = descriptorLimit
        keeper.onOrder = { [unowned(unsafe) supervisor] in obey($0, supervisor, notifier) }
        supervisor.followsBoard = !options.ignoresBoard
        if options.isTrial { supervisor.trial = Trial(supervisor) }
        supervisor.passesOutput = options.passesOutput
        try supervisor.openInterfaces()
        let apps = configuration.appCount
        sayBefore(before, former, log)
        let isKnown: (String) -> Bool = { name in former?.core.map { Supervisor.knows($0, name) } ?? false }
        supervisor.recordLeftovers(
            leftovers.ended.filter { !isKnown($0) }, endedBefore: leftovers.empty, signal: lastEnd)
        log.daemon(.info, "curfewd \(version) started, \(apps)", .daemonStarted)
        if let former { supervisor.keep(after: former, texts) }
        let upgrading = Upgrading(supervisor, program: before.program)
        supervisor.upgrading = upgrading
        if before.upgrade == .done { upgrading.keepFormerState() }
        supervisor.start(from: former, signal: lastEnd)
        if let time = try loop.enableServiceWatchdog(ping: { notifier.watchdog() }) {
            supervisor.serviceWatchdog = SystemdWatchdog(notifier: notifier, time: time)
            supervisor.dispatch(.watchdog(.service))
            log.daemon(.debug, "the service manager watches us")
        }
        supervisor.follow(try LogindClient(event: loop.handle, priority: Int32(EventLoop.Priority.normal)))
        supervisor.notifier = notifier
        notifier.ready(status: apps)
        keeper.becameReady()
        supervisor.keptState?.becameReady()
        if let outcome = before.upgrade { Upgrading.answer(outcome, to: caller, keeper) }
        giveUpWhatStartsNeed(log)
        let code = try loop.run()
        keeper.onOrder = nil
        keeper.onLockHolder = nil
        supervisor.closeInterfaces()
        supervisor.finishWriting()
        // Held up to here: no other daemon may live in this root before our sockets are gone.
        place.leave()
        return code
    }

    private static func giveUpWhatStartsNeed(_ log: Log) {
        linux_trim_memory()
        if linux_lock_memory() != 0 {
            log.daemon(.debug, SystemError("lock the daemon's memory").text)
        }
        do throws(SystemError) {
            try Capabilities.dropOthers()
        } catch {
            log.daemon(.warning, error.text)
        }
    }

    /// What is raised here is the daemon's own; apps get what it was: more than 1024 is a trap for those that use
    /// select(2), or close all descriptors there may be.
    private static func raiseDescriptorLimit() -> [ResourceLimit] {
        var soft: UInt64 = 0
        var hard: UInt64 = 0
        guard linux_raise_descriptor_limit(&soft, &hard) else { return [] }
        return [ResourceLimit(resource: Int32(linux_descriptor_limit), soft: soft, hard: hard)]
    }

    /// One daemon a root: its locks die with it, however it ends. The one of the state is there for a /run/curfew that
    /// was removed.
    private struct Place: ~Copyable {
        let lock: FileDescriptor?
        let lockOfState: FileDescriptor?

        consuming func leave() {
            lock?.close()
            lockOfState?.close()
        }
    }

    /// A file system that is full must not end who feeds the board's watchdog: then it is told, and there is no lock.
    private static func takePlace(_ paths: RuntimePaths, _ keeper: ProcessKeeper, _ problem: inout SystemError?)
        throws(SystemError) -> Place
    {
        do throws(SystemError) {
            try paths.makeFolders()
            return Place(
                lock: try takeLock(paths.lock, keeper), lockOfState: try takeLockOfState(paths.lockOfState, keeper))
        } catch {
            guard error.errno.isFull else { throw error }
            problem = error
            return Place(lock: nil, lockOfState: nil)
        }
    }

    /// nil: there is no such folder yet, and it cannot be made.
    private static func takeLockOfState(_ path: String, _ keeper: ProcessKeeper) throws(SystemError) -> FileDescriptor?
    {
        if let kept = keeper.takeKept(path), FileLock.isStill(at: path, kept) { return kept }
        do throws(SystemError) {
            try Files.createDirectories(Files.directoryName(of: path), mode: 0o750)
            try? FileLock.open(path).close()
            let lock = try FileDescriptor.open(path, O_RDONLY | O_NOFOLLOW)
            guard try FileLock.take(lock, forReading: true) else { throw taken(path, lock) }
            if let file = try? FileLock.open(path) { sign(file) }
            keeper.keep(path, lock.rawValue)
            return lock
        } catch {
            guard error.errno == .busy else { return nil }
            throw error
        }
    }

    /// nil: a trial, which has skipped time; or there is no memory for it.
    private static func formerState(_ options: DaemonOptions, _ keeper: ProcessKeeper, _ lastEnd: Int32?, _ log: Log)
        -> KeptState.FormerState?
    {
        if options.isTrial { return nil }
        do throws(SystemError) {
            return try KeptState.FormerState(keeper, signal: lastEnd)
        } catch {
            log.daemon(.warning, error.text + "; a loop after this one begins anew")
            return nil
        }
    }

    private static func sayBefore(_ before: LoopBefore, _ former: KeptState.FormerState?, _ log: Log) {
        switch before.upgrade {
        case .done: return log.daemon(.notice, "curfewd \(version) goes on where the version before has stopped")
        case .failed(let reason):
            return log.daemon(.error, "not upgraded: \(reason); curfewd \(version) goes on")
        case nil: break
        }
        guard let signal = before.signal else { return }
        let sequel =
            former?.core == nil
            ? "it starts again, and so do the apps of the boot" : "another goes on with what it had in hand"
        let end = signal == 0 ? "curfewd was killed" : "signal \(signal) has ended curfewd's loop"
        log.daemon(.error, end + "; " + sequel)
    }

    /// problem: why it has no lock.
    private static func tidy(
        _ paths: RuntimePaths, _ problem: SystemError?, _ log: Log, _ former: KeptState.FormerState?
    ) {
        if let problem {
            log.daemon(.error, problem.text + "; it goes on, and the control group alone keeps a second one out")
        } else if former?.core == nil {
            // One that died in a sleep left it.
            try? Files.remove(paths.sleepMark)
        }
        do throws(SystemError) {
            try HiddenFolder.clear(paths.hiddenNotifySockets, keeping: former?.notifyPaths ?? [])
        } catch {
            log.daemon(.warning, error.text)
        }
    }

    private static func takeLock(_ path: String, _ keeper: ProcessKeeper) throws(SystemError) -> FileDescriptor {
        if let kept = keeper.takeKept(path), FileLock.isStill(at: path, kept) { return kept }
        let lock = try FileLock.open(path)
        guard try FileLock.take(lock) else { throw taken(path, lock) }
        sign(lock)
        keeper.keep(path, lock.rawValue)
        return lock
    }

    private static func taken(_ path: String, _ lock: borrowing FileDescriptor) -> SystemError {
        let holder = (try? lock.readAll(limit: 20)).map { String(decoding: $0, as: UTF8.self) } ?? ""
        return SystemError(
            "another curfewd (pid \(holder)) runs here; stop it, or give this one its own place with --root:", path,
            errno: .busy)
    }

    /// With the keeper's pid, for a second daemon, which finds it taken; a full disk must not keep apps from starting.
    private static func sign(_ lock: borrowing FileDescriptor) {
        _ = ftruncate(lock.rawValue, 0)
        try? lock.writeAll(Array("\(getppid())".utf8))
    }

    private static let lockOfGroups = "control-groups"

    /// Ends what a dead predecessor left, so that nothing ever runs twice.
    private static func openGroups(
        _ options: DaemonOptions, _ paths: RuntimePaths, _ log: Log, _ keeper: ProcessKeeper,
        _ former: KeptState.FormerState?
    ) throws(SystemError) -> (root: ControlGroupRoot?, problem: String?, leftovers: Leftovers) {
        let root: ControlGroupRoot
        let none = Leftovers(ended: [], empty: [], remaining: [])
        let kept = keeper.takeKept(lockOfGroups)?.take() ?? -1
        defer { if kept >= 0 { close(kept) } }
        do throws(ControlGroupUnavailable) {
            root = try ControlGroupRoot.discover(
                override: options.cgroup, name: paths.controlGroupName, alongWith: [getppid()], kept: kept)
            keeper.keep(lockOfGroups, root.lockDescriptor)
        } catch {
            // Its apps run: those of another daemon would run twice, and those of this one unfrozen.
            if let place = error.takenPlace {
                throw SystemError(
                    "another curfewd has the control group; stop it, or give this one its own with --cgroup:", place,
                    errno: .busy)
            }
            log.daemon(
                .warning, "no control groups: \(error.reason); apps are not frozen, and not limited in memory")
            return (nil, error.reason, none)
        }
        var leftovers = none
        do throws(SystemError) {
            // Whose they were is not known any more.
            let users = OwnUsers.all(below: paths.appFolders)
            leftovers = try root.endLeftovers(keeping: former?.groups ?? []) {
                for user in users { keeper.abortFUSE(of: user) }
            }
            if !leftovers.ended.isEmpty { for user in users { keeper.removeIPC(of: user) } }
            for name in leftovers.ended {
                let isGone = leftovers.empty.contains(name)
                log.daemon(
                    .notice,
                    isGone ? "\(name) ended while no curfewd watched" : "ended \(name), left by an earlier curfewd")
            }
            for text in leftovers.remaining { log.daemon(.error, "cannot end \(text), left by an earlier curfewd") }
        } catch {
            log.daemon(.error, error.text)
        }
        return (root, nil, leftovers)
    }

    /// A signal that the main process was sent.
    private static func obey(_ signal: Int32, _ supervisor: Supervisor, _ notifier: ServiceNotifier) {
        if signal == SIGHUP {
            notifier.reloading()
            _ = supervisor.reload()
            notifier.ready()
        } else {
            notifier.stopping()
            supervisor.log.daemon(.info, "stopping", .daemonStopping)
            supervisor.dispatch(.stopRequested)
        }
    }
}

/// The command line of `curfewd`.
struct DaemonOptions: Equatable {
    var root: String?
    var cgroup: String?
    var checksOnly = false
    /// For `curfew try`: time can be skipped.
    var isTrial = false
    /// For `curfew try`, which reads what its app writes from a pipe of its own.
    var passesOutput = false
    /// Reads the state that another version has left, and says whether it can: of that one's `Handover.meaning`.
    var rehearses: String?
    /// For trials: power, heat, memory, lid and keys are not heard, and the watchdog is left alone.
    var ignoresBoard = false

    enum Outcome: Equatable {
        case run(DaemonOptions)
        case print(String)
        case wrong(String)
    }

    static let usage = """
        Usage: curfewd [--root DIR] [--cgroup PATH] [--no-board] [--trial] [--pass-output] [--check] [--version]

          --root DIR     put DIR before every path of configuration, runtime and state
          --cgroup PATH  the control group to keep apps in (default: its own)
          --no-board     leave the board itself alone: its power, heat, memory, lid, keys and watchdog
          --trial        serve io.curfew.Trial too, for curfew try: time can be skipped
          --pass-output  apps write to curfewd's own stdout, for curfew try too
          --check        validate all configuration files, print what is wrong, exit 0 or 1
          --version      print the version

        """

    static func parse(_ arguments: [String]) -> Outcome {
        var options = DaemonOptions()
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            let parts = argument.utf8.split(
                separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(decoding: parts[0], as: UTF8.self)
            let attached = parts.count > 1 ? String(decoding: parts[1], as: UTF8.self) : nil
            switch name {
            case "--rehearse": options.rehearses = attached ?? ""
            case "--root", "--cgroup":
                guard let value = attached ?? rest.popFirst(), !value.isEmpty else {
                    return .wrong("\(name) needs a value")
                }
                if name == "--root" { options.root = Files.absolute(value) } else { options.cgroup = value }
            case "--check" where attached == nil: options.checksOnly = true
            case "--trial" where attached == nil: options.isTrial = true
            case "--pass-output" where attached == nil: options.passesOutput = true
            case "--no-board" where attached == nil: options.ignoresBoard = true
            case "--version" where attached == nil: return .print("curfewd \(Daemon.version)\n")
            case "--help" where attached == nil: return .print(usage)
            default: return .wrong("unknown argument '\(argument)'")
            }
        }
        return .run(options)
    }
}
