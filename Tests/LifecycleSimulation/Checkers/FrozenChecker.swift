internal import Lifecycle

/// Invariant 7: a frozen app is sent no call, the clock of an outstanding one stands still, and it thaws when the last
/// reason to freeze it goes.
///
/// - Between `freeze` and `thaw` no instance is called, and none is ended by a watchdog.
/// - `freeze` goes only to instances that are not frozen already, `thaw` only to those that are: nothing is undone
///   twice.
/// - Outside of a sleep no app is frozen that holds a background task.
/// - Never is an app frozen that its policy exempts, nor any on a board without a freezer.
/// - When nothing is under way: who is in background and holds no task is really frozen, every other is really
///   not.
final class FrozenChecker: Checker {
    static let hears: [EventKind]? = []
    static let sees: [EffectKind]? = [.call, .freeze, .thaw, .sleepNotice, .appNotice, .report]

    private var isAwake = true

    func did(_ effect: Effect, _ scene: Scene) {
        switch effect {
        case .app(.call(let instance, _, let call, _)):
            guard let record = scene.chronicle.record(instance), record.isFreezeAsked else { return }
            violate("\(call.handler.method) is called on \(scene.name(instance)), which is frozen", scene)
        case .process(.freeze(let instance)):
            guard let record = scene.chronicle.record(instance) else { return }
            if record.isFreezeAsked { violate("\(scene.name(instance)) is frozen twice", scene) }
            if isAwake, !record.tasks.isEmpty {
                violate("\(scene.name(instance)) holds a task and is frozen", scene)
            }
            if !scene.chronicle.isFreezingAvailable { violate("there is no freezer here", scene) }
            guard let entry = scene.board.directory.entry(record.app) else { return }
            if !entry.policy.suspend { violate("\(scene.name(instance)) is frozen though it must not be", scene) }
        case .process(.thaw(let instance)):
            guard let record = scene.chronicle.record(instance) else { return }
            if !record.isFreezeAsked { violate("\(scene.name(instance)) is thawed and was not frozen", scene) }
        case .note(.sleep(.preparing)): isAwake = false
        case .note(.sleep(.ended)): isAwake = true
        case .note(.app(.overrun(_, let instance, _))):
            guard let record = scene.chronicle.record(instance), record.isFreezeAsked else { return }
            violate("\(scene.name(instance)) overran while it was frozen", scene)
        case .report(let end):
            // A command that was asked to end may do so as it is being frozen.
            guard [.watchdog, .backgroundTask].contains(end.reason.namespace), end.reason != .unfreezable,
                end.reason != .sleepLockHeld, end.reason != .lockTableFilled,
                let record = scene.chronicle.record(end.instance), record.isKillAsked
            else { return }
            if record.isFreezeAsked { violate("\(scene.name(end.instance)) was judged while it was frozen", scene) }
        case .process(.spawn), .process(.terminate), .process(.kill), .process(.clear), .process(.reportStuck), .login,
            .sleep, .client, .app(.inform), .app(.giveUp), .note, .board, .memory, .watchdog, .stopDaemon:
            break
        }
    }

    func rested(_ scene: Scene) {
        for process in scene.board.processes {
            guard let entry = scene.board.directory.entry(process.app), entry.isConfigured || entry.isAdopted,
                let view = scene.board.core.view(of: process.app), view.instance == process.instance
            else { continue }
            let shouldBe =
                view.phase == .background && entry.policy.suspend && scene.chronicle.isFreezingAvailable
                && scene.chronicle.record(process.instance)?.tasks.isEmpty != false
            guard shouldBe != process.isFrozen else { continue }
            violate(
                "\(scene.name(process.instance)) rests in \(view.phase?.name ?? "no phase") and is"
                    + "\(process.isFrozen ? "" : " not") frozen", scene)
        }
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.frozenSilence, message) }
}
