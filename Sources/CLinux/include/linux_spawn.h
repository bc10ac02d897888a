// Starting a program: what the child does between clone and exec is C, async-signal-safe and free of allocation.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "linux_sandbox.h"

// Where a start failed, in the order in which the child takes the steps; capabilities are given up before the user, and
// taken after it.
enum {
    LINUX_SPAWN_DONE = 0,
    LINUX_SPAWN_PREPARE,
    LINUX_SPAWN_CLONE,
    LINUX_SPAWN_JOIN_GROUP,
    LINUX_SPAWN_SESSION,
    LINUX_SPAWN_SIGNALS,
    LINUX_SPAWN_SANDBOX,  // `detail`: one of LINUX_SANDBOX_*, 0: the namespaces, or what a path was
    LINUX_SPAWN_DESCRIPTORS,
    LINUX_SPAWN_LIMITS,
    LINUX_SPAWN_NICE,
    LINUX_SPAWN_GROUPS,
    LINUX_SPAWN_GROUP,
    LINUX_SPAWN_CAPABILITIES,
    LINUX_SPAWN_USER,
    LINUX_SPAWN_DIRECTORY,
    LINUX_SPAWN_NO_NEW_PRIVILEGES,
    LINUX_SPAWN_FILTER,
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

// namespaces(7) that a program has for itself; -1: none.
struct linux_namespaces {
    int mounts, network, ipc;
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
    bool ends_with_parent;  // by SIGKILL (PR_SET_PDEATHSIG); a set-user-ID program does not

    bool change_user;
    uid_t uid;
    gid_t gid;
    const gid_t *groups;
    size_t group_count;

    int umask;  // -1: the daemon's own
    bool change_nice;
    int nice;
    bool no_new_privileges;
    bool limit_capabilities;
    uint64_t capabilities;  // a bit for each number that the program can have

    const struct linux_spawn_limit *limits;
    size_t limit_count;
    const struct linux_spawn_descriptor *descriptors;  // 0, 1 and 2 among them; every other descriptor is closed
    size_t descriptor_count;

    uint32_t sandbox;           // LINUX_SANDBOX_*; 0: the system as it is
    const char *sandbox_paths;  // strings one after the other, each with its NUL
    size_t sandbox_path_count;
    bool enters;  // namespaces of another program, in place of its own
    struct linux_namespaces enter;
    const struct linux_filter_step *filter;
    size_t filter_count;  // 0: all system calls are let through
};

// A child on its way to its program.
struct linux_begun {
    pid_t pid;
    int gate;   // a socket, close-on-exec; hangs up once the program runs, and when the child has ended
    int step;   // LINUX_SPAWN_DONE, else the child never was
    int error;  // errno of that step
};

// Clones, and does not wait: the child gets ready and stands at its gate until it is let go. Async-signal-safe and free
// of allocation in the child.
void linux_begin_spawn(const struct linux_spawn_request *request, struct linux_begun *out);
void linux_let_go(int gate);

struct linux_spawn_result {
    pid_t pid;
    int pidfd;   // close-on-exec
    int step;    // LINUX_SPAWN_DONE: the program runs
    int error;   // errno of that step
    int detail;  // what the step was about: see the steps
    struct linux_namespaces own;  // close-on-exec and the caller's
    uint32_t missing;  // LINUX_SANDBOX_* that it goes without; LINUX_SANDBOX_OPTIONAL: without namespaces at all
};

// What became of a child whose gate has hung up: step, error and detail. A child that was killed after its last word
// counts as started. block: waits for the hang-up.
void linux_spawn_outcome(int gate, bool block, struct linux_spawn_result *out);
void linux_close_namespaces(struct linux_namespaces *namespaces);
// Those that a running program was given when it was started; close-on-exec and the caller's.
struct linux_namespaces linux_namespaces_of(pid_t pid, int pidfd);
// Those that the process has at all: a fork has copies of what another thread was about to close.
void linux_close_all_namespaces(void);
// The same of a program that has ended: what it kept in memory is freed by a thread, and not waited for.
void linux_leave_namespaces(struct linux_namespaces *namespaces);

// Starts a program in a session of its own; returns once exec has succeeded or something before it has failed. A child
// that failed is reaped.
void linux_spawn(const struct linux_spawn_request *request, struct linux_spawn_result *result);
