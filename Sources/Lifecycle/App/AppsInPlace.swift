extension Array where Element == App {
    /// An app where it lies. Array's own subscript hands out a copy to read from: a kilobyte, and all that it refers to
    /// counted once more.
    subscript(index: Int) -> App {
        @inline(__always) unsafeAddress {
            // A negative index is a large number then, too.
            precondition(UInt(bitPattern: index) < UInt(bitPattern: count))
            return withUnsafeBufferPointer { $0.baseAddress.unsafelyUnwrapped + index }
        }
        @inline(__always) unsafeMutableAddress {
            precondition(UInt(bitPattern: index) < UInt(bitPattern: count))
            return withUnsafeMutableBufferPointer { $0.baseAddress.unsafelyUnwrapped + index }
        }
    }
}
