/// Finds apps that wait for themselves.
struct LaunchOrder {
    /// For each app the apps it comes after, as places in the list; unknown ones left out.
    private let after: [[Int]]
    private let names: [String]

    /// apps: each name once.
    init(_ apps: [(name: String, after: [String])]) {
        names = apps.map { $0.name }
        var places: [String: Int] = [:]
        for (place, name) in names.enumerated() { places[name] = place }
        after = apps.map { app in app.after.compactMap { places[$0] } }
    }

    /// The shortest cycle through each app that is in one: "camera -> storage -> camera".
    func cycles() -> [String: String] {
        let suspects = unordered()
        var result: [String: String] = [:]
        for place in names.indices where suspects[place] {
            if let cycle = cycle(through: place, within: suspects) {
                result[names[place]] = Self.text(cycle.map { names[$0] })
            }
        }
        return result
    }

    /// What stays when everything that can be launched, and everything that nothing waits for, is taken away.
    private func unordered() -> [Bool] {
        var before = [[Int]](repeating: [], count: names.count)
        for place in names.indices {
            for other in after[place] { before[other].append(place) }
        }
        var remaining = [Bool](repeating: true, count: names.count)
        Self.peel(&remaining, needs: after, dependents: before)
        Self.peel(&remaining, needs: before, dependents: after)
        return remaining
    }

    private static func peel(_ remaining: inout [Bool], needs: [[Int]], dependents: [[Int]]) {
        var open = needs.map { list in list.count { remaining[$0] } }
        var free = remaining.indices.filter { remaining[$0] && open[$0] == 0 }
        while let place = free.popLast() {
            remaining[place] = false
            for other in dependents[place] where remaining[other] {
                open[other] -= 1
                if open[other] == 0 { free.append(other) }
            }
        }
    }

    /// A breadth-first search from an app back to itself.
    private func cycle(through start: Int, within suspects: [Bool]) -> [Int]? {
        var cameFrom = [Int?](repeating: nil, count: names.count)
        var queue = [start]
        var next = 0
        while next < queue.count {
            let place = queue[next]
            next += 1
            for other in after[place] where suspects[other] {
                if other == start {
                    var path = [start]
                    var step: Int? = place
                    while let current = step, current != start {
                        path.append(current)
                        step = cameFrom[current]
                    }
                    path.append(start)
                    return path.reversed()
                }
                if cameFrom[other] == nil {
                    cameFrom[other] = place
                    queue.append(other)
                }
            }
        }
        return nil
    }

    /// A long cycle is cut in the middle.
    private static func text(_ names: [String]) -> String {
        let shown = names.count <= 12 ? names : names.prefix(6) + ["..."] + names.suffix(2)
        var result = ""
        for name in shown { result += result.isEmpty ? name : " -> " + name }
        return result
    }
}
