// What the floors share: a child in a control group of its own, by vfork, with a pidfd in an epoll, and its delegate's
// socket.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct child {
    pid_t pid;
    int pidfd;
    unsigned instance;
};

static char base[512];
static char **command;
static struct child *children;
static int child_count, epoll_fd, null_fd;
static unsigned next_instance;

static inline int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void fail(const char *what) {
    fprintf(stderr, "floor: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void group_path(char *out, size_t size, unsigned instance, const char *file) {
    snprintf(out, size, "%s/%u%s", base, instance, file);
}

// As curfewd does it: clone into the group, so that no process is moved (moving one can wait for an RCU grace period).
// A static program this small forks as fast as it would with shared memory.
struct clone3_arguments {
    uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid, set_tid_size, cgroup;
};

// passed: a descriptor that the child has as number 3, or -1.
static void start(struct child *child, int index, int passed) {
    char path[600];
    child->instance = next_instance++;
    group_path(path, sizeof path, child->instance, "");
    if (mkdir(path, 0755) != 0) fail(path);
    int group = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (group < 0) fail(path);
    struct clone3_arguments arguments = {
        .flags = 0x00001000ULL /* CLONE_PIDFD */ | 0x00004000ULL /* CLONE_VFORK */ | 0x200000000ULL /* INTO_CGROUP */,
        .pidfd = (uintptr_t)&child->pidfd,
        .exit_signal = SIGCHLD,
        .cgroup = (uint64_t)group,
    };
    long pid = syscall(SYS_clone3, &arguments, sizeof arguments);
    if (pid < 0) fail("clone3");
    if (pid == 0) {
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        setsid();
        dup2(null_fd, 0);
        if (passed >= 0 && dup2(passed, 3) != 3) _exit(127);
        execv(command[0], command);
        _exit(127);
    }
    child->pid = (pid_t)pid;
    close(group);
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)index};
    if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, child->pidfd, &event) != 0) fail("epoll_ctl");
}

// Kills what is left of an instance's group and removes it. The main process is reaped already.
static inline void remove_group(unsigned instance) {
    char path[600];
    group_path(path, sizeof path, instance, "");
    if (rmdir(path) == 0) return;
    group_path(path, sizeof path, instance, "/cgroup.kill");
    int kill_file = open(path, O_WRONLY | O_CLOEXEC);
    if (kill_file >= 0) {
        if (write(kill_file, "1", 1) != 1) perror("floor: cgroup.kill");
        close(kill_file);
    }
    group_path(path, sizeof path, instance, "/cgroup.events");
    int events = open(path, O_RDONLY | O_CLOEXEC);
    for (int tries = 0; events >= 0 && tries < 100; tries++) {
        char text[256] = {0};
        if (pread(events, text, sizeof text - 1, 0) <= 0 || strstr(text, "populated 0")) break;
        struct pollfd wait = {.fd = events, .events = POLLPRI};
        poll(&wait, 1, 1000);
    }
    if (events >= 0) close(events);
    group_path(path, sizeof path, instance, "");
    rmdir(path);
}

static inline void reap(struct child *child) {
    siginfo_t info;
    while (waitid(P_PIDFD, (id_t)child->pidfd, &info, WEXITED) != 0 && errno == EINTR) {
    }
    close(child->pidfd);  // leaves the epoll with it
}

static inline void write_group(unsigned instance, const char *file, const char *text) {
    char path[600];
    group_path(path, sizeof path, instance, file);
    int descriptor = open(path, O_WRONLY | O_CLOEXEC);
    if (descriptor < 0 || write(descriptor, text, strlen(text)) < 0) fail(path);
    close(descriptor);
}

// The child has its end as descriptor 3; returns ours.
static inline int start_with_socket(int index) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) fail("socketpair");
    // Above 3, so that dup2 in the child clears close-on-exec.
    int theirs = fcntl(pair[1], F_DUPFD_CLOEXEC, 10);
    close(pair[1]);
    start(&children[index], index, theirs);
    close(theirs);
    return pair[0];
}

// parameters: JSON members, each with a comma after it.
static inline void call(int socket, const char *method, const char *parameters, double deadline) {
    char message[300];
    int length = snprintf(message, sizeof message,
                          "{\"method\":\"io.curfew.Delegate.%s\",\"parameters\":{%s\"deadline\":%.3f}}", method,
                          parameters, deadline);
    if (write(socket, message, (size_t)length + 1) != length + 1) fail("write");
}
