#include "sandbox_child.h"

#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

// The program's own view of the system, built by the child while it has its parent's rights. Mounts that it does not
// hide are those of the system, and follow what is mounted later.

// Mounts of the kernel's own that are no part of the system: what is below them stays read-only.
static const char *const kernels[] = {"/proc", "/sys", "/dev", "/dev/shm", "/dev/mqueue", "/dev/hugepages"};
enum { KERNELS = sizeof kernels / sizeof *kernels };

static const char *const links[][2] = {
    {"/proc/self/fd", "/dev/fd"},    {"/proc/self/fd/0", "/dev/stdin"}, {"/proc/self/fd/1", "/dev/stdout"},
    {"/proc/self/fd/2", "/dev/stderr"}, {"pts/ptmx", "/dev/ptmx"},      {"/run/systemd/journal/dev-log", "/dev/log"},
};

// False: the start is over. What is optional is told, and gone without.
CHILD static bool lacks(const struct view *view, uint32_t what) {
    if (!wants(view, LINUX_SANDBOX_OPTIONAL)) return linux_child_fails(view->start, LINUX_SPAWN_SANDBOX, (int)what);
    linux_child_says(view->start, SANDBOX_LACKS, errno, (int)what);
    return true;
}

// MARK: system calls

CHILD static int mount_at(const char *source, const char *target, const char *type, unsigned long flags,
                          const char *options) {
    return (int)syscall(SYS_mount, source, target, type, flags, options);
}

// A tree of mounts from a descriptor or a path to a place.
CHILD static int move_to(int tree, int target, const char *path) {
    unsigned flags = MOVE_MOUNT_F_EMPTY_PATH | (*path ? 0 : MOVE_MOUNT_T_EMPTY_PATH);
    return (int)syscall(SYS_move_mount, tree, "", target, path, flags);
}

CHILD static int change_mounts(int directory, const char *path, unsigned flags, uint64_t set, uint64_t clear) {
    struct mount_attr change = {.attr_set = set, .attr_clr = clear};
    return (int)syscall(SYS_mount_setattr, directory, path, flags, &change, sizeof change);
}

// MARK: what takes its place

// Folders on the way to a path, and the path itself, in what is empty.
CHILD static void make_path(const char *path, bool is_file) {
    char part[4096];
    size_t length = length_of(path);
    if (length >= sizeof part) return;
    for (size_t i = 0; i <= length; i++) {
        if (i > 0 && (path[i] == '/' || (!path[i] && !is_file))) {
            part[i] = 0;
            syscall(SYS_mkdirat, AT_FDCWD, part, 0755);
        }
        part[i] = path[i];
    }
    if (is_file) close_one((int)syscall(SYS_openat, AT_FDCWD, path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0444));
}

CHILD static int put_back(const struct view *view, const struct held *held) {
    // What covers a folder of curfewd's is not the program's to fill, or to put something else into.
    bool read_only = held->kind == LINUX_SANDBOX_READABLE || held->kind == LINUX_SANDBOX_COVER;
    bool stays = !held->is_hidden && !read_only;
    if (stays && !wants(view, LINUX_SANDBOX_SYSTEM)) return 0;
    if (read_only && change_mounts(held->tree, "", AT_EMPTY_PATH | AT_RECURSIVE, MOUNT_ATTR_RDONLY, 0) != 0) return -1;
    if (held->is_hidden) make_path(held->path, held->is_file);
    // By the place that was looked at, where it is still to be seen: nothing can have come between.
    if (held->is_hidden || held->is_inside) return move_to(held->tree, AT_FDCWD, held->path);
    return move_to(held->tree, held->target, "");
}

CHILD static bool put_back_all(struct view *view, bool hidden) {
    for (size_t i = 0; i < view->count; i++) {
        const struct held *held = &view->held[i];
        if (held->is_hidden != hidden) continue;
        if (put_back(view, held) != 0 && !lacks(view, LINUX_SANDBOX_SYSTEM)) return false;
        close_one(held->tree);
        close_one(held->target);
    }
    return true;
}

CHILD static bool is_writable(const char *path) {
#ifdef SYS_statfs64
    struct statfs64 status;
    long result = syscall(SYS_statfs64, path, sizeof status, &status);
#else
    struct statfs status;
    long result = syscall(SYS_statfs, path, &status);
#endif
    return result == 0 && !(status.f_flags & ST_RDONLY);
}

