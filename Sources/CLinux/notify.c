#include "CLinux.h"
#include "passed_descriptors.h"

// Linux 6.5; glibc 2.36 does not know them.
#ifndef SO_PASSPIDFD
#define SO_PASSPIDFD 76
#endif
#ifndef SCM_PIDFD
#define SCM_PIDFD 0x04
#endif

enum { MAX_PASSED = 253 };  // SCM_MAX_FD

int linux_notify_enable(int socket) {
    int on = 1;
    return setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
}

static int fill_address(struct sockaddr_un *address, const char *path) {
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address->sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(address->sun_path, path);
    return 0;
}

int linux_notify_bind(int socket, const char *path) {
    struct sockaddr_un address;
    if (fill_address(&address, path) != 0) return -1;
    if (unlink(path) != 0 && errno != ENOENT) return -1;
    if (bind(socket, (struct sockaddr *)&address, sizeof address) != 0) return -1;
    return chmod(path, 0600);
}

static void read_control(struct msghdr *message, struct linux_notification *out) {
    for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header; header = CMSG_NXTHDR(message, header)) {
        if (header->cmsg_level != SOL_SOCKET) continue;
        if (header->cmsg_type == SCM_CREDENTIALS && header->cmsg_len >= CMSG_LEN(sizeof(struct ucred))) {
            struct ucred sender;
            memcpy(&sender, CMSG_DATA(header), sizeof sender);
            out->has_sender = true;
            out->pid = sender.pid;
            out->uid = sender.uid;
            out->gid = sender.gid;
        } else if (header->cmsg_type == SCM_PIDFD && header->cmsg_len >= CMSG_LEN(sizeof(int))) {
            int pidfd;
            memcpy(&pidfd, CMSG_DATA(header), sizeof pidfd);
            if (pidfd >= 0) out->pidfd = pidfd;  // else an errno: the sender is gone
        }
    }
}

// What was looked at, with the pidfd of its sender. Asked for here only: descriptors that come with a datagram would
// take its place in the room.
static int take(int socket, void *buffer, size_t size, struct linux_notification *out) {
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof(int))];
    } control;
    int on = 1, off = 0;
    struct iovec part = {.iov_base = buffer, .iov_len = size};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    bool asks = setsockopt(socket, SOL_SOCKET, SO_PASSPIDFD, &on, sizeof on) == 0;
    ssize_t length = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    int error = errno;
    if (asks) (void)setsockopt(socket, SOL_SOCKET, SO_PASSPIDFD, &off, sizeof off);
    errno = error;
    if (length < 0) return -1;
    out->length = (size_t)length;
    out->oversized = message.msg_flags & MSG_TRUNC;
    read_control(&message, out);
    return 0;
}

int linux_notify_receive(int socket, void *buffer, size_t size, struct linux_notification *out) {
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(struct ucred))];
    } control;
    *out = (struct linux_notification){.pidfd = -1};
    struct linux_next next = linux_look(socket, buffer, size, &control, sizeof control);
    if (next.length < 0) return -1;
    if (!next.has_descriptors) return take(socket, buffer, size, out);
    out->has_descriptors = true;
    out->length = (size_t)next.length;
    out->oversized = next.is_longer;
    struct msghdr message = {.msg_control = control.bytes, .msg_controllen = next.control_length};
    read_control(&message, out);
    return 0;
}

int linux_notify_send(
    int socket, const char *path, const void *bytes, size_t size, const int *descriptors, size_t descriptor_count) {
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int) * MAX_PASSED)];
    } control = {0};
    struct sockaddr_un address;
    if (descriptor_count > MAX_PASSED) {
        errno = EINVAL;
        return -1;
    }
    if (fill_address(&address, path) != 0) return -1;
    struct iovec part = {.iov_base = (void *)bytes, .iov_len = size};
    struct msghdr message = {.msg_name = &address, .msg_namelen = sizeof address, .msg_iov = &part, .msg_iovlen = 1};
    pass_descriptors(&message, control.bytes, descriptors, descriptor_count);
    return sendmsg(socket, &message, MSG_NOSIGNAL) < 0 ? -1 : 0;
}
