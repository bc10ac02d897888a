/// Why an app is frozen; it thaws when the last reason goes.
struct FreezeReasons: OptionSet, Equatable {
    var rawValue: UInt8
    /// It is in background and nothing keeps it running.
    static let background = FreezeReasons(rawValue: 1)
    /// The board sleeps.
    static let sleep = FreezeReasons(rawValue: 2)

    mutating func set(_ reason: FreezeReasons, _ holds: Bool) {
        if holds { insert(reason) } else { remove(reason) }
    }

    mutating func archive(_ archive: inout StateArchive) {
        var wide = Int(rawValue)
        archive.value(1, &wide)
        if wide < 0 || wide > 3 { return archive.fail() }
        rawValue = UInt8(wide)
    }
}
