internal import Lifecycle

/// What is going to happen on the board.
enum Happening {
    /// The daemon's event loop hears something.
    case deliver(Event)
    /// The same, of what was on its way for long.
    case answer(Event)
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
    case hardship(Hardship)
    /// The daemon is started again after its death.
    case daemonReturns

    /// Whether it is work that takes processor time, and so is put off when the whole board stops.
    var isWork: Bool {
        switch self {
        case .process: true
        case .deliver, .answer, .timer, .alarm, .loopResumes, .login, .disturbance, .storm, .board, .hardship,
            .daemonReturns:
            false
        }
    }

    /// Whether the board is not at rest before it has happened.
    var isUnrest: Bool {
        switch self {
        case .deliver, .answer, .loopResumes, .daemonReturns: true
        case .process(_, let act): !act.isRoutine
        case .login(let act):
            switch act {
            // Where it still counts, logind is at it.
            case .outage, .losesPatience: false
            default: true
            }
        case .board(let move): move.isAnswer
        case .timer, .alarm, .disturbance, .storm, .hardship: false
        }
    }
}

/// Happenings by time; those of the same time in the order in which they were added.
struct HappeningQueue {
    struct Entry {
        let at: Nanoseconds
        let what: Happening
    }

    /// What is moved about in the heap: a happening itself is large, and stays where it is.
    private struct Key {
        var at: Nanoseconds
        let order: Int
        let place: Int

        static func < (left: Key, right: Key) -> Bool {
            left.at == right.at ? left.order < right.order : left.at < right.at
        }
    }

    private var heap: [Key] = []
    private var happenings: [Happening?] = []
    private var freePlaces: [Int] = []
    private var added = 0
    private var unrestCount = 0

    var hasUnrest: Bool { unrestCount > 0 }

    mutating func add(_ what: Happening, at: Nanoseconds) {
        if what.isUnrest { unrestCount += 1 }
        heap.append(Key(at: at, order: added, place: place(for: what)))
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
        return take(first)
    }

    /// Everything matching, taken out in order of time.
    mutating func remove(where matches: (Happening) -> Bool) -> [Entry] {
        var taken: [Key] = []
        var left: [Key] = []
        for key in heap {
            if happenings[key.place].map(matches) ?? false { taken.append(key) } else { left.append(key) }
        }
        if taken.isEmpty { return [] }
        replace(with: left)
        return taken.sorted { $0 < $1 }.compactMap { take($0) }
    }

    /// The whole board stood still for so long: what is work is done later.
    mutating func putOffWork(by time: Nanoseconds) {
        for index in heap.indices where happenings[heap[index].place]?.isWork ?? false { heap[index].at += time }
        replace(with: heap)
    }

    private mutating func place(for what: Happening) -> Int {
        if let place = freePlaces.popLast() {
            happenings[place] = what
            return place
        }
        happenings.append(what)
        return happenings.count - 1
    }

    private mutating func take(_ key: Key) -> Entry? {
        guard let what = happenings[key.place] else { return nil }
        happenings[key.place] = nil
        freePlaces.append(key.place)
        if what.isUnrest { unrestCount -= 1 }
        return Entry(at: key.at, what: what)
    }

    private mutating func replace(with keys: [Key]) {
        heap = keys
        for index in stride(from: heap.count / 2, through: 0, by: -1) where index < heap.count { sink(index) }
    }

    private mutating func sink(_ start: Int) {
        var parent = start
        while true {
            var least = parent
            let left = 2 * parent + 1
            if left < heap.count, heap[left] < heap[least] { least = left }
            if left + 1 < heap.count, heap[left + 1] < heap[least] { least = left + 1 }
            guard least != parent else { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
