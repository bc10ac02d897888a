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
    /// A beginning is shown before the first step after it that is: its date is that of those.
    private var beginning: (number: Int, lines: [String]) = (0, [])
    private var shownBeginning = 0
    /// What is shown at the end, where only the last of it is: most of it is never made a text.
    private var kept: [(beginning: (number: Int, lines: [String]), lines: () -> [String])] = []

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
            begin(with: lines(beginning, replay))
        case .passedOver(let version):
            begin(with: [passedOver(version)])
            if last == nil { say(beginning) }
        case .step(let step):
            let text = ReplayText(names: replay.names)
            guard isWanted(step, text) else { return }
            let states = session.isJSON ? [] : states(after: step, replay.core)
            let clock = clock(step.instant)
            show { [unowned self] in session.isJSON ? [json(step, text)] : lines(step, clock, states, text) }
        }
    }

    private func begin(with lines: [String]) {
        beginning = (beginning.number + 1, lines)
        if app == nil, !compares, last == nil { say(beginning) }
    }

    private func say(_ beginning: (number: Int, lines: [String])) {
        guard shownBeginning != beginning.number else { return }
        shownBeginning = beginning.number
        beginning.lines.forEach { session.say($0) }
    }

    private func isWanted(_ step: Replay.Step, _ text: ReplayText) -> Bool {
        if compares, step.isSame != false, step.effects != nil { return false }
        guard let app else { return true }
        return text.concerns(step.event, app) || (step.effects ?? []).contains { text.concerns($0, app) }
    }

    private func show(_ lines: @escaping () -> [String]) {
        guard let last else {
            say(beginning)
            return lines().forEach { session.say($0) }
        }
        kept.append((beginning, lines))
        if kept.count / 2 > last { kept.removeFirst(kept.count - last) }
    }

    func end(_ replay: Replay, lost: Int) {
        if let last {
            for (beginning, lines) in kept.suffix(last) {
                say(beginning)
                lines().forEach { session.say($0) }
            }
        }
        if session.isJSON {
            var counts: JSONObject = [
                "steps": .integer(Int64(replay.steps)), "differing": .integer(Int64(replay.differing)),
                "damagedBytes": .integer(Int64(lost)),
            ]
            if let version = replay.passedOver { counts["passedOver"] = .string(version) }
            return session.say(line(counts))
        }
        let steps = replay.steps == 1 ? "1 step" : "\(replay.steps) steps"
        let outcome =
            replay.differing > 0
            ? ", \(replay.differing) of them decided otherwise than recorded"
            : replay.steps > 0 ? ", decided as recorded" : ""
        let fatal = replay.isFatal ? "; this version dies of one of them" : ""
        let other = replay.passedOver.map { "; what curfewd \($0) wrote is passed over" } ?? ""
        let damaged = lost > 0 ? "; \(lost) bytes are damaged, and left out" : ""
        session.say(steps + outcome + fatal + other.printable + damaged)
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
            session.style.paint(
                "\(time): curfewd \(beginning.version), boot \(beginning.boot)\(state)".printable, .bold)
        ]
    }

    private func lines(_ step: Replay.Step, _ clock: String, _ states: [String], _ text: ReplayText) -> [String] {
        let number = "\(step.number)"
        let head = String(repeating: " ", count: max(0, 6 - number.count)) + number + "  " + clock + "  "
        var lines = [head + text.text(step.event).printable]
        let indent = String(repeating: " ", count: head.count)
        for effect in step.effects ?? [] where !Self.isChange(effect) {
            lines.append(indent + "-> " + text.text(effect).printable)
        }
        for state in states { lines.append(indent + session.style.paint(state.printable, .dim)) }
        if step.effects == nil {
            lines.append(indent + session.style.paint("!! this version dies of it, as curfewd may have", .bad))
            return lines
        }
        switch step.isSame {
        case false: lines.append(indent + session.style.paint("!! curfewd decided otherwise here", .bad))
        case nil: lines.append(indent + session.style.paint("what curfewd decided here is not recorded", .caution))
        default: break
        }
        return lines
    }

    /// "05:48:23.123" of the local time, by the clock at the beginning: not right where that was set later.
    private func clock(_ instant: Instant) -> String {
        guard let begun else { return "" }
        let realtime = begun.realtime + (instant.boottime - begun.instant.boottime)
        return LocalTime(milliseconds: realtime.rawValue / 1_000_000).clock
    }

    private func passedOver(_ version: String) -> String {
        if session.isJSON { return line(["passedOver": .string(version)]) }
        return session.style.paint(
            "curfewd \(version) wrote on, in a format that this version does not know: passed over".printable, .caution)
    }

    /// That something can be seen to have changed: what it is now is shown in its place.
    private static func isChange(_ effect: Effect) -> Bool {
        if case .client(.appChanged) = effect { true } else { effect == .client(.deviceChanged) }
    }

    private func states(after step: Replay.Step, _ core: DeviceLifecycle) -> [String] {
        (step.effects ?? []).compactMap { effect in
            if effect == .client(.deviceChanged) { return Self.state(of: core.device) }
            guard case .client(.appChanged(let app)) = effect, let view = core.view(of: app) else { return nil }
            return "= \(view.name): \(view.taskState.name), \(view.phase?.name ?? "no phase")"
        }
    }

    private static func state(of device: DeviceView) -> String {
        let heat = device.thermalState == .nominal ? "" : ", \(device.thermalState)"
        return "= board: \(device.sleepState.name)" + (device.isLowPower ? ", low power" : "") + heat
    }

    private func json(_ step: Replay.Step, _ text: ReplayText) -> String {
        var object: JSONObject = [
            "step": .integer(Int64(step.number)), "monotonic": .integer(step.instant.monotonic.rawValue),
            "boottime": .integer(step.instant.boottime.rawValue), "event": .string(text.text(step.event)),
            "effects": step.effects.map { .array($0.map { .string(text.text($0)) }) } ?? .null,
        ]
        object["isSame"] = step.isSame.map { .bool($0) } ?? .null
        return line(object)
    }

    private func line(_ object: JSONObject) -> String { String(decoding: JSON.object(object).bytes(), as: UTF8.self) }
}
