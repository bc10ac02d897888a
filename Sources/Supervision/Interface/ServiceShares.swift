internal import EventLoop
internal import Lifecycle
internal import SystemCalls

/// How much of the loop's time others may use: the requests of one app, or of one user that is no app, a tenth in the
/// long run, those of all such users a quarter. Who has used more waits, and only who has; root never does.
final class ServiceShares {
    /// Shares that are kept; those that are paid for are forgotten when there are more.
    private static let most = 64
    /// Nanoseconds between two that a pool lets go on.
    private static let turn: Int64 = 1_000_000

    enum Payer: Hashable {
        /// An app's requests.
        case app(InstanceID)
        /// What comes to an app's notify socket, from any sender.
        case notify(AppID)
        /// The requests of a user that is neither root nor an app.
        case user(UInt32)
        /// The same of one that has no right to ask more than who we are.
        case stranger(UInt32)
        /// Those of all such users: one person may have many user ids (newuidmap).
        case users
        case strangers
        /// What is taken of connections on one socket.
        case connects(descriptor: Int32)
        /// The same of an app, at its own socket.
        case door(AppID)
        /// The connections that one user makes at one socket, root aside.
        case connecting(UInt32, descriptor: Int32)

        /// So many nanoseconds go by for each that is used.
        var price: Int64 {
            switch self {
            case .app, .notify, .user, .stranger, .connecting, .door: 10
            case .users, .strangers, .connects: 4
            }
        }

        /// Nanoseconds that may be used at once.
        var burst: Int64 {
            switch self {
            case .app, .notify, .user, .stranger, .door: 20_000_000
            case .users, .strangers: 40_000_000
            case .connects: 10_000_000
            case .connecting: 5_000_000
            }
        }

        /// Who pays besides.
        fileprivate var pool: Payer? {
            switch self {
            case .user: .users
            case .stranger: .strangers
            case .app, .notify, .users, .strangers, .connects, .connecting, .door: nil
            }
        }

        /// Several pay into it, each for itself too.
        fileprivate var isPool: Bool {
            switch self {
            case .users, .strangers: true
            case .app, .notify, .user, .stranger, .connects, .connecting, .door: false
            }
        }

        /// What operators ask may wait for a disk: it counts. What apps ask does not, and they are not to pay for what
        /// others make of the processor.
        var clock: Int64 {
            switch self {
            case .app, .notify, .connects, .connecting, .door: Clocks.ofThread
            case .user, .users, .stranger, .strangers: Clocks.monotonic
            }
        }
    }

    private struct Share {
        let payer: Payer
        var debt: Int64 = 0
        /// MONOTONIC: when that was so.
        var since: Int64
        /// To be served again once some of it is paid.
        var waiting: [(payer: Payer, resume: () -> Void)] = []
        /// MONOTONIC: one of a pool comes after the other, so that none takes what is left of it from the next.
        var nextTurn: Int64 = 0

        func debt(at now: Int64) -> Int64 { max(0, debt - (now - since) / payer.price) }
        func isSpent(at now: Int64) -> Bool { debt(at: now) > payer.burst }
        /// When half of a burst may be used again.
        var due: Int64 { max(nextTurn, since + (debt - payer.burst / 2) * payer.price) }
    }

    private unowned(unsafe) let loop: EventLoop
    private var shares: [Payer: Share] = [:]
    private var timer: TimerSource?

    init(_ loop: EventLoop) { self.loop = loop }

    func isSpent(_ payer: Payer) -> Bool {
        let now = Clocks.monotonic
        if let pool = payer.pool, shares[pool]?.isSpent(at: now) == true { return true }
        return shares[payer]?.isSpent(at: now) ?? false
    }

    func pay(_ payer: Payer, _ time: Int64) {
        let now = Clocks.monotonic
        if let pool = payer.pool { pay(pool, time, at: now) }
        pay(payer, time, at: now)
    }

    private func pay(_ payer: Payer, _ time: Int64, at now: Int64) {
        if shares[payer] == nil, shares.count >= Self.most { forgetPaid(at: now) }
        var share = shares[payer] ?? Share(payer: payer, since: now)
        share.debt = share.debt(at: now) + time
        share.since = now
        shares[payer] = share
    }

    /// Calls once, when the payer has paid enough, or its pool, if that takes longer. False where it cannot be waited
    /// for.
    func wait(_ payer: Payer, _ resume: @escaping () -> Void) -> Bool {
        do throws(SystemError) {
            if timer == nil { timer = try loop.timer { [unowned(unsafe) self] in resumePaid() } }
        } catch {
            return false
        }
        var account = payer
        if let pool = payer.pool, let due = shares[pool]?.due, due > shares[payer]?.due ?? .min { account = pool }
        shares[account]?.waiting.append((payer, resume))
        arm()
        return true
    }

    private func resumePaid() {
        let now = Clocks.monotonic
        var ready: [() -> Void] = []
        for (payer, share) in shares where !share.waiting.isEmpty && share.due <= now {
            guard payer.isPool else {
                ready += share.waiting.map { $0.resume }
                shares[payer]?.waiting = []
                continue
            }
            let next = leastIndebted(share.waiting, at: now)
            ready.append(share.waiting[next].resume)
            shares[payer]?.waiting.remove(at: next)
            shares[payer]?.nextTurn = now + Self.turn
        }
        for resume in ready { resume() }
        arm()
    }

    private func leastIndebted(_ waiting: [(payer: Payer, resume: () -> Void)], at now: Int64) -> Int {
        var (least, place) = (Int64.max, 0)
        for index in waiting.indices {
            let debt = shares[waiting[index].payer]?.debt(at: now) ?? 0
            if debt < least { (least, place) = (debt, index) }
        }
        return place
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
