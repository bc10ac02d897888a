internal import Journal
internal import SystemCalls

extension Supervisor {
    /// For the sleep hook (deploy/sleep-hook): while the mark is there, this sleep needs no announcement, and the tool
    /// that would make it, 16 MB, is not loaded while the board waits to sleep.
    func markSleep(_ isHandled: Bool) {
        do throws(SystemError) {
            if isHandled {
                try Files.replace(paths.sleepMark, with: [], durable: false)
            } else {
                try Files.remove(paths.sleepMark)
            }
        } catch {
            // It was not made, which was said, or the hook has taken it.
            if !isHandled, error.errno == .noEntry { return }
            // The hook announces it then, to a board that is ready: only time is lost.
            log.daemon(.warning, "the sleep hook is not told of this sleep: " + error.text)
        }
    }
}
