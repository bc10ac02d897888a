import Testing

@testable import Lifecycle

/// What wishes change as long as they may be denied, without a board.
@Suite struct PendingRequestsTests {
    private static func id(_ number: Int64) -> RequestID { RequestID(rawValue: number) }

    /// Each wishes one app to one phase, in this order; the first is request 1.
    private static func wishing(_ wishes: (app: Int, phase: ScenePhase)...) -> PendingRequests {
        var requests = PendingRequests()
        for (place, wish) in wishes.enumerated() {
            requests.add(
                PendingRequest(
                    id: id(Int64(place) + 1), app: wish.app, wish: .phase, phase: wish.phase, change: wish.phase))
        }
        return requests
    }

    private static func played(_ requests: PendingRequests, over phases: [ScenePhase], isOneInFront: Bool = true)
        -> [ScenePhase]
    {
        var phases = phases
        requests.play(over: &phases, isOneInFront: isOneInFront)
        return phases
    }

    @Test func lastWishTakesTheFront_whereOneAppIsThere() {
        let requests = Self.wishing((0, .active), (1, .active))
        #expect(Self.played(requests, over: [.background, .inactive, .active]) == [.background, .active, .background])
        #expect(
            Self.played(requests, over: [.background, .inactive, .active], isOneInFront: false)
                == [.active, .active, .active])
    }

    @Test func allIsAsIfItHadNeverCome_whenAWishIsDenied() {
        var requests = Self.wishing((0, .active), (1, .active), (2, .background))
        let denied = requests.take { $0.app == 1 }
        #expect(denied.map(\.id) == [Self.id(2)])
        #expect(Self.played(requests, over: [.background, .active, .active]) == [.active, .background, .background])
        #expect(requests.take { $0.app == 1 }.isEmpty && requests.all.count == 2)
    }

    @Test func earlierWishesCountNoMore_whenAWishForTheFrontIsGranted() {
        var requests = Self.wishing((0, .active), (1, .active), (2, .active))
        let granted = requests.grant(Self.id(2), isOneInFront: true)
        #expect(granted?.change == .active && granted?.app == 1)
        #expect(requests.all.map(\.change) == [nil, nil, .active])
        #expect(requests.grant(Self.id(2), isOneInFront: true)?.change == nil)
        #expect(requests.grant(Self.id(9), isOneInFront: true) == nil)
    }

    @Test func onlyTheSameAppsEarlierWishesCountNoMore_whereManyMayBeInFront() {
        var requests = Self.wishing((0, .active), (1, .background), (1, .active))
        _ = requests.grant(Self.id(3), isOneInFront: false)
        #expect(requests.all.map(\.change) == [.active, nil, nil])
    }

    @Test func launchesStandTogether() {
        var requests = PendingRequests()
        for (number, wish) in [(Int64(1), PendingRequest.Wish.running), (2, .phase), (3, .running)] {
            requests.add(
                PendingRequest(
                    id: Self.id(number), app: number == 3 ? 1 : 0, wish: wish, phase: .active, isForLaunch: true))
        }
        #expect(requests.launches(of: 0) == [Self.id(1)])
        requests.letLaunchesStand(0)
        #expect(!requests.wishesLaunch(of: 0) && requests.wishesLaunch(of: 1))
    }

    @Test func requestsOfOneNumberOrOfNoAppAreAFault() {
        var requests = Self.wishing((0, .active), (1, .active))
        #expect(requests.fault(apps: 2) == nil && requests.fault(apps: 1) == .strangeRequests)
        requests.add(requests.all[0])
        #expect(requests.fault(apps: 2) == .strangeRequests)
    }
}
