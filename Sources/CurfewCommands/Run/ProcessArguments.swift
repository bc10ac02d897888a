internal import CLinux

/// Arguments as the kernel takes them: one after the other, each with its NUL.
enum ProcessArguments {
    /// Arguments that end our own command line are passed on byte by byte: not all that names a file is UTF-8, and
    /// what is not has been mended on its way into a String.
    static func block(_ arguments: [String]) -> [CChar] {
        let first = Int(linux_argument_count()) - arguments.count
        var block: [CChar] = []
        for (index, argument) in arguments.enumerated() {
            let raw = first > 0 ? linux_argument(Int32(first + index)) : nil
            if let raw, String(cString: raw) == argument {
                block += UnsafeBufferPointer(start: raw, count: strlen(raw) + 1)
            } else {
                for byte in argument.utf8 { block.append(CChar(bitPattern: byte)) }
                block.append(0)
            }
        }
        return block
    }
}
