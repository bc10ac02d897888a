internal import Lifecycle

/// What is going to happen on the board.
enum Happening {
    /// The daemon's event loop hears something.
    case deliver(Event)
    /// The timer the core asked for; an older generation has been re-armed since.
    case timer(generation: Int)
    /// The alarm the core asked for rings; an older generation has been set anew since.
    case alarm(generation: Int)
    /// The event loop runs again after a stall.
    case loopResumes
    case process(InstanceID, ProcessAct)
    case login(LoginAct)
    case disturbance(Disturbance)
    /// One kind of conditions changes.
    case storm(Storm)
    case board(BoardMove)

    /// Whether it is work that takes processor time, and so is put off when the whole board stops.
    var isWork: Bool {
        switch self {
        case .process: true
        case .deliver, .timer, .alarm, .loopResumes, .login, .disturbance, .storm, .board: false
        }
    }

    /// Whether the board is not at rest before it has happened.
    var isUnrest: Bool {
        switch self {
        case .deliver, .loopResumes: true
        case .process(_, let act): !act.isRoutine
        case .login(let act): act != .outage
        case .board(let move): move.isAnswer
        case .timer, .alarm, .disturbance, .storm: false
        }
    }
}

/// Happenings by time; those of the same time in the order in which they were added.
struct HappeningQueue {
    struct Entry {
        var at: Nanoseconds
        let order: Int
        let what: Happening

        static func < (left: Entry, right: Entry) -> Bool {
            left.at == right.at ? left.order < right.order : left.at < right.at
        }
    }

    private var heap: [Entry] = []
    private var added = 0

    mutating func add(_ what: Happening, at: Nanoseconds) {
        heap.append(Entry(at: at, order: added, what: what))
        added += 1
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child] < heap[parent] else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    mutating func popFirst() -> Entry? {
        guard let first = heap.first else { return nil }
        let last = heap.removeLast()
        if !heap.isEmpty {
            heap[0] = last
            sink(0)
        }
        return first
    }

    /// Everything matching, taken out in order of time.
    mutating func remove(where matches: (Happening) -> Bool) -> [Entry] {
        let taken = heap.filter { matches($0.what) }.sorted { $0 < $1 }
        if !taken.isEmpty { replace(with: heap.filter { !matches($0.what) }) }
        return taken
    }

    /// The whole board stood still for so long: what is work is done later.
    mutating func putOffWork(by time: Nanoseconds) {
        replace(
            with: heap.map { entry in
                guard entry.what.isWork else { return entry }
                var later = entry
                later.at += time
                return later
            })
    }

    var hasUnrest: Bool { heap.contains { $0.what.isUnrest } }

    private mutating func replace(with entries: [Entry]) {
        heap = entries
        for index in stride(from: heap.count / 2, through: 0, by: -1) where index < heap.count { sink(index) }
    }

    private mutating func sink(_ start: Int) {
        var parent = start
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && heap[child] < heap[least] {
                least = child
            }
            guard least != parent else { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
