#include "CLinux.h"

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>

#include "clone_vfork.h"

#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE 2
#endif

// The kernel's signal set and the number of signals, not glibc's, which keeps two for itself.
enum { KERNEL_SIGNALS = 64, KERNEL_SIGSET_BYTES = 8 };

// What parent and child share while the parent stands still: the child has its own stack, but the same memory.
struct start {
    const struct linux_spawn_request *request;
    bool shares_table;  // the child has the parent's descriptors, not a copy, until `leave_table`
    int low_end;        // and then keeps those below this
    int sources[LINUX_SPAWN_MAX_DESCRIPTORS];
    char **arguments, **environment;
    bool write_group;
    int highest_target;
    int kept[LINUX_SPAWN_MAX_DESCRIPTORS];   // targets, ascending
    int moved[LINUX_SPAWN_MAX_DESCRIPTORS];  // sources, out of the way of all targets
    uid_t own_uid;
    gid_t own_gid;
    volatile bool reached_exec, cannot_leave;
    volatile int step, error, detail;
};

// Everything from here to `run` runs in the child, in the parent's memory: no allocation, no locks, and plain system
// calls. glibc's wrappers for ids would tell the threads of a process that is not theirs, and a sanitizer's wrappers
// would take the child for one of its threads; so its checks are off as well.

#define CHILD __attribute__((no_sanitize("address", "thread", "undefined")))

CHILD static bool fails(struct start *start, int step, int detail) {
    start->error = errno;
    start->detail = detail;
    start->step = step;
    return false;
}

// A copy of the table would be one of thousands of descriptors, each to be closed again: this copies the low ones only.
CHILD static bool leave_table(struct start *start) {
    if (!start->shares_table) return true;
#ifdef SYS_close_range
    if (syscall(SYS_close_range, start->low_end, ~0U, CLOSE_RANGE_UNSHARE) == 0) return true;
#else
    errno = ENOSYS;
#endif
    start->cannot_leave = true;
    return fails(start, LINUX_SPAWN_DESCRIPTORS, 0);
}

CHILD static void close_span(unsigned first, unsigned last);

// A table that was copied is as full as the supervisor's own: what is not passed on makes room for what is.
CHILD static void make_room(const struct start *start) {
    if (start->shares_table || start->low_end == 0) return;
    int group = start->request->group;
    if (group < start->low_end) return close_span((unsigned)start->low_end, ~0U);
    close_span((unsigned)start->low_end, (unsigned)group - 1);
    close_span((unsigned)group + 1, ~0U);
}

CHILD static bool join_group(struct start *start) {
    int group = start->request->group;
    if (group < 0 || !start->write_group) return true;
    int file = (int)syscall(SYS_openat, group, "cgroup.procs", O_WRONLY | O_CLOEXEC);
    if (file < 0 || syscall(SYS_write, file, "0", 1) != 1) return fails(start, LINUX_SPAWN_JOIN_GROUP, 0);
    syscall(SYS_close, file);
    return true;
}

// What keeps the kernel's OOM killer from the supervisor would keep it from all apps. Where there is no such file,
// no process was kept from anything; any process may raise its value.
CHILD static void be_as_killable_as_others(void) {
    int file = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
    if (file < 0) return;
    char sign;
    if (syscall(SYS_read, file, &sign, 1) == 1 && sign == '-') syscall(SYS_write, file, "0", 1);
    syscall(SYS_close, file);
}

