internal import Lifecycle

/// The sleeps of the last ten in which an app took too long: each leaves the next ones half of 2 s, down to 500 ms.
struct OverdueRow {
    /// The last of them, and how many there were since ten were none.
    let last: Int
    private(set) var sleeps = 1

    func bound(in sleep: Int) -> Nanoseconds {
        guard last + 10 >= sleep else { return .seconds(2) }
        switch last == sleep ? sleeps - 1 : sleeps {
        case 0: return .seconds(2)
        case 1: return .seconds(1)
        default: return .milliseconds(500)
        }
    }

    static func after(_ row: OverdueRow?, _ sleep: Int) -> OverdueRow {
        guard let row, row.last + 10 >= sleep else { return OverdueRow(last: sleep) }
        return OverdueRow(last: sleep, sleeps: row.last == sleep ? row.sleeps : row.sleeps + 1)
    }

    /// Whether such an app is ended at this sleep: at the second in a row, or the third of ten.
    static func isTooMuch(_ row: OverdueRow?, _ sleep: Int) -> Bool {
        row?.last == sleep - 1 || after(row, sleep).sleeps > 2
    }
}
