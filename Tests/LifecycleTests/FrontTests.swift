import Lifecycle
import Testing

/// One app in front at a time.
@Suite struct FrontTests {
    private func board(_ apps: [AppPolicy]) -> Board {
        var policy = DevicePolicy()
        policy.front = .one
        var board = Board(apps, device: policy)
        board.login()
        board.start()
        return board
    }

    @Test func nextOneComesToTheFront_onlyWhenTheOtherHasLeftIt() throws {
        var board = board([app("map"), app("radio")])
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
        var board = board([app("map"), app("radio")])
        let radio = try board.id("radio")
        _ = board.ask(1, .activate(radio))
        _ = board.returned("radio")
        let effects = board.pass(.seconds(10))
        #expect(effects.contains("kill map"))
        #expect(effects.contains("call radio didBecomeActive 10 s"))
    }

    @Test func reloadLeavesOneInFront() throws {
        var board = Board([app("map"), app("radio")])
        board.start()
        #expect(try board.view("radio").phase == .active)
        var policy = DevicePolicy()
        policy.front = .one
        _ = board.obey(board.handle(.configured([app("map"), app("radio")], policy)))
        #expect(try board.view("map").phase == .active)
        #expect(try board.view("radio").phase == .background)
    }
}
