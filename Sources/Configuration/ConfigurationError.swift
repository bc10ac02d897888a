/// One thing that is wrong with a file, or that deserves a warning.
public struct ConfigurationError: Error, Equatable, Sendable {
    /// The file's path, as it was opened.
    public let file: String
    /// From 1; nil where the whole file is meant.
    public let line: Int?
    /// What was found and what was expected. No line breaks or control characters.
    public let message: String

    public init(file: String, line: Int?, message: String) {
        self.file = file
        self.line = line
        self.message = message
    }

    /// "FILE:LINE: message".
    public var text: String { text(as: "") }

    /// "FILE:LINE: warning: message", as compilers write it; what the file's name could do to a terminal is left out.
    public func text(as kind: String) -> String {
        let file = readable(file, limit: 4096)
        if let line { return "\(file):\(line): \(kind)\(message)" }
        return "\(file): \(kind)\(message)"
    }
}
