internal import Glibc
internal import Lifecycle
internal import LifecycleSimulation

let words = Array(CommandLine.arguments.dropFirst())
do throws(Arguments.Wrong) {
    var arguments = try Arguments(words)
    if arguments.seeds == nil, arguments.stepsTotal == nil { arguments.seeds = 1000 }
    if arguments.isReplay { exit(Replay(arguments: arguments, seed: arguments.from).status()) }
    if let worker = arguments.worker, let tally = SharedTally(descriptor: worker.descriptor) {
        exit(Worker(arguments: arguments, index: worker.index, tally: tally).status())
    }
    guard var search = Search(arguments, words) else { throw Arguments.Wrong(message: "no memory to share") }
    exit(search.status())
} catch {
    say("lifecycle-simulation: \(error.message)\n\(Arguments.usage)", to: STDERR_FILENO)
    exit(2)
}
