// A look at every process, by a thread of its own. Some kernels let a reader of /proc/PID/fd wait for as long as that
// process hangs in its exec, and a process can hang there for as long as its file system likes: such a one is passed
// over, this time and until it hangs no more.
#pragma once
#include "CLinux.h"

#include <time.h>

struct walker;

struct walk_plan {
    // Called for each process, with 0; then for each with 1, and so on. It is to say often that it goes on.
    void (*look)(struct walker *walker, const void *context, pid_t pid, int part);
    int parts;
    // Freed by `release` when no thread has it any more, which may be long after the walk.
    void *context;
    void (*release)(void *context);
    // Called for what is found, while the walk lasts.
    void (*tell)(void *teller, size_t number, pid_t pid);
    void *teller;
    time_t end;  // CLOCK_MONOTONIC
};

// Waits until all is looked at, or the end. False: not all could be; but for those that are passed over.
bool linux_walk_processes(const struct walk_plan *plan);
// False: it is to look no further.
bool linux_goes_on(struct walker *walker);
void linux_found(struct walker *walker, size_t number, pid_t pid);
time_t linux_seconds(void);
