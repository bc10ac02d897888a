internal import ArgumentParser
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
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if let until, until < 1 { throw ValidationError("--until takes the number of a step, from 1") }
        if let last, last < 1 { throw ValidationError("--last takes a count, from 1") }
    }

    func run(_ session: Session) throws(CommandFailure) {
        let view = ReplayView(session, app: app, last: last, compares: compare)
        var replay = Replay()
        var lost = 0
        var isCutShort = true
        reading: for (path, bytes) in try contents(session) {
            var records = FlightRecords(bytes)
            do {
                while let record = try records.next() {
                    if case .heard = record, replay.steps == until {
                        isCutShort = false
                        break reading
                    }
                    try replay.hear(record, view.take)
                }
            } catch let failure as Replay.Failure {
                throw .failed("\(path) cannot be replayed: \(failure.text)")
            } catch let other as FlightRecord.OtherFormat {
                throw .failed(
                    "\(path) is a recording of curfewd \(other.version), whose format this version does not know; "
                        + "use the curfew of that version")
            } catch {
                throw .failed("\(path) cannot be replayed")
            }
            lost += records.lost
            if replay.steps == 0, records.lost == bytes.count, records.lost > 0 {
                throw .failed("\(path) is no recording")
            }
        }
        do throws(Replay.Failure) {
            try replay.finish(isCutShort: isCutShort, view.take)
        } catch {
            throw .failed(error.text)
        }
        view.end(replay, lost: lost)
        if replay.differing > 0 { session.exitCode = CommandFailure.Code.failed.rawValue }
    }

    /// The files and what is in them, oldest first.
    private func contents(_ session: Session) throws(CommandFailure) -> [(path: String, bytes: [UInt8])] {
        let own = session.root + "/var/lib/curfew/recording"
        let paths = files.isEmpty ? [own + ".1", own] : files
        var contents: [(String, [UInt8])] = []
        for path in paths {
            do throws(SystemError) {
                contents.append((path, try Files.read(path, limit: Self.limit)))
            } catch {
                if files.isEmpty, error.errno == .noEntry { continue }
                throw .failed("the recording cannot be read: \(error.text)")
            }
        }
        if contents.isEmpty {
            throw .failed("\(own) is not there: curfewd has not run here, or could not write it (its log says why)")
        }
        return contents
    }

    /// Bytes: more than the daemon lets one become.
    private static let limit = 64 << 20
}
