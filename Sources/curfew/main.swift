internal import CurfewCommands
internal import Glibc

exit(CurfewTool.run(Array(CommandLine.arguments.dropFirst())))
