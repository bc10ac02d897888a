/// A small tree that breaks one rule, and where; or one that keeps it although it looks near to breaking it.
struct Sample: Sendable, CustomStringConvertible {
    var rule: String
    var path: String
    var text: String
    /// What else is in the tree, empty.
    var others: [String] = []
    /// A file with something in it.
    var file: SourceFile?
    /// "path:line"
    var places: [String]

    init(
        _ rule: String, _ path: String, _ text: String, beside others: [String] = [], after file: SourceFile? = nil,
        at lines: [Int]
    ) {
        self.rule = rule
        self.others = others
        self.file = file
        self.path = path
        self.text = text
        places = lines.map { "\(path):\($0)" }
    }

    var description: String { "\(rule): \(path)" }

    var tree: SourceTree {
        get throws {
            let manifest = SourceFile("Package.swift", Self.manifest)
            let files = others.map { SourceFile($0, "") } + (file.map { [$0] } ?? []) + [SourceFile(path, text)]
            return try SourceTree(path == manifest.path ? files : [manifest] + files)
        }
    }

    private static let manifest = """
        let targets = [
            .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
            .target(name: "Lifecycle", swiftSettings: device),
            .target(
                name: "EventLoop", dependencies: ["SystemCalls", "CSystemd"], swiftSettings: device),
            .target(name: "Configuration", dependencies: ["Lifecycle", "SystemCalls"], swiftSettings: device),
            .target(name: "SystemCalls", swiftSettings: device),
            .executableTarget(name: "curfewd", dependencies: ["SystemCalls"], swiftSettings: device),
            .executableTarget(name: "curfew", dependencies: ["SystemCalls"], swiftSettings: strict),
        ]
        """

    static let all = size + pure + device + wording

    private static let size = [
        Sample(
            "a file has at most 400 lines", "Sources/A/A.swift", String(repeating: "let a = 1\n", count: 401),
            at: [401]),
        Sample(
            "a file has at most 400 lines", "deploy/a", "#!/bin/sh\n" + String(repeating: "a\n", count: 400),
            at: [401]),
        Sample(
            "a file has at most 400 lines", "Sources/A/B.swift", String(repeating: "let a = 1\n", count: 400), at: []),
        Sample("a file has at most 400 lines", "README.md", String(repeating: "a\n", count: 500), at: []),
        Sample(
            "a function has at most 60 lines", "Sources/A/A.swift",
            "struct S {\n    func f() {\n" + String(repeating: "        g(\"{\")\n", count: 59) + "    }\n}\n",
            at: [2]),
        Sample(
            "a function has at most 60 lines", "Sources/A/B.swift",
            "struct S {\n    func f() {\n" + String(repeating: "        g(\"}\")\n", count: 58) + "    }\n}\n", at: []),
        Sample(
            "a function has at most 60 lines", "Sources/A/a.c",
            "int f(void)\n{\n" + String(repeating: "    g('}');\n", count: 58) + "}\n", at: [1]),
        Sample(
            "a line has at most 120 columns", "Sources/A/A.swift",
            "// " + String(repeating: "é", count: 117) + "\n// " + String(repeating: "é", count: 118), at: [2]),
    ]

    private static let pure = [
        Sample(
            "pure targets import their words and nothing else", "Sources/Lifecycle/A.swift",
            "// import A\nimport A\npublic import B\npublic import Vocabulary\nimport VocabularyB", at: [2, 3, 5]),
        Sample(
            "pure targets read no clock and draw no random numbers", "Sources/Lifecycle/A.swift",
            "var clock = RunnableClock()\nlet a = ContinuousClock().now\nlet b = Int.random(in: 0..<9)", at: [2, 3]),
        Sample(
            "pure targets do not iterate over a Dictionary or a Set", "Sources/Lifecycle/A.swift",
            """
            var apps: [String: Int] = [:]
            var seen: Set<Int> = []
            let list: [Int] = []
            for app in apps { f(app) }
            for key in apps.keys.sorted() { f(key) }
            for one in self.seen where one > 0 { f(one) }
            for one in list { f(one) }
            let total = apps.values.reduce(0, +)
            let all = Array(seen)
            let one = apps["a"]
            let names = allowances.values
            """,
            at: [4, 6, 8, 9]),
        Sample(
            "pure targets have no default in a switch", "Sources/Lifecycle/A.swift",
            "switch a {\ncase 1: b\ndefault: c\n}\nswitch a {\n@unknown default: c\ndefault: c  // open set: ints\n}",
            at: [3, 6]),
        Sample(
            "nothing is forced", "Sources/EventLoop/A.swift",
            """
            let a = try! f()
            let b = c as! D
            fatalError("no")
            let e = list[0]!
            var f: Int!
            if !a || g != h { i(try? j()) }
            """,
            at: [1, 2, 3, 4, 5]),
    ]

