import Testing

@Suite struct CodeMaskTests {
    @Test(arguments: [
        ("a // b", "a     "),
        ("a /* b /* c */ d */ e", "a                   e"),
        (#"f("x // \" y") // z"#, #"f("         ")     "#),
        (#"f("x \(g("h") + i(1)) y")"#, #"f("   (g(" ") + i(1))  ")"#),
        (##"f(#"x " \(y) \#(z)"#)"##, ##"f(#"           (z)"#)"##),
        ("let s = \"\"\"\n    a \"b\" try!\n    \"\"\"; c", "let s = \"\"\"\n              \n    \"\"\"; c"),
        ("let s = \"open\nlet t = 1", "let s = \"    \nlet t = 1"),
    ])
    func swiftCode(_ source: String, _ code: String) {
        #expect(CodeMask.code(of: source, .swift) == code)
    }

    @Test(arguments: [
        ("char c = '\"'; /* a /* b */ d", "char c = ' ';              d"),
        ("int n = 1'000; char d = 'x';", "int n = 1'000; char d = ' ';"),
        (#"auto s = R"x(a ") b)x"; f();"#, #"auto s = R"        )x"; f();"#),
    ])
    func cCode(_ source: String, _ code: String) {
        #expect(CodeMask.code(of: source, .c) == code)
    }

    @Test func pythonCode() {
        #expect(CodeMask.code(of: "a = 'x#' # y\n'''\nz'''\nb", .python) == "a = '  '    \n'''\n '''\nb")
    }

    @Test func functionsAreMeasured() {
        let source = """
            protocol P { func required() }
            struct S: P {
                var stored = 1
                var computed: Int {
                    1
                }
                init() { self.init(1) }
                func required(_ c: () -> Void = {}) throws(E)
                    -> [Int]
                {
                    if true {
                        "}"
                    }
                }
            }
            """
        let spans = FunctionSpan.all(in: SourceFile("a.swift", source))
        #expect(spans.map(\.name) == ["var computed", "init", "func required"])
        #expect(spans.map(\.lineCount) == [3, 1, 7])
    }

    @Test func cFunctionsAreMeasured() {
        let source = """
            #include <a.h>
            extern "C" {
            struct s { int a; };
            static const int t[] = {1, 2};
            int f(int a)
            {
                if (a) { return 1; }
                return 0;
            }
            int g(void) { return 1; }
            }
            """
        let spans = FunctionSpan.all(in: SourceFile("a.c", source))
        #expect(spans.map(\.name) == ["int f", "int g"])
        #expect(spans.map(\.lineCount) == [5, 1])
    }
}