CHILD static bool make_system_read_only(struct view *view) {
    if (!wants(view, LINUX_SANDBOX_SYSTEM)) return put_back_all(view, false);
    bool writable[KERNELS];
    for (int i = 0; i < KERNELS; i++) writable[i] = is_writable(kernels[i]);
    if (change_mounts(AT_FDCWD, "/", AT_RECURSIVE, MOUNT_ATTR_RDONLY, 0) != 0)
        return lacks(view, LINUX_SANDBOX_SYSTEM);
    // Fails where it is no mount of its own; then it is part of the system.
    for (int i = 0; i < KERNELS; i++)
        if (writable[i]) (void)change_mounts(AT_FDCWD, kernels[i], 0, 0, MOUNT_ATTR_RDONLY);
    return put_back_all(view, false);
}

CHILD static bool make_devices(struct view *view) {
    if (!view->roots[DEV][0]) return true;
    if (mount_at("tmpfs", "/dev", "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=755,size=64k,nr_inodes=1k") != 0)
        return lacks(view, LINUX_SANDBOX_DEVICES);
    for (size_t i = 0; i < sizeof links / sizeof *links; i++)
        syscall(SYS_symlinkat, links[i][0], AT_FDCWD, links[i][1]);
    return true;
}

CHILD static bool make_tmp(struct view *view) {
    for (int root = TMP; root <= SHM; root++) {
        const char *path = view->roots[root];
        if (!*path) continue;
        make_path(path, false);
        if (mount_at("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777,size=25%,nr_inodes=64k") != 0)
            return lacks(view, LINUX_SANDBOX_TMP);
    }
    return true;
}

CHILD static bool make_homes(struct view *view) {
    const char *first = NULL;
    for (int root = HOME; root <= RUN_USER; root++) {
        const char *path = view->roots[root];
        if (!*path) continue;
        // One emptiness is as good as another, and cheaper than a file system more.
        bool again = first && !view->hides_some;
        int result = again ? mount_at(first, path, NULL, MS_BIND, NULL)
                           : mount_at("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=64k,nr_inodes=1k");
        if (result != 0) return lacks(view, LINUX_SANDBOX_HOMES);
        first = path;
    }
    return true;
}

// Once all that belongs into it is there.
CHILD static void seal(struct view *view) {
    for (int root = 0; root < ROOTS; root++)
        if ((root == DEV || root >= HOME) && view->roots[root][0])
            (void)change_mounts(AT_FDCWD, view->roots[root], 0, MOUNT_ATTR_RDONLY, 0);
}

// Older kernels do not know the word, and would hide processes for the whole system.
CHILD static bool hide_processes(struct view *view) {
    if (!wants(view, LINUX_SANDBOX_PROCESSES)) return true;
    int context = (int)syscall(SYS_fsopen, "proc", FSOPEN_CLOEXEC);
    int mount = -1;
    if (context >= 0 && syscall(SYS_fsconfig, context, FSCONFIG_SET_STRING, "hidepid", "invisible", 0) == 0 &&
        syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0) {
        uint64_t attributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;
        mount = (int)syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, attributes);
    }
    bool done = mount >= 0 && move_to(mount, AT_FDCWD, "/proc") == 0;
    int error = errno;
    close_one(mount);
    close_one(context);
    errno = error;
    return done || lacks(view, LINUX_SANDBOX_PROCESSES);
}

// What configures the kernel is root's to write, whatever capabilities it has: there is a program that it runs with all
// of them, a group that no sleep freezes, a board that goes down.
static const char *const tunables[] = {
    "/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/acpi", "/sys/fs", "/sys/kernel",
    "/sys/module", "/sys/power", "/sys/firmware",
};

CHILD static bool is_asked_for(const struct view *view, const char *path) {
    for (size_t i = 0; i < view->count; i++) {
        const struct held *held = &view->held[i];
        if (held->kind != LINUX_SANDBOX_WRITABLE) continue;
        if (is_below(held->path, path) || is_below(path, held->path)) return true;
    }
    return false;
}

CHILD static bool keep_tunables(const struct view *view) {
    const struct linux_spawn_request *request = view->start->request;
    bool is_roots = request->change_user ? request->uid == 0 : view->start->own_uid == 0;
    if (!wants(view, LINUX_SANDBOX_SYSTEM) || !is_roots) return true;
    for (size_t i = 0; i < sizeof tunables / sizeof *tunables; i++) {
        if (is_asked_for(view, tunables[i])) continue;
        int tree = (int)syscall(SYS_open_tree, AT_FDCWD, tunables[i], SANDBOX_TREE);
        if (tree < 0 && errno == ENOENT) continue;
        bool done = tree >= 0 && change_mounts(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, MOUNT_ATTR_RDONLY, 0) == 0 &&
                    move_to(tree, AT_FDCWD, tunables[i]) == 0;
        int error = errno;
        close_one(tree);
        errno = error;
        if (!done && !lacks(view, LINUX_SANDBOX_SYSTEM)) return false;
    }
    return true;
}

