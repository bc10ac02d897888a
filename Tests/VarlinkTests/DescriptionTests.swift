import Testing
import Varlink

struct DescriptionTests {
    private func interface(_ members: String) throws -> InterfaceDescription {
        try InterfaceDescription.parse("interface a.b\n" + members)
    }

    @Test func ourInterfacesAreDescribed() throws {
        let application = try InterfaceDescription.parse(ApplicationInterface.description)
        #expect(application.name == ApplicationInterface.name)
        #expect(application.methods.count == 6)
        #expect(application.errors.count == 5)
        #expect(
            application.type("ScenePhase") == .enumeration(["active", "inactive", "background"]))
        #expect(
            application.method("BeginBackgroundTask")?.input.map(\.name) == [
                "name", "keepAwake", "processIdentifier", "timeAllowed",
            ])
        #expect(application.method("BeginBackgroundTask")?.input.last?.type == .nullable(.float))

        let delegate = try InterfaceDescription.parse(DelegateInterface.description)
        #expect(delegate.name == DelegateInterface.name)
        #expect(delegate.methods.count == 13)
        #expect(delegate.method("DidReceiveRemoteNotification")?.input.first?.type == .object)

        let control = try InterfaceDescription.parse(ControlInterface.description)
        #expect(control.name == ControlInterface.name)
        #expect(control.methods.count == 16)
        #expect(control.errors.count == 5)
        #expect(control.method("List")?.output.first?.type == .array(.named("App")))

        let trial = try InterfaceDescription.parse(TrialInterface.description)
        #expect(trial.name == TrialInterface.name)
        #expect(trial.methods.count == 4)

        let service = try InterfaceDescription.parse(ServiceInterface.description)
        #expect(service.name == ServiceInterface.name)
    }

    /// Programs compare them: a name that is changed here breaks theirs.
    @Test func kindsOfDenialsKeepTheirNames() throws {
        #expect(
            DenialKind.allCases.map(\.rawValue) == [
                "sleeping", "shuttingDown", "noSuchApp", "phaseChanged", "ended", "configurationRemoved", "condition",
                "taskHasNoFront", "taskEnded", "nameTaken", "endedBeforeItBegan", "appEnding", "budgetSpent",
                "keepAwakeNotConfigured", "keepAwakeSpent", "loginPreparesSleep", "sleepCalledOff",
                "invalidConfiguration", "notYourProcess", "processOfAnApp", "tooManyTasks",
                "notSaved", "notUpgraded",
            ])
        let denied = try InterfaceDescription.parse(ControlInterface.description).error("Denied")
        #expect(denied?.fields.map(\.name) == ["reason", "kind"])
        #expect(denied?.fields.last?.type == .nullable(.string))
    }

    @Test func descriptionsAreTextFilesAsTheyStand() {
        for text in [ApplicationInterface.description, DelegateInterface.description, ControlInterface.description] {
            #expect(text.hasPrefix("# What"))
            #expect(text.hasSuffix(")\n"))
            #expect(!text.contains("\\"))
            #expect(!text.contains("\t"))
            #expect(!text.split(separator: "\n").contains { $0.hasPrefix(" ") && !$0.hasPrefix("  ") })
        }
        #expect(DelegateInterface.description.utf8.count == 2005)
        #expect(ApplicationInterface.description.utf8.count == 2872)
        #expect(ControlInterface.description.utf8.count == 6430)
    }

    @Test func allOfTheLanguage() throws {
        let described = try interface(
            """
            # about T
            type T ( # first
              one_two: ?[]int, # second
              map: [string](x, y),
              inner: (deep: ?(deeper: bool)),
              self: ?T
            )
            method M(t: T)->()
            method\tN()
              -> (
                # out
                t: []T)
            error E (a: object, b: float)
            """)
        #expect(
            described.type("T")
                == .structure([
                    .init(name: "one_two", type: .nullable(.array(.int))),
                    .init(name: "map", type: .dictionary(.enumeration(["x", "y"]))),
                    .init(
                        name: "inner",
                        type: .structure([
                            .init(name: "deep", type: .nullable(.structure([.init(name: "deeper", type: .bool)])))
                        ])),
                    .init(name: "self", type: .nullable(.named("T"))),
                ]))
        #expect(described.method("N")?.output == [.init(name: "t", type: .array(.named("T")))])
        #expect(described.error("E")?.fields.count == 2)
    }

    @Test(arguments: [
        "type t (a: int)", "type T ()", "type T", "type T (", "type T (a", "type T (a:", "type T (a: int",
        "type T (a: int,)",
        "type T (a, b: int)", "type T (a: int, b)", "type T (a, a)", "type T (a: int, a: int)", "type T (_a: int)",
        "type T (a_: int)", "type T (a__b: int)", "type T (1: int)", "type T (a: ??int)", "type T (a: [][]int)",
        "type T (a: []?int)", "type T (a: [int]int)", "type T (a: U)", "type T (a: integer)", "type T (a: ())",
        "type T (a: int # no\n)", "type T (a: M)\nmethod M() -> ()", "type T (a)\ntype T (b)", "type T_x (a)",
        "typeT (a)", "method M()", "method M() -> ", "method M() > ()", "method M(a) -> ()", "method M() -> (a, b)",
        "error E (a)", "error E", "interface c.d", "nonsense", "type T (a: \u{e9})", "()", "type string (a)",
    ])
    func refuses(_ member: String) {
        #expect(throws: DescriptionError.self) { try interface(member) }
    }

    @Test(arguments: [
        "", "# only a comment", "interface", "interface ", "interface a..b", "interface .a", "interface a.",
        "interface 1.b",
        "interface a.-b", "interface a-.b", "interface a_b", "interfacea.b", "type T (a)\ninterface a.b",
    ])
    func refusesHead(_ text: String) {
        #expect(throws: DescriptionError.self) { try InterfaceDescription.parse(text) }
    }

    @Test func commentsAreUTF8() {
        #expect(throws: DescriptionError.self) {
            try InterfaceDescription.parse(Array("# ".utf8) + [0xff] + Array("\ninterface a.b\n".utf8))
        }
    }

    @Test func deepNestingIsRefused() {
        let text = "type T " + String(repeating: "(a: ", count: 100_000)
        #expect(throws: DescriptionError.self) { try interface(text) }
    }

    @Test func errorsSayTheLine() throws {
        let error = try #require(throws: DescriptionError.self) { try interface("\n# x\ntype T (a: U)\n\n") }
        #expect(error == DescriptionError(line: 4, message: "no type U"))
    }
}
