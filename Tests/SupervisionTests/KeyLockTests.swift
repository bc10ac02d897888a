import Configuration
import MessageBus
import Testing

@testable import Lifecycle
@testable import Supervision

/// Locks on power key and lid that logind refuses.
@Suite struct KeyLockTests {
    private let shell: PlayedShell
    private let login = AskedLogin()
    private var locks: KeyLocks { shell.supervisor.keyLocks }

    init() throws {
        shell = try PlayedShell(device: "[policy]\npower-key = \"sleep\"\n")
        shell.supervisor.login = login
        shell.supervisor.followsBoard = true
    }

    /// That on the power key, and that on the lid.
    @Test func twoThatAreRefusedAtOnce_doubleThePauseOnce() throws {
        for pause in [KeyLocks.firstPause, 2 * KeyLocks.firstPause] {
            login.asked = []
            locks.wasRefused()
            locks.wasRefused()
            #expect(locks.pause == pause)
            try shell.run { !login.asked.isEmpty }
            #expect(login.asked == [.powerKey])
        }
        #expect(locks.pause == 4 * KeyLocks.firstPause)
    }

    @Test func oneThatWasHad_isAskedForSoonAgain() throws {
        locks.wasRefused()
        try shell.run { !login.asked.isEmpty }
        #expect(locks.pause == 2 * KeyLocks.firstPause)
        locks.wasTaken()
        #expect(locks.pause == KeyLocks.firstPause)
    }
}

/// Where the kernel puts the board to sleep, the lid is logind's.
@Suite struct LidLockTests {
    @Test(arguments: [true, false]) func lidIsHeld_onABoardThatSleepsLogically(isLogical: Bool) throws {
        let shell = try PlayedShell(device: "[policy]\npower-key = \"sleep\"\nlid-closed = \"sleep\"\n")
        var board = HardwareProfile()
        board.sleep.isLogical = isLogical
        shell.supervisor.settings = BoardSettings(shell.supervisor.configuration.device, board)
        let login = AskedLogin()
        shell.supervisor.login = login
        shell.supervisor.followsBoard = true
        shell.supervisor.keyLocks.take()
        #expect(login.asked == (isLogical ? [.powerKey, .lidSwitch] : [.powerKey]))
    }
}

/// Which locks the shell asks for.
private final class AskedLogin: LoginService {
    var onEvent: (LoginMessage) -> Void = { _ in }
    var asked: [Inhibitor] = []

    func takeLock(_ kind: Inhibitor, mode: LockMode) {
        #expect(mode == .block)
        asked.append(kind)
    }

    func start() {}
    func stop() {}
    func releaseLock(_ kind: Inhibitor) {}
    func readPreparingForSleep() {}
    func readForeignLocks() {}
    func suspend() {}
    func readConditions() {}
    func powerOff() {}
}
