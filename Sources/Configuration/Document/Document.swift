internal import CToml

/// A parsed file. Its nodes live as long as it does.
final class Document {
    private let handle: OpaquePointer

    /// nil, and a problem noted, where the bytes are not TOML.
    init?(_ bytes: [UInt8], _ problems: Problems) {
        handle = bytes.withUnsafeBufferPointer { ctoml_parse($0.baseAddress, $0.count) }
        if ctoml_root(handle) == nil {
            let line = Int(ctoml_error_line(handle))
            let message = readable(text(ctoml_error_message(handle)), limit: 300)
            problems.add(line > 0 ? line : nil, "not TOML: " + message + SyntaxRemedy.of(message))
            return nil
        }
    }

    deinit { ctoml_free(handle) }

    /// The root of a file's bytes; nil, and a problem noted, where they are no text or not TOML.
    @inline(never)
    static func read(_ bytes: [UInt8], _ problems: Problems) -> Value? {
        checkText(bytes, problems) ? Document(bytes, problems)?.root : nil
    }

    var root: Value? { ctoml_root(handle).map { Value(node: $0, document: self) } }
}

private func text(_ text: ctoml_text) -> String {
    String(decoding: UnsafeBufferPointer(start: text.bytes, count: text.length), as: UTF8.self)
}

/// A value in a document.
struct Value {
    enum Kind {
        case string(String)
        case integer(Int64)
        case boolean(Bool)
        case float, array, table, date
    }

    fileprivate let node: OpaquePointer
    /// Keeps the node alive.
    fileprivate let document: Document

    var line: Int { Int(ctoml_line(node)) }

    var kind: Kind {
        switch Int(ctoml_type(node)) {
        case CTOML_STRING: .string(text(ctoml_string(node)))
        case CTOML_INTEGER: .integer(ctoml_integer(node))
        case CTOML_BOOLEAN: .boolean(ctoml_boolean(node))
        case CTOML_FLOAT: .float
        case CTOML_ARRAY: .array
        case CTOML_TABLE: .table
        default: .date
        }
    }

    /// Of an array; empty for the rest.
    var elements: [Value] {
        (0..<ctoml_count(node)).compactMap { index in
            ctoml_element(node, index).map { Value(node: $0, document: document) }
        }
    }

    /// Of a table, in the order of the file; empty for the rest.
    var entries: [Entry] {
        let count = ctoml_count(node)
        var raw = [ctoml_entry](repeating: ctoml_entry(), count: count)
        let written = raw.withUnsafeMutableBufferPointer { ctoml_entries(node, $0.baseAddress, $0.count) }
        raw.removeLast(count - written)
        return raw.compactMap { entry in
            entry.value.map {
                Entry(key: text(entry.key), line: Int(entry.line), value: Value(node: $0, document: document))
            }
        }
    }
}

/// A key and its value.
struct Entry {
    let key: String
    let line: Int
    let value: Value
}
