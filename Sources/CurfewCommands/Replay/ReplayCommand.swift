internal import ArgumentParser
internal import CLinux
internal import Lifecycle
internal import SystemCalls
internal import Varlink

struct ReplayCommand: SessionCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "What curfewd heard and decided, step by step, from its recording.",
        discussion: """
            curfewd records all that it hears and decides in /var/lib/curfew/recording, and before that in \
            recording.1. They run through the same core again: each step shows what came, what is decided, and what \
            apps are after it. A step that this version decides otherwise than the daemon did is marked, and the exit \
            code is 1 then.
            """)

    @Argument(help: "Recordings, the oldest first; without one, those of this board.", completion: .file())
    var files: [String] = []
    @Option(help: "Only steps that concern this app.", completion: .apps)
    var app: String?
    @Option(help: ArgumentHelp("Stop after this step.", valueName: "STEP"))
    var until: Int?
    @Option(help: ArgumentHelp("Only the last steps of those.", valueName: "COUNT"))
    var last: Int?
    @Flag(help: "Only steps that this version decides otherwise.")
    var compare = false
    @Option(
        help: ArgumentHelp(
            "Write a copy to this new file, for others: names of apps and tasks, and all that they and people have "
                + "said, are replaced.", valueName: "FILE"), completion: .file())
    var anonymous: String?
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if let until, until < 1 { throw ValidationError("--until takes the number of a step, from 1") }
        if let last, last < 1 { throw ValidationError("--last takes a count, from 1") }
    }

    func run(_ session: Session) throws(CommandFailure) {
        if let anonymous { return try write(anonymous, session) }
        let view = ReplayView(session, app: app, last: last, compares: compare)
        var replay = Replay()
        var lost = 0
        var isCutShort = true
        var (nothing, isAny): ([String], Bool) = ([], false)
        for (path, bytes) in try contents(session) where isCutShort {
            var records = FlightRecords(bytes)
            while isCutShort, let record = next(&records, &replay, view) {
                if case .heard = record, replay.steps == until {
                    isCutShort = false
                } else {
                    replay.hear(record, view.take)
                }
            }
            lost += records.lost
            if records.lost == bytes.count, lost > 0 { nothing.append(path) } else { isAny = true }
        }
        if !isAny, let path = nothing.first { throw .failed("\(path) is no recording") }
        replay.finish(isCutShort: isCutShort, view.take)
        if let version = replay.passedOver, replay.steps == 0 {
            throw .failed(
                "all of it is curfewd \(version)'s, in a format that this version does not know; use the curfew of "
                    + "that version")
        }
        if let app, until == nil, !replay.names.hasKnown(app) {
            throw CommandFailure(code: .noSuchApp, text: "no app “\(app)” is in the recording")
        }
        view.end(replay, lost: lost)
        if replay.differing > 0 || replay.isFatal { session.exitCode = CommandFailure.Code.failed.rawValue }
    }

    private func write(_ path: String, _ session: Session) throws(CommandFailure) {
        let originals = try contents(session).map { $0.bytes }
        let copy: AnonymousRecording
        do throws(AnonymousRecording.Failure) {
            copy = try AnonymousRecording(of: originals)
        } catch {
            throw .failed(Self.text(error))
        }
        if copy.steps == 0 { throw .failed("there is no step in it; nothing was written") }
        do throws(SystemError) {
            let file = try FileDescriptor.open(path, O_WRONLY | O_CREAT | O_EXCL)
            try file.writeAll(copy.bytes)
        } catch {
            throw .failed("\(error.text); nothing was written over")
        }
        let (steps, texts) = (Amounts.count(copy.steps, "step"), Amounts.count(copy.texts, "text"))
        session.say("\(path): \(steps), \(texts) replaced")
    }

    private static func text(_ failure: AnonymousRecording.Failure) -> String {
        switch failure {
        case .decidesOtherwise(let steps):
            "this version decides \(Amounts.count(steps, "step")) otherwise than was recorded, so that its copy would "
                + "be another story; use the curfew of the version that has recorded it"
        case .otherVersion(let version):
            "some of it is curfewd \(version)'s, in a format that this version does not know; use the curfew of that "
                + "version"
        }
    }

    private func next(_ records: inout FlightRecords, _ replay: inout Replay, _ view: ReplayView) -> FlightRecord? {
        while true {
            do throws(FlightRecord.OtherFormat) {
                return try records.next()
            } catch {
                replay.passOver(error.version, view.take)
            }
        }
    }

    /// The files and what is in them, oldest first.
    private func contents(_ session: Session) throws(CommandFailure) -> [(path: String, bytes: [UInt8])] {
        let own = session.root + "/var/lib/curfew/recording"
        var former = Self.number(of: own + ".1")
        var contents = try read(files.isEmpty ? [own + ".1", own] : files)
        // While they were read, the one may have become the other.
        while files.isEmpty, former != Self.number(of: own + ".1") {
            former = Self.number(of: own + ".1")
            contents = try read([own + ".1", own])
        }
        if contents.isEmpty {
            throw .failed("\(own) is not there: curfewd has not run here, or could not write it (its log says why)")
        }
        return contents
    }

    /// Its inode; nil: there is none.
    private static func number(of path: String) -> UInt64? {
        var status = stat()
        return stat(path, &status) == 0 ? UInt64(status.st_ino) : nil
    }

    private func read(_ paths: [String]) throws(CommandFailure) -> [(path: String, bytes: [UInt8])] {
        var contents: [(String, [UInt8])] = []
        for path in paths {
            do throws(SystemError) {
                contents.append((path, try Files.read(path, limit: Self.limit)))
            } catch {
                if files.isEmpty, error.errno == .noEntry { continue }
                throw .failed("the recording cannot be read: \(error.text)")
            }
        }
        return contents
    }

    /// Bytes: more than the daemon lets one become.
    private static let limit = 64 << 20
}