// exec resets handlers by itself but leaves ignored signals ignored.
CHILD static bool reset_signals(struct start *start) {
    unsigned char default_action[128] = {0};  // any architecture's struct sigaction with SIG_DFL and no flags
    for (int signal = 1; signal <= KERNEL_SIGNALS; signal++) {
        if (signal == SIGKILL || signal == SIGSTOP) continue;
        if (syscall(SYS_rt_sigaction, signal, default_action, NULL, KERNEL_SIGSET_BYTES) != 0)
            return fails(start, LINUX_SPAWN_SIGNALS, signal);
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
    for (size_t i = 0; i < request->descriptor_count; i++) {
        int source = start->sources[i];
        if (source < 0) source = (int)syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC);
        int moved = source < 0 ? -1 : (int)syscall(SYS_fcntl, source, F_DUPFD_CLOEXEC, above);
        if (moved < 0) return fails(start, LINUX_SPAWN_DESCRIPTORS, request->descriptors[i].target);
        start->moved[i] = moved;
    }
    for (size_t i = 0; i < request->descriptor_count; i++) {
        int target = request->descriptors[i].target;
        if (syscall(SYS_dup3, start->moved[i], target, 0) < 0) return fails(start, LINUX_SPAWN_DESCRIPTORS, target);
    }
    unsigned next = 0;
    for (size_t i = 0; i < request->descriptor_count; i++) {
        unsigned kept = (unsigned)start->kept[i];
        if (kept > next) close_span(next, kept - 1);
        next = kept + 1;
    }
    close_span(next, ~0U);
    return true;
}

