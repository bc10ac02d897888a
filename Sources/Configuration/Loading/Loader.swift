internal import Lifecycle
internal import SystemCalls

extension Configuration {
    /// Reads everything below a root. Never fails and never blocks on a file; what is wrong is in the result.
    /// hears: called with the name of each app whose file has no error, and with its text; for curfew.toml as well
    /// (`deviceText`).
    public static func load(
        paths: ConfigurationPaths, accounts: Accounts = .system, hears: ((String, [UInt8]) -> Void)? = nil
    ) -> Configuration {
        var loader = Loader(paths: paths, accounts: accounts, looksAtFiles: false)
        loader.hears = hears
        return loader.load()
    }

    /// The name of curfew.toml's text, which no app has.
    public static let deviceText = ConfigurationPaths.deviceFile

    /// The device is as a text of curfew.toml's said that `load` has heard, where that has no error for this version.
    public mutating func takeDevice(from text: [UInt8]) {
        let (device, errors, _) = DeviceFile.parse(text, file: Self.deviceText, lists: false)
        guard errors.isEmpty else { return }
        self.device = device
        deviceMark = InputFile.mark(text)
    }

    /// What an app's text said that `load` has heard, by this or another version; nil: it has errors for this one. No
    /// name service is asked: whether there are its user and group, its start will tell.
    public static func app(
        _ name: String, from text: [UInt8], paths: ConfigurationPaths
    ) -> AppConfiguration? {
        let result = AppFile.parse(
            text, name: name, file: name, sandbox: paths.sandbox, accounts: KnownAccounts(.unasked))
        guard case .valid(let configuration) = result.entry else { return nil }
        return configuration
    }

    /// The same, with a warning for each program that is missing.
    public static func check(paths: ConfigurationPaths, accounts: Accounts = .system) -> Configuration {
        var loader = Loader(paths: paths, accounts: accounts, looksAtFiles: true)
        return loader.load()
    }

    /// One file by itself: curfew.toml, or else an app's. What concerns other apps (`after`, shared users) is not
    /// looked at, but for an app that comes after itself.
    public static func check(
        file path: String, paths: ConfigurationPaths = ConfigurationPaths(), accounts: Accounts = .system
    ) -> Configuration {
        var loader = Loader(paths: paths, accounts: accounts, looksAtFiles: true)
        return loader.check(path)
    }
}

/// Collects what both directories hold.
struct Loader {
    /// Whose file it is.
    private enum Origin {
        case vendor, administrator
        /// Of the administrator's, where the vendor has one of the same name.
        case override
        /// Asked for by its path.
        case named
    }

    struct App {
        let path: String
        var result: AppFile.Result
    }

    private let paths: ConfigurationPaths
    private let accounts: KnownAccounts
    private let looksAtFiles: Bool
    /// Whether the keys of all files are kept.
    private let lists: Bool
    var hears: ((String, [UInt8]) -> Void)?
    private var configuration = Configuration()
    private var advice: AppAdvice
    private(set) var apps: [App] = []
    /// The device's file, where there is one.
    private(set) var deviceFile: String?
    private(set) var deviceKeys: [ConfigurationKey] = []

    init(paths: ConfigurationPaths, accounts: Accounts, looksAtFiles: Bool, lists: Bool = false) {
        self.lists = lists
        self.paths = paths
        self.accounts = KnownAccounts(accounts)
        self.looksAtFiles = looksAtFiles
        advice = AppAdvice(accounts: self.accounts, owners: paths.owners)
    }

    mutating func load() -> Configuration {
        loadDevice()
        for file in appFiles() { loadApp(file.name, file.path, file.origin) }
        findCycles()
        for app in apps { advise(app) }
        adviseOnOthers()
        return finish()
    }

    mutating func check(_ path: String) -> Configuration {
        let (directory, name) = Self.split(path)
        if name == ConfigurationPaths.deviceFile, Self.split(directory).name != ConfigurationPaths.appsDirectory {
            _ = readDevice(path, required: true)
        } else if let app = Self.nameOf(name) {
            loadApp(app, path, .named)
            findCycles()
            for app in apps { advise(app) }
        } else {
            configuration.errors.append(
                ConfigurationError(file: path, line: nil, message: "is not an app's file; expected NAME.toml"))
        }
        return finish()
    }

