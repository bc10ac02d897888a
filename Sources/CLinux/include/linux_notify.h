// One datagram of systemd's notify protocol, with the kernel's word on who sent it.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>

struct linux_notification {
    size_t length;         // bytes in the buffer
    bool oversized;        // the datagram was longer than the buffer
    bool has_descriptors;  // it came with some: it stays where it is, and its sender's pidfd is not asked for
    bool has_sender;
    pid_t pid;             // 0: outside of our pid namespace
    uid_t uid;
    gid_t gid;
    int pidfd;             // -1 where the kernel gives none (before 6.5)
};

static const int linux_datagram_type = SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK;

// Binds to a path that our user alone may write to; what was there is removed. -1 and errno.
int linux_notify_bind(int socket, const char *path);
// SO_PASSCRED. -1 and errno.
int linux_notify_enable(int socket);
// The next datagram, without blocking. 0, or -1 and errno.
int linux_notify_receive(int socket, void *buffer, size_t size, struct linux_notification *out);
// One datagram with descriptors, as an app sends it. 0, or -1 and errno.
int linux_notify_send(
    int socket, const char *path, const void *bytes, size_t size, const int *descriptors, size_t descriptor_count);
