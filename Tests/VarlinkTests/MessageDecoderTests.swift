import Testing
import Varlink

struct MessageDecoderTests {
    private static let limit = MessageDecoder.messageLimit

    /// What comes out of `stream` fed in pieces of `sizes`, in turn; nil at the end stands for the error.
    private func decode(_ stream: [UInt8], pieces sizes: [Int]) -> [[UInt8]?] {
        var decoder = MessageDecoder()
        var messages: [[UInt8]?] = []
        var position = 0
        var turn = 0
        while position < stream.count {
            let end = min(stream.count, position + sizes[turn % sizes.count])
            decoder.append(stream[position..<end])
            position = end
            turn += 1
            do {
                while let message = try decoder.next() { messages.append(Array(message)) }
            } catch {
                return messages + [nil]
            }
        }
        return messages
    }

    @Test func sameInWhateverPieces() {
        var random = SplitMix(state: 7)
        for _ in 0..<200 {
            var stream: [UInt8] = []
            for _ in 0..<Int.random(in: 0...12, using: &random) {
                let length = Int.random(in: 0...300, using: &random)
                stream += (0..<length).map { _ in UInt8.random(in: 1...255, using: &random) } + [0]
            }
            stream += [UInt8](repeating: 1, count: Int.random(in: 0...40, using: &random))
            let whole = decode(stream, pieces: [max(1, stream.count)])
            #expect(whole == stream.split(separator: 0, omittingEmptySubsequences: false).dropLast().map { Array($0) })
            #expect(decode(stream, pieces: [1]) == whole)
            let sizes = (0..<5).map { _ in Int.random(in: 1...200, using: &random) }
            #expect(decode(stream, pieces: sizes) == whole)
        }
    }

    @Test(arguments: [1 << 30, 4096, 65_537])
    func exactlyTheLimitPassesAndOneMoreFails(_ piece: Int) {
        let fits = [UInt8](repeating: 7, count: Self.limit)
        #expect(decode(fits + [0, 8, 0], pieces: [piece]) == [fits, [8]])
        #expect(decode([8, 0] + fits + [7, 0, 8, 0], pieces: [piece]) == [[8], nil])
        // Without its NUL, too.
        #expect(decode(fits + [7], pieces: [piece]) == [nil])
        #expect(decode(fits, pieces: [piece]) == [])
    }

    @Test func afterAnErrorNothingComes() {
        var decoder = MessageDecoder()
        decoder.append([UInt8](repeating: 7, count: Self.limit + 1))
        #expect(throws: MessageDecoder.Failure.messageTooLong) { _ = try decoder.next() }
        decoder.append([0, 1, 0])
        #expect(throws: MessageDecoder.Failure.messageTooLong) { _ = try decoder.next() }
        #expect(decoder.pendingBytes == 0)
    }

    @Test func manySmallMessagesTakeLinearTime() throws {
        let count = 600_000
        var decoder = MessageDecoder()
        decoder.append([UInt8](repeating: 0, count: count))
        var taken = 0
        let time = try ContinuousClock().measure {
            while try decoder.next() != nil {
                taken += 1
                // A byte comes in for each that is taken: what is left must not be moved each time.
                if taken < count { decoder.append([0]) }
            }
        }
        #expect(taken == 2 * count - 1)
        // A second or two; more than 20 if each append moved all that is left.
        #expect(time < .seconds(12))
    }
}

/// A small generator with a seed, so that a failure comes again.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}
