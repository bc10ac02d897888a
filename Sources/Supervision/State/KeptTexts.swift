internal import CLinux
internal import Configuration
internal import ProcessControl
internal import SystemCalls

/// The texts of the apps' files as they were read, in memory of no file (memfd_create(2)) that the keeper has too: a
/// loop that begins while a file is being edited, or is gone, has what runs still as it was configured.
///
/// It is a row of names and texts, each after its length, four bytes in the machine's order.
final class KeptTexts {
    private static let name = "texts"

    private let memory: FileDescriptor
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
        end = lseek(memory.rawValue, 0, SEEK_END)
    }

    func add(_ name: String, _ text: [UInt8]) {
        for part in [Array(name.utf8), text] {
            var length = UInt32(truncatingIfNeeded: part.count)
            let bytes = withUnsafeBytes(of: &length) { Array($0) } + part
            isWhole = isWhole && pwrite(memory.rawValue, bytes, bytes.count, end) == bytes.count
            end += off_t(bytes.count)
        }
    }

    /// In place of what the keeper has. Nothing where there was no room for all of it.
    func keep(by keeper: ProcessKeeper) { if isWhole { keeper.keep(Self.name, memory.rawValue) } }

    /// All of them, in order.
    func forEach(_ body: (_ name: String, _ text: [UInt8]) -> Void) {
        var place: off_t = 0
        while let name = read(&place), let text = read(&place) { body(String(decoding: name, as: UTF8.self), text) }
    }

    private func read(_ place: inout off_t) -> [UInt8]? {
        var length = UInt32(0)
        guard pread(memory.rawValue, &length, 4, place) == 4, off_t(length) <= end - place - 4 else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(length))
        guard pread(memory.rawValue, &bytes, bytes.count, place + 4) == bytes.count else { return nil }
        place += 4 + off_t(length)
        return bytes
    }
}

extension Supervisor {
    /// Reads the files. The texts of those that have no error are for the next loop once that is kept.
    func readConfiguration() -> (Configuration, KeptTexts?) {
        let texts = try? KeptTexts()
        let paths = ConfigurationPaths(root: paths.root.isEmpty ? nil : paths.root)
        return (Configuration.load(paths: paths) { texts?.add($0, $1) }, texts)
    }

    /// Of apps that an earlier loop had and whose files have an error now, or are gone: as they were configured then.
    /// texts: of this loop, which get those too.
    func takeFormerTexts(_ texts: KeptTexts?) {
        let paths = ConfigurationPaths(root: paths.root.isEmpty ? nil : paths.root)
        var usable: Set<String> = []
        for app in configuration.validApps { usable.insert(app.name) }
        KeptTexts(takenFrom: keeper)?.forEach { name, text in
            guard !usable.contains(name), let app = Configuration.app(name, from: text, paths: paths) else { return }
            formerApps.append(app)
            texts?.add(name, text)
        }
    }
}
