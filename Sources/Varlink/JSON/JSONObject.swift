internal import CLinux

/// The members of a JSON object in the order they were written. Messages are small: lookup is linear.
public struct JSONObject: Sendable {
    /// A name and its value.
    public struct Member: Equatable, Sendable {
        public let name: String
        public let value: JSON

        public init(name: String, value: JSON) {
            self.name = name
            self.value = value
        }
    }

    public private(set) var members: [Member] = []

    public init() {}

    /// `members` with different names.
    init(distinct members: [Member]) { self.members = members }

    public var isEmpty: Bool { members.isEmpty }
    public var count: Int { members.count }

    /// A member's value; nil removes it.
    public subscript(_ name: String) -> JSON? {
        get { index(of: name).map { members[$0].value } }
        set {
            switch (index(of: name), newValue) {
            case (let index?, let value?): members[index] = Member(name: name, value: value)
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append(Member(name: name, value: value))
            case (nil, nil): break
            }
        }
    }

    private func index(of name: String) -> Int? {
        members.firstIndex { sameBytes($0.name, name) }
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, JSON)...) {
        for (name, value) in elements { self[name] = value }
    }
}

extension JSONObject: Equatable {
    /// The same members, in whatever order.
    public static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.count == right.count && left.members.allSatisfy { right[$0.name] == $0.value }
    }
}

/// Equal as JSON names are: byte by byte. For Swift's `==` the letter K and the Kelvin sign are the same.
func sameBytes(_ left: String, _ right: String) -> Bool {
    let count = left.utf8.count
    guard count == right.utf8.count, count > 0 else { return count == right.utf8.count }
    // An element at a time, `elementsEqual` was a twentieth of the daemon's time in a background task's call.
    let difference = left.utf8.withContiguousStorageIfAvailable { left -> Int32? in
        right.utf8.withContiguousStorageIfAvailable { right -> Int32 in
            guard let left = left.baseAddress, let right = right.baseAddress else { return 1 }
            return memcmp(left, right, count)
        }
    }
    guard case .some(.some(let difference)) = difference else { return left.utf8.elementsEqual(right.utf8) }
    return difference == 0
}
