internal import CLinux

/// How processes ended that became ours when their parents did, such as a daemon that puts itself into the background:
/// the last of them, for a loop that has followed one and asks.
struct OrphanEnds {
    /// More than end between a process's end and the loop's question for it.
    private static let limit = 256

    private var ends: [(pid: Int32, end: linux_exit)] = []
    private var next = 0
    /// What was asked for, and is not told yet.
    private var asked: [(id: Int64, pid: Int32)] = []

    mutating func add(_ pid: Int32, _ end: linux_exit) {
        if ends.count < Self.limit { return ends.append((pid, end)) }
        ends[next] = (pid, end)
        next = (next + 1) % Self.limit
    }

    mutating func ask(_ id: Int64, of pid: Int32) { asked.append((id, pid)) }

    mutating func forgetQuestions() { asked = [] }

    /// The next answer; nil: all was told. A code of 0: that is not known.
    var nextWord: keeper_word? {
        guard let (id, pid) = asked.first else { return nil }
        var end = linux_exit()
        if let known = ends[..<next].last(where: { $0.pid == pid }) ?? ends[next...].last(where: { $0.pid == pid }) {
            end = known.end
        } else if linux_peek_end(pid, &end) != pid {
            end.code = 0
        }
        var word = keeper_word()
        word.kind = UInt32(KEEPER_ORPHAN_ENDED)
        word.id = id
        word.pid = pid
        word.code = end.code
        word.status = end.status
        return word
    }

    mutating func told() { asked.removeFirst() }
}