CHILD static bool set_limits(struct start *start) {
    const struct linux_spawn_request *request = start->request;
    for (size_t i = 0; i < request->limit_count; i++) {
        uint64_t pair[2] = {request->limits[i].soft, request->limits[i].hard};
        if (syscall(SYS_prlimit64, 0, request->limits[i].resource, pair, NULL) != 0)
            return fails(start, LINUX_SPAWN_LIMITS, request->limits[i].resource);
    }
    if (request->change_nice && syscall(SYS_setpriority, PRIO_PROCESS, 0, request->nice) != 0)
        return fails(start, LINUX_SPAWN_NICE, request->nice);
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

CHILD static bool change_user(struct start *start) {
    const struct linux_spawn_request *request = start->request;
    if (!request->change_user) return true;
    bool same = request->uid == start->own_uid && request->gid == start->own_gid;
    // Without rights to change groups we may still be who is asked for.
    if (syscall(SET_GROUPS, request->group_count, request->groups) != 0 && !(same && errno == EPERM))
        return fails(start, LINUX_SPAWN_GROUPS, 0);
    gid_t gid = request->gid;
    if (syscall(SET_GID, gid, gid, gid) != 0) return fails(start, LINUX_SPAWN_GROUP, 0);
    uid_t uid = request->uid;
    if (syscall(SET_UID, uid, uid, uid) != 0) return fails(start, LINUX_SPAWN_USER, 0);
    return true;
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
    if (!leave_table(start)) return false;
    make_room(start);
    if (!join_group(start)) return false;
    be_as_killable_as_others();
    if (syscall(SYS_setsid) < 0) return fails(start, LINUX_SPAWN_SESSION, 0);
    if (!reset_signals(start) || !arrange_descriptors(start) || !set_limits(start)) return false;
    if (request->umask >= 0) syscall(SYS_umask, request->umask);
    // The directory comes after the user: it has to be reachable with the app's rights, not with ours.
    if (!change_user(start)) return false;
    if (request->directory && syscall(SYS_chdir, request->directory) != 0)
        return fails(start, LINUX_SPAWN_DIRECTORY, 0);
    if (request->no_new_privileges && syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return fails(start, LINUX_SPAWN_NO_NEW_PRIVILEGES, 0);
    for (size_t i = 0; i < request->pid_slot_count; i++) write_pid(request->environment + request->pid_slots[i]);
    return true;
}

CHILD static int run(void *context) {
    struct start *start = context;
    if (!prepare_child(start)) return 127;
    start->reached_exec = true;
    uint64_t none = 0;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, KERNEL_SIGSET_BYTES);
    syscall(SYS_execve, start->arguments[0], start->arguments, start->environment);
    fails(start, LINUX_SPAWN_EXEC, 0);
    return 127;
}

// From here on: the parent.

static char **pointers_to(const char *strings, size_t count) {
    char **pointers = malloc((count + 1) * sizeof *pointers);
    if (!pointers) return NULL;
    for (size_t i = 0; i < count; i++) {
        pointers[i] = (char *)strings;
        strings += strlen(strings) + 1;
    }
    pointers[count] = NULL;
    return pointers;
}

static bool order_targets(struct start *start) {
    const struct linux_spawn_request *request = start->request;
    if (request->descriptor_count > LINUX_SPAWN_MAX_DESCRIPTORS) return false;
    start->highest_target = 2;
    for (size_t i = 0; i < request->descriptor_count; i++) {
        int target = request->descriptors[i].target;
        if (target < 0) return false;
        if (target > start->highest_target) start->highest_target = target;
        size_t place = i;
        while (place > 0 && start->kept[place - 1] > target) {
            start->kept[place] = start->kept[place - 1];
            place--;
        }
        if (place > 0 && start->kept[place - 1] == target) return false;
        start->kept[place] = target;
    }
    return true;
}

// For emulators, which know no CLONE_PIDFD. The child is ours to reap, so until we do the pid is its own.
static long start_child_unnamed(struct start *start, unsigned char *stack, int flags, int *pidfd) {
    long pid = clone(run, stack, flags | SIGCHLD, start);
    if (pid < 0) return -errno;
    *pidfd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
    if (*pidfd >= 0) return pid;
    int error = errno;
    kill((pid_t)pid, SIGKILL);
    while (waitpid((pid_t)pid, NULL, 0) < 0 && errno == EINTR) {
    }
    return -error;
}

// The child's pid or -errno. The parent stands still until the child has left its memory, by exec or by its end.
static long start_child(struct start *start, bool into_group, int *pidfd) {
    _Alignas(16) unsigned char stack[32 * 1024];
    start->reached_exec = start->cannot_leave = false;
    start->step = start->error = start->detail = 0;
    start->write_group = !into_group;
    *pidfd = -1;
    uint64_t flags = CLONE_VM | CLONE_VFORK | CLONE_PIDFD;
    struct clone3_arguments arguments = {
        .flags = flags | (into_group ? CLONE3_INTO_CGROUP : 0) | (start->shares_table ? CLONE_FILES : 0),
        .pidfd = (uintptr_t)pidfd,
        .exit_signal = SIGCHLD,
        .stack = (uintptr_t)stack,
        .stack_size = sizeof stack,
        .cgroup = into_group ? (uint64_t)start->request->group : 0,
    };
    long pid = clone3_with_stack(&arguments, run, start);
    if (pid != -ENOSYS || into_group || start->shares_table) return pid;
    // A seccomp filter, or an architecture without the lines for it.
    pid = clone(run, stack + sizeof stack, (int)flags | SIGCHLD, start, pidfd);
    if (pid >= 0 || errno != EINVAL) return pid < 0 ? -errno : pid;
    return start_child_unnamed(start, stack + sizeof stack, (int)flags & ~CLONE_PIDFD, pidfd);
}

static void discard_child(int pidfd, struct linux_exit *end) {
    while (linux_reap(pidfd, true, end) < 0 && errno == EINTR) {
    }
    close(pidfd);
}

// Whether a child that never reported is dead. The bound is for emulators that make a fork of vfork: there the memory
// is not shared and nothing is ever reported.
static bool died_early(int pidfd) {
    struct pollfd wait = {.fd = pidfd, .events = POLLIN};
    return poll(&wait, 1, 100) == 1;
}

// Low descriptors of our own, /dev/null until something is to be passed on: then it is here while the child starts.
enum { SLOTS = 8 };
static pthread_mutex_t slots_in_use = PTHREAD_MUTEX_INITIALIZER;
static int slots[SLOTS], slot_count, null_device = -1;
static bool cannot_share;

static bool make_slots(void) {
    if (null_device < 0) null_device = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null_device < 0) return false;
    for (; slot_count < SLOTS; slot_count++) {
        slots[slot_count] = fcntl(null_device, F_DUPFD_CLOEXEC, 3);
        if (slots[slot_count] < 0) return false;
    }
    return true;
}

