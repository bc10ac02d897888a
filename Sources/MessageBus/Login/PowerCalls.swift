internal import SystemCalls

extension LogindClient {
    /// org.freedesktop.login1.Manager.Suspend; no user is asked for a password.
    public func suspend() {
        guard isAvailable, let bus else { return tellLater(.suspendRefused(reason: "logind is not available")) }
        do throws(SystemError) {
            suspending = try bus.call(manager("Suspend"), flag: false) { [unowned(unsafe) self] reply in
                if case .failure(let error) = reply { tellLater(.suspendRefused(reason: error.text)) }
            }
        } catch {
            tellLater(.suspendRefused(reason: error.text))
        }
    }

    /// org.freedesktop.login1.Manager.PowerOff; no user is asked for a password. Block locks of others do not
    /// keep the board on: who powers it off has to.
    public func powerOff() {
        if poweringOff == nil { powerOff(skippingLocks: false) }
    }

    private func powerOff(skippingLocks isForced: Bool) {
        guard isAvailable, let bus else { return tellLater(.powerOffRefused(reason: "logind is not available")) }
        do throws(SystemError) {
            poweringOff = try bus.call(
                manager(isForced ? "PowerOffWithFlags" : "PowerOff"), flag: isForced ? nil : false,
                number: isForced ? Self.skipInhibitors : nil, timeout: limits.answer
            ) { [unowned(unsafe) self] reply in
                poweringOff = nil
                guard case .failure(let error) = reply else { return }
                // Since systemd 257 block locks hold for root too, unless it says otherwise; before, that word is
                // unknown.
                if !isForced, error.name == Self.name + ".BlockedByInhibitorLock" {
                    powerOff(skippingLocks: true)
                } else {
                    tellLater(.powerOffRefused(reason: error.text))
                }
            }
        } catch {
            tellLater(.powerOffRefused(reason: error.text))
        }
    }

    /// SD_LOGIND_SKIP_INHIBITORS.
    private static var skipInhibitors: UInt64 { 1 << 4 }
}
