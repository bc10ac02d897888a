internal import CLinux
internal import Journal
internal import Lifecycle
internal import SystemCalls

/// What a daemon leaves to its successor when a sleep is announced: how long the board had slept until then (BOOTTIME
/// less MONOTONIC). The successor's own clocks tell whether it has slept since.
enum SleepNote {
    /// Digits enough for 292 years.
    private static let longest = 20

    static func file(_ path: String) -> ReservedFile { ReservedFile(path: path, size: longest + 1) }

    static func write(_ timeAsleep: Nanoseconds, to path: String) throws(SystemError) {
        try file(path).put(Array("\(timeAsleep.rawValue)\n".utf8))
    }

    /// nil: no daemon of this boot wrote it. Throws `.noEntry` where there is none. now: BOOTTIME less
    /// MONOTONIC; the two are not read at one instant.
    static func read(_ path: String, now: Nanoseconds) throws(SystemError) -> Nanoseconds? {
        // Never waits, whatever lies there.
        let file = try FileDescriptor.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        var text = try file.readAll(limit: longest + 1)
        guard text.count <= longest, text.popLast() == UInt8(ascii: "\n"), !text.isEmpty else { return nil }
        guard text.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }),
            let value = Int64(String(decoding: text, as: UTF8.self))
        else { return nil }
        let noted = Nanoseconds(rawValue: value)
        return noted <= now + .seconds(1) ? noted : nil
    }
}

extension Supervisor {
    private var timeAsleep: Nanoseconds {
        let now = now
        return now.boottime - now.monotonic
    }

    /// A sleep is announced. What is not written costs a successor some time only.
    func noteSleep() {
        do throws(SystemError) {
            try SleepNote.write(timeAsleep, to: paths.sleepNote)
        } catch {
            log.daemon(.debug, "no note of this sleep: " + error.text)
        }
    }

    var note: ReservedFile { SleepNote.file(paths.sleepNote) }

    /// It is over.
    func removeSleepNote() { try? note.remove() }

    /// What a predecessor left is the core's to judge, once.
    func takeSleepNote() {
        do throws(SystemError) {
            let noted = try SleepNote.read(paths.sleepNote, now: timeAsleep)
            removeSleepNote()
            if let noted { return dispatch(.sleep(.noted(timeAsleep: noted))) }
            log.daemon(.debug, paths.sleepNote + " is no note of a sleep")
        } catch {
            if error.errno != .noEntry { log.daemon(.debug, error.text) }
        }
    }
}
