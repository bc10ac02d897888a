internal import CLinux
internal import Supervision

// Embedded Swift has no CommandLine.
let arguments = (1..<max(1, linux_argument_count())).map { String(cString: linux_argument($0)) }
exit(Daemon.run(arguments))
