extension Rule {
    /// Names and words.
    static let wording = [
        Rule(name: "no Utils, Helpers, Manager or Common") { tree in
            let empty = #"\w*(?:Utils?|Utilit(?:y|ies)|Helpers?|Managers?|Common)(?=[A-Z_.+/\-]|\b)"#
            let types = try Pattern(#"\b(?:struct|class|enum|protocol|actor|typealias)\s+(\#(empty))"#)
            let parts = try Pattern("(?:^|/)(?i:utils?|helpers?|managers?|common)(?:[./]|$)|\(empty)")
            let message = "the name says nothing: name the concept"
            return tree.files.flatMap { file in
                (parts.isFound(in: file.path) ? [Violation(path: file.path, line: 0, message: message)] : [])
                    + (file.language == .swift || file.language == .c ? file.violations(of: types, message) : [])
            }
        },
        Rule(name: "no two files of the sources have one name") { tree in
            // What starts a program is called main, and examples stand by themselves.
            let files = tree.swift(in: "Sources").filter { $0.name != "main.swift" && !$0.isIn("Sources/Clients") }
            return files.indices.filter { place in files[..<place].contains { $0.name == files[place].name } }.map {
                Violation(path: files[$0].path, line: 0, message: "another module has a file of this name")
            }
        },
        Rule(name: "no two modules have a type of one name") { tree in
            let declaration = try Pattern(
                #"^(?:(?:public|package|internal|final|indirect|@\w+) )*(?:struct|class|enum|protocol|typealias) (\w+)"#
            )
            // The client library is linked with none of the others: apps know their words by it.
            let files = tree.swift(in: "Sources").filter { !$0.isIn("Sources/Curfew") && !$0.isIn("Sources/Clients") }
            var seen: [String: String?] = [:]
            return files.flatMap { file in
                file.code.indices.compactMap { index in
                    guard let name = declaration.groups(in: file.code[index]).first else { return nil }
                    let other = seen.updateValue(file.target, forKey: name)
                    guard let other, other != file.target else { return nil }
                    return file.violation(index, "another module has a type \(name)")
                }
            }
        },
        Rule(name: "nothing is left to do") { tree in
            let words = try Pattern(#"\b(TODO|FIXME|XXX|HACK)\b|\b(?i:placeholder|scaffold)|[a-z]Scaffold"#)
            return tree.files.filter { !$0.isIn("Tests/SourceRulesTests") }.flatMap { file in
                file.lines.indices.filter { words.isFound(in: file.lines[$0]) }.map {
                    file.violation($0, "finish it, or file an issue: \(words.groups(in: file.lines[$0]))")
                }
            }
        },
        Rule(name: "sentences have real subjects") { tree in
            let words = try Pattern(
                #"\b(?i:nobody|somebody|anybody|everybody|whoever)\b|(?<!there )\bis none\b|\bThat it was\b"#)
            let folders = [
                "Sources", "deploy", "hardware-profiles", "README.md", "Tests/README.md", "Tests/LifecycleSimulation",
                "Tests/ShellSimulation", "Tests/PlayedKernel",
            ]
            // An account of that name is in every Linux.
            let account = try Pattern(#"user = "nobody""#)
            let files = tree.files.filter { file in folders.contains { file.isIn($0) || file.path == $0 } }
            return files.flatMap { file in
                file.lines.indices.filter {
                    words.isFound(in: file.lines[$0]) && !account.isFound(in: file.lines[$0])
                }.map {
                    file.violation($0, "say who: an app, the kernel, another process")
                }
            }
        },
        Rule(name: "tests do not sleep") { tree in
            let message = "wait for the event, with a bound (or say `not a wait: why` in a comment on this line)"
            let calls = try Pattern(
                #"(?<![.\w])(?<!func )(?<!def )(?:sleep|usleep|nanosleep|clock_nanosleep)\s*\(\s*[^)\s]"#
                    + #"|\b(?:Task|Thread|time|asyncio|Glibc|CLinux)\.(?:u|nano)?sleep\b|\bsleepForTimeInterval\b"#)
            let tests = tree.files.filter { $0.isIn("Tests") && $0.language != .text && $0.language != .shell }
            return tests.flatMap { file in
                file.violations(of: calls, message).filter { !file.lines[$0.line - 1].contains(" not a wait: ") }
            }
        },
        Rule(name: "public declarations carry a doc comment") { tree in
            try tree.swift(in: "Sources").flatMap { file in
                try file.undocumented().map { file.violation($0, "a public declaration without a doc comment") }
            }
        },
    ]

    /// Where things stand.
    static let layout = [
        Rule(name: "the map's walks name what is there") { tree in
            guard let map = tree.files.first(where: { $0.path == "Sources/README.md" }) else { return [] }
            let step = try Pattern(#"^\d+\. `([\w/]+\.swift)`:"#)
            // What follows the names is prose.
            let names = try Pattern(#"(?<=`: |`, )`(\w+)`"#)
            return try map.lines.indices.flatMap { index -> [Violation] in
                guard let path = step.groups(in: map.lines[index]).first else { return [] }
                guard let file = tree.files.first(where: { $0.path == "Sources/" + path }) else {
                    return [map.violation(index, "there is no \(path)")]
                }
                return try names.groups(in: map.lines[index]).compactMap { name in
                    let declaration = try Pattern("\\b(?:func|var|let|case) \(name)\\b|&\(name)\\b")
                    return file.code.contains { declaration.isFound(in: $0) }
                        ? nil : map.violation(index, "\(path) has no \(name)")
                }
            }
        },
        Rule(name: "entry points have under 50 lines") { tree in
            tree.targets.filter { $0.kind == "executableTarget" }.flatMap { target in
                tree.swift(in: "Sources/\(target.name)").filter { $0.lines.count >= 50 }.map {
                    $0.violation(49, "an entry point only starts things: under 50 lines")
                }
            }
        },
        Rule(name: "the top level is small") { tree in
            let allowed: Set = [
                "Package.swift", "Sources", "Tests", "deploy", "hardware-profiles", "README.md", "LICENSE",
            ]
            let entries = Set(tree.files.compactMap { $0.path.split(separator: "/").first.map(String.init) }).sorted()
            return entries.filter { !$0.hasPrefix(".") && !allowed.contains($0) }.map {
                Violation(path: $0, line: 0, message: "does not belong at the top level")
            }
        },
    ]
}

extension SourceFile {
    /// Lines (from 0) of public types, functions and subscripts without a doc comment. Let off are properties,
    /// initialisers and enum cases, which their type's comment may explain; operators; functions whose whole body
    /// stands on the line; and what a protocol of the standard library asks for.
    func undocumented() throws -> [Int] {
        let attributes = #"(?:@\w+(?:\([^)]*\))?\s+)*"#
        let modifiers = #"(?:(?:static|final|mutating|consuming|borrowing|nonisolated|indirect|class)\s+)*"#
        let kinds = "(?:struct|class|enum|protocol|actor|typealias|func|subscript|macro)"
        let declaration = try Pattern("^\\s*\(attributes)(?:public|open)\\s+\(modifiers)\(kinds)\\b")
        let explained = try Pattern(#"\bfunc\s+(?:[^\w`\s]|(?:hash\(into|next\())|\bfunc\b.*\{.*\}\s*$|\bRawValue\b"#)
        return code.indices.filter { index in
            guard declaration.isFound(in: code[index]), !explained.isFound(in: code[index]) else { return false }
            let above = lines[..<index].reversed().map { $0.drop(while: { $0 == " " }) }
            let first = above.first { !$0.hasPrefix("@") && !$0.hasPrefix("#") && !$0.hasPrefix("// swift-format") }
            return first?.hasPrefix("///") != true && first?.hasSuffix("*/") != true
        }
    }
}
