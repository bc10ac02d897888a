import Configuration
import Testing

@Suite struct BadAppFileTests {
    @Test(arguments: syntax + kinds + values + relations + tables)
    func saysWhatIsWrong(file: BadFile) throws {
        let errors = entry(file.toml).errors
        let error = try #require(errors.first)
        #expect(errors.count == 1, "\(errors.map { $0.text })")
        #expect(error.message == file.message)
        #expect(error.line == file.line)
        #expect(error.file == "camera.toml")
    }

    @Test func ofOneLine_whatComesFirstIsSaidFirst() {
        let errors = entry(minimal + "environment = { A = 1, B = 2, C = 3 }").errors
        #expect(errors.map { $0.message.prefix(3) } == ["'A'", "'B'", "'C'"])
    }

    static let syntax = [
        BadFile(
            "exec = [", 1, "not TOML: Error while parsing array: encountered end-of-file"),
        BadFile(
            minimal + "a = 1\na = 2", 3,
            "not TOML: Error while parsing key-value pair: cannot redefine existing integer 'a'"),
        // toml++ itself would abort on these three.
        BadFile(
            minimal + "[ünicode]", 2,
            "not TOML: Error while parsing key: expected bare key starting character or string delimiter, saw 'ü'"),
        BadFile(
            minimal + "suspend = yes", 2,
            "not TOML: Error while parsing value: could not determine value type; text is written in quotes, as in "
                + "\"text\", and yes and no are true and false, without"),
        BadFile(
            minimal + "umask = 022", 2,
            "not TOML: Error while parsing decimal integer: leading zeroes are prohibited; a number like 0022 is "
                + "written in quotes"),
        BadFile(
            minimal + "a = 1979-05-27Tx:0:0Z", 2, "not TOML: Error while parsing time: expected 2-digit hour, saw 'x'"),
        BadFile(
            minimal + "x = " + String(repeating: "[", count: 5000), 2,
            "not TOML: Error while parsing value: exceeded maximum nested value depth of 16 (TOML_MAX_NESTED_VALUES)"),
        BadFile(
            minimal + "a" + String(repeating: ".a", count: 300_000) + " = 1", 2,
            "not TOML: a line has more than 256 dots"),
        BadFile(minimal + "description = \"\u{0}\"", 2, "contains a NUL byte; expected text"),
        BadFile(
            minimal + "description = \"x\n", 2,
            "not TOML: Error while parsing string: unescaped control characters other than TAB (U+0009) are "
                + "explicitly prohibited; is a closing quote missing in this line?"),
        BadFile("# ü\n" + minimal + "description = \"\u{0}\"", 3, "contains a NUL byte; expected text"),
    ]

    static let kinds = [
        BadFile(
            "exec = \"/bin/true\"", 1,
            "'exec' is \"/bin/true\"; expected an array of strings, the program's absolute path first"),
        BadFile(
            "exec = [\n\"/bin/true\",\n5]", 3,
            "'exec' holds the integer 5; expected an array of strings, the program's absolute path first"),
        BadFile(minimal + "user = 5", 2, "'user' is the integer 5; expected the name of a user"),
        BadFile(minimal + "suspend = \"yes\"", 2, "'suspend' is \"yes\"; expected true or false"),
        BadFile(minimal + "suspend = 1979-05-27", 2, "'suspend' is a date or time; expected true or false"),
        BadFile(
            minimal + "restart-limit = \"10\"", 2,
            "'restart-limit' is \"10\"; expected an integer from 1 to 1000000"),
        BadFile(
            minimal + "nice = 1.5", 2, "'nice' is a floating-point number; expected an integer from -20 to 19"),
        BadFile(minimal + "liveness = 5", 2, "'liveness' is the integer 5; expected a string: write \"5s\""),
        BadFile(
            minimal + "liveness = 5.5", 2,
            "'liveness' is a floating-point number; expected a duration in a string such as \"5s\", \"500ms\" or "
                + "\"1h 30min\""),
        BadFile(
            minimal + "limits.memory-max = 64", 2,
            "'memory-max' in [limits] is the integer 64; expected a string: write \"64M\""),
        BadFile(minimal + "limits = 5", 2, "'limits' is the integer 5; expected a table [limits]"),
        BadFile(minimal + "[[limits]]", 2, "'limits' is an array; expected a table [limits]"),
        BadFile(minimal + "after = \"storage\"", 2, "'after' is \"storage\"; expected an array of apps' names"),
        BadFile(minimal + "environment = []", 2, "'environment' is an array; expected a table of strings"),
        BadFile(
            minimal + "environment = { A = 1 }", 2,
            "'A' in environment is the integer 1; expected a string without NUL"),
        BadFile(
            minimal + "capabilities = [\"net_admin\"]", 2,
            "'capabilities' holds \"net_admin\", which is no capability; see capabilities(7)"),
        BadFile(
            minimal + "umask = 0o22", 2,
            "'umask' is the integer 18; expected an octal number in a string, such as \"0027\""),
        BadFile(
            minimal + "background.accessory = { x = 1 }", 2,
            "'x' in accessory is the integer 1; expected a device's property as a string"),
        BadFile(minimal + "launch = true", 2, "'launch' is true; expected \"boot\", \"manual\" or \"on-demand\""),
    ]

