internal import Configuration
internal import Varlink

/// The effective configuration, as TOML with a remark on each value, and as JSON.
struct ConfigView {
    typealias Part = EffectiveConfiguration.Part
    typealias Setting = EffectiveConfiguration.Setting

    /// Without defaults.
    let isShort: Bool
    let tool: String

    /// Values begin to be cut off the column of remarks from here on.
    private static let mostColumns = 34

    func lines(device effective: EffectiveConfiguration, _ style: Style) -> [String] {
        let part = effective.device
        return head("the device", part.file ?? "no curfew.toml", style)
            + part.otherErrors.map { complaint($0, "", style) }
            + effective.warnings.map { complaint($0, "warning: ", style) } + body(part, style, isInEffect: true)
    }

    func lines(profile effective: EffectiveConfiguration, _ style: Style) -> [String] {
        let part = effective.profile
        let name = part.name.isEmpty ? "no hardware profile" : "the hardware profile \(part.name)"
        let head = head(name, part.file ?? "none fits this board; see \(tool) profile detect", style)
        // Which boards it is for is no setting.
        let hidden = ["", "match", "match.dmi"]
        return head + body(part, style, isInEffect: true) { !hidden.contains($0.key.table) }
    }

    func lines(app part: Part, _ style: Style) -> [String] {
        var lines = head(part.name, part.file ?? "", style)
        if !part.errors.isEmpty { lines.append(style.paint("# invalid: not launched until it is mended", .bad)) }
        lines += part.otherErrors.map { complaint($0, "", style) }
        return lines + body(part, style, isInEffect: part.errors.isEmpty)
    }

    private func head(_ title: String, _ place: String, _ style: Style) -> [String] {
        [style.paint("# " + title.printable, .bold) + style.paint("  " + place.printable, .dim)]
    }

    private func complaint(_ error: ConfigurationError, _ kind: String, _ style: Style) -> String {
        style.paint("# " + error.text(as: kind).printable, kind.isEmpty ? .bad : .caution)
    }

    // MARK: settings

    /// isInEffect: whether defaults hold in place of what is wrong.
    private func body(
        _ part: Part, _ style: Style, isInEffect: Bool, where isShown: (Setting) -> Bool = { _ in true }
    ) -> [String] {
        let settings = part.settings.filter { isShown($0) && !$0.isMoot }
        let width = min(settings.reduce(0) { max($0, Self.text($1).count + 2) }, Self.mostColumns)
        var sections: [(name: String, settings: [Setting])] = []
        for setting in settings {
            if let place = sections.firstIndex(where: { $0.name == setting.key.section }) {
                sections[place].settings.append(setting)
            } else {
                sections.append((setting.key.section, [setting]))
            }
        }
        return sections.flatMap { lines(of: $0.name, $0.settings, width, style, isInEffect: isInEffect) }
    }

    private func lines(
        of section: String, _ settings: [Setting], _ width: Int, _ style: Style, isInEffect: Bool
    ) -> [String] {
        let indent = section.isEmpty ? "" : "  "
        let width = width - indent.count
        var lines: [String] = []
        for setting in settings where !isShort || setting.origin != .standard || setting.key.line != nil {
            lines += rows(setting, width, style, isInEffect: isInEffect).map { indent + $0 }
        }
        let hasSome = !lines.isEmpty
        let unset = settings.filter { $0.value == .unset && $0.key.line == nil }.map(\.key.name)
        if !unset.isEmpty, !isShort {
            let text = (hasSome ? "" : Self.header(section) + " ") + "not set: " + unset.joined(separator: ", ")
            lines += text.printable.wrapped(90).map { style.paint((hasSome ? indent : "") + "# " + $0, .dim) }
        }
        return (hasSome && !section.isEmpty ? [style.paint(Self.header(section), .accent)] : []) + lines
    }

    /// "[limits]"; "[[thermal]]" for each of several.
    private static func header(_ section: String) -> String {
        guard let bracket = section.firstIndex(of: "[") else { return section.isEmpty ? "" : "[\(section)]" }
        return "[[\(section[..<bracket])]]".printable
    }

    private func rows(_ setting: Setting, _ width: Int, _ style: Style, isInEffect: Bool) -> [String] {
        var rows: [String] = []
        let remark = setting.error == nil ? setting.ignored : nil
        if setting.error != nil || remark != nil {
            let text = "# \(setting.key.name) = \(setting.key.written ?? "")".printable.padded(width)
            let place = setting.key.line.map { ":\($0): " } ?? ": "
            let said = setting.error?.text ?? (setting.file ?? "") + place + (remark ?? "")
            rows.append(
                style.paint(text, setting.error == nil ? .dim : .bad)
                    + style.paint("  # " + said.printable, setting.error == nil ? .caution : .bad))
            if !isInEffect { return rows }
        }
        if setting.value == .unset { return rows }
        let text = Self.text(setting).padded(width)
        let effect = setting.key.about.hasEffect ? "" : ", without effect in this version"
        switch setting.origin {
        case .standard: rows.append(style.paint(text + "  # default" + effect, .dim))
        case .file(let file, let line), .profile(let file, let line):
            rows.append(text + style.paint("  # " + "\(file):\(line)\(effect)".printable, .dim))
        }
        return rows
    }

    private static func text(_ setting: Setting) -> String { "\(setting.key.name) = \(setting.value.toml)".printable }
}

extension EffectiveConfiguration.Setting {
    /// "file", "profile" or "default".
    fileprivate var kind: String {
        switch origin {
        case .standard: "default"
        case .file: "file"
        case .profile: "profile"
        }
    }

    /// Where its value is from, and the line there.
    fileprivate var place: (file: String, line: Int)? {
        switch origin {
        case .standard: nil
        case .file(let file, let line), .profile(let file, let line): (file, line)
        }
    }
}

extension ConfigView {
    func json(_ effective: EffectiveConfiguration, _ apps: JSON) -> JSON {
        [
            "device": json(effective.device),
            "profile": effective.profile.name.isEmpty ? .null : json(effective.profile), "apps": apps,
            "warnings": .array(effective.warnings.map { Self.json($0) }),
        ]
    }

    func json(_ part: Part) -> JSON {
        let shown = part.settings.filter { !isShort || $0.origin != .standard || $0.key.line != nil }
        return [
            "name": .string(part.name), "file": JSON(part.file), "isValid": .bool(part.errors.isEmpty),
            "errors": .array(part.errors.map { Self.json($0) }), "values": .array(shown.map { Self.json($0) }),
        ]
    }

    private static func json(_ error: ConfigurationError) -> JSON {
        [
            "file": .string(error.file), "line": JSON(error.line.map { Int64($0) }),
            "message": .string(error.message),
        ]
    }

    private static func json(_ setting: Setting) -> JSON {
        [
            "section": .string(setting.key.section), "key": .string(setting.key.name),
            "value": json(setting.value), "origin": .string(setting.kind), "file": JSON(setting.place?.file),
            "line": JSON(setting.place.map { Int64($0.line) }),
            "written": JSON(setting.key.written), "error": setting.error.map { json($0) } ?? .null,
            "ignored": JSON(setting.ignored),
        ]
    }

    private static func json(_ value: ConfigurationValue) -> JSON {
        switch value {
        case .unset: .null
        case .text(let text): .string(text)
        case .integer(let number): JSON(number)
        case .boolean(let flag): .bool(flag)
        case .texts(let texts): .array(texts.map { .string($0) })
        case .table(let pairs): .object(pairs.reduce(into: JSONObject()) { $0[$1.key] = .string($1.value) })
        }
    }
}