    private mutating func finish() -> Configuration {
        configuration.apps = apps.map { $0.result.entry }
        configuration.warnings = advice.warnings
        return configuration
    }

    // MARK: curfew.toml

    private mutating func loadDevice() {
        if !readDevice(paths.administrator + "/" + ConfigurationPaths.deviceFile, required: false) {
            _ = readDevice(paths.vendor + "/" + ConfigurationPaths.deviceFile, required: false)
        }
    }

    /// False where there is no such file.
    private mutating func readDevice(_ path: String, required: Bool) -> Bool {
        switch InputFile.read(path, isNamed: required, owners: paths.owners) {
        case .bytes(let bytes):
            if required { adviseOnOwners(of: path) }
            let (device, errors, keys) = DeviceFile.parse(bytes, file: path, lists: lists)
            configuration.device = device
            deviceKeys = keys
            deviceFile = path
            configuration.deviceMark = InputFile.mark(bytes)
            configuration.errors += errors
            if errors.isEmpty { hears?(Configuration.deviceText, bytes) }
        case .masked: break
        case .missing:
            if !required { return false }
            configuration.errors.append(ConfigurationError(file: path, line: nil, message: "is not there"))
        case .unreadable(let why):
            configuration.errors.append(ConfigurationError(file: path, line: nil, message: why))
        }
        return true
    }

    // MARK: apps

    /// Names and paths of what counts, sorted by name.
    private mutating func appFiles() -> [(name: String, path: String, origin: Origin)] {
        var found: [String: (path: String, origin: Origin)] = [:]
        configuration.isWithoutFolder = true
        for (base, origin) in [(paths.vendor, Origin.vendor), (paths.administrator, .administrator)] {
            let directory = base + "/" + ConfigurationPaths.appsDirectory
            for name in list(directory) {
                if let app = Self.nameOf(name) {
                    found[app] = (directory + "/" + name, found[app] == nil ? origin : .override)
                } else if !Self.isLeftover(name) {
                    advice.warn(
                        directory + "/" + readable(name, limit: 255), nil,
                        "is not an app's file; expected NAME.toml")
                }
            }
        }
        return Array(found.keys).sorted().compactMap { name in found[name].map { (name, $0.path, $0.origin) } }
    }

    private mutating func list(_ directory: String) -> [String] {
        do throws(SystemError) {
            let names = try Files.list(directory)
            configuration.isWithoutFolder = false
            return names
        } catch {
            if error.errno != .noEntry {
                configuration.isWithoutFolder = false
                configuration.errors.append(
                    ConfigurationError(file: directory, line: nil, message: "cannot be read: \(error.errno.text)"))
            }
            return []
        }
    }

    private mutating func loadApp(_ name: String, _ path: String, _ origin: Origin) {
        switch InputFile.read(path, isNamed: origin == .named, owners: paths.owners) {
        case .bytes(let bytes):
            if origin == .named { adviseOnOwners(of: path) }
            // As with systemd: the administrator's empty file takes the vendor's away.
            switch origin {
            case .named where bytes.isEmpty:
                return advice.warn(path, nil, "is empty: it only takes away the vendor's app")
            case .override where bytes.isEmpty: return
            case .administrator where bytes.isEmpty:
                return refuse(
                    name, path, "is empty, and there is no vendor's app to take away; was it written in full?")
            case .named, .override, .administrator, .vendor: break
            }
            let result = AppFile.parse(
                bytes, name: name, file: path, sandbox: paths.sandbox, accounts: accounts, lists: lists)
            if case .valid = result.entry { hears?(name, bytes) }
            apps.append(App(path: path, result: result))
        case .masked: break
        case .missing:
            // Removed while the directory was read, or it is not found by its name as text.
            if origin == .named { return refuse(name, path, "is not there") }
            if holds(Array(name.utf8), "\u{FFFD}") {
                advice.warn(path, nil, "is passed over: its name is not UTF-8; expected NAME.toml")
            }
        case .unreadable(let why): refuse(name, path, why)
        }
    }

