/// Everything the core can ask of the shell, carried out in order after the transition. Each organ has its own part of
/// it, in the organ's folder.
public enum Effect: Equatable, Sendable {
    case process(ProcessEffect)
    case app(AppEffect)
    case login(LoginEffect)
    case sleep(SleepEffect)
    case board(BoardEffect)
    case memory(MemoryEffect)
    case watchdog(WatchdogEffect)
    case client(ClientEffect)
    /// Record an end, durably. Comes before anything that follows from it.
    case report(Termination)
    case note(Notice)
    /// Every app is ended: leave.
    case stopDaemon
}

/// What is worth a line in the journal. On three of them the shell also acts: with a sleep's announcement it notes it
/// on disk and what the kernel has counted so far, with its end it removes the note and no more asks for apps' locks
/// (`keepTraces`); and it syncs reports when an essential app is lost (`Notices.swift`).
public enum Notice: Equatable, Sendable {
    case app(AppNotice)
    case sleep(SleepNotice)
    case shutdown(ShutdownNotice)
    case board(BoardNotice)
    /// An invariant does not hold: of an app, or of the board.
    case fault(Fault, AppID?)
}
