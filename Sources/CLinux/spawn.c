#include "spawn_child.h"

#include <dirent.h>
#include <linux/magic.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#ifndef CLONE_INTO_CGROUP
#define CLONE_INTO_CGROUP 0x200000000ULL
#endif

struct clone3_arguments {
    uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid, set_tid_size, cgroup;
};

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

// Not by glibc, where there is a group to be born in, and without its locks: other threads may hold them.
static long clone_child(const struct start *start, bool into_group) {
#ifdef SYS_clone3
    struct clone3_arguments arguments = {
        .flags = into_group ? CLONE_INTO_CGROUP : 0,
        .exit_signal = SIGCHLD,
        .cgroup = into_group ? (uint64_t)start->request->group : 0,
    };
    long pid = syscall(SYS_clone3, &arguments, sizeof arguments);
    if (pid >= 0 || into_group) return pid;
#else
    errno = ENOSYS;
    if (into_group) return -1;
#endif
    // An old kernel, an emulator, a seccomp filter.
    return fork();
}

// 0, or an errno.
static int start_child(struct start *start, bool into_group, struct linux_begun *out) {
    int gate[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, gate) != 0) return errno;
    start->gate = gate[1];
    start->write_group = !into_group;
    uint64_t all = ~(uint64_t)0, before = 0;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, KERNEL_SIGSET_BYTES);
    long pid = clone_child(start, into_group);
    if (pid == 0) linux_run_child(start);
    int error = errno;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, KERNEL_SIGSET_BYTES);
    close(gate[1]);
    if (pid < 0) {
        close(gate[0]);
        return error;
    }
    out->pid = (pid_t)pid;
    out->gate = gate[0];
    return 0;
}

static void discard(struct linux_begun *begun) {
    kill(begun->pid, SIGKILL);
    while (waitpid(begun->pid, NULL, 0) < 0 && errno == EINTR) {
    }
    close(begun->gate);
    begun->gate = -1;
}

// The next word, false at the end: the child has become its program, or has ended. namespaces: three, -1 where it came
// with none.
static bool hear(int gate, bool block, struct word *word, int namespaces[3]) {
    namespaces[0] = namespaces[1] = namespaces[2] = -1;
    while (1) {
        size_t room = 3;
        bool lost;
        ssize_t count = linux_packet_receive(gate, word, sizeof *word, namespaces, &room, &lost, block);
        if (count == sizeof *word) return true;
        // It ended without having read ours.
        if (count >= 0 || (errno != EINTR && errno != ECONNRESET)) return false;
    }
}

// Where clone can place a child in a group: unknown until one has lived to say so.
static enum { UNKNOWN, SAFE, DEADLY } birth_in_group;

// A child whose group and ours have not seen the same number of cgroup.kill is killed at its birth (Linux 6.18).
static bool lives(const struct linux_begun *begun) {
    struct pollfd wait = {.fd = begun->gate, .events = POLLIN};
    struct word word;
    int none[3];
    if (poll(&wait, 1, 100) != 1) return true;
    birth_in_group = hear(begun->gate, false, &word, none) ? SAFE : DEADLY;
    return birth_in_group == SAFE;
}

static int begin(struct start *start, struct linux_begun *out) {
    bool into_group = start->request->group >= 0 && !start->request->write_group && birth_in_group != DEADLY;
    start->says_born = into_group && birth_in_group == UNKNOWN;
    int error = start_child(start, into_group, out);
    if (!into_group) return error;
    if (error == 0) {
        if (!start->says_born || lives(out)) return 0;
        discard(out);
    }
    // Where clone cannot place the child, it walks in by itself. If that fails too, this failure says more.
    start->says_born = false;
    return start_child(start, false, out);
}

void linux_begin_spawn(const struct linux_spawn_request *request, struct linux_begun *out) {
    *out = (struct linux_begun){.pid = -1, .gate = -1, .step = LINUX_SPAWN_PREPARE, .error = EINVAL};
    struct start start = {
        .request = request,
        .proc = linux_own_proc(),
        .own_pid = getpid(),
        .own_uid = geteuid(),
        .own_gid = getegid()};
    if (request->argument_count == 0 || request->arguments[0] != '/' || !order_targets(&start)) return;
    start.arguments = pointers_to(request->arguments, request->argument_count);
    start.environment = pointers_to(request->environment, request->environment_count);
    if (start.arguments && start.environment) {
        out->error = begin(&start, out);
        out->step = out->error == 0 ? LINUX_SPAWN_DONE : LINUX_SPAWN_CLONE;
    } else {
        out->error = ENOMEM;
    }
    free(start.arguments);
    free(start.environment);
}

