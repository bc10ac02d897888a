// What the parent of a start and its child know of it.
#pragma once
#include "CLinux.h"

// The kernel's signal set and the number of signals, not glibc's, which keeps two for itself.
enum { KERNEL_SIGNALS = 64, KERNEL_SIGSET_BYTES = 8 };

// No allocation, no locks and plain system calls: the child is a copy of a process that may have had other threads. A
// sanitizer's wrappers would take its locks.
#define CHILD __attribute__((no_sanitize("address", "thread", "undefined")))

// What the child says on its gate.
struct word {
    int step, error, detail;
};

// Words that end nothing, in place of a step: `detail` says what the sandbox lacks; it is made, and these are the two
// namespaces.
enum { SANDBOX_LACKS = 1000, SANDBOX_IS_MADE };

struct start {
    const struct linux_spawn_request *request;
    char **arguments, **environment;
    bool write_group;  // it joins its group by cgroup.procs
    bool says_born;    // it says so before all else
    int gate;          // its end
    int highest_target;
    int kept[LINUX_SPAWN_MAX_DESCRIPTORS];   // targets, ascending
    int moved[LINUX_SPAWN_MAX_DESCRIPTORS];  // sources, out of the way of all targets
    int proc;  // linux_own_proc
    pid_t own_pid;
    uid_t own_uid;
    gid_t own_gid;
};

// Words of the child; the second is for what ends its way, and false.
void linux_child_says(const struct start *start, int step, int error, int detail);
bool linux_child_fails(const struct start *start, int step, int detail);

// A file of /proc, close-on-exec. -1 and errno.
int linux_child_opens(const struct start *start, const char *path, int flags);

// What the program can see and change of the system. Before its user is changed.
bool linux_child_sandbox(const struct start *start);

// The child's way to its program, or to its end.
_Noreturn void linux_run_child(struct start *start);
