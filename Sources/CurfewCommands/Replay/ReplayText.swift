internal import Lifecycle

/// Events and effects as text, close to what they are called in the core: "process.exited(camera.3, exited(1))".
struct ReplayText {
    let names: ReplayNames

    /// The longest list that is written out.
    private static let longestList = 8

    func text(_ event: Event) -> String {
        // All their keys would be a page.
        if case .configured(let apps, _) = event {
            return "configured(\(list(apps.map(\.name))))"
        }
        return text(of: event)
    }

    func text(_ effect: Effect) -> String {
        if case .report(let termination) = effect {
            return "report(\(names.name(of: termination.instance)), \(termination.reason.explanation))"
        }
        return text(of: effect)
    }

    private func list(_ texts: [String]) -> String {
        let shown = texts.prefix(Self.longestList).joined(separator: ", ")
        let rest = texts.count - Self.longestList
        return "[" + shown + (rest > 0 ? ", and \(rest) more" : "") + "]"
    }

    private func text(of value: Any) -> String {
        switch value {
        case let span as Nanoseconds: span.text
        case let app as AppID: names.name(of: app)
        case let instance as InstanceID: names.name(of: instance)
        case let call as CallID: "call \(call.rawValue)"
        case let task as BackgroundTaskID: "task \(task.rawValue)"
        case let request as RequestID: "request \(request.rawValue)"
        case let text as String: "\"\(text)\""
        default: shape(of: value)
        }
    }

    /// Of what has parts, or is only called something.
    private func shape(of value: Any) -> String {
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .optional: return mirror.children.first.map { text(of: $0.value) } ?? "none"
        case .collection: return list(mirror.children.map { text(of: $0.value) })
        case .enum: return named(value, mirror)
        case .struct: return "(" + parts(mirror) + ")"
        default: return "\(value)"
        }
    }

    private func named(_ value: Any, _ mirror: Mirror) -> String {
        guard let child = mirror.children.first, let label = child.label else { return "\(value)" }
        let inner = Mirror(reflecting: child.value)
        // An organ's own alphabet.
        if inner.displayStyle == .enum, value is Event || value is Effect || value is Notice {
            return label + "." + text(of: child.value)
        }
        return inner.displayStyle == .tuple ? "\(label)(\(parts(inner)))" : "\(label)(\(text(of: child.value)))"
    }

    private func parts(_ mirror: Mirror) -> String {
        mirror.children.map { child in
            let text = text(of: child.value)
            guard let label = child.label, !label.hasPrefix(".") else { return text }
            return "\(label): \(text)"
        }.joined(separator: ", ")
    }

    // MARK: What it is about

    /// Whether an app is meant anywhere in it.
    func concerns(_ value: Any, _ app: String) -> Bool {
        switch value {
        case let id as AppID: names.name(of: id) == app
        case let instance as InstanceID: names.app(of: instance).map { names.name(of: $0) == app } ?? false
        case let policy as AppPolicy: policy.name == app
        case is String, is Int, is Int64, is Bool: false
        default: Mirror(reflecting: value).children.contains { concerns($0.value, app) }
        }
    }
}
