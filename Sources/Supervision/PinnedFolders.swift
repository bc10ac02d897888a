internal import CLinux
internal import SystemCalls

/// Folders that are held open, so that the kernel forgets none of the names on the way to them. A name that it does not
/// remember is looked up in the folder above, /var/lib say, whose lock any user may hold for as long as it likes.
final class PinnedFolders {
    private var descriptors: [String: Int32] = [:]

    deinit { for descriptor in descriptors.values { close(descriptor) } }

    /// Those that are there and not held yet. What is held up already is not waited for.
    func pin(_ paths: [String]) {
        let wanted = paths.filter { descriptors[$0] == nil }
        if wanted.isEmpty { return }
        let opened = Errand.run(at: .folders, within: 1000) {
            wanted.map { (try? FileDescriptor.open($0, linux_directory_flags))?.take() ?? -1 }
        }
        for (path, descriptor) in zip(wanted, opened ?? []) where descriptor >= 0 { descriptors[path] = descriptor }
    }
}
