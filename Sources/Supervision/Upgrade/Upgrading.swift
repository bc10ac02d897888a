internal import CLinux
internal import ControlGroup
internal import EventLoop
internal import Journal
internal import Keeper
internal import Lifecycle
internal import ProcessControl
internal import SystemCalls
internal import Varlink

/// `curfew upgrade`: the program that lies where this one was started from goes on in its place, and no app notices.
/// First it is rehearsed: a process of it reads the state as it is, beside this one. Then this loop stops where it is,
/// and the keeper becomes the new program, whose loop goes on from the state, and answers who has asked.
final class Upgrading {
    /// Of the new program, to read the state; nanoseconds.
    private static let rehearsalTime: Int64 = 5_000_000_000
    /// How long the state of before is kept for a version that has to go back; nanoseconds.
    private static let trialTime: Int64 = 11_000_000_000
    /// No app can be called that: of the control group.
    static let group = "@upgrade"
    /// Between two tries to remove what a rehearsal had; nanoseconds.
    private static let sweepPause: Int64 = 20_000_000
    private static let mostText: UInt64 = 64 << 10
    /// Of what it says of an error, so much is read.
    private static let longestText = 4096

    private unowned(unsafe) let supervisor: Supervisor
    private let program: String
    private var request: Request?
    private var rehearsal: Rehearsal?
    private var timer: TimerSource?
    /// Of rehearsals that are over.
    private var emptied: [ControlGroup] = []
    private var sweep: TimerSource?
    /// Of a version that is on trial.
    private var formerState: KeptCopy?
    private var trial: TimerSource?

    private final class Rehearsal {
        var process: KeptProcess?
        let group: ControlGroup?
        let program: ProgramMark
        /// What it has said.
        let text: FileDescriptor
        var isLate = false

        init(_ program: ProgramMark, _ group: ControlGroup?, _ text: consuming FileDescriptor) {
            self.program = program
            self.group = group
            self.text = text
        }
    }

    init(_ supervisor: Supervisor, program: String) {
        self.supervisor = supervisor
        self.program = program
    }

    // MARK: The version before

    func begin(_ request: Request) {
        guard self.request == nil else { return deny(request, "another upgrade is under way") }
        guard let state = supervisor.keptState, !program.isEmpty else {
            return deny(request, "this curfewd keeps no state that another could go on from")
        }
        self.request = request
        request.onCancelled = { [unowned(unsafe) self] in self.request = nil }
        do throws(SystemError) {
            try rehearse(try state.copy())
        } catch {
            if rehearsal != nil { endRehearsal() }
            fail(error.text)
        }
    }

    private func deny(_ request: Request, _ reason: String) {
        request.fail(
            error: "io.curfew.Control.Denied",
            ["reason": .string(reason), "kind": .string(DenialKind.notUpgraded.rawValue)])
    }

    private func fail(_ reason: String) {
        supervisor.log.daemon(.error, "not upgraded: \(reason)")
        if let request { deny(request, reason) }
        request = nil
    }

