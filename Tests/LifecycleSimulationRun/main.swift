internal import Glibc
internal import Lifecycle
internal import LifecycleSimulation

let arguments = Array(CommandLine.arguments.dropFirst())
do throws(Arguments.Wrong) {
    exit(Run(try Arguments(arguments)).status())
} catch {
    say("lifecycle-simulation: \(error.message)\n\(Arguments.usage)", to: STDERR_FILENO)
    exit(2)
}
