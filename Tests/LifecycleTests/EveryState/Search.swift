import Testing

@testable import Lifecycle

/// A breadth-first search through the states of a core.
final class Search {
    struct Node {
        var core: DeviceLifecycle
        var witness: Witness
        var parent: Int
        var step: Step?
    }

    let alphabet: Alphabet
    var nodes: [Node] = []
    var known: Set<StateKey> = []
    var combinations: Set<Combination> = []
    /// Of both apps at once.
    var jointCombinations: Set<[Combination]> = []
    /// Nodes that are still to be visited, by whether they brought a new joint combination.
    var fresh: [Int] = []
    var familiar: [Int] = []
    var nextFresh = 0
    var nextFamiliar = 0
    var visited = 0
    var steps = 0
    /// By text, the first path that led there.
    var objections: [String: Int] = [:]

    init(_ policies: [AppPolicy], adopts: Bool = false, hasConditions: Bool = false) {
        var device = DevicePolicy()
        if hasConditions {
            device.front = .one
            device.sleepsLogically = true
            device.responses[.powerKey] = .sleep
        }
        if adopts { device.darkWakeInterval = .seconds(600) }
        alphabet = Alphabet(policies: policies, device: device, adopts: adopts, hasConditions: hasConditions)
        let board = Board(policies, device: device)
        known = [StateKey(board.core)]
        add(Node(core: board.core, witness: Witness(apps: policies.count), parent: -1, step: nil))
        // On most boards there is a logind, and its locks are held: a short way there.
        let loginEvents: [Event] = [
            .login(.available(delayMax: .seconds(5), preparingForSleep: false, preparingForShutdown: false)),
            .login(.lockTaken(.sleep)), .login(.lockTaken(.shutdown)), .login(.preparingForSleep(false)), .started,
        ]
        for event in loginEvents { take(Step(event: event), from: nodes.count - 1) }
    }

    /// Delivers every event in `limit` states: in those first that bring a new combination.
    func run(limit: Int) {
        while visited < limit {
            let index: Int
            if nextFresh < fresh.count {
                index = fresh[nextFresh]
                nextFresh += 1
            } else if nextFamiliar < familiar.count {
                index = familiar[nextFamiliar]
                nextFamiliar += 1
            } else {
                return
            }
            visited += 1
            let core = nodes[index].core
            judgeState(nodes[index])
            let request = RequestID(rawValue: Int64(index) + 1)
            for step in alphabet.steps(in: core, request: request) { take(step, from: index) }
        }
    }

    private func take(_ step: Step, from index: Int) {
        steps += 1
        var node = nodes[index]
        node.parent = index
        node.step = step
        let event = step.event
        let instant = Self.instant(step.clocks, node.core)
        node.witness.hear(event)
        let effects = node.core.handle(event, at: instant)
        node.witness.see(effects, of: event, core: node.core)
        node.witness.judgeDeadline(node.core)
        if alphabet.hasConditions { node.witness.judgeConditions(effects, node.core) }
        if !node.witness.objections.isEmpty { return report(node) }
        guard known.insert(StateKey(node.core)).inserted else { return }
        add(node)
    }

    private func add(_ node: Node) {
        let here = Combination.all(in: node.core)
        combinations.formUnion(here)
        if jointCombinations.insert(here).inserted {
            fresh.append(nodes.count)
        } else {
            familiar.append(nodes.count)
        }
        nodes.append(node)
    }

    static func instant(_ clocks: Step.Clocks, _ core: DeviceLifecycle) -> Instant {
        var now = core.now
        switch clocks {
        case .standStill: break
        case .reachDeadline:
            let at = max(core.nextDeadline?.at ?? now.monotonic, now.monotonic)
            now.boottime += at - now.monotonic
            now.monotonic = at
        case .stall:
            now.monotonic += .seconds(600)
            now.boottime += .seconds(600)
        case .jump: now.boottime += .seconds(3600)
        case .reachAlarm: now.boottime = max(core.sleep.asleep?.alarm ?? .zero, now.boottime)
        }
        return now
    }

    /// What holds of every state by itself, whatever led to it.
    private func judgeState(_ node: Node) {
        var node = node
        if DeviceLifecycle(archive: node.core.archived()) != node.core {
            node.witness.objections.append("it is not read back as it was written")
        }
        var again = node.core
        let more = again.handle(.freezing(available: node.core.canFreeze), at: node.core.now)
        let isOverdue = node.core.nextDeadline.map { $0.at <= node.core.now.monotonic } ?? false
        if !more.isEmpty, !isOverdue { node.witness.objections.append("a second look finds more to do: \(more)") }
        var rounds = 0
        while let due = again.nextDeadline, due.at <= again.now.monotonic, rounds < 10 {
            _ = again.handle(.timePassed, at: again.now)
            rounds += 1
        }
        if let late = Self.lateRelease(node.core) { node.witness.objections.append(late) }
        if rounds == 10 {
            node.witness.objections.append("overdue for ever: \(String(describing: again.nextDeadline))")
        }
        if !node.witness.objections.isEmpty { report(node) }
    }

    /// Whatever the apps do or leave undone, time alone releases the sleep lock before logind's limit.
    private static func lateRelease(_ core: DeviceLifecycle) -> String? {
        guard core.sleep.state == .preparing, core.login.locks[.sleep] == .held, core.sleep.isAnnouncedByLogin else {
            return nil
        }
        let limit = max(core.sleep.allowanceSince + (core.login.delayMax ?? Login.defaultDelayMax), core.now.monotonic)
        var core = core
        while let due = core.nextDeadline, due.at <= limit {
            let at = max(due.at, core.now.monotonic)
            let effects = core.handle(.timePassed, at: Instant(monotonic: at, boottime: core.now.boottime))
            if effects.contains(.login(.releaseLock(.sleep))) { return nil }
        }
        return "the sleep lock is kept until logind's limit"
    }

    private func report(_ node: Node) {
        for objection in node.witness.objections where objections[objection] == nil {
            objections[objection] = 1
            guard objections.count <= 5 else { continue }
            Issue.record("\(objection)\nafter:\n\(path(to: node).joined(separator: "\n"))")
        }
    }

    private func path(to node: Node) -> [String] {
        var events: [String] = []
        var current = node
        while let step = current.step {
            events.append("  \(step.event) \(step.clocks)")
            current = nodes[current.parent]
        }
        return events.reversed()
    }

    /// The search must not shrink unnoticed.
    func check(leastSteps: Int, leastCombinations: Int) {
        print(
            """
            every state, every event: \(visited) states visited of \(known.count) found, \(steps) steps taken, \
            \(combinations.count) combinations of stage, freezer, phase, call, lock, sleep and shutdown \
            (\(jointCombinations.count) of both apps at once)
            """)
        #expect(steps >= leastSteps)
        #expect(combinations.count >= leastCombinations)
    }
}