void linux_let_go(int gate) { send(gate, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT); }

static bool is_of_sandbox(const struct word *word, const int namespaces[3], struct linux_spawn_result *out) {
    if (word->step == SANDBOX_LACKS) {
        out->missing |= word->detail ? (uint32_t)word->detail : LINUX_SANDBOX_OPTIONAL;
    } else if (word->step == SANDBOX_IS_MADE) {
        out->own = (struct linux_namespaces){namespaces[0], namespaces[1], namespaces[2]};
    } else {
        return false;
    }
    return true;
}

void linux_spawn_outcome(int gate, bool block, struct linux_spawn_result *out) {
    struct word last = {.step = LINUX_SPAWN_KILLED}, word;
    int namespaces[3];
    out->own = (struct linux_namespaces){-1, -1, -1};
    out->missing = 0;
    while (hear(gate, block, &word, namespaces))
        if (!is_of_sandbox(&word, namespaces, out)) last = word;
    // All that it ever said is that it lives.
    if (last.step == LINUX_SPAWN_CLONE) last.step = LINUX_SPAWN_KILLED;
    out->step = last.step;
    out->error = last.error;
    out->detail = last.detail;
    if (out->step != LINUX_SPAWN_DONE) linux_close_namespaces(&out->own);
}

void linux_close_namespaces(struct linux_namespaces *namespaces) {
    int all[] = {namespaces->mounts, namespaces->network, namespaces->ipc};
    for (int i = 0; i < 3; i++)
        if (all[i] >= 0) close(all[i]);
    *namespaces = (struct linux_namespaces){-1, -1, -1};
}

void linux_close_all_namespaces(void) {
    DIR *all = opendir("/proc/self/fd");
    if (!all) return;
    for (struct dirent *entry; (entry = readdir(all));) {
        int fd = atoi(entry->d_name);
        struct statfs status;
        if (fd <= STDERR_FILENO || fd == dirfd(all) || fstatfs(fd, &status) != 0) continue;
        if (status.f_type == NSFS_MAGIC) close(fd);
    }
    closedir(all);
}

void linux_leave_namespaces(struct linux_namespaces *namespaces) {
    if (namespaces->mounts >= 0 && linux_close_aside(namespaces->mounts)) namespaces->mounts = -1;
    linux_close_namespaces(namespaces);
}

static void spawn(const struct linux_spawn_request *request, struct linux_spawn_result *result) {
    struct linux_begun begun;
    linux_begin_spawn(request, &begun);
    *result = (struct linux_spawn_result){.pid = -1, .pidfd = -1, .step = begun.step, .error = begun.error};
    if (begun.step != LINUX_SPAWN_DONE) return;
    linux_let_go(begun.gate);
    linux_spawn_outcome(begun.gate, true, result);
    close(begun.gate);
    linux_close_namespaces(&result->own);
    // It is not reaped yet, so that the pid is its own.
    result->pid = begun.pid;
    result->pidfd = linux_pidfd_open(begun.pid);
    if (result->step == LINUX_SPAWN_DONE && result->pidfd >= 0) return;
    if (result->step == LINUX_SPAWN_DONE) {
        result->step = LINUX_SPAWN_CLONE;
        result->error = errno;
        kill(begun.pid, SIGKILL);
    }
    int status = 0;
    while (waitpid(begun.pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (result->step == LINUX_SPAWN_KILLED) result->detail = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (result->pidfd >= 0) close(result->pidfd);
    result->pid = result->pidfd = -1;
}

void linux_spawn(const struct linux_spawn_request *request, struct linux_spawn_result *result) {
    spawn(request, result);
    if (result->step != LINUX_SPAWN_KILLED || request->group < 0 || request->write_group) return;
    // This group may be another than the one that was tried.
    struct linux_spawn_request again = *request;
    again.write_group = true;
    spawn(&again, result);
}