    static let values = [
        BadFile("", nil, "'exec' is missing; expected exec = [\"/path/of/program\", \"argument\"]"),
        BadFile(
            "exec = []", 1,
            "'exec' is an empty array; expected an array of strings, the program's absolute path first"),
        BadFile(
            "exec = [\"camera\"]", 1,
            "'exec' is the relative path 'camera'; expected an absolute path (there is no search path)"),
        BadFile("exec = [\"/bin/x\", \"a\\u0000b\"]", 1, "'exec' holds a string with a NUL character"),
        BadFile(minimal + "user = \"nosuch\"", 2, "user 'nosuch' does not exist"),
        BadFile(minimal + "group = \"nosuch\"", 2, "group 'nosuch' does not exist"),
        BadFile(minimal + "user = \"\"", 2, "'user' is \"\"; expected the name of a user"),
        BadFile(minimal + "launch = \"bot\"", 2, "'launch' is \"bot\"; expected \"boot\", \"manual\" or \"on-demand\""),
        BadFile(minimal + "start = \"inactive\"", 2, "'start' is \"inactive\"; expected \"active\" or \"background\""),
        BadFile(
            minimal + "liveness = \"20ms\"", 2,
            "'liveness' is \"20ms\"; expected a duration from 100 ms to 24 h"),
        BadFile(
            minimal + "liveness = \"5 parsecs\"", 2,
            "'liveness' is \"5 parsecs\"; expected a duration such as \"5s\", \"500ms\" or \"1h 30min\""),
        BadFile(
            minimal + "restart-delay = \"-5s\"", 2,
            "'restart-delay' is \"-5s\"; expected a duration that is not negative"),
        BadFile(
            minimal + "restart-limit = 0", 2,
            "'restart-limit' is the integer 0; expected an integer from 1 to 1000000"),
        BadFile(
            minimal + "allowances.did-enter-background = \"0\"", 2,
            "'did-enter-background' in [allowances] is \"0\"; expected a duration from 1 ms to 10 min"),
        BadFile(
            minimal + "allowances.did-enter-background = \"11min\"", 2,
            "'did-enter-background' in [allowances] is \"11min\"; expected a duration from 1 ms to 10 min"),
        BadFile(
            minimal + "limits.memory-max = \"64\"", 2,
            "'memory-max' in [limits] is \"64\"; expected a size of at least 1M"),
        BadFile(
            minimal + "limits.memory-max = \"64MB\"", 2,
            "'memory-max' in [limits] is \"64MB\"; expected a size such as \"64M\", \"512K\" or \"1G\""),
        BadFile(minimal + "after = [\"Camera\"]", 2, "'after' holds \"Camera\", which is no app's name"),
        BadFile(
            minimal + "environment = { 1A = \"\" }", 2,
            "'1A' in environment is not a variable's name; expected letters, digits and _"),
        BadFile(
            minimal + "environment = { NOTIFY_SOCKET = \"\" }", 2,
            "'NOTIFY_SOCKET' in environment is set by curfewd itself"),
        BadFile(
            minimal + "umask = \"0999\"", 2,
            "'umask' is \"0999\"; expected an octal number in a string, such as \"0027\""),
        BadFile(minimal + "nice = 100", 2, "'nice' is the integer 100; expected an integer from -20 to 19"),
        BadFile(
            minimal + "umask = \"9\"", 2, "'umask' is \"9\"; expected an octal number in a string, such as \"0027\""),
        BadFile(
            minimal + "umask = \"1777\"", 2,
            "'umask' is \"1777\"; expected an octal number in a string, such as \"0027\""),
        BadFile(
            minimal + "working-directory = \"tmp\"", 2, "'working-directory' is \"tmp\"; expected an absolute path"),
        BadFile(
            minimal + "description = \"a\\u001b[31m\"", 2,
            "'description' is text with a control character, such as a tab; expected one line of text"),
        BadFile(
            minimal + "description = \"a\\nb\"", 2,
            "'description' is more than one line; expected one line of text"),
        BadFile(
            minimal + "background.modes = [\"music\"]", 2,
            "'modes' in [background] holds \"music\"; expected audio, voip, external-accessory, location or "
                + "newsstand-content"),
        BadFile(
            minimal + "background.fetch-interval = \"1s\"", 2,
            "'fetch-interval' in [background] is \"1s\"; expected a duration from 60 s to 720 h"),
        BadFile(
            minimal + "delegate = \"signals\"\nsignals.will-terminate = \"SIGKILL\"", 3,
            "'will-terminate' in [signals] is \"SIGKILL\"; expected the name of a signal that a program can catch, "
                + "such as \"SIGUSR1\""),
        BadFile(
            minimal + "delegate = \"hooks\"\nhooks.will-terminate = [\"stop\"]", 3,
            "'will-terminate' in [hooks] is the relative path 'stop'; expected an absolute path (there is no search "
                + "path)"),
    ]

