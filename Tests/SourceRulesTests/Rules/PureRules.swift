extension Rule {
    /// What the pure core may not do: all that would make a replay differ from the run, or swallow an event.
    static let pure = [
        Rule(name: "pure targets import their words and nothing else") { tree in
            let pattern = try Pattern(
                #"^\s*((@\w+|public|internal|private|package)\s+)*import\s+(?!Vocabulary$)"#)
            return tree.pureFiles.flatMap { $0.violations(of: pattern, "a pure target imports Vocabulary alone") }
        },
        Rule(name: "pure targets read no clock and draw no random numbers") { tree in
            let pattern = try Pattern(
                #"\b(ContinuousClock|SuspendingClock|Clocks\.\w+|clock_gettime|gettimeofday|Date|DispatchTime|"#
                    + #"Hasher|hashValue|SystemRandomNumberGenerator)\b"#
                    + #"|\.(random|randomElement|shuffled|shuffle)\("#)
            return tree.pureFiles.flatMap {
                $0.violations(of: pattern, "time and chance are inputs of a pure target")
            }
        },
        Rule(name: "pure targets do not iterate over a Dictionary or a Set") { tree in
            try SourceTree.pure.flatMap { try unorderedIteration(in: tree.swift(in: "Sources/\($0)")) }
        },
        Rule(name: "pure targets have no default in a switch") { tree in
            let pattern = try Pattern(#"(^|[;{\s])default\s*:"#)
            return tree.pureFiles.flatMap { file in
                file.violations(of: pattern, "write the cases down (or `// open set: why` on this line)").filter {
                    !file.lines[$0.line - 1].contains("// open set: ")
                }
            }
        },
        Rule(name: "nothing is forced") { tree in
            let forced = try Pattern(#"\b(try|as)!|\bfatalError\s*\("#)
            let unwrapped = try Pattern(#"[\w)\]>?]!(?!=)"#)
            return tree.swift(in: "Sources").flatMap { file in
                file.violations(of: forced, "no try!, as! or fatalError")
                    + file.violations(of: unwrapped, "no force unwrap").filter {
                        !forced.isFound(in: file.code[$0.line - 1])
                    }
            }
        },
    ]

    /// By name: what is declared as a Dictionary or a Set anywhere in the target may not be walked, as the order is
    /// another one in each process. Sorting first is fine. A value that a function returns is not seen.
    private static func unorderedIteration(in files: [SourceFile]) throws -> [Violation] {
        let type = #"(?:\[[^\[\]=]+:[^=]+\]|(?:Dictionary|Set)<)"#
        let declaration = try Pattern(#"\b(\w+)\s*(?::\s*(?:inout\s+)?\#(type)|=\s*(?:\#(type)|Set\(|\[:\]))"#)
        let names = Set(files.flatMap { $0.code.flatMap(declaration.groups(in:)) }).sorted()
        guard !names.isEmpty else { return [] }
        let name = #"\b(?:\#(names.joined(separator: "|")))"#
        let walks = [
            "forEach", "map", "compactMap", "flatMap", "reduce", "first", "min", "max", "enumerated", "lazy",
            "makeIterator", "popFirst", "removeFirst", #"(?:keys|values)\b(?!\.(?:sorted|contains|count|isEmpty)\b)"#,
        ]
        let used = try Pattern(
            #"\bin\s+(?:\w+[.?]+)*\#(name)\s*(?:where\b|\{|$)"#
                + #"|\#(name)\??\.(?:\#(walks.joined(separator: "|")))\b"#
                + #"|\b(?:Array|zip)\((?:\w+[.?]+)*\#(name)\b\s*[,)]"#)
        return files.flatMap {
            $0.violations(
                of: used, "the order of a Dictionary or Set differs in each process: sort first, or keep an Array")
        }
    }
}
