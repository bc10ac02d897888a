#include "CLinux.h"
#include "passed_descriptors.h"

#include <sys/syscall.h>

// The keeper looks whether a packet is as long as the last of them.
_Static_assert(sizeof(struct keeper_users) == sizeof(struct keeper_signal), "one length");
_Static_assert(sizeof(struct keeper_lock) == sizeof(struct keeper_signal), "one length");

int linux_packet_pair(int out[2]) { return socketpair(AF_UNIX, linux_packet_type, 0, out); }

void linux_packet_room(int fd, int bytes) {
    if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes) != 0)
        (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
}

union control {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int) * KEEPER_MAX_DESCRIPTORS)];
};

int linux_packet_send(int fd, const void *bytes, size_t count, const int *descriptors, size_t descriptor_count) {
    union control control = {0};
    if (descriptor_count > KEEPER_MAX_DESCRIPTORS) {
        errno = EINVAL;
        return -1;
    }
    struct iovec part = {.iov_base = (void *)bytes, .iov_len = count};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    pass_descriptors(&message, control.bytes, descriptors, descriptor_count);
    return sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -1 : 0;
}

ssize_t linux_packet_receive(
    int fd, void *bytes, size_t size, int *descriptors, size_t *descriptor_count, bool *lost, bool block) {
    union control control;
    struct iovec part = {.iov_base = bytes, .iov_len = size};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    size_t room = *descriptor_count;
    *descriptor_count = 0;
    *lost = false;
    ssize_t length = recvmsg(fd, &message, MSG_CMSG_CLOEXEC | (block ? 0 : MSG_DONTWAIT));
    if (length < 0) return -1;
    *lost = message.msg_flags & MSG_CTRUNC;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; i++) {
            int descriptor;
            memcpy(&descriptor, CMSG_DATA(header) + i * sizeof descriptor, sizeof descriptor);
            if (*descriptor_count < room) {
                descriptors[(*descriptor_count)++] = descriptor;
            } else {
                close(descriptor);
                *lost = true;
            }
        }
    }
    bool is_longer = message.msg_flags & MSG_TRUNC;
    while ((*lost || is_longer) && *descriptor_count > 0) close(descriptors[--*descriptor_count]);
    if (!is_longer) return length;
    errno = EMSGSIZE;
    return -1;
}

int linux_fork(void) {
    pid_t parent = getpid();
    int pid = fork();
    if (pid != 0) return pid;
    linux_forget_errands();
    // One that is orphaned already will not be told.
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 || getppid() != parent) _exit(1);
    return 0;
}

pid_t linux_peek_end(pid_t pid, struct linux_exit *out) {
    siginfo_t info;
    struct rusage usage;
    memset(&info, 0, sizeof info);
    memset(&usage, 0, sizeof usage);
    // glibc's waitid hides the kernel's fifth argument.
    int which = pid > 0 ? P_PID : P_ALL;
    if (syscall(SYS_waitid, which, pid, &info, WEXITED | WNOHANG | WNOWAIT, &usage) != 0) return -1;
    if (info.si_pid > 0) linux_fill_exit(&info, &usage, out);
    // A stop of one that has us trace it is told, too.
    return pid > 0 && !linux_is_end(info.si_code) ? 0 : info.si_pid;
}

void linux_end_trace(pid_t pid, int signal, bool kills) {
    // Only what is stopped now can be meant, and not what has its number by then.
    bool is_done = (kills ? ptrace(PTRACE_KILL, pid, 0, 0) : ptrace(PTRACE_DETACH, pid, 0, signal)) == 0;
    if (is_done) return;
    siginfo_t info;
    memset(&info, 0, sizeof info);
    // It may not be stopped any more. What is, is not to hide all other ends.
    if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != pid) return;
    if (!linux_is_end(info.si_code)) (void)kill(pid, SIGKILL);
}

// What would end us, and means nothing here: a stray one would end every app. Faults, SIGQUIT and SIGABRT stay what
// they are: they are sent to see an end.
static void ignore_others(void) {
    const int others[] = {SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGPWR, SIGSTKFLT};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) signal(others[i], SIG_IGN);
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++) signal(number, SIG_IGN);
}

// The loop inherits what is ignored; programs that are started do not (reset_signals in spawn_child.c).
int linux_take_signals(void) {
    ignore_others();
    sigset_t mask;
    sigemptyset(&mask);
    int taken[] = {SIGCHLD, SIGTERM, SIGINT, SIGHUP};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        // One that is ignored is not queued.
        signal(taken[i], SIG_DFL);
        sigaddset(&mask, taken[i]);
    }
    if (sigprocmask(SIG_BLOCK, &mask, NULL) != 0) return -1;
    return signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
}

void linux_become_subreaper(void) { (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }
