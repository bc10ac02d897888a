/// What becomes of each text in records and in states as it is read: a name of an app or of a task, words of people.
public typealias TextChange = (String) -> String

extension Optional where Wrapped == TextChange {
    /// A text, changed.
    func read(_ bytes: ArraySlice<UInt8>) -> String {
        let text = String(decoding: bytes, as: UTF8.self)
        return self?(text) ?? text
    }
}
