internal import Glibc

/// What the processes of one search have done, in memory that all of them see.
struct SharedTally {
    enum Field: Int, CaseIterable {
        case seeds, steps, virtualTime
        /// The seed at hand: of a process that a trap ends, it is known which one that was.
        case current
        case failures
        /// The first seed that failed, and how many this process had done by then.
        case failed, seedsToFailure
        /// In nanoseconds since the search began.
        case timeToFailure
    }

    let descriptor: Int32
    private let words: UnsafeMutablePointer<UInt64>
    private static let size = 4096 * 8

    /// nil: for a new search; else what a search has handed down.
    init?(descriptor inherited: Int32? = nil) {
        if let inherited {
            descriptor = inherited
        } else {
            var name = Array("/tmp/lifecycle-simulation-XXXXXX".utf8CString)
            descriptor = mkstemp(&name)
            guard descriptor >= 0 else { return nil }
            unlink(name)
            guard ftruncate(descriptor, Self.size) == 0 else { return nil }
        }
        let memory = mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
        guard let memory, memory != MAP_FAILED else { return nil }
        words = memory.assumingMemoryBound(to: UInt64.self)
    }

    subscript(worker: Int, field: Field) -> UInt64 {
        get { words[worker * Field.allCases.count + field.rawValue] }
        nonmutating set { words[worker * Field.allCases.count + field.rawValue] = newValue }
    }

    func sum(_ field: Field, of workers: Int) -> UInt64 {
        (0..<workers).reduce(0) { $0 &+ self[$1, field] }
    }
}
