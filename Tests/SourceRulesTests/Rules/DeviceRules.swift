extension Rule {
    /// What runs always stays inside what Embedded Swift compiles, on one thread.
    static let device = [
        Rule(name: "device targets import targets of the package only") { tree in
            let own = Set(tree.targets.map(\.name))
            return try tree.deviceTargets.flatMap { target in
                try tree.swift(in: "Sources/\(target.name)").flatMap { file in
                    try file.imports().filter { !own.contains($0.module) }.map {
                        file.violation($0.line, "\($0.module) does not belong in what curfewd links")
                    }
                }
            }
        },
        Rule(name: "device targets have no concurrency") { tree in
            let pattern = try Pattern(#"\b(async|await|actor)\b|\bTask\s*(\{|\(|\.detached|\.init|<)|@MainActor\b"#)
            return tree.deviceTargets.flatMap { target in
                tree.swift(in: "Sources/\(target.name)").flatMap {
                    $0.violations(of: pattern, "curfewd has one thread: no async, await, actor or Task")
                }
            }
        },
        Rule(name: "the list of device targets is found") { tree in
            tree.deviceTargets.contains { $0.name == "curfewd" }
                ? [] : [Violation(path: "Package.swift", line: 0, message: "no target curfewd with `device` settings")]
        },
    ]

    /// Dependencies point inward.
    static let imports = [
        Rule(name: "leaf modules import Vocabulary, SystemCalls and C modules only") { tree in
            let others = SourceTree.pure + ["Configuration", "Keeper", "Supervision"]
            let leaves = tree.deviceTargets.filter { $0.kind == "target" && !others.contains($0.name) }
            return try leaves.flatMap { leaf in
                try tree.swift(in: "Sources/\(leaf.name)").flatMap { file in
                    try file.imports().filter {
                        !["Vocabulary", "SystemCalls"].contains($0.module) && !isCModule($0.module)
                    }.map { file.violation($0.line, "the leaf module \(leaf.name) imports \($0.module)") }
                }
            }
        },
        Rule(name: "the client library imports Varlink and what that imports") { tree in
            let allowed: Set = ["Varlink", "SystemCalls", "Synchronization"]
            return try tree.swift(in: "Sources/Curfew").flatMap { file in
                try file.imports().filter { !allowed.contains($0.module) && !isCModule($0.module) }.map {
                    file.violation($0.line, "\($0.module) would have to be linked by every app")
                }
            }
        },
        Rule(name: "what is played is sent there by the linker") { tree in
            let manifest = tree.files.first { $0.path == "Package.swift" }?.lines ?? []
            return tree.files.filter { $0.isIn("Tests/ShellSimulation") }.flatMap { file in
                file.lines.indices.compactMap { index in
                    let words = file.lines[index].split(separator: "\"")
                    guard let symbol = words.first(where: { $0.hasPrefix("__wrap_") }) else { return nil }
                    let name = "\"\(symbol.dropFirst("__wrap_".count))\""
                    if manifest.contains(where: { $0.contains(name) }) { return nil }
                    return file.violation(index, "name it in playedCalls of Package.swift, or it is never called")
                }
            }
        },
        Rule(name: "few import the core") { tree in
            let allowed: Set = ["Configuration", "Supervision", "CurfewCommands", "curfew"]
            return try tree.swift(in: "Sources").filter { !allowed.contains($0.target ?? "") }.flatMap { file in
                try file.imports().filter { SourceTree.pure.contains($0.module) && $0.module != "Vocabulary" }.map {
                    file.violation($0.line, "\($0.module) is for Configuration, Supervision, the CLI and tests")
                }
            }
        },
    ]

    private static func isCModule(_ name: String) -> Bool {
        name.hasPrefix("C") && name.dropFirst().first?.isUppercase == true
    }
}

extension SourceFile {
    /// The modules imported, with the lines from 0.
    func imports() throws -> [(module: String, line: Int)] {
        let kinds = "(?:(?:struct|class|enum|protocol|typealias|func|var|let)\\s+)?"
        let pattern = try Pattern(#"^\s*(?:(?:@\w+(?:\([^)]*\))?|[a-z]+)\s+)*?import\s+"# + kinds + #"(\w+)"#)
        return code.indices.flatMap { line in pattern.groups(in: code[line]).map { ($0, line) } }
    }
}
