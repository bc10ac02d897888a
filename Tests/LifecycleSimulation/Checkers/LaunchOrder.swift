internal import Lifecycle

/// Which app comes after which, as the last configuration says. What lies on a circle is left out: which of its parts
/// gives way is not said.
struct LaunchOrder {
    private struct Node {
        let app: AppID
        var servers: [Int] = []
        var level = 0
    }

    private var nodes: [Node] = []
    /// Levels cannot be told.
    private(set) var isCircular = false

    mutating func learn(_ directory: AppDirectory) {
        let entries = directory.entries.filter(\.isConfigured)
        nodes = entries.map { Node(app: $0.id) }
        for (index, entry) in entries.enumerated() {
            nodes[index].servers = entries.indices.filter { entry.policy.after.contains(entries[$0].policy.name) }
        }
        let all = nodes
        isCircular = false
        for index in nodes.indices {
            nodes[index].servers.removeAll { Self.reaches(from: $0, to: index, all) }
            if nodes[index].servers.count != all[index].servers.count { isCircular = true }
        }
        // No chain is longer than there are apps.
        for _ in nodes.indices {
            for index in nodes.indices {
                for server in nodes[index].servers {
                    nodes[index].level = max(nodes[index].level, nodes[server].level + 1)
                }
            }
        }
    }

    private static func reaches(from start: Int, to target: Int, _ nodes: [Node]) -> Bool {
        var seen = [Bool](repeating: false, count: nodes.count)
        var open = [start]
        while let index = open.popLast() {
            if index == target { return true }
            if seen[index] { continue }
            seen[index] = true
            open += nodes[index].servers
        }
        return false
    }

    /// Those that it comes after directly.
    func servers(of app: AppID) -> [AppID] {
        nodes.first { $0.app == app }?.servers.map { nodes[$0].app } ?? []
    }

    /// The length of the longest chain of apps that it comes after.
    func level(_ app: AppID) -> Int { nodes.first { $0.app == app }?.level ?? 0 }

    /// Directly, or through others.
    func comesAfter(_ client: AppID, _ server: AppID) -> Bool {
        guard client != server, let from = nodes.firstIndex(where: { $0.app == client }),
            let to = nodes.firstIndex(where: { $0.app == server })
        else { return false }
        return Self.reaches(from: from, to: to, nodes)
    }
}
