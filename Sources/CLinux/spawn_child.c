#include "spawn_child.h"

#include <linux/seccomp.h>
#include <sys/syscall.h>

enum { HAS_NOT_STARTED = 127 };

// glibc's wrappers for ids would tell other threads, so that all calls here are the kernel's own.

CHILD void linux_child_says(const struct start *start, int step, int error, int detail) {
    struct word word = {step, error, detail};
    syscall(SYS_sendto, start->gate, &word, sizeof word, MSG_NOSIGNAL, NULL, 0);
}

CHILD bool linux_child_fails(const struct start *start, int step, int detail) {
    linux_child_says(start, step, errno, detail);
    return false;
}

// What the parent has to say of the start is said before the program can do anything, and while it cannot be stopped
// by its user.
CHILD static bool wait_at_gate(const struct start *start) {
    char word;
    while (1) {
        long count = syscall(SYS_read, start->gate, &word, 1);
        if (count == 1) return true;
        if (count == 0 || errno != EINTR) return false;
    }
}

CHILD int linux_child_opens(const struct start *start, const char *path, int flags) {
    enum { PROC = sizeof "/proc/" - 1 };
    int directory = start->proc >= 0 ? start->proc : AT_FDCWD;
    return (int)syscall(SYS_openat, directory, start->proc >= 0 ? path + PROC : path, flags | O_CLOEXEC);
}

CHILD static bool join_group(const struct start *start) {
    int group = start->request->group;
    if (group < 0 || !start->write_group) return true;
    int file = (int)syscall(SYS_openat, group, "cgroup.procs", O_WRONLY | O_CLOEXEC);
    if (file < 0 || syscall(SYS_write, file, "0", 1) != 1) return linux_child_fails(start, LINUX_SPAWN_JOIN_GROUP, 0);
    syscall(SYS_close, file);
    return true;
}

// What keeps the kernel's OOM killer from the supervisor would keep it from all apps. Where there is no such file,
// no process was kept from anything; any process may raise its value.
CHILD static void be_as_killable_as_others(const struct start *start) {
    int file = linux_child_opens(start, "/proc/self/oom_score_adj", O_RDWR);
    if (file < 0) return;
    char sign;
    if (syscall(SYS_read, file, &sign, 1) == 1 && sign == '-') syscall(SYS_write, file, "0", 1);
    syscall(SYS_close, file);
}

// exec resets handlers by itself but leaves ignored signals ignored.
CHILD static bool reset_signals(const struct start *start) {
    unsigned char default_action[128] = {0};  // any architecture's struct sigaction with SIG_DFL and no flags
    for (int signal = 1; signal <= KERNEL_SIGNALS; signal++) {
        if (signal == SIGKILL || signal == SIGSTOP) continue;
        if (syscall(SYS_rt_sigaction, signal, default_action, NULL, KERNEL_SIGSET_BYTES) != 0)
            return linux_child_fails(start, LINUX_SPAWN_SIGNALS, signal);
    }
    return true;
}

CHILD static void close_span(unsigned first, unsigned last) {
    if (first > last) return;
#ifdef SYS_close_range
    if (syscall(SYS_close_range, first, last, 0) == 0) return;
#endif
    // A seccomp filter that does not know the call.
    uint64_t limit[2];
    unsigned end = 65536;
    if (syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, limit) == 0 && limit[0] < end) end = (unsigned)limit[0];
    for (unsigned descriptor = first; descriptor <= last && descriptor < end; descriptor++)
        syscall(SYS_close, descriptor);
}

