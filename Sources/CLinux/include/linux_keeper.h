// What the keeper and the loop say to each other: one packet of a SOCK_SEQPACKET pair a word, in the layout of the
// machine, since both are one program.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "linux_processes.h"
#include "linux_spawn.h"

enum {
    KEEPER_MAX_PACKET = 128 * 1024,
    KEEPER_MAX_DESCRIPTORS = LINUX_SPAWN_MAX_DESCRIPTORS + 1,
};

// From the loop.
enum {
    KEEPER_START = 1,  // struct keeper_start
    KEEPER_SIGNAL,     // struct keeper_signal
    KEEPER_NOTIFY,     // struct keeper_signal, then text for the service manager
    KEEPER_REMOVE_IPC, // struct keeper_signal, whose id is a user's number: what that has left of System V's
    KEEPER_ABORT_FUSE, // the same: the file systems that its programs serve to themselves
    KEEPER_ABORT_AWAITED_FUSE, // struct keeper_users: the one that this process waits for, which cannot be killed
    KEEPER_FIND_LOCK_HOLDERS,  // struct keeper_lock, then the directory: who has logind's lock on sleep
    KEEPER_KEEP,               // struct keeper_signal, then a name, and one descriptor: the next loop has it too
    KEEPER_HOW_ENDED,          // struct keeper_question: of no child of the loop's asking
    KEEPER_DROP,               // struct keeper_signal, then a name: what was kept by it
    KEEPER_CLAIM,              // struct keeper_claim: a start of an earlier loop's, of which all is told again
    KEEPER_CLAIMED,            // the same, without an id: that were all; what is left of earlier loops' is ended
    KEEPER_FOLLOW,             // struct keeper_question: how this one ends is kept until it is asked for
    KEEPER_UNFOLLOW,           // the same: it will not be asked for
    // struct keeper_question, whose id and start are of the file that was rehearsed: the loop does nothing more, and
    // the keeper becomes the program.
    KEEPER_UPGRADE,
    KEEPER_READY,              // struct keeper_signal, without an id: the loop has what it needs, and serves
};

struct keeper_signal {
    uint32_t kind;
    int32_t signal;
    int64_t id;
};

enum {
    KEEPER_HAS_GROUP = 1,  // its directory is the first of the descriptors
    KEEPER_CHANGES_USER = 2,
    KEEPER_CHANGES_NICE = 4,
    KEEPER_NO_NEW_PRIVILEGES = 8,
    KEEPER_HAS_DIRECTORY = 16,
    KEEPER_LIMITS_CAPABILITIES = 32,
};

// A start. After it, without gaps: limits (struct linux_spawn_limit), pid slots (uint64_t), descriptors (struct
// linux_spawn_descriptor, whose source counts the descriptors of the packet from the first that is no group), steps of
// the filter (struct linux_filter_step), groups (uint32_t); arguments, environment, the paths of the sandbox, and the
// directory, each with its NUL.
struct keeper_start {
    uint32_t kind;
    uint32_t flags;
    int64_t id;
    uint64_t capabilities;
    uint32_t limit_count, slot_count, descriptor_count, group_count;
    uint32_t argument_count, argument_bytes, environment_count, environment_bytes, directory_bytes;
    uint32_t uid, gid;
    int32_t umask, nice;
    uint32_t sandbox, path_count, path_bytes, filter_count;
    uint32_t unused;
    int64_t enter;  // the start whose namespaces this one enters; 0: none
};

// identity: linux_process_identity's, as a pid is another process's before long.
struct keeper_question {
    uint32_t kind;
    int32_t pid;
    int64_t id;
    uint64_t identity;
};

// A start of which this keeper may know nothing, where one before it has been killed: it is then known by its pid and
// its identity; a pid of 0: it is not known by these.
struct keeper_claim {
    uint32_t kind;
    int32_t pid;
    int64_t id;
    uint64_t identity;
    uint32_t has_group;
    uint32_t unused;
};

struct keeper_users {
    uint32_t kind;
    uint32_t count;
    uint32_t first;
    int32_t pid;
};

// As logind names who took it.
struct keeper_lock {
    uint32_t kind;
    uint32_t user;
    int32_t pid;
    int32_t unused;
};

