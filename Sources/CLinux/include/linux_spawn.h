// Starting a program: what the child does between clone and exec is C, async-signal-safe and free of allocation.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// Where a start failed, in the order in which the child takes the steps.
enum {
    LINUX_SPAWN_DONE = 0,
    LINUX_SPAWN_PREPARE,
    LINUX_SPAWN_CLONE,
    LINUX_SPAWN_JOIN_GROUP,
    LINUX_SPAWN_SESSION,
    LINUX_SPAWN_SIGNALS,
    LINUX_SPAWN_DESCRIPTORS,
    LINUX_SPAWN_LIMITS,
    LINUX_SPAWN_NICE,
    LINUX_SPAWN_GROUPS,
    LINUX_SPAWN_GROUP,
    LINUX_SPAWN_USER,
    LINUX_SPAWN_DIRECTORY,
    LINUX_SPAWN_NO_NEW_PRIVILEGES,
    LINUX_SPAWN_EXEC,
    LINUX_SPAWN_KILLED,  // ended by a signal before it reached exec; errno is then 0 and `detail` the signal
};

enum { LINUX_SPAWN_MAX_DESCRIPTORS = 64 };

struct linux_spawn_limit {
    int resource;  // RLIMIT_*
    uint64_t soft, hard;
};

// The child gets `source` under the number `target`; a source of -1 is /dev/null.
struct linux_spawn_descriptor {
    int source, target;
};

struct linux_spawn_request {
    // Strings one after the other, each with its NUL: the arguments (the first is the absolute path of the program)
    // and the environment. The child writes into `environment` at the offsets in `pid_slots`.
    const char *arguments;
    size_t argument_count;
    char *environment;
    size_t environment_count;
    const size_t *pid_slots;  // where in `environment` the child's own pid goes, room for 11 bytes each
    size_t pid_slot_count;

    const char *directory;  // NULL: the daemon's own
    int group;              // an open cgroup v2 directory; -1: the daemon's own
    bool write_group;       // join by cgroup.procs even where clone could do it

    bool change_user;
    uid_t uid;
    gid_t gid;
    const gid_t *groups;
    size_t group_count;

    int umask;  // -1: the daemon's own
    bool change_nice;
    int nice;
    bool no_new_privileges;

    const struct linux_spawn_limit *limits;
    size_t limit_count;
    const struct linux_spawn_descriptor *descriptors;  // 0, 1 and 2 among them; every other descriptor is closed
    size_t descriptor_count;
};

struct linux_spawn_result {
    pid_t pid;
    int pidfd;   // close-on-exec
    int step;    // LINUX_SPAWN_DONE: the program runs
    int error;   // errno of that step
    int detail;  // which limit or descriptor, or the signal that ended the child
};

// Starts a program in a session of its own; returns once exec has succeeded or something before it has failed. A child
// that failed is reaped. Nothing of the calling process but its thread stands still in between.
void linux_spawn(const struct linux_spawn_request *request, struct linux_spawn_result *result);