    static let relations = [
        BadFile(
            minimal + "restart-delay = \"1min\"", 2,
            "'restart-delay' (60 s) is more than 'restart-delay-max' (30 s)"),
        BadFile(
            minimal + "[limits]\nmemory-max = \"1M\"\nmemory-high = \"2M\"", 4,
            "'memory-high' in [limits] is more than 'memory-max' (1048576 bytes)"),
    ]

    static let tables = [
        BadFile(minimal + "resart = \"never\"", 2, "unknown key 'resart'; did you mean 'restart'?"),
        BadFile(minimal + "Restart_Limit = 5", 2, "unknown key 'Restart_Limit'; did you mean 'restart-limit'?"),
        BadFile(minimal + "colour = \"red\"", 2, "unknown key 'colour'"),
        BadFile(minimal + "memory-max = \"64M\"", 2, "unknown key 'memory-max'; it belongs in [limits]"),
        BadFile(
            minimal + "[limits]\nuser = \"x\"", 3,
            "unknown key 'user' in [limits]; it belongs before the first [table]"),
        BadFile(minimal + "[limit]", 2, "unknown key 'limit'; did you mean 'limits'?"),
        BadFile(
            minimal + "[allowances]\ndid-enter-backround = \"1s\"", 3,
            "unknown key 'did-enter-backround' in [allowances]; did you mean 'did-enter-background'?"),
        BadFile(
            minimal + "delegate = \"signals\"\n[signals]\ndid-enter-background = \"SIGNOT\"", 4,
            "'did-enter-background' in [signals] is \"SIGNOT\"; expected the name of a signal that a program can "
                + "catch, such as \"SIGUSR1\""),
        BadFile(
            minimal + "[allowances]\nbackground-task-will-expire = \"5s\"", 3,
            "'background-task-will-expire' has no allowance of its own: its call gets what is left of the task budget"),
        BadFile(minimal + "\"a\\u001b[31m\\nb\" = 1", 2, "unknown key 'a?[31m?b'"),
    ]

    @Test func allProblemsAreCollectedInTheOrderOfTheFile() {
        let errors = entry("launch = 5\nexec = [\"x\"]\nresart = 1\nnice = 99\nuser = \"nosuch\"").errors
        #expect(errors.map { $0.line } == [1, 2, 3, 4, 5])
    }

    @Test func atMostTwentyProblems() {
        let errors = entry((0..<1000).map { "unknown\($0) = 1\n" }.joined()).errors
        #expect(errors.count == 20)
    }

    @Test(arguments: [
        ("Camera", "the name 'Camera' is not 1 to 63 of the characters a-z, 0-9 and -"),
        ("", "the name '' is not 1 to 63 of the characters a-z, 0-9 and -"),
        ("a b", "the name 'a b' is not 1 to 63 of the characters a-z, 0-9 and -"),
        ("../x", "the name '../x' is not 1 to 63 of the characters a-z, 0-9 and -"),
        (
            String(repeating: "x", count: 64),
            "the name '" + String(repeating: "x", count: 60)
                + "...' is not 1 to 63 of the characters a-z, 0-9 and -"
        ),
        ("task-x", "the name 'task-x' is reserved: 'task-' is for what `curfew run` starts"),
    ])
    func badName(name: String, message: String) {
        #expect(entry(minimal, name: name).errors.map { $0.message } == [message])
    }

    @Test(arguments: [[0xFF, 0xFE], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF5], [0xE2, 0x82]] as [[UInt8]])
    func notUTF8(bytes: [UInt8]) {
        let file = Array((minimal + "description = \"ü").utf8) + bytes + Array("\"\n".utf8)
        let errors = AppConfiguration.parse(file, name: "a", file: "a.toml", accounts: anyone).errors
        #expect(errors == [.init(file: "a.toml", line: 2, message: "is not UTF-8; expected UTF-8 text")])
        #expect(errors.first?.text == "a.toml:2: is not UTF-8; expected UTF-8 text")
    }

    @Test func tenMegabytes() {
        let file = [UInt8](repeating: UInt8(ascii: "#"), count: 10 << 20)
        let errors = AppConfiguration.parse(file, name: "a", file: "a.toml", accounts: anyone).errors
        #expect(errors.map { $0.text } == ["a.toml: is larger than 1 MiB"])
    }

    /// Deep enough to break a parser that recurses, and short of the limits.
    @Test func deepTreeIsFreed() {
        let key = Array(repeating: "a", count: 250).joined(separator: ".")
        let open = String(repeating: "[\n{\(key) = ", count: 7)
        let close = String(repeating: "}\n]", count: 7)
        #expect(entry(minimal + "x = " + open + "1" + close).errors.map { $0.message } == ["unknown key 'x'"])
    }
}