// From the keeper.
enum {
    KEEPER_STARTED = 1,  // id, pid, identity: it is on its way to its program
    KEEPER_RUNNING,      // id, detail: it has become its program; what its sandbox lacks
    KEEPER_FAILED,       // id, step, error, detail: it has not, and will not; nothing more is said of it
    KEEPER_ENDED,        // id, code, status, cpu_ns, max_rss_bytes: of what runs; a code of 0: how is not known
    KEEPER_ORDER,        // detail: the signal that the keeper was sent
    // id: user << 32 | pid of a lock that was asked for; pid: who has it, 0: that was all, -1: it was given up.
    KEEPER_LOCK_HOLDER,
    KEEPER_ORPHAN_ENDED,  // id of the question, code, status; a code of 0: it is not known
    KEEPER_UNKNOWN,       // id that was claimed: it was never begun, or its end is not known any more
};

struct keeper_word {
    uint32_t kind;
    int32_t pid;
    int64_t id;
    int32_t step, error, detail;
    int32_t code, status;
    int32_t unused;
    int64_t cpu_ns, max_rss_bytes;
    uint64_t identity;
};

enum { linux_packet_type = SOCK_SEQPACKET | SOCK_CLOEXEC };
int linux_packet_pair(int out[2]);
// Room for so many bytes of packets that wait to be read, where the kernel allows it.
void linux_packet_room(int fd, int bytes);
// Does not block. 0, or -1 and errno: EAGAIN, and EPIPE when the other end is gone.
int linux_packet_send(int fd, const void *bytes, size_t count, const int *descriptors, size_t descriptor_count);
// The length, 0 at the end, or -1 and errno (EMSGSIZE: the packet was longer). *descriptor_count: the room, then how
// many there were, close-on-exec. *lost: there was no room for all of them in this process; then there are none.
ssize_t linux_packet_receive(
    int fd, void *bytes, size_t size, int *descriptors, size_t *descriptor_count, bool *lost, bool block);

// Removes a user's System V memory, messages and semaphores, and message queues below /dev/mqueue, where no process is
// that user's: none of them can be had by its key any more. A thread gives the memory back.
void linux_remove_ipc(uid_t user);

// Ends the FUSE connections that a user's programs have made, but for those whose file system is mounted where we see
// it: who waits for an answer of theirs has an error. Until then SIGKILL does not end a program that serves its own
// files and waits for itself. A thread does it, one for all: each step waits for the kernel's lock of all mounts, which
// an app may keep busy.
void linux_abort_fuse(uid_t user);
// The same for a process that cannot be killed, and waits in some FUSE file system: those whose answers have been
// waited for all the time, for five seconds, one after the other until it is gone; first those of users that are no
// apps (these are `count` from `first` on), never root's.
void linux_abort_awaited_fuse(pid_t pid, uid_t first, uint32_t count);

// Looks for all processes that have the delay locks on sleep which logind says this user's process has taken, by what
// logind keeps of its locks in `directory`; each is told as a word to `socket`, where there is room for it. A thread
// does it, one for all: an app may have many processes, and much open. It has a copy of the socket.
void linux_find_lock_holders(int socket, uid_t user, pid_t pid, const char *directory);
// Who asked has gone: what was not begun is not looked for any more.
void linux_forget_lock_holders(void);

// fork(2). The child is killed when its parent dies.
int linux_fork(void);

// waitid(2) on any child that has ended, or on `pid` alone, without reaping it: its pid, 0: none; -1 and errno. Of any
// child it may be no end (`linux_is_end`) but a stop: any child can have its parent trace it (PTRACE_TRACEME), and
// the kernel tells a tracer of stops whether it asks for them or not. A stop hides the ends that come after it.
pid_t linux_peek_end(pid_t pid, struct linux_exit *out);

// What such a child is stopped for goes its way, and it is traced no more; signal: what it then gets, 0: none.
// kills: it is ended in place of that.
void linux_end_trace(pid_t pid, int signal, bool kills);

// Blocks SIGCHLD, SIGTERM, SIGINT and SIGHUP: a signalfd(2) that has them, or -1 and errno.
int linux_take_signals(void);

// Orphans among our descendants become our children.
void linux_become_subreaper(void);

// The same process becomes another version of its program: what it is to find there stays open.
int linux_keep_over_exec(int fd, bool keep);
// Of this process: its program as it is, even if its path is another file's by now (O_PATH), or -1 and errno.
int linux_own_program(void);
// Its path at which it was; not terminated. -1 where that is not known.
ssize_t linux_own_program_path(char *out, size_t size);
// nice(2) for this process and those that it forks, if it may and has no better. Returns what it was before.
int linux_take_priority(int nice);
// execve(2) with these arguments, each with its NUL; of `program` where that is no -1. Returns where that fails, with
// errno. The limit of descriptors and the priority are for it what they were for us.
void linux_become(const char *path, int program, const char *arguments, size_t length);
void linux_name_process(const char *name);
// What is busy beside the main thread, and would have to end before it.
int linux_other_threads(void);
