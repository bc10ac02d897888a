internal import CLinux
public import SystemCalls

/// The calls that an app in the strict sandbox is refused, as seccomp(2) takes them: listed here, compiled in the loop
/// (`CLinux/compile_call_filter.c`), loaded by the child.
public enum SystemCallFilter {
    /// What administers the board, debugs other processes, or is there for old programs alone. What a kernel or an
    /// architecture does not have is no error.
    private static let refused = """
        adjtimex clock_adjtime clock_adjtime64 clock_settime clock_settime64 settimeofday stime modify_ldt \
        subpage_prot switch_endian vm86 vm86old kcmp lookup_dcookie perf_event_open pidfd_getfd process_madvise \
        process_vm_readv process_vm_writev ptrace delete_module finit_module init_module chroot fsconfig fsmount \
        fsopen fspick mount mount_setattr move_mount open_tree open_tree_attr pivot_root umount umount2 ioperm iopl \
        pciconfig_iobase pciconfig_read pciconfig_write kexec_file_load kexec_load reboot swapoff swapon add_key \
        keyctl request_key acct bpf fanotify_init io_uring_enter io_uring_register io_uring_setup nfsservctl \
        open_by_handle_at quotactl quotactl_fd setdomainname sethostname syslog userfaultfd vhangup _sysctl \
        afs_syscall bdflush create_module get_kernel_syms getpmsg putpmsg query_module sgetmask ssetmask sysfs \
        ulimit uselib ustat vserver
        """

    /// The steps of the filter, 8 bytes each. Loads libseccomp for the time of the call. namespacesAlone: only new
    /// namespaces are refused.
    public static func make(namespacesAlone: Bool = false) throws(SystemError) -> [UInt64] {
        var names: [CChar] = []
        var number = namespacesAlone ? 0 : 1
        for byte in namespacesAlone ? "".utf8 : refused.utf8 {
            if byte == UInt8(ascii: " ") { number += 1 }
            names.append(byte == UInt8(ascii: " ") ? 0 : CChar(bitPattern: byte))
        }
        names.append(0)
        var steps = [linux_filter_step](repeating: linux_filter_step(), count: Int(LINUX_MAX_FILTER_STEPS))
        let count = linux_refuse_calls(names, number, &steps, steps.count)
        guard count > 0 else {
            let errno = Errno.current
            if errno.rawValue == ELIBACC {
                throw SystemError(
                    "filter system calls", "(needs libseccomp.so.2, of Debian's libseccomp2)", errno: errno)
            }
            throw SystemError("filter system calls", errno: errno)
        }
        return steps[..<count].map {
            UInt64($0.code) | UInt64($0.on_true) << 16 | UInt64($0.on_false) << 24 | UInt64($0.value) << 32
        }
    }
}
