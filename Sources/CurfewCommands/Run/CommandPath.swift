internal import CLinux

/// The file behind a command, found as a shell finds it.
enum CommandPath {
    static func find(_ command: String, path: String? = Terminal.variable("PATH")) throws(CommandFailure) -> String {
        let places = (path ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":", omittingEmptySubsequences: false)
        let candidates =
            command.contains("/") ? [command] : places.map { $0.isEmpty ? "./\(command)" : "\($0)/\(command)" }
        var refused: String?
        for candidate in candidates where access(candidate, F_OK) == 0 {
            var status = stat()
            let isFile = linux_stat(candidate, &status) == 0 && status.st_mode & mode_t(S_IFMT) == mode_t(S_IFREG)
            if isFile, access(candidate, X_OK) == 0 { return candidate }
            refused =
                refused ?? (isFile ? "\(candidate) may not be executed (see: chmod +x)" : "\(candidate) is no file")
        }
        if let refused { throw CommandFailure(code: .cannotExecute, text: refused.printable) }
        let place = command.contains("/") ? "there is no file \(command)" : "no command '\(command)' in PATH"
        throw CommandFailure(code: .commandNotFound, text: place.printable)
    }
}
