internal import CLinux
internal import CSystemd
internal import PlayedKernel

/// A value in a message of the bus.
indirect enum BusValue {
    case string(String)
    case bool(Bool)
    case number(UInt64)
    /// 32 bits.
    case short(UInt32)
    case descriptor(Int32)
    /// "v", "r" or "e", with what is in it.
    case container(Character, [BusValue])
    case array([BusValue])

    static func variant(_ value: BusValue) -> BusValue { .container("v", [value]) }
    static func entry(_ name: String, _ value: BusValue) -> BusValue {
        .container("e", [.string(name), .variant(value)])
    }
}

/// A message of the bus, as it is built and as it is read.
final class PlayedMessage {
    var sender = ""
    var path = ""
    var interface = ""
    var member = ""
    var body: [BusValue] = []
    private(set) var error: UnsafeMutablePointer<sd_bus_error>?
    private var places: [(values: [BusValue], next: Int)] = []
    private var texts: [UnsafeMutablePointer<CChar>?] = []
    /// Held by every pointer to it.
    private var holder: PlayedMessage?

    var pointer: OpaquePointer { OpaquePointer(Unmanaged.passUnretained(self).toOpaque()) }
    static func at(_ pointer: OpaquePointer?) -> PlayedMessage? {
        pointer.map { Unmanaged<PlayedMessage>.fromOpaque(UnsafeRawPointer($0)).takeUnretainedValue() }
    }

    /// sd-bus's own reference, until it is let go of.
    func hold() { holder = self }
    func letGo() { holder = nil }

    deinit {
        for text in texts { free(text) }
        for case .descriptor(let file) in body { _ = __real_close(file) }
        error?.deallocate()
    }

    /// Lives as long as the message.
    func keep(_ text: String) -> UnsafeMutablePointer<CChar>? {
        let copy = strdup(text)
        texts.append(copy)
        return copy
    }

    func fail(_ name: String, _ text: String) {
        let made = UnsafeMutablePointer<sd_bus_error>.allocate(capacity: 1)
        made.initialize(to: sd_bus_error(name: keep(name), message: keep(text), _need_free: 0))
        error = made
    }

    // MARK: Reading

    private var nextValue: BusValue? {
        let (values, next) = places.last ?? (body, 0)
        return next < values.count ? values[next] : nil
    }

    private func advance() {
        if places.isEmpty { places.append((body, 0)) }
        places[places.count - 1].next += 1
    }

    /// As sd_bus_message_read_basic(3): 0 at the end, -ENXIO for another type.
    func read(_ type: CChar, _ out: UnsafeMutableRawPointer?) -> Int32 {
        guard let value = nextValue else { return 0 }
        switch (value, UInt8(bitPattern: type)) {
        case (.string(let text), UInt8(ascii: "s")), (.string(let text), UInt8(ascii: "o")):
            out?.storeBytes(of: UnsafePointer(keep(text)), as: UnsafePointer<CChar>?.self)
        case (.bool(let flag), UInt8(ascii: "b")): out?.storeBytes(of: flag ? 1 : 0, as: Int32.self)
        case (.number(let number), UInt8(ascii: "t")): out?.storeBytes(of: number, as: UInt64.self)
        case (.short(let number), UInt8(ascii: "u")): out?.storeBytes(of: number, as: UInt32.self)
        case (.descriptor(let file), UInt8(ascii: "h")): out?.storeBytes(of: file, as: Int32.self)
        default: return -ENXIO
        }
        advance()
        return 1
    }

    func enter(_ type: CChar, _ contents: String) -> Int32 {
        guard let value = nextValue else { return 0 }
        switch (value, Character(Unicode.Scalar(UInt8(bitPattern: type)))) {
        case (.array(let values), "a"): open(values)
        case (.container(let kind, let values), let wanted) where kind == wanted:
            if kind == "v", !Self.fits(values[0], contents) { return -ENXIO }
            open(values)
        default: return -ENXIO
        }
        return 1
    }

    private static func fits(_ value: BusValue, _ signature: String) -> Bool {
        switch value {
        case .string: signature == "s" || signature == "o"
        case .bool: signature == "b"
        case .number: signature == "t"
        case .short: signature == "u"
        case .descriptor: signature == "h"
        case .container, .array: signature.count > 1
        }
    }

    private func open(_ values: [BusValue]) {
        advance()
        places.append((values, 0))
    }

    func exit() -> Int32 {
        guard places.count > 1, let (values, next) = places.last else { return -ENXIO }
        if next < values.count { return -EBUSY }
        places.removeLast()
        return 1
    }

    func skip(_ types: String) -> Int32 {
        for _ in types {
            guard nextValue != nil else { return 0 }
            advance()
        }
        return 1
    }
}
