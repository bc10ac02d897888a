internal import SystemCalls
internal import Varlink

// What others say is shown, and does nothing to a terminal.

extension String {
    /// Without characters that would move a terminal's cursor or change its colours: what apps say is shown, not
    /// obeyed.
    var printable: String {
        var text = ""
        for scalar in unicodeScalars {
            switch scalar.value {
            case 9: text += "    "
            case 0..<32: text += "\u{FFFD}"
            default: text.unicodeScalars.append(scalar.isUnseen ? "\u{FFFD}" : scalar)
            }
        }
        return text
    }

    /// `printable`, line by line.
    var printableLines: String {
        split(separator: "\n", omittingEmptySubsequences: false).map { String($0).printable }.joined(separator: "\n")
    }
}

extension JSON {
    /// With every text in it `printable`.
    var printable: JSON {
        switch self {
        case .string(let text): .string(text.printable)
        case .array(let values): .array(values.map(\.printable))
        case .object(let object): .object(object.printable)
        case .null, .bool, .integer, .number: self
        }
    }
}

extension JSONObject {
    var printable: JSONObject {
        var object = JSONObject()
        for member in members { object[member.name.printable] = member.value.printable }
        return object
    }
}

extension Response {
    var printable: Response {
        switch self {
        case .reply(let parameters, let continues): .reply(parameters.printable, continues: continues)
        case .error(let name, let parameters): .error(name: name.printable, parameters: parameters.printable)
        case .connectionClosed: self
        }
    }
}
