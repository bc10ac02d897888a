internal import ArgumentParser

/// A sample app of `curfew demo`: what its configuration starts.
struct DemoAppCommand: ParsableCommand {
    static let name = "demo-app"
    static let configuration = CommandConfiguration(
        commandName: name, abstract: "A sample app, started by the demo's curfewd.", shouldDisplay: false)

    @Argument var kind: DemoApp.Kind

    func run() throws {
        guard let app = DemoApp(kind) else {
            throw ValidationError("demo-app is started by curfewd, with CURFEW_DELEGATE_FD; see: curfew demo")
        }
        app.run()
    }
}

extension DemoApp.Kind: ExpressibleByArgument {}