    private func rehearse(_ state: KeptMemory) throws(SystemError) {
        let number = linux_memory("rehearsal")
        guard number >= 0 else { throw SystemError("memfd_create") }
        guard let mark = ProgramMark(of: program) else { throw SystemError("execute", program) }
        let rehearsal = Rehearsal(mark, try supervisor.groups?.create(Self.group), FileDescriptor(owning: number))
        self.rehearsal = rehearsal
        var request = SpawnRequest(
            arguments: [program, "--rehearse=\(Keeper.handoverMeaning)"],
            environment: ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"])
        // What it says goes into memory.
        request.limits = [ResourceLimit(resource: Int32(linux_file_limit), soft: Self.mostText, hard: Self.mostText)]
        request.standardOutput = number
        request.standardError = number
        request.passedDescriptors = [PassedDescriptor(source: state.descriptor, target: Self.stateDescriptor)]
        let directory = try rehearsal.group?.openDirectory()
        switch directory {
        case .some(let open): request.controlGroupDescriptor = open.rawValue
        case .none: break
        }
        do throws(SpawnError) {
            rehearsal.process = try supervisor.keeper.start(request) { [unowned(unsafe) self] in hear($0) }
        } catch {
            throw error.systemError
        }
        if timer == nil { timer = try supervisor.loop.timer { [unowned(unsafe) self] in timeIsOver() } }
        timer?.arm(at: Clocks.monotonic + Self.rehearsalTime)
    }

    private func timeIsOver() {
        guard let rehearsal else { return }
        rehearsal.isLate = true
        try? rehearsal.group?.kill()
        try? rehearsal.process?.signal(SIGKILL)
        supervisor.log.daemon(.debug, "the new version is killed")
    }

    private func endRehearsal() {
        timer?.disarm()
        try? rehearsal?.group?.kill()
        if let group = rehearsal?.group { emptied.append(group) }
        rehearsal = nil
        removeGroups()
    }

    /// What it has left may take a while to die.
    private func removeGroups() {
        emptied.removeAll { (try? $0.remove()) != nil }
        if emptied.isEmpty { return }
        if sweep == nil { sweep = try? supervisor.loop.timer { [unowned(unsafe) self] in removeGroups() } }
        sweep?.arm(at: Clocks.monotonic + Self.sweepPause)
    }

    private func hear(_ word: KeptProcess.Word) {
        if case .running = word { return }
        guard let rehearsal else { return }
        _ = lseek(rehearsal.text.rawValue, 0, SEEK_SET)
        let text =
            String(
                decoding: (try? rehearsal.text.readAll(limit: Self.longestText)) ?? [], as: UTF8.self
            ).split(separator: "\n").first.map { String($0) } ?? ""
        let isLate = rehearsal.isLate
        endRehearsal()
        switch word {
        case .running: break
        case .failed(let error): fail(error.text)
        case .endedUnseen, .unknown: fail("how \(program) has ended is not known")
        case .ended(let end):
            if isLate { return fail("\(program) did not read the state within 5 s") }
            switch end.cause {
            case .signalled(let number, _): fail("\(program) was ended by signal \(number) as it read the state")
            case .exited(0) where Self.isRehearsed(text): becomeNext(text, rehearsal.program)
            case .exited(0): fail("\(program) does not answer as a curfewd" + (text.isEmpty ? "" : ": \(text)"))
            case .exited(let code):
                fail("\(program) cannot go on from here (status \(code))" + (text.isEmpty ? "" : ": \(text)"))
            }
        }
    }

    // MARK: Rehearsal

    /// Where the new version finds the state.
    static let stateDescriptor: Int32 = 3

    static func isRehearsed(_ text: String) -> Bool { text.utf8.starts(with: "curfewd ".utf8) }

    /// In a process of the new version: whether it can go on from the state. Returns the exit status.
    static func rehearse(meaning: String) -> Int32 {
        guard meaning == "\(Keeper.handoverMeaning)" else {
            Daemon.write("it goes on from another keeper's words (\(Keeper.handoverMeaning), not \(meaning))\n", to: 2)
            return 1
        }
        let copy = linux_dup_cloexec(stateDescriptor)
        guard copy >= 0, KeptState.canRead(KeptMemory(kept: FileDescriptor(owning: copy))) else {
            Daemon.write("it cannot read the state\n", to: 2)
            return 1
        }
        Daemon.write("curfewd \(Daemon.version)\n", to: 1)
        return 0
    }

    // MARK: From one to the other

    private static let callerName = "upgrade/caller"

    /// version: "curfewd 0.2.0".
    private func becomeNext(_ version: String, _ program: ProgramMark) {
        supervisor.log.daemon(.notice, "curfewd \(Daemon.version) hands over to \(version) (\(self.program))")
        // What was begun in this turn goes out first.
        supervisor.loop.post { [unowned(unsafe) self] in
            supervisor.loop.post { [unowned(unsafe) self] in handOver(program) }
        }
    }

    private func handOver(_ program: ProgramMark) {
        do throws(SystemError) {
            guard let state = supervisor.keptState else { return }
            let copy = try state.copy()
            supervisor.keeper.keep(KeptState.formerName, copy.descriptor)
            if let caller = request?.connection?.descriptor { supervisor.keeper.keep(Self.callerName, caller) }
            state.handOver()
            try supervisor.keeper.becomeNext(program)
        } catch {
            for name in [KeptState.formerName, Self.callerName] { supervisor.keeper.drop(name) }
            return fail(error.text)
        }
        // It is killed here: what it would hear now, the next one hears.
        while true { pause() }
    }

    // MARK: The version after

    /// Who has asked the version before; before anything is let go of that was kept. The keeper has it for the loop
    /// after this one, until there is an answer.
    static func takeCaller(_ keeper: ProcessKeeper) -> FileDescriptor? { keeper.takeKept(callerName) }

    /// The state of before is kept while this version may have to go back.
    func keepFormerState() {
        guard supervisor.keeper.takeKept(KeptState.formerName) != nil else { return }
        formerState = KeptCopy(takenFrom: supervisor.keeper, KeptState.formerName)
        trial = try? supervisor.loop.timer { [unowned(unsafe) self] in formerState = nil }
        trial?.arm(at: Clocks.monotonic + Self.trialTime)
    }

    /// All is served again.
    static func answer(_ outcome: LoopBefore.Upgrade, to caller: consuming FileDescriptor?, _ keeper: ProcessKeeper) {
        guard let caller = caller.take() else { return }
        let reply: JSON =
            switch outcome {
            case .done: ["parameters": [:]]
            case .failed(let reason):
                [
                    "error": "io.curfew.Control.Denied",
                    "parameters": [
                        "reason": .string(reason), "kind": .string(DenialKind.notUpgraded.rawValue),
                    ],
                ]
            }
        // A client that does not read has no answer.
        _ = linux_unix_send(caller.rawValue, reply.bytes() + [0], reply.bytes().count + 1)
        // Not before: it takes the socket down.
        keeper.drop(callerName)
    }
}
