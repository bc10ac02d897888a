internal import CLinux
internal import Configuration
internal import Lifecycle
internal import ProcessControl
internal import SystemCalls

/// The texts of the apps' files as they were read, in memory of no file (memfd_create(2)) that the keeper has too: what
/// runs goes on as it was started, though its file is another as the next loop begins, has an error, or is gone.
///
/// It is a row of keys and texts, each after its length, four bytes in the machine's order. A key is an app's name; or,
/// of an instance that runs by an older text than its app's, "#" and its number.
final class KeptTexts {
    private static let name = "texts"

    private let memory: FileDescriptor
    private var places: [String: (begin: off_t, length: Int)] = [:]
    private var end: off_t = 0
    private var isWhole = true

    init() throws(SystemError) {
        let number = linux_memory("texts")
        guard number >= 0 else { throw SystemError("memfd_create") }
        memory = FileDescriptor(owning: number)
    }

    /// What an earlier loop has left; nil: there is none.
    init?(takenFrom keeper: ProcessKeeper) {
        guard let kept = keeper.takeKept(Self.name) else { return nil }
        memory = kept
        while let key = readPart(), let place = skipPart() {
            places[String(decoding: key, as: UTF8.self)] = place
        }
    }

    static func key(of instance: InstanceID) -> String { "#\(instance.rawValue)" }

    /// Of one that was added twice the last counts.
    func add(_ key: String, _ text: [UInt8]) {
        for part in [Array(key.utf8), text] {
            var length = UInt32(truncatingIfNeeded: part.count)
            let bytes = withUnsafeBytes(of: &length) { Array($0) } + part
            isWhole = isWhole && pwrite(memory.rawValue, bytes, bytes.count, end) == bytes.count
            end += off_t(bytes.count)
        }
        places[key] = (end - off_t(text.count), text.count)
    }

    func text(of key: String) -> [UInt8]? { places[key].flatMap { read($0.begin, $0.length) } }

    /// In place of what the keeper has. Nothing where there was no room for all of it.
    func keep(by keeper: ProcessKeeper) { if isWhole { keeper.keep(Self.name, memory.rawValue) } }

    private func read(_ begin: off_t, _ length: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: length)
        return pread(memory.rawValue, &bytes, length, begin) == length ? bytes : nil
    }

    private func readPart() -> [UInt8]? { skipPart().flatMap { read($0.begin, $0.length) } }

    /// The next part's place; nil: there are no more.
    private func skipPart() -> (begin: off_t, length: Int)? {
        var length = UInt32(0)
        let begin = end + 4
        guard pread(memory.rawValue, &length, 4, end) == 4,
            off_t(length) <= lseek(memory.rawValue, 0, SEEK_END) - begin
        else { return nil }
        end = begin + off_t(length)
        return (begin, Int(length))
    }
}

extension KeptTexts {
    /// At a start. After a loop that died what runs has its texts, and a sleep that was announced waits.
    static func readConfiguration(_ paths: ConfigurationPaths, after former: KeptState.FormerState?)
        -> (Configuration, KeptTexts?)
    {
        readConfiguration(paths, keepsTexts: former != nil, within: former?.core == nil ? 10_000 : 2000)
    }

    /// By a thread, which is waited for so many milliseconds: any user can hold a directory on the way to the files,
    /// and who has an account a name service is asked.
    static func readConfiguration(_ paths: ConfigurationPaths, keepsTexts: Bool, within limit: Int32)
        -> (Configuration, KeptTexts?)
    {
        let found = Errand.run(at: .configuration, within: limit) { () -> (Configuration, KeptTexts?) in
            let texts = keepsTexts ? try? KeptTexts() : nil
            return (Configuration.load(paths: paths) { texts?.add($0, $1) }, texts)
        }
        return found ?? (.unread(paths), nil)
    }
}

extension Supervisor {
    var files: ConfigurationPaths { ConfigurationPaths(root: paths.root) }

    /// Reads the files, and their texts where there is a loop after this one.
    func readConfiguration() -> (Configuration, KeptTexts?) {
        KeptTexts.readConfiguration(files, keepsTexts: keptState != nil, within: 3000)
    }

    /// After a reload. What runs by an older text than its app's now, or by one of an app that is gone, keeps that.
    func keep(_ next: KeptTexts?) {
        for process in processes.values {
            let (key, name) = (KeptTexts.key(of: process.instance), process.app.name)
            guard let text = texts?.text(of: key) ?? texts?.text(of: name), text != next?.text(of: name) else {
                continue
            }
            next?.add(key, text)
        }
        guard let next else { return }
        texts = next
        next.keep(by: keeper)
    }

    /// Where curfew.toml has an error now, or was not read: the loop before had a good one, or none.
    func takeFormerDevice() {
        let name = Configuration.deviceText
        guard !configuration.errors.isEmpty, texts?.text(of: name) == nil, let text = formerTexts?.text(of: name)
        else { return }
        texts?.add(name, text)
        configuration.takeDevice(from: text)
    }

    /// After what runs is in hand: where a file has an error now, the next start is by what the loop before had read.
    func takeFormerTexts() {
        for app in apps.values where configured(app.name) == nil && !app.isAdopted {
            guard let text = formerTexts?.text(of: app.name) else { continue }
            texts?.add(app.name, text)
            if let next = Configuration.app(app.name, from: text, paths: files) { _ = app.update(next) }
        }
    }

    /// An app as what runs of it was started, where its file says another thing now; nil: it does not, or nothing is
    /// known of it.
    func formerConfiguration(_ name: String, _ instance: InstanceID?) -> AppConfiguration? {
        let own = instance.map { KeptTexts.key(of: $0) }
        guard let text = own.flatMap({ formerTexts?.text(of: $0) }) ?? formerTexts?.text(of: name),
            text != texts?.text(of: name)
        else { return nil }
        // For the loop after this one.
        if let own { texts?.add(own, text) }
        return Configuration.app(name, from: text, paths: files)
    }
}