    /// Of a file that a person has asked for.
    private mutating func adviseOnOwners(of path: String) {
        let owners = paths.holds(path) ? paths.owners : .ofReader
        if case .unreadable(let why) = InputFile.read(path, owners: owners) {
            advice.warn(path, nil, why + "; curfewd refuses it")
        }
    }

    private mutating func refuse(_ name: String, _ path: String, _ why: String) {
        let error = ConfigurationError(file: path, line: nil, message: why)
        apps.append(App(path: path, result: AppFile.Result(entry: .invalid(name: readable(name), errors: [error]))))
    }

    private mutating func findCycles() {
        let order = LaunchOrder(
            apps.compactMap { app in
                switch app.result.entry {
                case .valid(let configuration): (configuration.name, configuration.policy.after)
                case .invalid: nil
                }
            })
        let cycles = order.cycles()
        for place in apps.indices {
            guard let cycle = cycles[apps[place].result.entry.name] else { continue }
            let error = ConfigurationError(
                file: apps[place].path, line: apps[place].result.afterLine,
                message: "waits for itself: after: \(cycle)")
            apps[place].result.entry = .invalid(name: apps[place].result.entry.name, errors: [error])
        }
    }

    // MARK: warnings

    private mutating func advise(_ app: App) {
        switch app.result.entry {
        case .valid(let configuration):
            advice.consider(configuration, app.result, file: app.path)
            if looksAtFiles {
                advice.considerPrograms(configuration, app.result, file: app.path)
                advice.considerPlaces(configuration, app.result, file: app.path)
            }
        case .invalid: break
        }
    }

    /// What shows only beside the other apps.
    private mutating func adviseOnOthers() {
        var known: Set<String> = []
        for app in apps { known.insert(app.result.entry.name) }
        var firstOfUser: [String: String] = [:]
        for app in apps {
            guard case .valid(let configuration) = app.result.entry else { continue }
            for name in configuration.policy.after where !known.contains(name) {
                advice.warn(app.path, app.result.afterLine, "'after' names '\(name)', which is not configured")
            }
            guard let user = configuration.user, user != AppConfiguration.ownUser,
                accounts.user(user) != .exists(id: 0)
            else { continue }
            if let first = firstOfUser[user] {
                advice.warn(
                    app.path, app.result.userLine,
                    "shares the user '\(readable(user))' with '\(first)': the two are not protected from each other")
            } else {
                firstOfUser[user] = configuration.name
            }
        }
    }

    // MARK: names of files

    static func split(_ path: String) -> (directory: String, name: String) {
        let bytes = Array(path.utf8)
        guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return ("", path) }
        return (
            String(decoding: bytes[..<slash], as: UTF8.self), String(decoding: bytes[(slash + 1)...], as: UTF8.self)
        )
    }

    /// "camera" of "camera.toml"; nil for what is not meant to be read.
    @inline(never)
    static func nameOf(_ file: String) -> String? {
        let suffix = Array(".toml".utf8)
        let bytes = Array(file.utf8)
        guard bytes.count > suffix.count, bytes.suffix(suffix.count).elementsEqual(suffix), !isLeftover(file) else {
            return nil
        }
        return String(decoding: bytes.dropLast(suffix.count), as: UTF8.self)
    }

    /// What editors and package managers leave behind, and hidden files.
    private static func isLeftover(_ file: String) -> Bool {
        let bytes = Array(file.utf8)
        if bytes.first == UInt8(ascii: ".") || bytes.first == UInt8(ascii: "#") { return true }
        let endings = [
            "~", ".swp", ".bak", ".orig", ".dpkg-old", ".dpkg-new", ".dpkg-dist", ".dpkg-tmp", ".ucf-old", ".ucf-new",
            ".ucf-dist", ".rpmnew", ".rpmsave", ".rpmorig",
        ]
        return endings.contains { bytes.suffix($0.utf8.count).elementsEqual($0.utf8) }
    }
}
