internal import Journal
internal import SystemCalls

extension Supervisor {
    private var mark: ReservedFile { ReservedFile(path: paths.sleepMark, size: 0) }

    /// A full /run is to hold up no sleep.
    func reserveTraces() {
        for file in [mark, note] {
            do throws(SystemError) {
                try file.reserve()
            } catch {
                log.daemon(.debug, "no room is set aside: " + error.text)
            }
        }
    }

    /// For the sleep hook (deploy/sleep-hook): while the mark is there, this sleep needs no announcement, and the tool
    /// that would make it, 16 MB, is not loaded while the board waits to sleep.
    func markSleep(_ isHandled: Bool) {
        do throws(SystemError) {
            if isHandled {
                try mark.put([])
            } else {
                try mark.remove()
            }
        } catch {
            // It was not made, which was said, or the hook has taken it.
            if !isHandled, error.errno == .noEntry { return }
            // The hook announces it then, to a board that is ready: only time is lost.
            log.daemon(.warning, "the sleep hook is not told of this sleep: " + error.text)
        }
    }
}