// MARK: the network

CHILD static void raise_loopback(void) {
    int control = (int)syscall(SYS_socket, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct ifreq interface = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
    if (control >= 0) syscall(SYS_ioctl, control, SIOCSIFFLAGS, &interface);
    close_one(control);
}

CHILD static bool make_network(const struct view *view) {
    if (!wants(view, LINUX_SANDBOX_NETWORK)) return true;
    if (syscall(SYS_unshare, CLONE_NEWNET) != 0) return lacks(view, LINUX_SANDBOX_NETWORK);
    if (wants(view, LINUX_SANDBOX_LOOPBACK)) raise_loopback();
    return true;
}

CHILD static bool make_ipc(const struct view *view) {
    if (!wants(view, LINUX_SANDBOX_IPC)) return true;
    if (syscall(SYS_unshare, CLONE_NEWIPC) != 0) return lacks(view, LINUX_SANDBOX_IPC);
    // What is mounted there shows the system's queues.
    unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
    return mount_at("mqueue", "/dev/mqueue", "mqueue", flags, NULL) == 0 || errno == ENOENT ||
           lacks(view, LINUX_SANDBOX_IPC);
}

// MARK: all of it

CHILD static void send_with_word(const struct start *start, const int namespaces[3]) {
    struct word word = {.step = SANDBOX_IS_MADE};
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(3 * sizeof(int))];
    } control = {.head = {CMSG_LEN(3 * sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
    int *place = (int *)CMSG_DATA(&control.head);
    for (int i = 0; i < 3; i++) place[i] = namespaces[i];
    struct iovec part = {&word, sizeof word};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control};
    message.msg_controllen = sizeof control;
    syscall(SYS_sendmsg, start->gate, &message, MSG_NOSIGNAL);
}

// The namespaces go to the parent, for programs that are to see the same.
CHILD static void send_namespaces(const struct start *start) {
    int namespaces[3] = {
        linux_child_opens(start, "/proc/self/ns/mnt", O_RDONLY),
        linux_child_opens(start, "/proc/self/ns/net", O_RDONLY),
        linux_child_opens(start, "/proc/self/ns/ipc", O_RDONLY),
    };
    if (namespaces[0] >= 0 && namespaces[1] >= 0 && namespaces[2] >= 0) send_with_word(start, namespaces);
    for (int i = 0; i < 3; i++) close_one(namespaces[i]);
}

CHILD static bool enter(const struct start *start) {
    const struct linux_spawn_request *request = start->request;
    if (syscall(SYS_setns, request->enter.network, CLONE_NEWNET) != 0)
        return linux_child_fails(start, LINUX_SPAWN_SANDBOX, LINUX_SANDBOX_NETWORK);
    if (syscall(SYS_setns, request->enter.ipc, CLONE_NEWIPC) != 0)
        return linux_child_fails(start, LINUX_SPAWN_SANDBOX, LINUX_SANDBOX_IPC);
    if (syscall(SYS_setns, request->enter.mounts, CLONE_NEWNS) != 0)
        return linux_child_fails(start, LINUX_SPAWN_SANDBOX, 0);
    return true;
}

CHILD static bool build(struct view *view) {
    if (!linux_child_finds_paths(view) || !make_system_read_only(view) || !make_devices(view)) return false;
    if (!make_tmp(view) || !make_homes(view) || !put_back_all(view, true)) return false;
    seal(view);
    return hide_processes(view) && keep_tunables(view) && make_network(view) && make_ipc(view);
}

CHILD bool linux_child_sandbox(const struct start *start) {
    const struct linux_spawn_request *request = start->request;
    if (request->enters) return enter(start);
    bool is_asked = request->sandbox & ~(uint32_t)LINUX_SANDBOX_OPTIONAL || request->sandbox_path_count > 0;
    if (!is_asked) return true;
    struct view view = {.start = start};
    if (syscall(SYS_unshare, CLONE_NEWNS) != 0 || mount_at(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) != 0) {
        return lacks(&view, 0);
    }
    long mask = syscall(SYS_umask, 022);
    bool done = build(&view);
    syscall(SYS_umask, mask);
    if (done) send_namespaces(start);
    return done;
}
