#if !hasFeature(Embedded)
    package import Lifecycle

    /// Hears what the core is told and what it asks for, before that is done: for the simulation of the shell, which
    /// holds it against what really happens. Not in what is shipped.
    package enum Observation {
        /// The event, its effects, what the core waits for next, and the apps' names.
        package typealias Ear = (Event, [Effect], Deadline?, (AppID) -> String?) -> Void

        /// nil: not heard. The loop's thread sets and calls it.
        package nonisolated(unsafe) static var ear: Ear?
    }
#endif
