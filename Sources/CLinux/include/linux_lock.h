// A lock of logind's (systemd-inhibit(1)) that a thread asks for, and how it says what came of it.
#pragma once
#include <stdint.h>
#include <sys/types.h>

struct linux_lock_order {
    int socket;             // the thread's end of a pair of packet sockets
    uint64_t microseconds;  // how long an answer is waited for
    char *address;          // of the bus
    char *manager;          // logind's unique name
    char *what, *why, *mode;
};

// NULL and errno.
struct linux_lock_order *linux_order_lock(
    const char *address, const char *manager, const char *what, const char *why, const char *mode);
// Closes its socket, too.
void linux_end_lock_order(struct linux_lock_order *order);

struct linux_lock_answer {
    int error;  // errno; 0: the lock comes with it
    char text[252];
};

// text: NULL for that of the error. descriptor: the lock, of which the asker gets a copy; -1: there is none.
void linux_answer_lock(const struct linux_lock_order *order, int error, const char *text, int descriptor);
// Without blocking. False: nothing was said; errno. *descriptor: close-on-exec and the caller's, or -1.
_Bool linux_hear_lock(int socket, struct linux_lock_answer *answer, int *descriptor);
