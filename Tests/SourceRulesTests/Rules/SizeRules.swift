extension Rule {
    /// Files, functions and lines stay small enough to be read.
    static let size = [
        Rule(name: "a file has at most 400 lines") { tree in
            tree.files.filter { $0.language != .text && $0.lines.count > 400 && !isWholeLibrary($0) }.map {
                $0.violation(400, "the file has \($0.lines.count) lines, 400 is the most")
            }
        },
        Rule(name: "a function has at most 60 lines") { tree in
            tree.files.flatMap { file in
                FunctionSpan.all(in: file).filter { $0.lineCount > 60 }.map {
                    file.violation($0.first, "\($0.name) has \($0.lineCount) lines, 60 is the most")
                }
            }
        },
        Rule(name: "a line has at most 120 columns") { tree in
            tree.files.filter { $0.language != .text }.flatMap { file in
                file.lines.indices.filter { file.lines[$0].count > 120 }.map {
                    file.violation($0, "the line has \(file.lines[$0].count) columns, 120 is the most")
                }
            }
        },
    ]

    /// The client libraries for C and Python are one file each, which an app can take into its own tree.
    private static func isWholeLibrary(_ file: SourceFile) -> Bool {
        ["Sources/Clients/c/curfew.c", "Sources/Clients/python/curfew.py"].contains(file.path)
    }
}
