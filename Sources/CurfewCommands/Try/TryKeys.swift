internal import CLinux
internal import SystemCalls
internal import Varlink

extension TryPlay {
    /// The keys.
    static let keys =
        "f front, b background, s sleep, w wake, l lock, c charger, h heat, p low power, m memory, 1/5 skip min, "
        + "t tasks, q quit"

    /// Does what single keys say, until q or the end of the input.
    func followKeys(_ descriptor: Int32) throws(CommandFailure) {
        let isOver = Reference(false)
        story.note(Self.keys, .accent)
        let source = session.loop.watch(readable: descriptor) { [unowned self] in
            var key: UInt8 = 0
            if read(descriptor, &key, 1) <= 0 || key == UInt8(ascii: "q") || key == 4 {
                isOver.value = true
            } else {
                press(key)
            }
        }
        defer { source.cancel() }
        try board.wait(for: "the trial was over") { isOver.value }
    }

    private func press(_ key: UInt8) {
        switch key {
        case UInt8(ascii: "f"): follow(.front)
        case UInt8(ascii: "b"): follow(.background)
        case UInt8(ascii: "s"): follow(.sleep)
        case UInt8(ascii: "w"): follow(.wake)
        case UInt8(ascii: "m"): follow(.memoryWarning("warning"))
        case UInt8(ascii: "l"): toggle("lock", "unlock")
        case UInt8(ascii: "c"): toggle("charger off", "charger on")
        case UInt8(ascii: "h"): toggle("thermal serious", "thermal nominal")
        case UInt8(ascii: "p"): toggle("low-power on", "low-power off")
        case UInt8(ascii: "1"): follow(.skip(60))
        case UInt8(ascii: "5"): follow(.skip(300))
        case UInt8(ascii: "t"): showTasks()
        case UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: " "): break
        default: story.note(Self.keys, .accent)
        }
    }

    /// The second where the first was the last word.
    private func toggle(_ first: String, _ second: String) {
        let isSecond = played.remove(first) != nil
        if !isSecond { played.insert(first) }
        let words = (isSecond ? second : first).split(separator: " ").map(String.init)
        guard let word = try? TryBoardWord(words[0], Array(words.dropFirst())) else { return }
        follow(.condition(word))
    }

    private func follow(_ action: TryAction) {
        begin(action) { [unowned self] problem in
            if let problem { story.tell("step", problem, .caution) }
        }
    }

    private func showTasks() {
        story.tell(app, standing)
        guard !tasks.isEmpty else { return }
        // What was heard of them may be old by now: the daemon says how much is left.
        board.control?.begin("Describe", ["app": .string(app)]) { [unowned self] response in
            guard case .reply(let reply, _) = response else { return }
            let held = (reply["tasks"]?.arrayValue ?? []).map { BackgroundTaskRecord($0) }
            story.block(TaskTable(held, showsApp: false).lines(story.style, width: story.console.width))
        }
    }
}
