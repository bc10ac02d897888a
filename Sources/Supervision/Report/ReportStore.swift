internal import CLinux
internal import Journal
internal import Lifecycle
internal import SystemCalls
internal import Varlink

/// Why apps ended, over reboots: one JSON line an end, in a file that is begun anew at 256 KiB. Then the last ends of
/// each app go into the file before it, so that one that ends again and again drives out no report but its own, as long
/// as the disk takes them. A line is written before anything follows from its end, and sent on its way to the disk
/// without waiting for it: an SD card may take a second, and an app that is to be restarted has not got that.
final class ReportStore {
    static let fileLimit = 256 << 10
    /// Room that is kept for it: the line that reaches the limit is the last.
    private static let reserved = off_t(fileLimit + (16 << 10))
    /// So much of a file is read, its end. One that is longer is not as the store has left it.
    private static let readLimit = 4 * fileLimit
    /// Ends that are kept of each app, and of all commands together that were tasks of their own.
    static let keptOfApp = 20
    static let keptOfTasks = 40

    private let path: String
    private let directory: String
    private var lastID = 0
    private var isPrepared = false
    /// The ends that could not be written yet, the last of them: a full disk must not hide why apps ended.
    private var unwritten: [JSON] = []
    private static let unwrittenLimit = 64
    /// Hears, once each, what is wrong with the files.
    var onTrouble: ((String) -> Void)?
    private var cannotBeginAnew = false

    init(directory: String) {
        self.directory = directory
        path = directory + "/reports.jsonl"
    }

    private var previous: String { path + ".1" }
    /// What that was made of; read where it is empty.
    private var former: String { path + ".2" }
    private var before: String { lines(of: previous).isEmpty ? former : previous }

    /// The identifier of the next report: identifiers go on over restarts.
    func nextID() -> Int {
        prepare()
        lastID += 1
        return lastID
    }

    /// Throws when the line could not be written; then it is kept in memory, and written before the next.
    func append(_ report: Report) throws(SystemError) {
        prepare()
        unwritten.append(report.stored)
        do throws(SystemError) {
            try catchUp()
        } catch {
            if unwritten.count > Self.unwrittenLimit { unwritten.removeFirst() }
            throw error
        }
    }

    /// Writes what the disk has not taken so far, in order.
    func catchUp() throws(SystemError) {
        while let first = unwritten.first {
            try write(first)
            unwritten.removeFirst()
        }
    }

    /// What fills the disk is often what ended. Where there is no room, or none can be kept, ends are written as long
    /// as there is.
    func reserve() {
        if let file = try? open() { _ = linux_reserve(file.rawValue, Self.reserved) }
    }

    private func open() throws(SystemError) -> FileDescriptor {
        try Files.createDirectories(directory, mode: 0o750)
        if isInTheWay(path) { try setAside(path, "it is no file") }
        return try FileDescriptor.openRegular(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, mode: 0o640)
    }

    private func write(_ report: JSON) throws(SystemError) {
        let file = try open()
        var bytes = report.bytes()
        bytes.append(UInt8(ascii: "\n"))
        let size = lseek(file.rawValue, 0, SEEK_END)
        if size > 0, !endsWithNewline(size) { bytes.insert(UInt8(ascii: "\n"), at: 0) }
        do throws(SystemError) {
            try file.writeAll(bytes)
        } catch {
            // Half a line, of each try one, would fill what is left of the disk.
            if size >= 0 { _ = ftruncate(file.rawValue, size) }
            throw error
        }
        linux_start_writeback(file.rawValue)
        if Int(size) + bytes.count > Self.fileLimit { rotate(Int(size) + bytes.count) }
    }

    private func rotate(_ size: Int) {
        let isTooLong = size > Self.readLimit
        do throws(SystemError) {
            try beginAnew(isTooLong)
            cannotBeginAnew = false
        } catch {
            if !cannotBeginAnew { onTrouble?("\(path) cannot be begun anew, and goes on: \(error.text)") }
            cannotBeginAnew = true
            // Not for ever: that takes no room on the disk.
            if isTooLong { try? setAside(path, "it is too long") }
        }
    }

    /// A directory, say.
    private func isInTheWay(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && !Files.isFile(path)
    }

    /// Puts away what the store cannot go on with, for those who look after the board; in place of an earlier one.
    private func setAside(_ path: String, _ why: String) throws(SystemError) {
        let aside = path + ".broken"
        try Files.move(path, to: aside)
        onTrouble?("\(path) was set aside as \(aside), and a new one is begun: \(why)")
    }

