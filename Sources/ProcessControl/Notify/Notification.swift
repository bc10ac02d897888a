internal import CLinux
internal import SystemCalls

/// A message of sd_notify(3), with the kernel's word on who sent it. Nothing in it is checked but that word: whether
/// the sender may speak for an app is for the caller to find out, by its cgroup.
public final class Notification {
    /// One assignment of a message.
    public struct Field: Equatable, Sendable {
        public let name: String
        public let value: String
    }

    /// What is wrong with a datagram that carries no fields.
    public enum Defect: Equatable, Sendable {
        /// Longer than 4 KiB, systemd's own limit.
        case oversized
        /// The kernel named no sender, or one outside of our pid namespace.
        case unknownSender
    }

    public let senderPid: Int32
    public let senderUser: UInt32
    public let senderGroup: UInt32
    public let defect: Defect?
    /// "READY=1" is ("READY", "1"). Lines without "=" or that are not UTF-8 are left out.
    public let fields: [Field]
    public let rejectedLines: Int
    /// Descriptors came with it, which are never taken. It is still the socket's next, without its sender's pidfd.
    public let hasDescriptors: Bool
    private let pidfd: FileDescriptor?

    /// The sender's pidfd, where the kernel gives one (Linux 6.5); owned by this object.
    public var senderDescriptor: Int32? {
        switch pidfd {
        case .some(let descriptor): descriptor.rawValue
        case .none: nil
        }
    }

    /// sd_notify_barrier(3): the sender waits until the descriptor that came with it is closed.
    public var isBarrier: Bool { hasDescriptors && fields == [Field(name: "BARRIER", value: "1")] }

    init(_ raw: linux_notification, _ text: ArraySlice<UInt8>) {
        senderPid = raw.pid
        senderUser = raw.uid
        senderGroup = raw.gid
        let defect: Defect? =
            raw.oversized ? .oversized : !raw.has_sender || raw.pid <= 0 ? .unknownSender : nil
        self.defect = defect
        let (fields, rejected) = defect == nil ? Self.parse(text) : ([], 0)
        self.fields = fields
        rejectedLines = rejected
        hasDescriptors = raw.has_descriptors
        pidfd = raw.pidfd >= 0 ? FileDescriptor(owning: raw.pidfd) : nil
    }

    /// The value of a field; the last one where it is given twice.
    public func value(of name: String) -> String? {
        fields.last { $0.name == name }?.value
    }

    static func parse(_ text: ArraySlice<UInt8>) -> (fields: [Field], rejected: Int) {
        var fields: [Field] = []
        var rejected = 0
        for line in text.split(separator: UInt8(ascii: "\n")) {
            guard let separator = line.firstIndex(of: UInt8(ascii: "=")), separator > line.startIndex,
                let name = String(validating: line[..<separator], as: UTF8.self),
                let value = String(validating: line[(separator + 1)...], as: UTF8.self)
            else {
                rejected += 1
                continue
            }
            fields.append(Field(name: name, value: value))
        }
        return (fields, rejected)
    }
}
