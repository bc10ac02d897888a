import Foundation
import Testing

@Suite struct SourceRulesTests {
    /// All that is broken anywhere, in one list. CURFEW_TREE: another tree to look at.
    @Test func theTreeKeepsTheRules() throws {
        let other = ProcessInfo.processInfo.environment["CURFEW_TREE"]
        let tree = try SourceTree(root: other.map { URL(fileURLWithPath: $0) } ?? SourceTree.packageRoot)
        try #require(tree.files.contains { $0.path == "Sources/curfewd/main.swift" }, "the tree was not found")
        let violations = try Rule.all.flatMap { try $0.check(tree) }
        let list = violations.map(\.description).sorted().joined(separator: "\n")
        if !violations.isEmpty { Issue.record("\(violations.count) places break a rule:\n\(list)") }
    }

    @Test(arguments: Sample.all) func aBrokenRuleIsCaught(_ sample: Sample) throws {
        let rule = try #require(Rule.all.first { $0.name == sample.rule }, "no such rule")
        let found = try rule.check(try sample.tree).map(\.place)
        #expect(found.sorted() == sample.places.sorted())
    }

    @Test(arguments: Rule.all) func everyRuleHasSamples(_ rule: Rule) {
        #expect(Sample.all.contains { $0.rule == rule.name && !$0.places.isEmpty })
    }

    @Test func theManifestIsRead() throws {
        let tree = try SourceTree(root: SourceTree.packageRoot)
        let device = tree.deviceTargets.map(\.name)
        #expect(device.contains("Lifecycle") && device.contains("Supervision") && device.contains("curfewd"))
        #expect(!device.contains("CurfewCommands") && !device.contains("SourceRulesTests"))
    }
}
