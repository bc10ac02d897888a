internal import Lifecycle

/// Invariant 5: handlers of one app never overlap, and their order is legal.
///
/// An automaton of its own: the set of places where an instance can be, given the calls it got. Handlers that the
/// app's delegate lacks are never called, so their transitions are taken silently. A call that leaves the set empty is
/// out of order. Calls go only to instances that run, that have not been asked to end, and that have none outstanding;
/// no instance gets a call it does not implement, nor one without time.
final class HandlerOrderChecker: Checker {
    static let hears: [EventKind]? = []
    static let sees: [EffectKind]? = [.spawn, .call, .report]

    private enum Place: Int, CaseIterable {
        case launching, launchingInBackground
        /// inactive, before the first willResignActive since the launch or didBecomeActive.
        case fresh
        /// inactive, having resigned.
        case resigned
        case active
        /// background, having never been in front.
        case unseen
        case background
        case over
    }

    private static func next(_ place: Place, _ handler: Handler) -> Place? {
        switch (place, handler) {
        case (.launching, .didFinishLaunching): .fresh
        case (.launchingInBackground, .didFinishLaunching): .unseen
        case (.fresh, .didBecomeActive), (.resigned, .didBecomeActive): .active
        case (.fresh, .willResignActive), (.active, .willResignActive): .resigned
        case (.resigned, .didEnterBackground): .background
        case (.background, .willEnterForeground): .resigned
        case (.unseen, .willEnterForeground): .fresh
        case (.launching, .willTerminate), (.launchingInBackground, .willTerminate), (.over, .willTerminate): nil
        case (_, .willTerminate): .over
        case (.launching, .backgroundTaskWillExpire), (.launchingInBackground, .backgroundTaskWillExpire): nil
        case (_, .backgroundTaskWillExpire): place
        default: nil
        }
    }

    /// What an instance implements is fixed at its launch; a reload is about the next one.
    private var places: [(instance: InstanceID, handlers: HandlerSet, possible: [Bool])] = []

    private func closure(_ start: [Bool], lacking handlers: HandlerSet) -> [Bool] {
        var possible = start
        var grown = true
        while grown {
            grown = false
            for place in Place.allCases where possible[place.rawValue] {
                for handler in Handler.allCases where !handlers.contains(handler) && handler != .willTerminate {
                    guard let next = Self.next(place, handler), !possible[next.rawValue] else { continue }
                    possible[next.rawValue] = true
                    grown = true
                }
            }
        }
        return possible
    }

    func did(_ effect: Effect, _ scene: Scene) {
        switch effect {
        case .process(.spawn(let app, let instance, _, let background)):
            var possible = [Bool](repeating: false, count: Place.allCases.count)
            possible[(background ? Place.launchingInBackground : .launching).rawValue] = true
            places.append((instance, scene.board.directory.entry(app)?.policy.handlers ?? [], possible))
        case .app(.call(let instance, _, let call, let deadline)): judge(call, to: instance, deadline, scene)
        case .report(let end): places.removeAll { $0.instance == end.instance }
        case .process(.terminate), .process(.kill), .process(.clear), .process(.freeze), .process(.thaw),
            .process(.reportStuck), .login, .sleep, .client, .app(.inform), .app(.giveUp), .note, .board, .memory,
            .watchdog, .stopDaemon:
            break
        }
    }

    private func judge(_ call: HandlerCall, to instance: InstanceID, _ deadline: Nanoseconds, _ scene: Scene) {
        let name = "\(call.handler.method) of \(scene.name(instance))"
        func violate(_ what: String) { scene.inspection.violate(.handlerOrder, "\(name) \(what)") }
        guard let record = scene.chronicle.record(instance), record.isSpawned, record.isAlive else {
            return violate("is called though it does not run")
        }
        if let other = record.call { violate("is called during \(other.call.handler.method)") }
        if record.isKillAsked || record.isTerminateAsked { violate("is called after it was asked to end") }
        if deadline <= .zero { violate("is called without time") }
        guard let index = places.firstIndex(where: { $0.instance == instance }) else { return }
        let handlers = places[index].handlers
        guard handlers.contains(call.handler) else { return violate("is called and not implemented") }
        var possible = [Bool](repeating: false, count: Place.allCases.count)
        let before = closure(places[index].possible, lacking: handlers)
        for place in Place.allCases where before[place.rawValue] {
            if let next = Self.next(place, call.handler) { possible[next.rawValue] = true }
        }
        if !possible.contains(true) {
            let from = Place.allCases.filter { before[$0.rawValue] }.map { "\($0)" }.joined(separator: " or ")
            violate("is out of order: the app is \(from)")
        }
        places[index].possible = possible
    }
}
