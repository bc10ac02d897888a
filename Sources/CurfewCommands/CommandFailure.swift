/// Why a command had no success: its exit code, and one line that says what happened and what to do.
struct CommandFailure: Error, Equatable {
    enum Code: Int32 {
        case failed = 1
        case usage = 2
        case noSuchApp = 3
        case notRunning = 4
        /// `curfew run`: as timeout(1) has it, and env(1).
        case timeIsOver = 124
        case cannotRun = 125
        case cannotExecute = 126
        case commandNotFound = 127
        /// As a shell reports SIGINT.
        case interrupted = 130
    }

    let code: Code
    /// Empty: everything has been said.
    let text: String

    static func failed(_ text: String) -> CommandFailure { CommandFailure(code: .failed, text: text) }
}
