/// What `Quantity` takes for a duration, for command lines and scripts. Configuration files go through `TomlTable`.
public enum DurationText {
    /// Why a text is no duration: "a duration such as "5s", …".
    public struct Malformed: Error, Equatable, Sendable {
        public let expected: String
    }

    /// Nanoseconds of "5s", "500ms", "5 minutes" or "1h 30min"; a bare number is in seconds.
    public static func nanoseconds(_ text: String) throws(Malformed) -> Int64 {
        switch Quantity.duration.parse(text) {
        case .value(let nanoseconds): return nanoseconds
        case .malformed(let expected): throw Malformed(expected: expected)
        }
    }
}
