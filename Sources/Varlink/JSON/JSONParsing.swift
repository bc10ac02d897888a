internal import CJansson

/// Why text is not JSON, or not JSON we take.
public struct JSONError: Error, Equatable, Sendable {
    /// From 1; 0 where the place is not known.
    public let line: Int
    public let column: Int
    public let message: String
}

extension JSON {
    /// Deeper nesting than this is refused before it is parsed.
    public static let nestingLimit = 64
    /// An empty container costs jansson some 300 bytes, a value 32: a megabyte of "{},{}," must not take a hundred.
    static let containerLimit = 16_384
    static let valueLimit = 131_072

    /// One JSON value of any kind, in UTF-8. Of members with the same name the last counts.
    public static func parse(_ bytes: ArraySlice<UInt8>) throws(JSONError) -> JSON {
        try checkLimits(bytes)
        var failure = json_error_t()
        let root = bytes.withUnsafeBytes { buffer in
            jansson_load(buffer.baseAddress?.assumingMemoryBound(to: CChar.self), buffer.count, &failure)
        }
        guard let root else {
            let message = withUnsafePointer(to: failure) { String(cString: jansson_error_text($0)) }
            throw JSONError(line: max(0, Int(failure.line)), column: max(0, Int(failure.column)), message: message)
        }
        defer { json_decref(root) }
        return convert(root)
    }

    public static func parse(_ bytes: [UInt8]) throws(JSONError) -> JSON { try parse(bytes[...]) }
    public static func parse(_ text: String) throws(JSONError) -> JSON { try parse(Array(text.utf8)[...]) }

    private static func checkLimits(_ bytes: ArraySlice<UInt8>) throws(JSONError) {
        let excess = bytes.withUnsafeBufferPointer { firstExcess($0) }
        if let excess { throw JSONError(line: 0, column: 0, message: excess) }
    }

    private static func firstExcess(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
        if bytes.isEmpty { return "empty" }
        var depth = 0
        var containers = 0
        var values = 1
        var inString = false
        var escaped = false
        for byte in bytes {
            if inString {
                if escaped {
                    escaped = false
                } else if byte == UInt8(ascii: "\\") {
                    escaped = true
                } else if byte == UInt8(ascii: "\"") {
                    inString = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): inString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                containers += 1
                if depth > nestingLimit { return "nested too deeply" }
                if containers > containerLimit { return "too many arrays and objects" }
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: ","):
                values += 1
                if values > valueLimit { return "too many values" }
            default: break
            }
        }
        return nil
    }

    private static func convert(_ value: UnsafeMutablePointer<json_t>) -> JSON {
        switch Int(jansson_type(value)) {
        case JANSSON_OBJECT: return convertObject(value)
        case JANSSON_ARRAY:
            let count = json_array_size(value)
            var elements: [JSON] = []
            elements.reserveCapacity(count)
            for index in 0..<count {
                if let element = json_array_get(value, index) { elements.append(convert(element)) }
            }
            return .array(elements)
        case JANSSON_STRING: return .string(text(json_string_value(value), json_string_length(value)))
        case JANSSON_INTEGER: return .integer(Int64(json_integer_value(value)))
        case JANSSON_REAL: return .number(json_real_value(value))
        case JANSSON_TRUE: return .bool(true)
        case JANSSON_FALSE: return .bool(false)
        default: return .null
        }
    }

    private static func convertObject(_ object: UnsafeMutablePointer<json_t>) -> JSON {
        var members: [JSONObject.Member] = []
        members.reserveCapacity(json_object_size(object))
        var iterator = json_object_iter(object)
        while let current = iterator {
            if let name = json_object_iter_key(current), let value = json_object_iter_value(current) {
                members.append(JSONObject.Member(name: String(cString: name), value: convert(value)))
            }
            iterator = json_object_iter_next(object, current)
        }
        return .object(JSONObject(distinct: members))
    }

    private static func text(_ start: UnsafePointer<CChar>?, _ count: Int) -> String {
        guard let start else { return "" }
        return String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
    }
}
