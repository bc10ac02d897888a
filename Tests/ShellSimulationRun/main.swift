import Glibc
import ShellSimulation

exit(ShellSimulationCommand.run(Array(CommandLine.arguments.dropFirst())))
