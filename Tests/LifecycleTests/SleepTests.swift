import Lifecycle
import Testing

@Suite struct SleepTests {
    @Test func prepareForSleepWalksToBackgroundAndReleases_whenAppsAnswer() throws {
        var board = Board([app("camera")])
        board.login()
        board.start()
        let camera = try board.instance("camera")
        #expect(try board.view("camera").phase == .active)

        #expect(
            board.prepareForSleep(true) == [
                .app(.call(camera, CallID(rawValue: 3), .willResignActive, allowance: .milliseconds(2250)))
            ])
        board.monotonic += .milliseconds(10)
        #expect(
            board.handle(.app(.handlerReturned(camera, CallID(rawValue: 3)))) == [
                .app(.call(camera, CallID(rawValue: 4), .didEnterBackground, allowance: .milliseconds(4490)))
            ])
        board.monotonic += .milliseconds(10)
        #expect(board.handle(.app(.handlerReturned(camera, CallID(rawValue: 4)))) == [.process(.freeze(camera))])
        #expect(board.handle(.process(.frozen(camera))) == [.sleep(.handled(true)), .login(.releaseLock(.sleep))])
        #expect(try board.view("camera").taskState == .suspended)
        #expect(board.core.device.sleepState == .asleep)

        board.slept = .seconds(3600)
        #expect(
            board.prepareForSleep(false) == [
                .sleep(.handled(false)), .login(.takeLock(.sleep)), .process(.thaw(camera)),
                .app(.call(camera, CallID(rawValue: 5), .willEnterForeground, allowance: .seconds(10))),
            ])
        #expect(
            board.handle(.app(.handlerReturned(camera, CallID(rawValue: 5)))) == [
                .app(.call(camera, CallID(rawValue: 6), .didBecomeActive, allowance: .seconds(10)))
            ])
        #expect(board.handle(.app(.handlerReturned(camera, CallID(rawValue: 6)))) == [])
        #expect(try board.view("camera").phase == .active)
    }

    @Test func hangingAppIsKilledAtItsDeadlineAndTheLockReleased_whenPreparing() throws {
        var board = Board([app("camera"), app("hang")])
        board.login()
        board.start()
        let hang = try board.instance("hang")
        var effects = board.prepareForSleep(true)
        for effect in effects {
            if case .app(.call(let instance, let call, .willResignActive, _)) = effect {
                effects += board.handle(.app(.handlerReturned(instance, call)))
            }
        }
        for effect in effects {
            if case .app(.call(let instance, let call, .didEnterBackground, _)) = effect, instance != hang {
                board.follow(.app(.handlerReturned(instance, call)))
            }
        }
        #expect(board.wait(.milliseconds(4499)) == [])
        #expect(board.wait(.milliseconds(1)) == [.process(.kill(hang))])
        let ended = board.handle(.process(.exited(hang, .signalled(9))))
        guard case .report(let termination) = ended.first else {
            Issue.record("no report: \(ended)")
            return
        }
        #expect(termination.reason.namespace == .watchdog)
        #expect(termination.reason.code == 0x8bad_f00d)
        #expect(termination.handler == .didEnterBackground)
        #expect(termination.allowance == .milliseconds(4500))
        #expect(ended.dropFirst() == [.process(.clear(hang))])
        #expect(board.handle(.process(.groupEmptied(hang))) == [.sleep(.handled(true)), .login(.releaseLock(.sleep))])
    }
}
