internal import CLinux
internal import Glibc

/// What is known of the terminal a descriptor leads to.
enum Terminal {
    static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

    /// Whether we are in the foreground of a terminal: its keys mean us, and all of our process group.
    static var isOurs: Bool { (0...2).contains { tcgetpgrp($0) == getpgrp() } }

    /// Colour is for terminals that can show it and users who want it: https://no-color.org
    static func showsColour(_ descriptor: Int32) -> Bool {
        guard isTerminal(descriptor), variable("TERM") != "dumb" else { return false }
        return (variable("NO_COLOR") ?? "").isEmpty
    }

    /// Columns; nil where it is no terminal. TIOCGWINSZ.
    static func width(_ descriptor: Int32) -> Int? {
        guard isTerminal(descriptor) else { return nil }
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// An environment variable.
    static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}
