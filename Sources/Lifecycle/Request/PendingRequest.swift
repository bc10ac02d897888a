/// A call of the Control interface that is answered when its transition is complete.
struct PendingRequest: Equatable {
    enum Wish: UInt8, CaseIterable { case running, phase, ended }

    var id: RequestID
    var app: Int
    var wish: Wish
    /// For `phase`.
    var phase: ScenePhase
    /// The instance that was there when its end was asked for: its end is the answer. For the other wishes, the one
    /// that was on its way out when they came: its end is not theirs.
    var leaving: InstanceID?
    /// Where it wishes the app to stand, for as long as it may be denied; nil: it changes nothing (any more).
    var change: ScenePhase?
    /// The app's launch is wished by it, and has not begun; it may be denied.
    var isForLaunch = false

    var isActivation: Bool { wish == .phase && phase == .active }
    var isWishForBackground: Bool { wish == .phase && phase == .background }

    /// Waits for a launch that has not begun, or for an instance that is gone. present: the app's instance.
    func isUnbegun(_ present: InstanceID?) -> Bool { wish != .ended && (present == nil || leaving == present) }

    @inline(never)
    mutating func archive(_ archive: inout StateArchive) {
        archive.raw(1, &id)
        archive.value(2, &app)
        archive.raw(3, &wish)
        archive.raw(4, &phase)
        archive.optional(5, &leaving, InstanceID(rawValue: 0)) { $0.raw(1, &$1) }
        archive.optional(6, &change, .background) { $0.raw(1, &$1) }
        archive.value(7, &isForLaunch)
    }
}
