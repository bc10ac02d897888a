/// A quantity of the board that may cease to be known. Its last value counts for `patience`; then it is unknown,
/// which is neither good news nor bad.
struct LastKnown: Equatable {
    static let patience = Nanoseconds.seconds(300)

    /// nil: unknown.
    private(set) var value: Int?
    /// MONOTONIC: when it ceased to be said; nil: it is being said, or has been given up.
    private var silentSince: Nanoseconds?

    /// Takes a reading over; nil: it does not say.
    mutating func hear(_ reading: Int?, at now: Nanoseconds) {
        if let reading {
            value = reading
            silentSince = nil
        } else if value != nil, silentSince == nil {
            silentSince = now
        }
    }

    /// Gives up what has been silent for too long.
    mutating func settle(at now: Nanoseconds) {
        guard let due, due <= now else { return }
        value = nil
        silentSince = nil
    }

    /// When it will be given up.
    var due: Nanoseconds? { silentSince.map { $0 + Self.patience } }

    mutating func archive(_ archive: inout StateArchive) {
        archive.optional(1, &value, 0) { $0.value(1, &$1) }
        archive.optional(2, &silentSince, .zero) { $0.value(1, &$1) }
    }
}
