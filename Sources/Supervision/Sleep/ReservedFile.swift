internal import CLinux
internal import SystemCalls

/// A small file in /run that is there at times, and for which there is always room: while it is not there, what it
/// takes of the file system is kept under another name. Only root reads it: who else may could hold up each use of it.
struct ReservedFile {
    let path: String
    /// The most bytes that there may be in it.
    let size: Int
    private var spare: String { path + ".spare" }

    func reserve() throws(SystemError) {
        let there = [spare, path].filter { Files.exists($0) }
        for place in there { try Files.admit(only: geteuid(), to: place) }
        if !there.isEmpty { return }
        try Files.replace(spare, with: [UInt8](repeating: 0, count: size), durable: false)
    }

    func put(_ bytes: [UInt8]) throws(SystemError) {
        do throws(SystemError) {
            try Files.overwrite(spare, with: bytes, durable: false)
            try Files.move(spare, to: path)
        } catch {
            try Files.replace(path, with: bytes, durable: false)
        }
    }

    /// Throws `.noEntry` where it is not there.
    func remove() throws(SystemError) {
        // Another's place is left as it is.
        if Files.isFile(path), (try? Files.move(path, to: spare)) != nil { return }
        defer { try? reserve() }
        try Files.remove(path)
    }
}
