#include "CLinux.h"

#include <sched.h>
#include <sys/syscall.h>

bool linux_takes_descriptors(int fd) {
    int takes = 1, yes = 1;
    socklen_t length = sizeof takes;
    if (getsockopt(fd, SOL_SOCKET, SO_PASSRIGHTS, &takes, &length) == 0 && !takes) return false;
    // A byte out of band may have some, too: it is to be seen with all others.
    (void)setsockopt(fd, SOL_SOCKET, SO_OOBINLINE, &yes, sizeof yes);
    return true;
}

struct linux_next linux_look(int fd, void *buffer, size_t count, void *control, size_t control_size) {
    struct iovec part = {.iov_base = buffer, .iov_len = count};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = control_size};
    ssize_t length;
    do length = recvmsg(fd, &message, MSG_PEEK | MSG_DONTWAIT);
    while (length < 0 && errno == EINTR);
    if (length < 0) return (struct linux_next){.length = -1};
    return (struct linux_next){
        .length = length,
        .has_descriptors = message.msg_flags & MSG_CTRUNC,
        .is_longer = message.msg_flags & MSG_TRUNC,
        .control_length = message.msg_controllen,
    };
}

// What was looked at comes first, as no other reads here.
ssize_t linux_receive_bytes(int fd, void *buffer, size_t count) {
    struct linux_next next = linux_look(fd, buffer, count, NULL, 0);
    if (next.length <= 0) return next.length;
    if (next.has_descriptors) {
        errno = EBADMSG;
        return -1;
    }
    return recv(fd, buffer, (size_t)next.length, MSG_DONTWAIT);
}

bool linux_drain(int fd) {
    // Where there is no sender to fill it, the kernel would put a descriptor into that room, and into this process.
    int gives_senders = 0;
    socklen_t length = sizeof gives_senders;
    (void)getsockopt(fd, SOL_SOCKET, SO_PASSCRED, &gives_senders, &length);
    (void)shutdown(fd, SHUT_RDWR);
    // A peer that left what we sent unread is an error, once.
    for (int errors = 0; errors < 2;) {
        char bytes[4096];
        union {
            struct cmsghdr align;
            char bytes[CMSG_SPACE(sizeof(struct ucred))];
        } control;
        size_t room = gives_senders ? sizeof control : 0;
        struct linux_next next = linux_look(fd, bytes, sizeof bytes, gives_senders ? &control : NULL, room);
        if (next.length < 0 && errno == EAGAIN) return true;
        if (next.length < 0) errors++;
        if (next.length == 0 && next.control_length == 0) return true;
        if (next.length < 0) continue;
        if (next.has_descriptors) return false;
        if (recv(fd, bytes, (size_t)next.length, MSG_DONTWAIT) < 0) errors++;
    }
    return false;
}

static void *close_it(void *context) {
    close((int)(intptr_t)context);
    return NULL;
}

bool linux_close_aside(int descriptor) {
    return linux_start_thread("curfewd-close", close_it, (void *)(intptr_t)descriptor) == 0;
}

static void let_go(struct linux_disposal *disposal) {
    if (atomic_fetch_sub(&disposal->owners, 1) != 1) return;
    sem_destroy(&disposal->may_end);
    free(disposal);
}

static void say_done(struct linux_disposal *disposal) {
    int bell = disposal->bell;
    atomic_store(&disposal->is_done, true);
    uint64_t one = 1;
    if (write(bell, &one, sizeof one) < 0) return;  // it is rung already
}

static int ascending(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return x < y ? -1 : x > y;
}

// A table of descriptors of its own, with no more in it than the sockets and, last of the array, the bell: once the
// program has closed its own, the end of this thread closes them. A thread that ends waits for no peer; one that closes
// does. So nothing that the program may close meanwhile is to be in this table when the sockets of another are: there
// is one such thread at a time.
static bool hold(struct linux_disposal *disposal) {
    if (unshare(CLONE_FILES) != 0) return false;
    qsort(disposal->descriptors, disposal->count + 1, sizeof disposal->descriptors[0], ascending);
    unsigned next = 0;
    for (size_t i = 0; i <= disposal->count; i++) {
        unsigned kept = (unsigned)disposal->descriptors[i];
        if (next < kept) (void)syscall(SYS_close_range, next, kept - 1, 0);
        next = kept + 1;
    }
    (void)syscall(SYS_close_range, next, ~0U, 0);
    return true;
}

// Where there can be no such table: each by a thread that may wait.
static void close_all(const struct linux_disposal *disposal) {
    for (size_t i = 0; i < disposal->count; i++)
        if (!linux_close_aside(disposal->descriptors[i])) close(disposal->descriptors[i]);
}

static void take_datagram(int descriptor) {
    char byte;
    while (recv(descriptor, &byte, sizeof byte, MSG_DONTWAIT) < 0 && errno == EINTR) continue;
    close(descriptor);
}

static void *dispose(void *context) {
    struct linux_disposal *disposal = context;
    if (disposal->kind == LINUX_TAKE_DATAGRAM) {
        take_datagram(disposal->descriptors[0]);
        say_done(disposal);
    } else if (hold(disposal)) {
        say_done(disposal);
        while (sem_wait(&disposal->may_end) != 0) continue;
    } else {
        disposal->is_closed = true;
        close_all(disposal);
        say_done(disposal);
    }
    let_go(disposal);
    return NULL;
}

struct linux_disposal *linux_dispose(
    enum linux_disposal_kind kind, const int *descriptors, size_t count, int bell) {
    struct linux_disposal *disposal = calloc(1, sizeof *disposal + (count + 1) * sizeof descriptors[0]);
    if (!disposal) return NULL;
    disposal->kind = kind;
    disposal->count = count;
    memcpy(disposal->descriptors, descriptors, count * sizeof descriptors[0]);
    disposal->descriptors[count] = bell;
    disposal->bell = bell;
    atomic_init(&disposal->is_done, false);
    atomic_init(&disposal->owners, 2);
    sem_init(&disposal->may_end, 0, 0);
    int error = linux_start_thread("curfewd-close", dispose, disposal);
    if (error == 0) return disposal;
    free(disposal);
    errno = error;
    return NULL;
}

bool linux_is_disposed(struct linux_disposal *disposal) { return atomic_load(&disposal->is_done); }

void linux_finish_disposal(struct linux_disposal *disposal) {
    if (disposal->kind == LINUX_CLOSE_SOCKETS) {
        for (size_t i = 0; i <= disposal->count && !disposal->is_closed; i++)
            if (disposal->descriptors[i] != disposal->bell) close(disposal->descriptors[i]);
        sem_post(&disposal->may_end);
    }
    let_go(disposal);
}
