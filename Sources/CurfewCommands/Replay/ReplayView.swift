internal import Lifecycle
internal import Varlink

/// What is shown of a replay, as it comes.
final class ReplayView {
    private let session: Session
    private let app: String?
    private let last: Int?
    private let compares: Bool
    /// MONOTONIC and CLOCK_REALTIME of the last beginning.
    private var begun: (instant: Instant, realtime: Nanoseconds)?
    /// What is shown at the end, where only the last of it is.
    private var kept: [[String]] = []

    init(_ session: Session, app: String?, last: Int?, compares: Bool) {
        self.session = session
        self.app = app
        self.last = last
        self.compares = compares
    }

    func take(_ replay: Replay, _ part: Replay.Part) {
        switch part {
        case .beginning(let beginning):
            begun = (beginning.instant, beginning.realtime)
            if !compares, app == nil { show(lines(beginning, replay)) }
        case .step(let step):
            let text = ReplayText(names: replay.names)
            guard isWanted(step, text) else { return }
            show(session.isJSON ? [json(step, text)] : lines(step, replay, text))
        }
    }

    private func isWanted(_ step: Replay.Step, _ text: ReplayText) -> Bool {
        if compares, step.isSame != false { return false }
        guard let app else { return true }
        return text.concerns(step.event, app) || step.effects.contains { text.concerns($0, app) }
    }

    private func show(_ lines: [String]) {
        guard let last else { return lines.forEach { session.say($0) } }
        kept.append(lines)
        if kept.count > 2 * last { kept.removeFirst(kept.count - last) }
    }

    func end(_ replay: Replay, lost: Int) {
        if let last { kept.suffix(last).forEach { $0.forEach { session.say($0) } } }
        if session.isJSON { return }
        let steps = replay.steps == 1 ? "1 step" : "\(replay.steps) steps"
        let outcome =
            replay.differing == 0
            ? "decided as recorded"
            : "\(replay.differing) of them decided otherwise than recorded"
        session.say("\(steps), \(outcome)" + (lost > 0 ? "; \(lost) bytes are damaged, and left out" : ""))
    }

    // MARK: Lines

    private func lines(_ beginning: Replay.Beginning, _ replay: Replay) -> [String] {
        if session.isJSON {
            let object: JSONObject = [
                "version": .string(beginning.version), "boot": .string(beginning.boot),
                "realtime": .integer(beginning.realtime.rawValue),
                "monotonic": .integer(beginning.instant.monotonic.rawValue),
                "boottime": .integer(beginning.instant.boottime.rawValue),
            ]
            return [line(object)]
        }
        let apps = replay.core.appIDs.count
        let state = apps == 0 ? "" : ", with \(apps == 1 ? "1 app" : "\(apps) apps") in hand"
        let time = LocalTime(milliseconds: beginning.realtime.rawValue / 1_000_000).date
        return [
            session.style.paint("\(time): curfewd \(beginning.version), boot \(beginning.boot)\(state)", .bold)
        ]
    }

    private func lines(_ step: Replay.Step, _ replay: Replay, _ text: ReplayText) -> [String] {
        let number = "\(step.number)"
        let head = String(repeating: " ", count: max(0, 6 - number.count)) + number + "  " + clock(step.instant) + "  "
        var lines = [head + text.text(step.event)]
        let indent = String(repeating: " ", count: head.count)
        for effect in step.effects {
            if case .client(.appChanged(let app)) = effect {
                if let state = state(of: app, replay.core) { lines.append(indent + session.style.paint(state, .dim)) }
            } else if effect != .client(.deviceChanged) {
                lines.append(indent + "-> " + text.text(effect))
            }
        }
        switch step.isSame {
        case false: lines.append(indent + session.style.paint("!! curfewd decided otherwise here", .bad))
        case nil: lines.append(indent + session.style.paint("what curfewd decided here is not recorded", .caution))
        default: break
        }
        return lines.map(\.printable)
    }

    /// "05:48:23.123" of the local time, were the clock never set.
    private func clock(_ instant: Instant) -> String {
        guard let begun else { return "" }
        let realtime = begun.realtime + (instant.boottime - begun.instant.boottime)
        return LocalTime(milliseconds: realtime.rawValue / 1_000_000).clock
    }

    private func state(of app: AppID, _ core: DeviceLifecycle) -> String? {
        core.view(of: app).map { "= \($0.name): \($0.taskState.name), \($0.phase?.name ?? "no phase")" }
    }

    private func json(_ step: Replay.Step, _ text: ReplayText) -> String {
        var object: JSONObject = [
            "step": .integer(Int64(step.number)), "monotonic": .integer(step.instant.monotonic.rawValue),
            "boottime": .integer(step.instant.boottime.rawValue), "event": .string(text.text(step.event)),
            "effects": .array(step.effects.map { .string(text.text($0)) }),
        ]
        object["isSame"] = step.isSame.map { .bool($0) } ?? .null
        return line(object)
    }

    private func line(_ object: JSONObject) -> String { String(decoding: JSON.object(object).bytes(), as: UTF8.self) }
}