CHILD static bool arrange_descriptors(struct start *start) {
    const struct linux_spawn_request *request = start->request;
    int above = start->highest_target + 1;
    int gate = (int)syscall(SYS_fcntl, start->gate, F_DUPFD_CLOEXEC, above);
    if (gate < 0) return linux_child_fails(start, LINUX_SPAWN_DESCRIPTORS, start->gate);
    start->gate = gate;
    for (size_t i = 0; i < request->descriptor_count; i++) {
        int source = request->descriptors[i].source;
        if (source < 0) source = (int)syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC);
        int moved = source < 0 ? -1 : (int)syscall(SYS_fcntl, source, F_DUPFD_CLOEXEC, above);
        if (moved < 0) return linux_child_fails(start, LINUX_SPAWN_DESCRIPTORS, request->descriptors[i].target);
        start->moved[i] = moved;
    }
    for (size_t i = 0; i < request->descriptor_count; i++) {
        int target = request->descriptors[i].target;
        if (syscall(SYS_dup3, start->moved[i], target, 0) < 0)
            return linux_child_fails(start, LINUX_SPAWN_DESCRIPTORS, target);
    }
    unsigned next = 0;
    for (size_t i = 0; i < request->descriptor_count; i++) {
        unsigned kept = (unsigned)start->kept[i];
        if (kept > next) close_span(next, kept - 1);
        next = kept + 1;
    }
    close_span(next, (unsigned)gate - 1);
    close_span((unsigned)gate + 1, ~0U);
    return true;
}

CHILD static bool set_limits(const struct start *start) {
    const struct linux_spawn_request *request = start->request;
    for (size_t i = 0; i < request->limit_count; i++) {
        uint64_t pair[2] = {request->limits[i].soft, request->limits[i].hard};
        if (syscall(SYS_prlimit64, 0, request->limits[i].resource, pair, NULL) != 0)
            return linux_child_fails(start, LINUX_SPAWN_LIMITS, request->limits[i].resource);
    }
    if (request->change_nice && syscall(SYS_setpriority, PRIO_PROCESS, 0, request->nice) != 0)
        return linux_child_fails(start, LINUX_SPAWN_NICE, request->nice);
    return true;
}

#ifdef SYS_setresuid32
#define SET_GROUPS SYS_setgroups32
#define SET_GID SYS_setresgid32
#define SET_UID SYS_setresuid32
#else
#define SET_GROUPS SYS_setgroups
#define SET_GID SYS_setresgid
#define SET_UID SYS_setresuid
#endif

CHILD static bool change_user(const struct start *start) {
    const struct linux_spawn_request *request = start->request;
    if (!request->change_user) return true;
    bool same = request->uid == start->own_uid && request->gid == start->own_gid;
    // Without rights to change groups we may still be who is asked for.
    if (syscall(SET_GROUPS, request->group_count, request->groups) != 0 && !(same && errno == EPERM))
        return linux_child_fails(start, LINUX_SPAWN_GROUPS, 0);
    gid_t gid = request->gid;
    if (syscall(SET_GID, gid, gid, gid) != 0) return linux_child_fails(start, LINUX_SPAWN_GROUP, 0);
    uid_t uid = request->uid;
    if (syscall(SET_UID, uid, uid, uid) != 0) return linux_child_fails(start, LINUX_SPAWN_USER, 0);
    return true;
}

// Keys that it puts there (keyrings(7)) would be all apps' otherwise. A container may refuse it, and all keys with it.
CHILD static void leave_session_keyring(void) { syscall(SYS_keyctl, 1 /* KEYCTL_JOIN_SESSION_KEYRING */, NULL); }

// What the program and whatever it starts can have: before the user is changed, as it takes rights to do that.
CHILD static bool bound_capabilities(const struct start *start) {
    const struct linux_spawn_request *request = start->request;
    if (!request->limit_capabilities) return true;
    for (int number = 0; number < 64; number++) {
        if (request->capabilities >> number & 1) continue;
        if (syscall(SYS_prctl, PR_CAPBSET_DROP, number, 0, 0, 0) == 0) continue;
        // Beyond the last that this kernel knows.
        if (errno == EINVAL) break;
        return linux_child_fails(start, LINUX_SPAWN_CAPABILITIES, number);
    }
    if (syscall(SYS_prctl, PR_SET_KEEPCAPS, 1, 0, 0, 0) != 0)
        return linux_child_fails(start, LINUX_SPAWN_CAPABILITIES, 0);
    return true;
}

