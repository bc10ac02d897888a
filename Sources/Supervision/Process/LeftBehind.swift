internal import CLinux
internal import ControlGroup
internal import Journal
internal import Lifecycle
internal import ProcessControl
internal import SystemCalls

// What a main process leaves behind when its app is asked to end: a start script's program, the consumer of a pipe, a
// hook of willTerminate. All of that gets SIGTERM too, a hook once it has returned. The core hears of the end when
// nothing is left, or when the rest is killed because the time is over.

extension AppProcess {
    /// Returns whether the end is told of later. Not without a control group, or where its events cannot be heard.
    func holdsExit(_ status: ExitStatus) -> Bool {
        guard isAskedToEnd, !isKilled, let group else { return false }
        // One that has ended may not be heard of yet. SIGTERM comes once it has returned.
        let isHookBusy = delegate?.isBusyWithoutMain == true
        let isLeft = (try? look(at: group))??.populated == true
        guard isLeft || isHookBusy, (try? watchEvents()) != nil else { return false }
        heldExit = status
        if !isHookBusy {
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
        wasRestAsked = true
        supervisor.dispatch(.process(.leftBehind(instance)))
    }

    /// 25 us each, in which nothing else is done. An app may have 256 unless its file says more.
    private static let mostAsked = 1000

    func checkRest() {
        // A hook's result comes from the keeper, perhaps after the word that the group is empty.
        guard heldExit != nil, let group, delegate?.isBusyWithoutMain != true else { return }
        do throws(SystemError) {
            if try look(at: group)?.populated == true { return }
        } catch {
            // Not waited for any longer: `clear` tries again.
            supervisor.log.app(app.name, .error, error.text)
        }
        stopWatching()
        tellOfHeldExit()
    }

    /// What an earlier loop has waited for.
    func goOn() {
        if isClearing { return }
        // Its end is all that is left to hear of it.
        if let foreignMain, foreignMain.handle == nil { return foreignMain.ended() }
        if child == nil, foreignMain == nil, heldExit == nil { return mainDidEnd(.unknown) }
        guard heldExit != nil, let group else { return }
        // First the look: what changes from then on is heard.
        let isLeft = (try? look(at: group))??.populated == true
        try? watchEvents()
        // A loop that died in the midst of asking.
        if isLeft, !wasRestAsked, delegate?.isBusyWithoutMain != true {
            delegate?.close()
            askRest()
        }
        checkRest()
    }

    /// Nothing is left, or its time is over: what could not be killed now is seen to by `clear`.
    func tellOfHeldExit() {
        guard let status = heldExit else { return }
        heldExit = nil
        tellOfEnd(status)
    }
}
