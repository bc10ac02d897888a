/// Lines of "label   text", the texts under each other and broken where the terminal ends.
struct Labelled {
    private var entries: [(label: String, text: String, tone: Tone)] = []

    mutating func add(_ label: String, _ text: String?, _ tone: Tone = .plain) {
        if let text { entries.append((label, text.printable, tone)) }
    }

    func lines(_ style: Style, width: Int?) -> [String] {
        let labelWidth = entries.reduce(0) { max($0, $1.label.count) }
        let room = max(30, min(width ?? 100, 100) - labelWidth - 4)
        return entries.flatMap { entry in
            entry.text.wrapped(room).enumerated().map { index, part in
                let label = (index == 0 ? entry.label : "").padded(labelWidth)
                return "  " + style.paint(label, .dim) + "  " + style.paint(part, entry.tone)
            }
        }
    }
}