// And what another user than root's has at once. Root has what it can have by its exec.
CHILD static bool take_capabilities(const struct start *start) {
    const struct linux_spawn_request *request = start->request;
    if (!request->limit_capabilities) return true;
    bool is_roots = request->change_user ? request->uid == 0 : start->own_uid == 0;
    uint64_t wanted = is_roots ? 0 : request->capabilities;
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[2];
    if (syscall(SYS_capget, &head, sets) != 0) return linux_child_fails(start, LINUX_SPAWN_CAPABILITIES, 0);
    for (int half = 0; half < 2; half++) {
        uint32_t bits = (uint32_t)(wanted >> 32 * half);
        if (!is_roots) sets[half].permitted = sets[half].effective = sets[half].permitted & bits;
        sets[half].inheritable = sets[half].permitted & bits;
    }
    if (syscall(SYS_capset, &head, sets) != 0) return linux_child_fails(start, LINUX_SPAWN_CAPABILITIES, 0);
    for (int number = 0; number < 64; number++) {
        if (!(wanted >> number & 1)) continue;
        if (syscall(SYS_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, number, 0, 0) != 0)
            return linux_child_fails(start, LINUX_SPAWN_CAPABILITIES, number);
    }
    return true;
}

// A change of its user or capabilities would take this back.
CHILD static bool end_with_parent(const struct start *start) {
    if (!start->request->ends_with_parent) return true;
    syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    // It may have ended before that.
    return syscall(SYS_getppid) == start->own_pid;
}

CHILD static bool filter_calls(const struct start *start) {
    const struct linux_spawn_request *request = start->request;
    if (request->filter_count == 0) return true;
    struct {
        unsigned short count;
        const struct linux_filter_step *steps;
    } program = {(unsigned short)request->filter_count, request->filter};
    if (syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0) return true;
    return linux_child_fails(start, LINUX_SPAWN_FILTER, 0);
}

CHILD static void write_pid(char *slot) {
    char reversed[12];
    int count = 0;
    for (long pid = syscall(SYS_getpid); pid > 0; pid /= 10) reversed[count++] = (char)('0' + pid % 10);
    while (count > 0) *slot++ = reversed[--count];
    *slot = 0;
}

CHILD static bool prepare_child(struct start *start) {
    const struct linux_spawn_request *request = start->request;
    if (start->says_born) linux_child_says(start, LINUX_SPAWN_CLONE, 0, 0);
    if (!join_group(start)) return false;
    be_as_killable_as_others(start);
    if (syscall(SYS_setsid) < 0) return linux_child_fails(start, LINUX_SPAWN_SESSION, 0);
    if (!reset_signals(start) || !linux_child_sandbox(start)) return false;
    if (!arrange_descriptors(start) || !set_limits(start)) return false;
    if (request->umask >= 0) syscall(SYS_umask, request->umask);
    if (!wait_at_gate(start)) return false;
    // The directory comes after the user: it has to be reachable with the app's rights, not with ours.
    if (!bound_capabilities(start) || !change_user(start) || !take_capabilities(start)) return false;
    if (!end_with_parent(start)) return false;
    leave_session_keyring();
    if (request->directory && syscall(SYS_chdir, request->directory) != 0)
        return linux_child_fails(start, LINUX_SPAWN_DIRECTORY, 0);
    if (request->no_new_privileges && syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return linux_child_fails(start, LINUX_SPAWN_NO_NEW_PRIVILEGES, 0);
    if (!filter_calls(start)) return false;
    for (size_t i = 0; i < request->pid_slot_count; i++) write_pid(request->environment + request->pid_slots[i]);
    return true;
}

CHILD _Noreturn void linux_run_child(struct start *start) {
    if (prepare_child(start)) {
        linux_child_says(start, LINUX_SPAWN_DONE, 0, 0);
        uint64_t none = 0;
        syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, KERNEL_SIGSET_BYTES);
        syscall(SYS_execve, start->arguments[0], start->arguments, start->environment);
        linux_child_fails(start, LINUX_SPAWN_EXEC, 0);
    }
    while (1) syscall(SYS_exit_group, HAS_NOT_STARTED);
}
