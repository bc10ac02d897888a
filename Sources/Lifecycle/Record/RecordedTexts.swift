#if !hasFeature(Embedded)
    /// What becomes of the texts in records and in states as they are read: names of apps and of their tasks, words of
    /// people.
    public enum RecordedTexts {
        @TaskLocal public static var change: (@Sendable (String) -> String)?
    }
#endif

extension String {
    /// As it is read.
    static func recorded(_ bytes: ArraySlice<UInt8>) -> String {
        let text = String(decoding: bytes, as: UTF8.self)
        #if hasFeature(Embedded)
            return text
        #else
            return RecordedTexts.change?(text) ?? text
        #endif
    }
}
