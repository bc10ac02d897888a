/// Which app goes first when memory is short (`Jetsam`) or the board too hot (`CriticalHeat`): the lesser.
struct JetsamOrder: Comparable {
    var isProtected: Bool
    /// Not frozen.
    var isThawed: Bool
    var band: Int
    var isInFront: Bool
    var bytes: Int64
    var index: Int

    static func < (left: JetsamOrder, right: JetsamOrder) -> Bool {
        if left.isProtected != right.isProtected { return right.isProtected }
        if left.isThawed != right.isThawed { return right.isThawed }
        if left.band != right.band { return left.band < right.band }
        if left.isInFront != right.isInFront { return right.isInFront }
        if left.bytes != right.bytes { return left.bytes > right.bytes }
        return left.index < right.index
    }

    /// As many as give back what is wanted, and no more: at least one, as the pressure is real. A protected app goes
    /// only where no other is left.
    static func chosen(from orders: [JetsamOrder], wanted: Int64) -> [JetsamOrder] {
        var chosen: [JetsamOrder] = []
        var others = orders
        var short = wanted
        while chosen.isEmpty || short > 0, let next = others.indices.min(by: { others[$0] < others[$1] }) {
            let order = others.remove(at: next)
            guard chosen.isEmpty || !order.isProtected else { break }
            chosen.append(order)
            short = short.saturatingSubtract(order.bytes)
            // What this one gives back is not known: it has to show before another goes for it.
            if order.bytes <= 0 { break }
        }
        return chosen
    }
}
