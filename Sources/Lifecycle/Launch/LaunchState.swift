/// What is to start an app, and what its ends have come to.
///
/// While a launch that may be denied is wished there are two of them: as it is, and as it would be without that wish
/// (`App.launchIfDenied`). What happens meanwhile happens to both.
struct LaunchState: Equatable {
    /// Waits for the apps it comes after, for its own end, or for the board to wake.
    var queued: LaunchReason?
    var restart = RestartState()
    /// It was in front when the board's memory or temperature ended it, and its delay is over.
    var returnsWhenWell = false
    /// It was launched, and neither an operator nor its own orderly exit has ended that.
    var isMeantToRun = false
    /// In the state that would hold without the pending request: the app has ended, and the journal has not been told
    /// what follows. It is when the request is denied.
    var isEndUnsaid = false

    var isPlanned: Bool { queued != nil || restart.due != nil || returnsWhenWell }

    /// It was to come back by itself, and the board has ended it once more: it waits for the board to be well.
    mutating func waitForTheBoard() {
        guard queued == .restart else { return }
        queued = nil
        returnsWhenWell = true
    }

    mutating func queue(_ reason: LaunchReason) {
        callOff()
        queued = reason
        isMeantToRun = true
    }

    /// Nothing is to start it.
    mutating func callOff() {
        queued = nil
        restart.due = nil
        returnsWhenWell = false
    }

    /// The board is well.
    mutating func returnNow() {
        guard returnsWhenWell else { return }
        returnsWhenWell = false
        if queued == nil, restart.due == nil { queue(.restart) }
    }

    /// It is down for good, unless a launch waits already: that it is down is no loss.
    mutating func endForGood() {
        if queued == nil { isMeantToRun = false }
    }

    /// It is not started at boot any more: where nothing else is to start it, that it is down is no loss.
    mutating func forgetBoot() {
        if !isPlanned { isMeantToRun = false }
    }
}
