internal import EventLoop
internal import Lifecycle
internal import SystemCalls

/// How much of the loop's time the requests of one app, or of one user that is no app, may use: a tenth in the long
/// run. Who has used more waits, and only who has; root never does.
final class ServiceShares {
    /// Nanoseconds that may be used at once.
    private static let burst: Int64 = 20_000_000
    /// So many nanoseconds go by for each that is used.
    private static let price: Int64 = 10
    /// Shares that are kept; those that are paid for are forgotten when there are more.
    private static let most = 64

    enum Payer: Hashable {
        case app(InstanceID)
        case user(UInt32)

        /// What operators ask may wait for a disk: it counts. What apps ask does not, and they are not to pay for what
        /// others make of the processor.
        var clock: Int64 {
            switch self {
            case .app: Clocks.ofThread
            case .user: Clocks.monotonic
            }
        }
    }

    private struct Share {
        var debt: Int64 = 0
        /// MONOTONIC: when that was so.
        var since: Int64
        /// To be served again once some of it is paid.
        var waiting: [() -> Void] = []

        func debt(at now: Int64) -> Int64 { max(0, debt - (now - since) / ServiceShares.price) }
        /// When half of a burst may be used again.
        var due: Int64 { since + (debt - ServiceShares.burst / 2) * ServiceShares.price }
    }

    private unowned(unsafe) let loop: EventLoop
    private var shares: [Payer: Share] = [:]
    private var timer: TimerSource?

    init(_ loop: EventLoop) { self.loop = loop }

    func isSpent(_ payer: Payer) -> Bool {
        shares[payer].map { $0.debt(at: Clocks.monotonic) > Self.burst } ?? false
    }

    func pay(_ payer: Payer, _ time: Int64) {
        let now = Clocks.monotonic
        if shares[payer] == nil, shares.count >= Self.most { forgetPaid(at: now) }
        var share = shares[payer] ?? Share(since: now)
        share.debt = share.debt(at: now) + time
        share.since = now
        shares[payer] = share
    }

    /// Calls once, when the payer has paid enough. False where it cannot be waited for.
    func wait(_ payer: Payer, _ resume: @escaping () -> Void) -> Bool {
        do throws(SystemError) {
            if timer == nil { timer = try loop.timer { [unowned(unsafe) self] in resumePaid() } }
        } catch {
            return false
        }
        shares[payer]?.waiting.append(resume)
        arm()
        return true
    }

    private func resumePaid() {
        let now = Clocks.monotonic
        var ready: [() -> Void] = []
        for (payer, share) in shares where !share.waiting.isEmpty && share.due <= now {
            ready += share.waiting
            shares[payer]?.waiting = []
        }
        for resume in ready { resume() }
        arm()
    }

    private func arm() {
        var next = Int64.max
        for share in shares.values where !share.waiting.isEmpty { next = min(next, share.due) }
        if next < .max { timer?.arm(at: next) }
    }

    private func forgetPaid(at now: Int64) {
        for (payer, share) in shares where share.waiting.isEmpty && share.debt(at: now) == 0 { shares[payer] = nil }
    }
}
