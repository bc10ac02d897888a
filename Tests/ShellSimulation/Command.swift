internal import CLinux

/// The command line: shell-simulation --seeds N [--from S] [--seconds N] [--trace] [--keep-going]
public enum ShellSimulationCommand {
    /// Returns the exit status: 0, 1 where a seed breaks a rule, 2 for wrong arguments.
    public static func run(_ arguments: [String]) -> Int32 {
        var seeds: UInt64 = 1
        var from: UInt64 = 1
        var seconds: Int64 = 120
        var showsTrace = false
        var keepsGoing = false
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--trace": showsTrace = true
            case "--keep-going": keepsGoing = true
            case "--seeds", "--from", "--seconds":
                guard let number = rest.popFirst().flatMap({ UInt64($0) }) else {
                    print("\(argument) takes a number")
                    return 2
                }
                if argument == "--seeds" { seeds = number }
                if argument == "--from" { from = number }
                if argument == "--seconds" { seconds = Int64(number) }
            default:
                print("unknown argument \(argument)")
                return 2
            }
        }
        return search(from..<(from + seeds), seconds, showsTrace, keepsGoing)
    }

    private static func search(_ seeds: Range<UInt64>, _ seconds: Int64, _ showsTrace: Bool, _ keepsGoing: Bool)
        -> Int32
    {
        var events = 0
        var turns = 0
        var sleeps = 0
        var lives = 0
        var failures = 0
        for seed in seeds {
            let directory = Scratch.make()
            let outcome = ShellSimulation.run(
                seed: seed, seconds: seconds, directory: directory, keepsTrace: showsTrace)
            Scratch.remove(directory)
            events += outcome.events
            turns += outcome.turns
            sleeps += outcome.sleeps
            lives += outcome.lives
            if showsTrace { for line in outcome.trace { print(line) } }
            guard let first = outcome.complaints.first else { continue }
            failures += 1
            print("seed \(seed): \(first)" + (outcome.complaints.count > 1 ? " (\(outcome.complaints.count))" : ""))
            if !keepsGoing { break }
        }
        print(
            "\(failures) of \(seeds.count) seeds fail; \(events) events of the core, \(turns) turns, \(sleeps) sleeps, "
                + "\(lives) lives")
        return failures == 0 ? 0 : 1
    }
}

/// A directory in memory for one board.
enum Scratch {
    static func make() -> String {
        var template = Array("/dev/shm/curfew-XXXXXX".utf8CString)
        return mkdtemp(&template).map { String(cString: $0) } ?? "/tmp"
    }

    static func remove(_ path: String) {
        guard path.utf8.starts(with: "/dev/shm/curfew-".utf8) else { return }
        empty(path)
    }

    private static func empty(_ path: String) {
        if let directory = opendir(path) {
            while let entry = readdir(directory) {
                let name = String(cString: linux_entry_name(entry))
                if name != ".", name != ".." { empty(path + "/" + name) }
            }
            closedir(directory)
            _ = rmdir(path)
        } else {
            _ = unlink(path)
        }
    }
}
