/// The names that apps may have.
public enum AppName {
    /// Kept for what `curfew run` starts.
    public static let reservedPrefix = "task-"

    /// [a-z0-9-]{1,63}.
    public static func isWellFormed(_ name: String) -> Bool {
        guard (1...63).contains(name.utf8.count) else { return false }
        return name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
            default: false
            }
        }
    }

    /// Why an app cannot have this name; nil where it can.
    static func objection(_ name: String) -> String? {
        if !isWellFormed(name) {
            return "the name '\(readable(name))' is not 1 to 63 of the characters a-z, 0-9 and -"
        }
        if name.utf8.starts(with: reservedPrefix.utf8) {
            return "the name '\(name)' is reserved: 'task-' is for what `curfew run` starts"
        }
        return nil
    }
}
