internal import SystemCalls

/// Where a command's text goes.
public struct Console {
    /// Writes to stdout, as it is.
    public var output: (String) -> Void
    /// Writes to stderr, as it is.
    public var error: (String) -> Void
    var outputStyle: Style
    var errorStyle: Style
    /// Columns of the terminal that stdout is; nil where it is something else.
    var width: Int?

    /// The process's own stdout and stderr.
    public static var standard: Console {
        Console(
            output: { try? FileDescriptor.writeAll(Array($0.utf8), to: 1) },
            error: { try? FileDescriptor.writeAll(Array($0.utf8), to: 2) },
            outputStyle: Style(isColoured: Terminal.showsColour(1)),
            errorStyle: Style(isColoured: Terminal.showsColour(2)),
            width: Terminal.width(1))
    }

    /// Plain text to closures, for tests.
    static func captured(
        output: @escaping (String) -> Void, error: @escaping (String) -> Void, width: Int? = nil
    ) -> Console {
        Console(
            output: output, error: error, outputStyle: Style(isColoured: false), errorStyle: Style(isColoured: false),
            width: width)
    }
}

/// One run of one command: its global options, its console, and its way to the daemon.
final class Session {
    let console: Console
    let options: GlobalOptions
    let loop = DescriptorLoop()
    /// The environment.
    let variable: (String) -> String?
    /// What the tool exits with when the command has not failed: `curfew run` passes on what its command said.
    var exitCode: Int32 = 0
    private var open: DaemonConnection?

    init(
        _ console: Console, _ options: GlobalOptions,
        variable: @escaping (String) -> String? = { Terminal.variable($0) }
    ) {
        self.variable = variable
        self.console = console
        self.options = options
    }

    var style: Style { console.outputStyle }
    var isJSON: Bool { options.json }

    /// DIR of --root without slashes at its end; empty without the option.
    var root: String {
        var root = options.root ?? ""
        while root.utf8.last == UInt8(ascii: "/") { root.removeLast() }
        return root
    }

    /// The tool as a hint names it, for the same daemon.
    var tool: String { Self.tool(root: root) }

    static func tool(root: String) -> String { root.isEmpty ? "curfew" : "curfew --root \(root)" }

    func say(_ line: String) { console.output(line + "\n") }

    /// The connection to the daemon, made when first needed.
    func control() throws(CommandFailure) -> DaemonConnection {
        if let open { return open }
        let connection = try DaemonConnection.connect(root: root, loop: loop)
        connection.isVerbatim = isJSON
        open = connection
        return connection
    }

    /// Lets go of the connection; the next one is a fresh one.
    func disconnect() { open = nil }
}