    private static let device = [
        Sample(
            "device targets import targets of the package only", "Sources/EventLoop/A.swift",
            "internal import CSystemd\npublic import SystemCalls\nimport Glibc\ninternal import struct Foundation.Data",
            at: [3, 4]),
        Sample(
            "device targets import targets of the package only", "Sources/curfew/A.swift", "import Foundation", at: []),
        Sample(
            "device targets have no concurrency", "Sources/EventLoop/A.swift",
            "func f() async {\n    await g()\n}\nTask { h() }\nlet a = BackgroundTask(1)  // async\nactor B {}",
            at: [1, 2, 4, 6]),
        Sample("the list of device targets is found", "Package.swift", "let targets: [Target] = make()", at: [0]),
        Sample(
            "leaf modules import Vocabulary, SystemCalls and C modules only", "Sources/EventLoop/A.swift",
            "import SystemCalls\nimport CSystemd\nimport Configuration\n@_spi(A) import Lifecycle\nimport Vocabulary",
            at: [3, 4]),
        Sample(
            "leaf modules import Vocabulary, SystemCalls and C modules only", "Sources/Configuration/A.swift",
            "public import Lifecycle", at: []),
        Sample(
            "the client library imports Varlink and what that imports", "Sources/Curfew/A.swift",
            "internal import CLinux\ninternal import Varlink\nimport Dispatch\nimport Configuration", at: [3, 4]),
        Sample("few import the core", "Sources/EventLoop/A.swift", "public import Lifecycle", at: [1]),
        Sample("few import the core", "Sources/Configuration/A.swift", "public import Lifecycle", at: []),
        Sample("few import the core", "Tests/ATests/A.swift", "import Lifecycle", at: []),
    ]

    private static let wording = [
        Sample(
            "no Utils, Helpers, Manager or Common", "Sources/A/A.swift",
            "struct StringUtils {}\nfinal class AppManager {}\nenum Manageable {}\nstruct CommonName {}",
            at: [1, 2, 4]),
        Sample("no Utils, Helpers, Manager or Common", "Sources/A/StringHelpers.swift", "", at: [0]),
        Sample("no Utils, Helpers, Manager or Common", "deploy/common/a.sh", "", at: [0]),
        Sample("no Utils, Helpers, Manager or Common", "Sources/Commons.swift", "struct Commoner {}", at: []),
        Sample(
            "what is played is sent there by the linker", "Tests/ShellSimulation/Calls/A.swift",
            "@_cdecl(\"__wrap_close\") func wrapClose() {}\nlet text = \"close\"", at: [1]),
        Sample(
            "no two modules have a type of one name", "Sources/B/B.swift",
            "public final class Call {}\nstruct Row { enum Kind {} }\nprivate struct Cell {}\nstruct Two {}",
            after: SourceFile("Sources/A/A.swift", "enum Call {}\nstruct Kind {}\nstruct Cell {}\nextension Two {}"),
            at: [1]),
        Sample(
            "no two files of the sources have one name", "Sources/B/Table.swift", "",
            beside: ["Sources/A/Text/Table.swift", "Tests/ATests/Table.swift"], at: [0]),
        Sample(
            "no two files of the sources have one name", "Sources/B/main.swift", "",
            beside: ["Sources/A/main.swift", "Sources/B/Tables.swift"], at: []),
        Sample(
            "nothing is left to do", "deploy/a", "#!/bin/sh\n# TODO: this\n# a placeholder\nmktemp /tmp/XXXXXX",
            at: [2, 3]),
        Sample(
            "sentences have real subjects", "Sources/A/A.swift",
            """
            // Nobody waits.
            // The app waits: there is none.
            let text = "asked by somebody"  // A name that is none.
            // That it was asked for is known.
            func anybodys() {}
            """,
            at: [1, 3, 4]),
        Sample("sentences have real subjects", "Tests/ATests/A.swift", "// Nobody waits.", at: []),
        Sample("sentences have real subjects", "README.md", "user = \"nobody\"\nNobody waits.", at: [2]),
        Sample(
            "the map's walks name what is there", "Sources/README.md",
            """
            1. `A/A.swift`: `come`, `go`. The first; `other` is prose.
            2. `A/A.swift`: `leave`. The second.
            3. `A/B.swift`: `come`. The third.
            """,
            after: SourceFile("Sources/A/A.swift", "func come() {}\nvar go = 1"), at: [2, 3]),
        Sample(
            "tests do not sleep", "Tests/ATests/A.swift",
            "sleep(1)\nusleep(100)\ntry await Task.sleep(for: .seconds(1))\nboard.sleep(at: 1)\nf(\"sleep(1)\")",
            at: [1, 2, 3]),
        Sample(
            "tests do not sleep", "Tests/BlackBoxTests/a.py",
            "time.sleep(1)\ntime.sleep(2)  # not a wait: the app is slow\ndef sleep(edge): pass\n", at: [1]),
        Sample(
            "public declarations carry a doc comment", "Sources/A/A.swift",
            """
            public import B
            public struct C {
                public var a: Int
                public init() {}
                public static func == (a: C, b: C) -> Bool {
                }
                public func short() -> Int { 1 }
                @inlinable
                public func long() -> Int {
                }
                /// Does.
                @discardableResult
                public mutating func does() -> Int {
                }
            }
            /// D.
            @frozen public struct D: ~Copyable {}
            """,
            at: [2, 9]),
        Sample(
            "entry points have under 50 lines", "Sources/curfewd/main.swift",
            String(repeating: "let a = 1\n", count: 50), at: [50]),
        Sample("the top level is small", "notes.md", "", at: [0]),
        Sample("the top level is small", ".ci/run", "", at: []),
    ]
}
