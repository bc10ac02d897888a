// The calls that a program linked with `ld --wrap` makes in place of the kernel's and libsystemd's, and the true ones
// behind them. __wrap_NAME is what the daemon calls; __real_NAME is what would have been called. Most of the former are
// in Tests/ShellSimulation/Calls; those with a variable number of arguments are here.
#pragma once
#include <CLinux.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

int __real_close(int fd);
ssize_t __real_read(int fd, void *buffer, size_t size);
ssize_t __real_write(int fd, const void *buffer, size_t size);
ssize_t __real_pread(int fd, void *buffer, size_t size, off_t offset);
int __real_fsync(int fd);
int __real_pipe2(int ends[2], int flags);
int __real_poll(struct pollfd *entries, nfds_t count, int timeout);
int __real_epoll_create1(int flags);
int __real_eventfd(unsigned count, int flags);
int __real_epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event);
int __real_epoll_wait(int epoll, struct epoll_event *events, int limit, int timeout);
int __real_fstat(int fd, struct stat *out);
int __real_access(const char *path, int mode);
int __real_mkdir(const char *path, mode_t mode);
int __real_rmdir(const char *path);
int __real_rename(const char *from, const char *to);
int __real_unlink(const char *path);
int __real_stat(const char *path, struct stat *out);
int __real_lstat(const char *path, struct stat *out);
int __real_statfs(const char *path, struct statfs *out);
int __real_memfd_create(const char *name, unsigned flags);
DIR *__real_opendir(const char *path);

int __real_socket(int family, int type, int protocol);
int __real_socketpair(int family, int type, int protocol, int out[2]);
int __real_accept4(int fd, struct sockaddr *address, socklen_t *length, int flags);
ssize_t __real_send(int fd, const void *buffer, size_t size, int flags);
ssize_t __real_recv(int fd, void *buffer, size_t size, int flags);
ssize_t __real_recvmsg(int fd, struct msghdr *message, int flags);
int __real_linux_packet_pair(int out[2]);
int __real_linux_packet_send(int fd, const void *bytes, size_t count, const int *passed, size_t passed_count);
int __real_setsockopt(int fd, int level, int name, const void *value, socklen_t length);
int __real_getsockopt(int fd, int level, int name, void *value, socklen_t *length);

// The same with a fixed number of arguments.
int played_real_open(const char *path, int flags, mode_t mode);
int played_real_fcntl(int fd, int command, long argument);
int played_open(const char *path, int flags, mode_t mode);
int played_fcntl(int fd, int command, long argument);

// A file of the kernel's: in memory, close-on-exec.
int played_memory_file(const char *name);
// Bound to an abstract address that says who sends: "curfew-PID".
int played_bind_as(int fd, pid_t pid, unsigned number);
// The process behind such an address; 0 for any other.
pid_t played_owner(const struct sockaddr_un *address, socklen_t length);
// The same for the other end of a socket.
pid_t played_peer(int fd);
// recvmsg(2), with the sender's address.
ssize_t played_receive(int fd, struct msghdr *message, int flags, pid_t *sender);
void played_set_credentials(struct msghdr *message, pid_t pid, uid_t uid);
// A packet, and the descriptor that came with it.
ssize_t played_receive_lock(int fd, void *bytes, size_t size, int *passed);
// fork(2), which Swift does not call.
pid_t played_fork(void);
void played_set_errno(int error);
