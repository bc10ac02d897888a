#include "CLinux.h"

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
    if (setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0) return -1;
    (void)setsockopt(socket, SOL_SOCKET, SO_PASSPIDFD, &on, sizeof on);
    return 0;
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
    return chmod(path, 0666);
}

static void take_descriptors(const struct cmsghdr *header, struct linux_notification *out) {
    size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; i++) {
        int descriptor;
        memcpy(&descriptor, CMSG_DATA(header) + i * sizeof descriptor, sizeof descriptor);
        out->descriptor_count++;
        if (out->descriptor < 0)
            out->descriptor = descriptor;
        else
            close(descriptor);
    }
}

int linux_notify_receive(int socket, void *buffer, size_t size, struct linux_notification *out) {
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(int) * MAX_PASSED)];
    } control;
    struct iovec part = {.iov_base = buffer, .iov_len = size};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    ssize_t length = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (length < 0) return -1;

    *out = (struct linux_notification){.length = (size_t)length, .pidfd = -1, .descriptor = -1};
    out->oversized = message.msg_flags & MSG_TRUNC;
    out->lost_control = message.msg_flags & MSG_CTRUNC;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
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
        } else if (header->cmsg_type == SCM_RIGHTS) {
            take_descriptors(header, out);
        }
    }
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
    if (descriptor_count > 0) {
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(sizeof(int) * descriptor_count);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int) * descriptor_count);
        memcpy(CMSG_DATA(header), descriptors, sizeof(int) * descriptor_count);
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL) < 0 ? -1 : 0;
}
