package import Lifecycle

/// The only source of chance in a simulation: SplitMix64. The same seed gives the same numbers everywhere and always.
package struct SeededGenerator {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// 0 ..< bound; the bias of a remainder does not matter here.
    package mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

    package mutating func chance(perMille: Int) -> Bool { below(1000) < perMille }

    package mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

    /// Evenly spread over low ... high.
    package mutating func span(_ low: Nanoseconds, _ high: Nanoseconds) -> Nanoseconds {
        let width = UInt64(high.rawValue - low.rawValue) + 1
        return low + Nanoseconds(rawValue: Int64(next() % width))
    }

    /// Short times are as likely as long ones: the order of magnitude is chosen first.
    package mutating func magnitude(_ low: Nanoseconds, _ high: Nanoseconds) -> Nanoseconds {
        var steps = 0
        var reach = low
        while reach < high {
            reach = reach.doubled(upTo: high)
            steps += 1
        }
        guard steps > 0 else { return low }
        var from = low
        for _ in 0..<below(steps) { from = from.doubled(upTo: high) }
        return span(from, from.doubled(upTo: high))
    }
}
