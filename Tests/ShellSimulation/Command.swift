internal import CLinux

/// The command line: deploy/simulate --shell has the words for it.
public enum ShellSimulationCommand {
    private struct Options {
        var seeds: UInt64 = 1
        var from: UInt64 = 1
        var seconds: Int64 = 60
        var eventsTotal = Int.max
        var showsTrace = false
        var keepsGoing = false
        var deaths = ShellSimulation.Deaths.some
        /// Of a sweep: between two points; 0: no sweep.
        var sweepStep = 0
    }

    /// Returns the exit status: 0, 1 where a seed breaks a rule, 2 for wrong arguments.
    public static func run(_ arguments: [String]) -> Int32 {
        var options = Options()
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--trace": options.showsTrace = true
            case "--keep-going": options.keepsGoing = true
            case "--deaths-in-sleeps": options.deaths = .inSleeps
            case "--seeds", "--seed", "--from", "--seconds", "--steps-total", "--sweep", "--at-call":
                guard let number = rest.popFirst().flatMap({ UInt64($0) }), number < 1 << 62 else {
                    return wrong("\(argument) takes a number")
                }
                switch argument {
                case "--seeds": options.seeds = number
                case "--seed":
                    options.from = number
                    options.seeds = 1
                case "--from": options.from = number
                case "--sweep": options.sweepStep = Int(max(number, 1))
                case "--at-call": options.deaths = .atCall(Int(number))
                case "--seconds": options.seconds = Int64(max(number, 1))
                default:
                    options.eventsTotal = Int(number)
                    options.seeds = 1 << 40
                }
            default: return wrong("unknown argument \(argument)")
            }
        }
        return options.sweepStep > 0 ? sweep(options) : search(options)
    }

    private static func sweep(_ options: Options) -> Int32 {
        var isBroken = false
        for seed in options.from..<(options.from + options.seeds) {
            if !Sweep.run(seed: seed, seconds: options.seconds, every: options.sweepStep) { isBroken = true }
            if isBroken, !options.keepsGoing { break }
        }
        return isBroken ? 1 : 0
    }

    private static func wrong(_ text: String) -> Int32 {
        print("shell-simulation: \(text)")
        return 2
    }

    private static func search(_ options: Options) -> Int32 {
        var played = 0
        var failures = 0
        var events = 0
        var turns = 0
        var sleeps = 0
        var lives = 0
        for seed in options.from..<(options.from + options.seeds) {
            let directory = Scratch.make()
            let outcome = ShellSimulation.run(
                seed: seed, seconds: options.seconds, directory: directory, deaths: options.deaths,
                keepsTrace: options.showsTrace)
            Scratch.remove(directory)
            played += 1
            events += outcome.events
            turns += outcome.turns
            sleeps += outcome.sleeps
            lives += outcome.lives
            for line in outcome.trace { print(line) }
            if let first = outcome.complaints.first {
                failures += 1
                let more = outcome.complaints.count - 1
                print("seed \(seed): \(first)" + (more > 0 ? " (and \(more) more)" : ""))
                if !options.keepsGoing { break }
            }
            if events >= options.eventsTotal { break }
        }
        print(
            "\(played - failures) of \(played) seeds, \(events) events of the core, \(turns) turns of the loop, "
                + "\(lives) lives of the daemon, \(sleeps) sleeps")
        return failures == 0 ? 0 : 1
    }
}

/// A directory in memory for one board.
enum Scratch {
    private static let prefix = "/dev/shm/curfew-"

    static func make() -> String {
        var template = Array((prefix + "XXXXXX").utf8CString)
        guard let made = mkdtemp(&template) else { fatalError("no directory can be made in /dev/shm") }
        return String(cString: made)
    }

    static func remove(_ path: String) {
        guard path.utf8.starts(with: prefix.utf8) else { return }
        empty(path)
    }

    private static func empty(_ path: String) {
        guard let directory = opendir(path) else {
            _ = unlink(path)
            return
        }
        while let entry = readdir(directory) {
            let name = String(cString: linux_entry_name(entry))
            if name != ".", name != ".." { empty(path + "/" + name) }
        }
        closedir(directory)
        _ = rmdir(path)
    }
}
