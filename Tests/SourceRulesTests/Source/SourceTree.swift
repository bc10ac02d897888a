import Foundation

/// The package as the rules see it: what git knows of, or would.
struct SourceTree {
    let files: [SourceFile]
    let targets: [PackageTarget]

    init(_ files: [SourceFile]) throws {
        self.files = files
        let manifest = files.first { $0.path == "Package.swift" }
        targets = try manifest.map { try PackageTarget.read($0.lines.joined(separator: "\n")) } ?? []
    }

    /// Reads the tree at `root`. Ignored files and files that are gone are left out.
    init(root: URL) throws {
        let git = Process()
        let output = Pipe()
        git.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        git.arguments = [
            "git", "-c", "safe.directory=*", "-C", root.path, "ls-files", "-z", "--cached", "--others",
            "--exclude-standard",
        ]
        git.standardOutput = output
        try git.run()
        let list = try output.fileHandleForReading.readToEnd() ?? Data()
        git.waitUntilExit()
        guard git.terminationStatus == 0 else { throw Unreadable(root: root.path) }
        let paths = String(decoding: list, as: UTF8.self).split(separator: "\0").map(String.init)
        try self.init(
            Set(paths).sorted().compactMap { path in
                guard let data = try? Data(contentsOf: root.appendingPathComponent(path)) else { return nil }
                return SourceFile(path, String(decoding: data, as: UTF8.self))
            })
    }

    struct Unreadable: Error {
        var root: String
    }

    /// The package that this file belongs to.
    static var packageRoot: URL {
        let levels = #filePath.split(separator: "/").dropLast(4)
        return URL(fileURLWithPath: "/" + levels.joined(separator: "/"))
    }

    func swift(in folder: String) -> [SourceFile] { files.filter { $0.language == .swift && $0.isIn(folder) } }

    /// The targets that decide and do nothing else.
    static let pure = ["Vocabulary", "Lifecycle"]

    var pureFiles: [SourceFile] { Self.pure.flatMap { swift(in: "Sources/\($0)") } }

    /// What runs always: the targets that curfewd links, by their settings in Package.swift.
    var deviceTargets: [PackageTarget] { targets.filter { $0.settings == "device" } }
}

/// A target as Package.swift declares it.
struct PackageTarget {
    var kind: String
    var name: String
    /// The variable after `swiftSettings:`.
    var settings: String?

    static func read(_ manifest: String) throws -> [PackageTarget] {
        let declaration = #"\.(target|executableTarget|testTarget|systemLibrary)\(\s*name:\s*"([^"]+)""#
        let start = try Pattern("(\(declaration))")
        let kind = try Pattern(#"^\.(\w+)"#)
        let name = try Pattern(#""([^"]+)""#)
        let settings = try Pattern(#"swiftSettings:\s*(\w+)"#)
        var rest = Substring(manifest)
        return start.groups(in: manifest).compactMap { head in
            guard let place = rest.range(of: head) else { return nil }
            let arguments = balanced(rest[place.lowerBound...])
            rest = rest[place.upperBound...]
            guard let kind = kind.groups(in: head).first, let name = name.groups(in: head).first else { return nil }
            return PackageTarget(kind: kind, name: name, settings: settings.groups(in: arguments).first)
        }
    }

    /// Up to the parenthesis that closes the first one.
    private static func balanced(_ text: Substring) -> String {
        var depth = 0
        var taken = ""
        for character in text {
            taken.append(character)
            if character == "(" { depth += 1 }
            if character == ")" {
                depth -= 1
                if depth == 0 { break }
            }
        }
        return taken
    }
}
