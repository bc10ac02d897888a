internal import CLinux
internal import SystemCalls

/// Folders that are held open, so that the kernel forgets none of the names on the way to them. A name that it does not
/// remember is looked up in the folder above, /var/lib say, whose lock any user may hold for as long as it likes.
final class PinnedFolders {
    private var descriptors: [String: Int32] = [:]

    deinit { for descriptor in descriptors.values { close(descriptor) } }

    /// Those that are there and not held yet.
    func pin(_ paths: [String]) {
        for path in paths where descriptors[path] == nil {
            if let folder = try? FileDescriptor.open(path, linux_directory_flags) { descriptors[path] = folder.take() }
        }
    }
}
