import Lifecycle
import Testing

/// One app in front at a time.
@Suite struct FrontTests {
    @Test func nextOneComesToTheFront_onlyWhenTheOtherHasLeftIt() throws {
        var board = startedBoard([app("map"), app("radio")], front: .one)
        #expect(try board.view("map").phase == .active)
        #expect(try board.view("radio").phase == .background)
        let radio = try board.id("radio")
        let effects = board.ask(1, .activate(radio))
        #expect(effects.contains("call map willResignActive 10 s"))
        #expect(effects.contains("call radio willEnterForeground 10 s"))
        // Ready before the other one is gone.
        #expect(board.returned("radio") == [])
        #expect(try board.view("radio").phase == .inactive)
        let handed = board.returned("map")
        #expect(handed.contains("call map didEnterBackground 5 s"))
        #expect(handed.contains("call radio didBecomeActive 10 s"))
    }

    @Test func hangingAppIsKilled_andTheNextTakesItsPlace() throws {
        var board = startedBoard([app("map"), app("radio")], front: .one)
        let radio = try board.id("radio")
        _ = board.ask(1, .activate(radio))
        _ = board.returned("radio")
        let effects = board.pass(.seconds(10))
        #expect(effects.contains("kill map"))
        #expect(effects.contains("call radio didBecomeActive 10 s"))
    }

    @Test func theOneThatWasInFrontComesBackAlone_whenTheLidOpens() throws {
        var board = startedBoard([app("map"), app("notes"), app("radio")], front: .one)
        try board.follow(1, .activate(board.id("notes")))
        board.follow(.board(.lid(closed: true)))
        board.settle()
        #expect(try board.view("notes").phase != .active)
        board.openLid()
        #expect(try ["map", "notes", "radio"].map { try board.view($0).phase } == [.background, .active, .background])
    }

    @Test func reloadLeavesOneInFront() throws {
        var board = Board([app("map"), app("radio")])
        board.start()
        #expect(try board.view("radio").phase == .active)
        board.follow(.configured([app("map"), app("radio")], oneInFront()))
        #expect(try board.view("map").phase == .active)
        #expect(try board.view("radio").phase == .background)
    }

    @Test func reloadLeavesTheFrontToTheAppThatIsAboutToStart_notToOneThatStaysDown() throws {
        let apps = [app("map") { $0.restart = .onFailure }, app("radio")]
        var board = Board(apps)
        board.start()
        board.gone("map", .exited(0))
        board.crash("radio")
        board.follow(.configured(apps, oneInFront()))
        #expect(board.pass(.seconds(5)).contains { $0.hasPrefix("spawn radio") && !$0.hasSuffix("background") })
    }

    @Test func theOneThatWasInFrontReturns_whenTwoActivationsInARowAreDenied() throws {
        var board = startedBoard([app("map"), app("radio"), app("phone")], front: .one)
        _ = try board.ask(1, .activate(board.id("radio")))
        // map's handler still runs.
        #expect(
            try board.ask(2, .activate(board.id("phone"))).contains(
                "reply 1: denied, another request changed its phase"))
        #expect(board.sleepSignal(true).contains("reply 2: denied, sleeping"))
        board.follow(.app(.handlerReturned(board.last("map"), board.openCall("map"))))
        board.follow(.app(.handlerReturned(board.last("radio"), board.openCall("radio"))))
        board.follow(.app(.handlerReturned(board.last("phone"), board.openCall("phone"))))
        let woken = board.prepareForSleep(false)
        _ = board.obey(woken)
        #expect(try board.view("map").phase == .active)
        #expect(try board.view("radio").phase == .background)
        #expect(try board.view("phone").phase == .background)
    }

    @Test func reloadThatRemovesOneLeavesAnotherInFront() throws {
        var board = Board([app("map"), app("radio")])
        board.start()
        board.follow(.configured([app("radio")], oneInFront()))
        #expect(try board.view("radio").phase == .active)
    }

    @Test func newAppTakesThePlaceOfTheOneThatAReloadRemoves() throws {
        var board = startedBoard([app("map")], front: .one)
        let reloaded = board.tell(.configured([app("radio")], oneInFront()))
        #expect(reloaded == ["call map willTerminate user 5 s", "spawn radio boot"])
    }

    @Test func placeIsFree_whenAnAppSaysStoppingAsItComesToTheFront() throws {
        var board = startedBoard([app("map"), app("radio")], front: .one)
        _ = try board.ask(1, .activate(board.id("radio")))
        _ = board.returned("map")
        #expect(board.returned("radio") == ["call radio didBecomeActive 10 s"])
        #expect(
            try board.ask(2, .activate(board.id("map"))).contains("reply 1: denied, another request changed its phase"))
        _ = board.returned("map")
        #expect(board.returned("map") == [])
        #expect(board.stopping("radio") == ["call map didBecomeActive 10 s"])
    }

    @Test func frontIsKept_whenAReloadAddsAnAppWhileItIsTooHot() throws {
        var board = startedBoard([app("map")], front: .one)
        _ = board.tell(zone(99_000))
        board.gone("map")
        _ = board.pass(.seconds(5))
        let added = board.handle(.configured([app("map"), app("radio") { $0.priorityBand = 950 }], oneInFront()))
        #expect(board.lines(added) == ["spawn radio boot background"])
        _ = board.obey(added)
        let cool = board.handle(zone(40_000))
        #expect(board.lines(cool) == ["spawn map restart"])
        _ = board.obey(cool)
        _ = board.obey(board.wait(.seconds(10)))
        #expect(board.phases("map", "radio") == ["active", "background"])
        #expect(try board.view("map").lastTermination?.reason.namespace == .thermal)
        #expect(try board.view("map").launches == 2)
    }

    // MARK: Reloads

    @Test func activationStands_whenAReloadRemovesWhoWasInFront() throws {
        var board = startedBoard([app("map"), manual("server"), manual("radio") { $0.after = ["server"] }])
        _ = try board.ask(1, .launch(board.id("server"), background: true))
        _ = try board.ask(2, .activate(board.id("radio")))
        let apps = [manual("server"), manual("radio") { $0.after = ["server"] }]
        #expect(!board.tell(.configured(apps, oneInFront())).contains { $0.hasPrefix("reply 2") })
    }

    @Test func runningAppStaysInFront_whenAReloadLeavesOneThere_andAnotherIsBeingEnded() throws {
        var board = startedBoard([app("map"), app("radio")])
        _ = try board.ask(1, .terminate(board.id("map"), force: false))
        #expect(board.tell(.configured([app("map"), app("radio")], oneInFront())) == [])
        #expect(board.phase("radio") == "active")
    }
}
