internal import Glibc

/// A terminal that hands over each key as it is pressed, and does not show it. As it was before once it is let go.
final class RawTerminal {
    private let descriptor: Int32
    private let before: termios
    private var isRaw = true

    /// nil when the descriptor is no terminal.
    init?(_ descriptor: Int32) {
        var settings = termios()
        guard tcgetattr(descriptor, &settings) == 0 else { return nil }
        before = settings
        self.descriptor = descriptor
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
        withUnsafeMutableBytes(of: &settings.c_cc) { keys in
            keys[Int(VMIN)] = 1
            keys[Int(VTIME)] = 0
            // Ctrl-C stays a signal; Ctrl-Z would leave the terminal raw to the shell.
            keys[Int(VSUSP)] = 0
        }
        guard tcsetattr(descriptor, TCSANOW, &settings) == 0 else { return nil }
    }

    deinit { restore() }

    func restore() {
        guard isRaw else { return }
        isRaw = false
        var settings = before
        tcsetattr(descriptor, TCSANOW, &settings)
    }
}
