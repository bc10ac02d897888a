internal import Journal
internal import Lifecycle
internal import SystemCalls

// What the sleep hook (deploy/sleep-hook/curfew) is to know of the configuration.

extension Supervisor {
    /// It gives up by itself: after 8 s, where it is not told of more.
    func tellHookLimit(_ allowance: Nanoseconds) {
        let seconds = (allowance + .seconds(3)).rawValue / Nanoseconds.seconds(1).rawValue
        do throws(SystemError) {
            guard seconds > 8 else { return try Files.remove(paths.hookLimit) }
            try Files.replace(paths.hookLimit, with: Array("\(seconds)\n".utf8), durable: false)
        } catch {
            guard error.errno != .noEntry else { return }
            log.daemon(.warning, "the sleep hook is not told how long to wait: " + error.text)
        }
    }
}
