internal import CLinux
public import SystemCalls

/// A watchdog that cannot be used, and what to do about it.
public struct WatchdogError: Error, Equatable, Sendable {
    /// What is wrong with it.
    public enum Problem: UInt8, CaseIterable, Sendable {
        /// Another process has it open (EBUSY).
        case busy
        /// The same, and process 1 is systemd.
        case busyBySystemd
        /// There is no such device.
        case missing
        /// Not without more rights.
        case denied
        /// What was opened is something else.
        case notAWatchdog
        /// It was there and is gone (a module unloaded, a USB device pulled). Closed by then; `open` may be tried
        /// again.
        case vanished
        /// Not open: `stop`, `handOver` or vanishing came before.
        case closed
        /// open(2) failed for another reason.
        case notOpened
        /// It is open still, and was not fed.
        case notFed
    }
    public let problem: Problem
    public let errno: Errno
    public let path: String

    private static let words: [StaticString] = [
        ": in use by another process: end that, or set [watchdog] device = \"none\"",
        """
        : in use, most likely by systemd (RuntimeWatchdogSec=): leave it there and set [watchdog] device = "none", or \
        set RuntimeWatchdogSec=0
        """,
        ": there is no such watchdog; is its driver loaded?", ": watchdogs are root's", " is no watchdog",
        " is gone: the board is not watched until it is back", " is not open", " cannot be opened",
        " cannot be fed, and resets the board when its timeout is over",
    ]

    /// "/dev/watchdog0 cannot be opened: Input/output error".
    public var text: String {
        let reason = problem == .denied || problem == .notOpened || problem == .notFed
        return joined([path, "\(Self.words[Int(problem.rawValue)])", reason ? ": " : "", reason ? errno.text : ""])
    }

    static func isGone(_ errno: Errno) -> Bool { errno.rawValue == ENODEV || errno.rawValue == ENXIO }

    /// Why open(2) of a watchdog failed.
    static func opening(_ errno: Errno) -> Problem {
        switch errno.rawValue {
        case EBUSY: .busy
        case ENOENT, ENODEV, ENXIO: .missing
        case EACCES, EPERM: .denied
        default: .notOpened
        }
    }
}

/// One text of many; smaller than interpolation where the daemon's size counts.
@inline(never) func joined(_ parts: [String]) -> String {
    var text = ""
    for part in parts { text += part }
    return text
}

/// Whether the word stands in the bytes, from there on. One loop for all of them, in place of one a sequence's type.
@inline(never) func stands(_ word: StaticString, in bytes: [UInt8], at start: Int = 0) -> Bool {
    guard bytes.count - start >= word.utf8CodeUnitCount else { return false }
    for index in 0..<word.utf8CodeUnitCount where bytes[start + index] != word.utf8Start[index] { return false }
    return true
}
