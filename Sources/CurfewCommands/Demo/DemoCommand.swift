internal import ArgumentParser
internal import SystemCalls

struct DemoCommand: SessionCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo", abstract: "What Curfew does, in ten seconds, with nothing installed.",
        discussion: """
            A private curfewd in a temporary folder supervises four sample apps through a sleep and a wake. One of \
            them overruns its deadline and is killed; its report is shown. Nothing outside that folder is changed, and \
            all of it is gone at the end. Exit code 0 only when everything went as it should. curfewd is taken from \
            $CURFEWD, from beside this program, or from PATH.
            """)

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if global.root != nil { throw ValidationError("The demo makes a root of its own: leave --root out.") }
    }

    func run(_ session: Session) throws(CommandFailure) {
        guard let tool = Program.ownPath else { throw .failed("/proc/self/exe cannot be read") }
        let daemonPath = try PrivateDaemon.find(besides: tool)
        let stage: DemoStage
        do throws(SystemError) {
            stage = try DemoStage(program: tool)
        } catch {
            throw .failed("the demo cannot make its folder: \(error.text)")
        }
        defer { stage.board.remove() }
        let play = try DemoPlay(session, stage, daemonPath)
        do throws(CommandFailure) {
            try play.perform()
        } catch {
            throw play.abandon(error)
        }
    }
}
