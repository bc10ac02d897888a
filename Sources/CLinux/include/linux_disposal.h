// Descriptors that others send over a socket are never taken. The kernel closes them for the thread that reads, and
// that may wait as long as their sender likes: for a peer (SO_LINGER), for a file server.
#pragma once
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>

// Linux 6.16; no libc knows it yet.
#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

// Descriptors that are sent here are refused to their sender (EPERM), and so at what is accepted here. -1 on a kernel
// that cannot do it.
static inline int linux_refuse_descriptors(int fd) {
    int no = 0;
    return setsockopt(fd, SOL_SOCKET, SO_PASSRIGHTS, &no, sizeof no);
}

// Whether they can be sent here. Then a stream socket is made ready for what follows.
bool linux_takes_descriptors(int fd);

// recv(2) of a stream socket, without blocking. EBADMSG: there are descriptors among the next bytes; all stays there.
ssize_t linux_receive_bytes(int fd, void *buffer, size_t count);

// Has the socket take no more, and takes off it what is there. False: what has descriptors with it is still there, and
// close(2) may wait.
bool linux_drain(int fd);

// What comes next, which stays there. A caller that has SO_PASSCRED set hands over `control` with room for that alone.
struct linux_next {
    ssize_t length;        // -1 and errno: nothing came, or it cannot be read
    bool has_descriptors;  // none of them was opened
    bool is_longer;        // a datagram that is longer than the buffer
    size_t control_length;
};
struct linux_next linux_look(int fd, void *buffer, size_t count, void *control, size_t control_size);

// Closes a descriptor in a thread. False: none could be had.
bool linux_close_aside(int descriptor);

enum linux_disposal_kind {
    LINUX_CLOSE_SOCKETS,  // close(2), of sockets that nothing more can come into
    LINUX_TAKE_DATAGRAM,  // the next datagram of a socket, and what came with it
};

// Something that a thread does.
struct linux_disposal {
    enum linux_disposal_kind kind;
    int bell;  // an eventfd(2), rung when the thread has done its part
    bool is_closed;  // by the thread, which had no other way
    atomic_bool is_done;
    atomic_int owners;
    sem_t may_end;
    size_t count;
    int descriptors[];  // and one more
};

// Starts it. descriptors: the caller's; of LINUX_TAKE_DATAGRAM one copy, which the thread closes. Sockets are closed by
// one thread at a time: the one before is to be finished. NULL and errno.
struct linux_disposal *linux_dispose(
    enum linux_disposal_kind kind, const int *descriptors, size_t count, int bell);
// Whether the thread has done its part.
bool linux_is_disposed(struct linux_disposal *disposal);
// Once it has: closes the sockets, and lets go of them.
void linux_finish_disposal(struct linux_disposal *disposal);