    /// What is kept of both files becomes the one before; where that cannot be written, this one goes on.
    private func beginAnew(_ isTooLong: Bool) throws(SystemError) {
        if isInTheWay(previous) { try setAside(previous, "it is no file") }
        let texts = [before, path].map(Self.end)
        var ends: [(owner: String, line: ArraySlice<UInt8>)] = []
        for text in texts {
            for line in text.split(separator: UInt8(ascii: "\n")) {
                guard let json = try? JSON.parse(line), let name = json["app"]?.stringValue else { continue }
                ends.append((name.utf8.starts(with: Self.task.utf8) ? Self.task : name, line))
            }
        }
        var share = 1
        var kept = Self.choose(from: ends, share: share)
        // Of a thousand apps fewer each; of ten thousand the last.
        while kept.count > 2 * Self.fileLimit, share < Self.keptOfApp {
            share *= 2
            kept = Self.choose(from: ends, share: share)
        }
        if kept.count > 2 * Self.fileLimit {
            let end = kept[(kept.count - 2 * Self.fileLimit)...].firstIndex(of: UInt8(ascii: "\n"))
            kept.removeFirst((end ?? kept.count - 1) + 1)
        }
        try Files.replace(previous, with: kept, mode: 0o640, durable: false)
        if isTooLong { return try setAside(path, "it is too long") }
        // Not removed: what was made of it may not be on the disk when the power is lost.
        try Files.move(path, to: former)
        reserve()
    }

    /// The last ends of each owner, or their share-th part, in their order.
    private static func choose(from ends: [(owner: String, line: ArraySlice<UInt8>)], share: Int) -> [UInt8] {
        var counts: [String: Int] = [:]
        var chosen: [ArraySlice<UInt8>] = []
        for end in ends.reversed() {
            let count = (counts[end.owner] ?? 0) + 1
            counts[end.owner] = count
            if count <= max((end.owner == task ? keptOfTasks : keptOfApp) / share, 1) { chosen.append(end.line) }
        }
        var bytes: [UInt8] = []
        for line in chosen.reversed() {
            bytes += line
            bytes.append(UInt8(ascii: "\n"))
        }
        return bytes
    }

    /// What the names of commands that are tasks of their own begin with.
    private static let task = "task-"

    /// Waits until the reports are on the disk: the board is about to be reset.
    func sync() {
        try? catchUp()
        // The last of them may have begun the file anew.
        for path in [path, previous, former] {
            if let file = try? FileDescriptor.openRegular(path, O_RDONLY) { fsync(file.rawValue) }
        }
        if let folder = try? FileDescriptor.open(directory, O_RDONLY | O_DIRECTORY) { fsync(folder.rawValue) }
    }

    /// All that is kept, by identifier. Lines that a power loss cut short are left out. A later line with the
    /// identifier of an earlier one stands in its place.
    func all() -> [JSON] {
        var kept: [JSON] = []
        var ids: [Int] = []
        for report in lines(of: before) + lines(of: path) + unwritten {
            let id = Self.identifier(of: report)
            // They rise, nearly always: this looks at the last one alone.
            let place = (ids.lastIndex { $0 <= id } ?? -1) + 1
            if place > 0, ids[place - 1] == id {
                kept[place - 1] = report
            } else {
                kept.insert(report, at: place)
                ids.insert(id, at: place)
            }
        }
        return kept
    }

    /// The identifier of the latest report of this name.
    func last(of name: String) -> Int? {
        all().last { $0["app"]?.stringValue == name }.map(Self.identifier)
    }

    /// 0: it has none. Beyond 2^53 is more than was ever counted.
    private static func identifier(of report: JSON) -> Int {
        let id = report["report"]?.stringValue.flatMap { Int($0) } ?? 0
        return id <= Int.max >> 10 ? id : 0
    }

    private func prepare() {
        guard !isPrepared else { return }
        isPrepared = true
        for report in all() {
            lastID = max(lastID, Self.identifier(of: report))
        }
    }

    /// The last of a file: its latest ends, whatever is before them.
    private static func end(of path: String) -> [UInt8] {
        guard let file = try? FileDescriptor.openRegular(path, O_RDONLY) else { return [] }
        let size = lseek(file.rawValue, 0, SEEK_END)
        lseek(file.rawValue, max(0, size - readLimit), SEEK_SET)
        return (try? file.readAll(limit: readLimit)) ?? []
    }

    private func lines(of path: String) -> [JSON] {
        Self.end(of: path).split(separator: UInt8(ascii: "\n")).compactMap { line in
            guard let json = try? JSON.parse(line), Self.identifier(of: json) > 0 else { return nil }
            return json
        }
    }

    /// A line that a power loss cut short must not swallow the next one.
    private func endsWithNewline(_ size: Int) -> Bool {
        guard let file = try? FileDescriptor.openRegular(path, O_RDONLY) else { return true }
        var last: UInt8 = 0
        guard pread(file.rawValue, &last, 1, size - 1) == 1 else { return true }
        return last == UInt8(ascii: "\n")
    }
}
