/// Aligned columns under a header. The last column takes what is left of the width; where that is too little, the least
/// important columns give way.
struct Table {
    struct Column {
        let title: String
        var isNumber = false
        /// Higher goes first when the terminal is narrow; 0 stays.
        var dispensability = 0
    }

    struct Cell {
        let text: String
        var tone = Tone.plain

        init(_ text: String, _ tone: Tone = .plain) {
            self.text = text.printable
            self.tone = tone
        }
    }

    private static let gap = "  "
    /// What the last column should have at least before others give way.
    private static let lastWidth = 24

    let columns: [Column]
    private(set) var rows: [[Cell]] = []

    init(_ columns: [Column]) { self.columns = columns }

    mutating func add(_ row: [Cell]) { rows.append(row) }

    /// width: columns of the terminal; nil: nothing is cut off.
    func lines(_ style: Style, width: Int?) -> [String] {
        let widths = columns.indices.map { index in
            rows.reduce(columns[index].title.count) { max($0, $1[index].text.count) }
        }
        let shown = fitting(widths, width)
        let head = columns.map { Cell($0.title, .dim) }
        return ([head] + rows).map { line($0, shown, widths, style, width) }
    }

    private func fitting(_ widths: [Int], _ width: Int?) -> [Int] {
        var shown = Array(columns.indices)
        guard let width, let last = shown.last else { return shown }
        func fixedWidth() -> Int { shown.dropLast().reduce(0) { $0 + widths[$1] + Self.gap.count } }
        while fixedWidth() + min(widths[last], Self.lastWidth) > width {
            guard
                let least = shown.dropLast().filter({ columns[$0].dispensability > 0 })
                    .max(by: { columns[$0].dispensability < columns[$1].dispensability })
            else { break }
            shown.removeAll { $0 == least }
        }
        return shown
    }

    private func line(_ row: [Cell], _ shown: [Int], _ widths: [Int], _ style: Style, _ width: Int?) -> String {
        var text = ""
        var used = 0
        for index in shown {
            let cell = row[index]
            if index == shown.last {
                let room = width.map { max(1, $0 - used) } ?? .max
                let isNumber = columns[index].isNumber
                text += style.paint(
                    isNumber ? cell.text.padded(widths[index], toRight: true) : cell.text.clipped(room), cell.tone)
            } else {
                let padded = cell.text.padded(widths[index], toRight: columns[index].isNumber)
                text += style.paint(padded, cell.tone) + Self.gap
                used += padded.count + Self.gap.count
            }
        }
        while text.last == " " { text.removeLast() }
        return text
    }
}