// Makes what is passed on known by low numbers: then the child needs none of all the others. False: it does.
static bool fill_slots(struct start *start) {
    const struct linux_spawn_request *request = start->request;
    if (request->descriptor_count > SLOTS || !make_slots()) return false;
    int low_end = 3;
    for (size_t i = 0; i < request->descriptor_count; i++) {
        if (slots[i] >= low_end) low_end = slots[i] + 1;
        if (request->descriptors[i].source < 0) continue;
        if (dup3(request->descriptors[i].source, slots[i], O_CLOEXEC) < 0) return false;
        start->sources[i] = slots[i];
    }
    start->low_end = low_end;
    return true;
}

static void empty_slots(const struct start *start) {
    for (size_t i = 0; i < start->request->descriptor_count && i < (size_t)slot_count; i++)
        dup3(null_device, slots[i], O_CLOEXEC);
}

static void attempt(struct start *start, bool into_group, struct linux_spawn_result *result) {
    uint64_t all = ~(uint64_t)0, before = 0;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, KERNEL_SIGSET_BYTES);
    int pidfd;
    long pid = start_child(start, into_group, &pidfd);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, KERNEL_SIGSET_BYTES);

    *result = (struct linux_spawn_result){.pid = -1, .pidfd = -1};
    if (pid < 0) {
        result->step = LINUX_SPAWN_CLONE;
        result->error = (int)-pid;
        return;
    }
    struct linux_exit end = {0};
    if (start->step != LINUX_SPAWN_DONE) {
        discard_child(pidfd, &end);
        result->step = start->step;
        result->error = start->error;
        result->detail = start->detail;
    } else if (!start->reached_exec && died_early(pidfd)) {
        discard_child(pidfd, &end);
        result->step = LINUX_SPAWN_KILLED;
        result->detail = end.status;
    } else {
        result->pid = (pid_t)pid;
        result->pidfd = pidfd;
    }
}

void linux_spawn(const struct linux_spawn_request *request, struct linux_spawn_result *result) {
    *result = (struct linux_spawn_result){.pid = -1, .pidfd = -1, .step = LINUX_SPAWN_PREPARE, .error = EINVAL};
    struct start start = {.request = request, .own_uid = geteuid(), .own_gid = getegid()};
    if (request->argument_count == 0 || request->arguments[0] != '/' || !order_targets(&start)) return;
    start.arguments = pointers_to(request->arguments, request->argument_count);
    start.environment = pointers_to(request->environment, request->environment_count);
    if (!start.arguments || !start.environment) {
        result->error = ENOMEM;
    } else {
        pthread_mutex_lock(&slots_in_use);
        for (size_t i = 0; i < request->descriptor_count; i++) start.sources[i] = request->descriptors[i].source;
        bool into_group = request->group >= 0 && !request->write_group;
        // The child that walks into its group needs a descriptor of it, with whatever number that has.
        bool all_low = fill_slots(&start);
        start.shares_table = all_low && !cannot_share && (into_group || request->group < 0);
        attempt(&start, into_group, result);
        if (start.cannot_leave) {
            cannot_share = true;
            start.shares_table = false;
            attempt(&start, into_group, result);
        }
        // Where clone cannot place the child (an old kernel, a seccomp filter), and where it is killed at birth since
        // its group and ours have not seen the same number of cgroup.kill (Linux 6.18), it walks in by itself. If that
        // fails too, the second failure says more.
        bool refused = result->step == LINUX_SPAWN_CLONE || (into_group && result->step == LINUX_SPAWN_KILLED);
        if (refused && (into_group || start.shares_table)) {
            start.shares_table = false;
            attempt(&start, false, result);
        }
        if (slot_count > 0) empty_slots(&start);
        pthread_mutex_unlock(&slots_in_use);
    }
    free(start.arguments);
    free(start.environment);
}
