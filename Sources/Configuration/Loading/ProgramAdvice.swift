internal import CLinux
internal import SystemCalls

/// What can be seen of an app's programs before they are started.
extension AppAdvice {
    /// Programs that are not there, or cannot be run. They may come later, so a load does not mind.
    mutating func considerPrograms(_ app: AppConfiguration, _ source: AppFile.Result, file: String) {
        for (program, line) in programs(app, source) {
            var status = stat()
            if linux_stat(program, &status) != 0 {
                let isLine = program.utf8.contains(UInt8(ascii: " "))
                warn(
                    file, line,
                    "the program \(readable(program)) is not there"
                        + (isLine ? "; each of its arguments is a text of its own in the array" : ""))
            } else if FileKind(status) != .regular || status.st_mode & 0o111 == 0 {
                warn(file, line, "\(readable(program)) is not an executable file")
            } else {
                let owner = belongs(status, to: app) ? nil : owners.objection(to: status)
                for why in [scriptObjection(program), owner].compactMap({ $0 }) {
                    warn(file, line, "the program \(readable(program)) \(why)")
                }
            }
        }
        considerShellSyntax(app.exec, source.execLine, file: file)
        for hook in app.hooks { considerShellSyntax(hook.command, source.hooksLine, file: file) }
    }

    /// The program is the app's user's alone: that user gains nothing by a change of it.
    private func belongs(_ program: stat, to app: AppConfiguration) -> Bool {
        guard let user = app.user, case .exists(let id) = accounts.user(user) else { return false }
        return program.st_uid == id && program.st_mode & 0o022 == 0
    }

    /// nil for a binary, and for a script that the kernel can start (execve(2)).
    private func scriptObjection(_ program: String) -> String? {
        // What is looked at is what is opened: to open a device in its place might start that.
        guard let place = try? FileDescriptor.open(program, linux_path_flags) else { return nil }
        var status = stat()
        guard fstat(place.rawValue, &status) == 0, FileKind(status) == .regular,
            let file = try? FileDescriptor.open("/proc/self/fd/\(place.rawValue)", O_RDONLY | O_NONBLOCK | O_NOCTTY),
            let bytes = try? file.readAll(limit: 256)
        else { return nil }
        if bytes.isEmpty { return "is empty: it cannot be started" }
        let mark: [UInt8] = [UInt8(ascii: "#"), UInt8(ascii: "!")]
        guard bytes.starts(with: mark) else {
            // What else is a binary, of whatever kind, holds a NUL near its head.
            return bytes.contains(0) ? nil : "is a text without a first line such as #!/bin/sh: it cannot be started"
        }
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        if bytes[end - 1] == UInt8(ascii: "\r") {
            return "has lines that end as on Windows (CR LF): it cannot be started; sed -i 's/\\r$//' mends it"
        }
        let blanks: [UInt8] = [UInt8(ascii: " "), UInt8(ascii: "\t")]
        let words = bytes[2..<end].split { blanks.contains($0) }
        guard let interpreter = words.first.map({ String(decoding: $0, as: UTF8.self) }),
            interpreter.utf8.first == UInt8(ascii: "/")
        else { return nil }
        return linux_stat(interpreter, &status) == 0
            ? nil : "needs \(readable(interpreter)), by its first line, which is not there"
    }

    /// What only a shell makes something of, as an argument of its own.
    private mutating func considerShellSyntax(_ command: [String], _ line: Int?, file: String) {
        let signs = ["|", "||", "&", "&&", ">", ">>", "<", "2>", "2>&1", ">/dev/null", "2>/dev/null"]
        for (argument, before) in zip(command.dropFirst(), command) where signs.contains(argument) {
            // awk -F "|" means it.
            if before.utf8.first == UInt8(ascii: "-") { continue }
            return warn(
                file, line,
                "the argument \"\(argument)\" goes to the program as it is, as no shell reads it; for one: "
                    + "[\"/bin/sh\", \"-c\", \"…\"]")
        }
    }
}
