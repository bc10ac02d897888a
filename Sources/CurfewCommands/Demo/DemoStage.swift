internal import SystemCalls

/// The demo's board: configuration for four apps, and a FIFO they tell their story to.
final class DemoStage {
    let board: PrivateRoot
    let story: FileDescriptor

    var root: String { board.path }

    /// program: the tool itself, which is also the apps' program.
    init(program: String) throws(SystemError) {
        board = try PrivateRoot(purpose: "demo")
        story = try board.makeFIFO("/story")
        for kind in DemoApp.Kind.allCases {
            try board.writeApp(kind.rawValue, Self.configuration(kind, program, board.path))
        }
    }

    static func configuration(_ kind: DemoApp.Kind, _ program: String, _ root: String) -> String {
        let story = root + "/story"
        let common = """
            exec = [\(TomlText.string(program)), "demo-app", "\(kind.rawValue)"]
            description = \(TomlText.string("The app that " + kind.role))
            environment = { \(DemoApp.storyVariable) = \(TomlText.string(story)), SWIFT_BACKTRACE = "enable=no" }
            launch = "boot"
            delegate = "varlink"
            restart-delay = "200ms"

            """
        switch kind {
        case .prompt, .slow: return common
        case .hang: return common + "\n[allowances]\ndid-enter-background = \"2s\"\n"
        case .crash: return common + "restart-limit = 3\n"
        }
    }
}
