import Testing

@testable import Configuration

@Suite struct LaunchOrderTests {
    @Test func noCycle() {
        let order = LaunchOrder([("a", ["b", "c"]), ("b", ["c"]), ("c", ["unknown"])])
        #expect(order.cycles().isEmpty)
    }

    @Test func itself() {
        #expect(LaunchOrder([("a", ["a"]), ("b", ["a"])]).cycles() == ["a": "a -> a"])
    }

    @Test func everyAppNamesTheCycleFromItsSide() {
        let order = LaunchOrder([("camera", ["storage"]), ("storage", ["camera"]), ("ui", ["camera"])])
        #expect(
            order.cycles() == [
                "camera": "camera -> storage -> camera", "storage": "storage -> camera -> storage",
            ])
    }

    @Test func appBetweenTwoCyclesIsInNone() {
        let order = LaunchOrder([("a", ["b"]), ("b", ["a", "m"]), ("m", ["x"]), ("x", ["y"]), ("y", ["x"])])
        #expect(order.cycles().keys.sorted() == ["a", "b", "x", "y"])
    }

    @Test func shortestOfSeveral() {
        let order = LaunchOrder([("a", ["b", "c"]), ("b", ["c"]), ("c", ["a"])])
        #expect(order.cycles()["a"] == "a -> c -> a")
        #expect(order.cycles()["b"] == "b -> c -> a -> b")
    }

    @Test func longOneIsCut() {
        let names = (0..<100).map { "a\($0)" }
        let order = LaunchOrder(names.enumerated().map { ($1, [names[($0 + 1) % 100]]) })
        #expect(order.cycles().count == 100)
        #expect(order.cycles()["a0"] == "a0 -> a1 -> a2 -> a3 -> a4 -> a5 -> ... -> a99 -> a0")
    }

    @Test func manyAppsThatAllWaitForAll() {
        let names = (0..<300).map { "a\($0)" }
        let order = LaunchOrder(names.map { ($0, names) })
        #expect(order.cycles().count == 300)
    }
}
