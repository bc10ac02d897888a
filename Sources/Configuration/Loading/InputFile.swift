internal import CLinux
internal import SystemCalls

/// A file as it was found on disk.
enum InputFile {
    case bytes([UInt8])
    case missing
    /// A link to /dev/null: the vendor's file of this name does not count.
    case masked
    /// Why it cannot be read.
    case unreadable(String)

    /// Far more than any sane file; the parser needs about 40 times as much memory for the worst one.
    static let limit = 1 << 20

    /// Never blocks and never opens anything but regular files: opening a watchdog would start it. isNamed: a person
    /// has asked for this file, whatever user it belongs to; otherwise it has to be one that `owners` trusts.
    static func read(_ path: String, isNamed: Bool = false, owners: Ownership = .ofReader) -> InputFile {
        var status = stat()
        if linux_stat(path, &status) != 0 {
            let errno = Errno.current
            if errno == .noEntry || errno == .notDirectory {
                return isLink(path) ? .unreadable("is a link to nothing") : .missing
            }
            return .unreadable("cannot be read: \(errno.text)")
        }
        if !isNamed, let why = owners.objection(toFoldersOf: path) { return .unreadable(why) }
        if let objection = objection(status) { return objection }
        do throws(SystemError) {
            // It may have been replaced since, by a FIFO for instance.
            let file = try FileDescriptor.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
            if fstat(file.rawValue, &status) != 0 { throw SystemError("fstat", path) }
            if let objection = objection(status) { return objection }
            if !isNamed, let why = owners.objection(to: status) { return .unreadable(why) }
            let bytes = try file.readAll(limit: limit + 1)
            return bytes.count > limit ? .unreadable("is larger than 1 MiB") : .bytes(bytes)
        } catch {
            return error.errno == .noEntry ? .missing : .unreadable("cannot be read: \(error.errno.text)")
        }
    }

    /// A number that is another where a text is (FNV-1a, from 0: nothing is 0).
    static func mark(_ bytes: [UInt8]) -> UInt64 {
        var mark: UInt64 = 0
        for byte in bytes { mark = (mark ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return mark
    }

    private static func isLink(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && FileKind(status) == .link
    }

    private static func objection(_ status: stat) -> InputFile? {
        switch FileKind(status) {
        case .regular:
            return status.st_size > limit
                ? .unreadable("is \((status.st_size + 0xF_FFFF) >> 20) MiB large; expected at most 1 MiB") : nil
        case .characterDevice where status.st_rdev == nullDevice: return .masked
        case .directory: return .unreadable("is a directory; expected a file")
        case .fifo: return .unreadable("is a FIFO; expected a regular file")
        case .characterDevice, .link, .other: return .unreadable("is not a regular file")
        }
    }

    /// /dev/null: major 1, minor 3.
    private static let nullDevice: dev_t = 1 << 8 | 3
}

/// What stat(2) calls the file's type.
enum FileKind {
    case regular, directory, fifo, characterDevice, link, other

    init(_ status: stat) {
        switch Int32(bitPattern: status.st_mode) & S_IFMT {
        case S_IFREG: self = .regular
        case S_IFDIR: self = .directory
        case S_IFIFO: self = .fifo
        case S_IFCHR: self = .characterDevice
        case S_IFLNK: self = .link
        default: self = .other
        }
    }
}
