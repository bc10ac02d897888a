// AF_UNIX stream sockets: what needs a sockaddr, an ancillary structure or a constant that Swift cannot import.
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

static inline int linux_unix_socket(void) { return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0); }
static inline int linux_unix_pair(int *out) { return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, out); }
static inline int linux_unix_listen(int fd, int backlog) { return listen(fd, backlog); }
static inline int linux_unix_accept(int fd) { return accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK); }
static inline int linux_unix_shutdown(int fd) { return shutdown(fd, SHUT_RDWR); }

// Of what was sent, how many bytes of the kernel's memory are not read yet; 0 where that is not known.
static inline int linux_unread(int fd) {
    int bytes = 0;
    return ioctl(fd, TIOCOUTQ, &bytes) == 0 ? bytes : 0;
}

static inline int linux_unix_address(struct sockaddr_un *address, const char *path) {
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof address->sun_path) {
        errno = length == 0 ? EINVAL : ENAMETOOLONG;
        return -1;
    }
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path, path, length);
    return 0;
}
static inline int linux_unix_bind(int fd, const char *path) {
    struct sockaddr_un address;
    if (linux_unix_address(&address, path) != 0) return -1;
    return bind(fd, (const struct sockaddr *)&address, sizeof address);
}
static inline int linux_unix_connect(int fd, const char *path) {
    struct sockaddr_un address;
    if (linux_unix_address(&address, path) != 0) return -1;
    return connect(fd, (const struct sockaddr *)&address, sizeof address);
}

// Neither blocks, whatever the descriptor's flags are; a closed peer is EPIPE, never SIGPIPE.
static inline ssize_t linux_unix_send(int fd, const void *bytes, size_t count) {
    return send(fd, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
}
static inline ssize_t linux_unix_receive(int fd, void *bytes, size_t count) {
    return recv(fd, bytes, count, MSG_DONTWAIT);
}
// Whether there is such a byte among the next 4 KiB, which stay there.
static inline _Bool linux_unix_holds(int fd, char byte) {
    char bytes[4096];
    ssize_t length = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT | MSG_PEEK);
    return length > 0 && memchr(bytes, byte, (size_t)length) != NULL;
}

// How long connect(2) waits for a place in the listener's queue.
static inline int linux_unix_set_connect_timeout(int fd, int64_t nanoseconds) {
    struct timeval t = {.tv_sec = nanoseconds / 1000000000, .tv_usec = nanoseconds % 1000000000 / 1000};
    if (t.tv_sec == 0 && t.tv_usec == 0) t.tv_usec = 1;
    return setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof t);
}

static inline int linux_unix_peer_credentials(int fd, int32_t *pid, uint32_t *uid, uint32_t *gid) {
    struct ucred peer;
    socklen_t length = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return -1;
    *pid = peer.pid;
    *uid = peer.uid;
    *gid = peer.gid;
    return 0;
}
// A pidfd of the process that connected (kernel 6.5); -1 where there is none. The kernel opens it close-on-exec.
static inline int linux_unix_peer_pidfd(int fd) {
    int pidfd = -1;
    socklen_t length = sizeof pidfd;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &length) != 0) return -1;
    return pidfd;
}

// 1: a socket; 0: something else; -1: errno.
static inline int linux_is_socket(const char *path) {
    struct stat status;
    if (lstat(path, &status) != 0) return -1;
    return S_ISSOCK(status.st_mode) ? 1 : 0;
}
