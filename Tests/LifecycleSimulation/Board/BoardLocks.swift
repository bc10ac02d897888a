internal import Lifecycle

// Locks on sleep that apps hold at logind by themselves.

extension SimulatedBoard {
    /// Some apps hold a lock of their own; of those that run through sleeps, most let go in time.
    func tellOfOwnLocks(after delay: Nanoseconds) {
        for process in processes where directory.entry(process.app)?.policy.suspend == false {
            let number = process.instance.rawValue + Int64(login.handshake)
            guard number.isMultiple(of: 2) else { continue }
            sendFromLogin(.login(.appHoldsLock(process.instance)), after: delay + .milliseconds(1))
            guard !number.isMultiple(of: 3) else { continue }
            let time = delay + .milliseconds(2) + .milliseconds(number * 7 % 25 * 100)
            schedule(.deliver(.login(.appReleasedLock(process.instance))), after: time)
        }
        for process in processes where (process.instance.rawValue + Int64(login.handshake)).isMultiple(of: 23) {
            sendFromLogin(.login(.appFillsLocks(process.instance)), after: delay + .milliseconds(2))
        }
        for process in processes
        where process.isFrozen && (process.instance.rawValue + Int64(login.handshake)).isMultiple(of: 4) {
            sendFromLogin(.login(.appHoldsLock(process.instance)), after: delay + .milliseconds(1))
        }
    }
}
