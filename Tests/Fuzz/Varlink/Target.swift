import CLinux
import SystemCalls
import Varlink

/// The first byte says what the rest is: a stream of messages, JSON, an interface description, or what a client sends
/// to a server or a server to a client.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    guard let kind = input.first else { return 0 }
    let rest = input.dropFirst()
    switch kind % 5 {
    case 0: messages(rest)
    case 1: json(rest)
    case 2: description(Array(rest))
    case 3: server(Array(rest))
    default: client(Array(rest))
    }
    return 0
}

/// The same messages come out whatever pieces the bytes come in, and what is a message is written back as it was read.
private func messages(_ bytes: ArraySlice<UInt8>) {
    var whole = MessageDecoder()
    whole.append(bytes)
    var pieces = MessageDecoder()
    var fromPieces: [[UInt8]] = []
    for byte in bytes {
        pieces.append(CollectionOfOne(byte))
        while let message = next(&pieces) { fromPieces.append(Array(message)) }
    }
    var taken = 0
    while let message = next(&whole) {
        precondition(taken < fromPieces.count && message.elementsEqual(fromPieces[taken]))
        taken += 1
        if let call = try? Call.decode(message) {
            let again = try? Call.decode(call.encode().dropLast())
            precondition(again == call)
        }
        if let reply = try? Reply.decode(message) {
            let again = try? Reply.decode(reply.encode().dropLast())
            precondition(again == reply)
        }
    }
    precondition(taken == fromPieces.count)
}

private func next(_ decoder: inout MessageDecoder) -> ArraySlice<UInt8>? {
    (try? decoder.next()) ?? nil
}

private func json(_ bytes: ArraySlice<UInt8>) {
    guard let value = try? JSON.parse(bytes) else { return }
    let written = value.bytes()
    precondition(!written.contains(0) && (try? JSON.parse(written)) == value)
    precondition((try? JSON.parse(value.prettyText())) == value)
}

private func description(_ text: [UInt8]) {
    guard let interface = try? InterfaceDescription.parse(text) else { return }
    for method in interface.methods {
        _ = interface.validate(call: method, [:])
        _ = interface.validate(reply: method, ["a": ["b": [1]]])
    }
    for type in interface.types {
        for value: JSON in [nil, "a", ["a": nil], ["a": ["a": [["a": 1]]]]] {
            _ = interface.validate(value, as: type.name)
        }
    }
}

private let interface = """
    interface io.curfew.Fuzz
    type Kind (one, two)
    method Now(n: int, kind: ?Kind) -> ()
    method Later(list: ?[]string, map: ?[string]float) -> ()
    method Stream() -> ()
    method Turn() -> ()
    method Close() -> ()
    """

/// What a client sends. Everything sent back is Varlink, in the order of the calls.
private func server(_ bytes: [UInt8]) {
    guard let pair = try? SocketPair(), let service = try? Service(product: "fuzz", version: "1", url: "") else {
        return
    }
    let connection = Connection(owning: pair.ours, role: .server)
    var waiting: [Request] = []
    try? service.register(interface) { request in
        switch request.method {
        case "io.curfew.Fuzz.Now": request.reply()
        case "io.curfew.Fuzz.Stream":
            request.reply(continuing: ["n": 1])
            waiting.append(request)
        case "io.curfew.Fuzz.Turn": _ = request.acceptUpgrade()
        case "io.curfew.Fuzz.Close": connection.close()
        default: waiting.append(request)
        }
    }
    connection.onRequest = { service.handle($0) }
    let peer = pair.theirs.rawValue
    var fed = 0
    for round in 0..<64 where connection.isOpen {
        let piece = Array(bytes[fed..<min(bytes.count, fed + 1 + round * 7)])
        let sent = linux_unix_send(peer, piece, piece.count)
        if sent > 0 { fed += sent }
        connection.onReadable()
        connection.onWritable()
        if round % 3 == 2 { waiting.popLast()?.reply(["late": true]) }
        if round % 11 == 10 { _ = connection.call(Call("a.B")) }
    }
    for request in waiting { request.reply() }
    connection.onHangup()
    drain(peer)
    connection.close()
    precondition(waiting.allSatisfy { !$0.isAlive })
}

private func drain(_ peer: Int32) {
    var decoder = MessageDecoder()
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
        let count = linux_unix_receive(peer, &buffer, buffer.count)
        if count <= 0 { break }
        decoder.append(buffer[0..<count])
        while let message = next(&decoder) {
            precondition((try? Reply.decode(message)) != nil || (try? Call.decode(message)) != nil)
        }
    }
    precondition(decoder.pendingBytes == 0)
}

/// What a server sends to calls that wait: every one of them hears of its end exactly once.
private func client(_ bytes: [UInt8]) {
    guard let pair = try? SocketPair() else { return }
    let connection = Connection(owning: pair.ours, role: .client)
    var made = 0
    var ended = 0
    for index in 0..<4 {
        let call = Call("a.B", more: index % 2 == 1, upgrade: index == 3)
        let sent = connection.call(call) { response in
            if case .reply(_, continues: true) = response { return }
            ended += 1
        }
        if sent { made += 1 }
    }
    connection.onRequest = { $0.reply() }
    _ = linux_unix_send(pair.theirs.rawValue, bytes, bytes.count)
    for _ in 0..<8 { connection.onReadable() }
    connection.close()
    precondition(made == ended)
}
