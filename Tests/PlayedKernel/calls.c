#include "played_kernel.h"

#include <stdarg.h>
#include <sys/mman.h>

int __real_open(const char *path, int flags, ...);
int __real_fcntl(int fd, int command, ...);

int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return played_open(path, flags, mode);
}

int __wrap_fcntl(int fd, int command, ...);
int __wrap_fcntl(int fd, int command, ...) {
    va_list rest;
    va_start(rest, command);
    long argument = va_arg(rest, long);
    va_end(rest);
    return played_fcntl(fd, command, argument);
}

int played_real_open(const char *path, int flags, mode_t mode) { return __real_open(path, flags, mode); }
int played_real_fcntl(int fd, int command, long argument) { return __real_fcntl(fd, command, argument); }

int played_memory_file(const char *name) { return __real_memfd_create(name, MFD_CLOEXEC); }

static const char prefix[] = "curfew-";

int played_bind_as(int fd, pid_t pid, unsigned number) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int length = snprintf(
        address.sun_path + 1, sizeof address.sun_path - 1, "%s%d-%d-%u", prefix, pid, getpid(), number);
    return bind(
        fd, (struct sockaddr *)&address, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length));
}

pid_t played_owner(const struct sockaddr_un *address, socklen_t length) {
    size_t start = offsetof(struct sockaddr_un, sun_path) + 1, skip = sizeof prefix - 1;
    if (length <= start + skip || address->sun_path[0] != 0 || memcmp(address->sun_path + 1, prefix, skip) != 0)
        return 0;
    char text[sizeof address->sun_path + 1] = {0};
    memcpy(text, address->sun_path + 1 + skip, length - start - skip);
    return (pid_t)strtol(text, NULL, 10);
}

pid_t played_peer(int fd) {
    struct sockaddr_un address;
    socklen_t length = sizeof address;
    return getpeername(fd, (struct sockaddr *)&address, &length) == 0 ? played_owner(&address, length) : 0;
}

ssize_t played_receive(int fd, struct msghdr *message, int flags, pid_t *sender) {
    struct sockaddr_un address;
    message->msg_name = &address;
    message->msg_namelen = sizeof address;
    ssize_t length = __real_recvmsg(fd, message, flags);
    *sender = length < 0 ? 0 : played_owner(&address, message->msg_namelen);
    message->msg_name = NULL;
    message->msg_namelen = 0;
    return length;
}

void played_set_credentials(struct msghdr *message, pid_t pid, uid_t uid) {
    for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header; header = CMSG_NXTHDR(message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_CREDENTIALS) continue;
        struct ucred who = {.pid = pid, .uid = uid, .gid = uid};
        memcpy(CMSG_DATA(header), &who, sizeof who);
    }
}

ssize_t played_receive_lock(int fd, void *bytes, size_t size, int *passed) {
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part = {.iov_base = bytes, .iov_len = size};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    ssize_t length = __real_recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    struct cmsghdr *header = length < 0 ? NULL : CMSG_FIRSTHDR(&message);
    if (header && header->cmsg_type == SCM_RIGHTS) memcpy(passed, CMSG_DATA(header), sizeof *passed);
    return length;
}

pid_t played_fork(void) { return fork(); }

void played_set_errno(int error) { errno = error; }
