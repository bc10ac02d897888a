internal import CLinux
internal import ControlGroup
internal import Journal
internal import Lifecycle
internal import ProcessControl
internal import SystemCalls

// What a main process leaves behind when its app is to end: a start script's program, the consumer of a pipe, a hook
// of willTerminate. It is asked too, and the end is told of when it is gone, or has been killed as its time is over.

extension AppProcess {
    /// Without a control group it is not known what is left; what cannot be watched for is not waited for.
    func holdsExit(_ status: ExitStatus) -> Bool {
        guard isAskedToEnd, let group, (try? look(at: group))??.populated == true, (try? watchEvents()) != nil else {
            return false
        }
        heldExit = status
        // A hook is not disturbed in its work: SIGTERM comes once it has returned.
        if delegate?.isBusyWithoutMain != true {
            delegate?.close()
            askRest()
        }
        // It may have gone before it was watched.
        checkRest()
        return true
    }

    /// No kernel interface sends it to all: one that is forked meanwhile hears nothing, and is killed in the end.
    func askRest() {
        for pid in (group?.processes() ?? []).prefix(Self.mostAsked) { try? member(pid)?.signal(SIGTERM) }
    }

    /// 25 us each, in which nothing else is done. An app may have 256 unless its file says more.
    private static let mostAsked = 1000

    func checkRest() {
        guard heldExit != nil, let group else { return }
        do throws(SystemError) {
            if try look(at: group)?.populated == true { return }
        } catch {
            // Not waited for any longer: `clear` tries again.
            supervisor.log.app(app.name, .error, error.text)
        }
        stopWatching()
        tellOfHeldExit()
    }

    /// Its time is over: what could not be killed now is seen to by `clear`.
    func tellOfHeldExit() {
        guard let status = heldExit else { return }
        heldExit = nil
        tellOfEnd(status)
    }
}
