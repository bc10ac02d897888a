internal import CLinux
public import SystemCalls

/// Two connected stream sockets, both close-on-exec.
@frozen public struct SocketPair: ~Copyable {
    public var ours: FileDescriptor
    public var theirs: FileDescriptor

    /// socketpair(2), AF_UNIX, SOCK_STREAM. No descriptors can be sent to ours, where the kernel can refuse them.
    public init() throws(SystemError) {
        var descriptors: [Int32] = [-1, -1]
        if linux_unix_pair(&descriptors) != 0 { throw SystemError("socketpair") }
        _ = linux_refuse_descriptors(descriptors[0])
        ours = FileDescriptor(owning: descriptors[0])
        theirs = FileDescriptor(owning: descriptors[1])
    }
}
