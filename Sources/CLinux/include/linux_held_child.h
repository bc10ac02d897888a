// A child that waits until it is let go and then becomes a program: in between it can be given a place to run in.
#pragma once
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct linux_held_child {
    pid_t pid;
    int pidfd;  // close-on-exec
    int gate;   // a byte lets the child go; closed before that, it ends
};

// Forks. The program gets all that the caller has: environment, descriptors, session, ignored signals; and `mask`.
// strings: `count` arguments one after the other, each with its NUL. own_group: it heads a process group of its own.
// 0, or -1 and errno.
int linux_hold_child(
    const char *path, const char *strings, size_t count, bool own_group, const sigset_t *mask,
    struct linux_held_child *out);
// Lets it go, and closes the gate. 0 once the program runs (or the child was killed before), else the errno of exec;
// then the child ends.
int linux_release_child(struct linux_held_child *child);
