// Processes by pidfd, their end, and what /proc says of them.
#pragma once
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>

// pidfd_open(2), close-on-exec. -1 and errno.
int linux_pidfd_open(pid_t pid);
// pidfd_send_signal(2). -1 and errno.
int linux_pidfd_send_signal(int pidfd, int signal);
// The pid behind a pidfd: 0 when it is not visible from our pid namespace, -1 when the process is gone and reaped.
pid_t linux_pidfd_pid(int pidfd);

static const int linux_code_exited = CLD_EXITED, linux_code_dumped = CLD_DUMPED;

struct linux_exit {
    int code;           // CLD_EXITED, CLD_KILLED or CLD_DUMPED; another is no end
    int status;         // exit status or signal
    int64_t cpu_ns;     // user and system time of the child and of those it has waited for
    int64_t max_rss_bytes;
};
static inline bool linux_is_end(int code) { return code == CLD_EXITED || code == CLD_KILLED || code == CLD_DUMPED; }
// What a traced process that is stopped was about to get; of an event of tracing, as an exec is: nothing.
static inline int linux_signal_of_stop(int status) { return status == SIGTRAP || status > 0x7f ? 0 : status; }
// As waitid(2) and getrusage(2) tell it.
void linux_fill_exit(const siginfo_t *info, const struct rusage *usage, struct linux_exit *out);
// How the process behind a pidfd has ended that need not be a child of ours, once its parent has reaped it (Linux
// 6.15). False where that is not known, or not yet.
bool linux_pidfd_exit(int pidfd, struct linux_exit *out);
// waitid(2) on a pidfd. 1: reaped; 0: it runs (only when not blocking); -1 and errno.
int linux_reap(int pidfd, bool block, struct linux_exit *out);

// Of a process that hangs in its exec some kernels let no reader see more than this (ptrace_may_access under
// exec_update_lock): not /proc/PID/stat, which has the same and more, nor wchan, stack, fd, maps, exe. Those readers
// would hang as well.
struct linux_process_status {
    char name[64];  // comm, with its newlines and backslashes escaped
    char state;     // R S D T t Z X I ...
    pid_t parent;
    uid_t user;     // the real one
};
// /proc/PID/status, or /proc/PID/task/TID/status where tid is not 0. -1 and errno.
int linux_read_process_status(pid_t pid, pid_t tid, struct linux_process_status *out);
static inline const char *linux_process_name(const struct linux_process_status *status) { return status->name; }
// Whether nothing of it runs any more, reaped or not: where only its first thread has ended, others still run.
bool linux_has_ended(pid_t pid);
// What no other process has for as long as the board is up, and any reader finds the same: the inode of its pidfds
// (Linux 6.9), before that its start in clock ticks after boot, which tells processes of one pid apart. 0 and errno.
uint64_t linux_process_identity(pid_t pid, int pidfd);
// Whether all its threads have ended, reaped or not, by a pidfd: asks no file.
bool linux_pidfd_is_over(int pidfd);

// What follows waits for no directory of /proc that others may keep locked (any user may list /proc/PID: getdents(2)
// into memory that is slow to come holds its lock, and an open with O_CREAT that waits for it then keeps out all who
// look a name up): the kernel is asked by pidfd, or a thread looks, for which 0.1 s are waited.

// The id of a process's control group, its directory's inode (Linux 6.13). 0: not known, or the process is gone.
uint64_t linux_control_group_id(pid_t pid);
// The path on the "0::" line of a /proc/PID/cgroup, and its length; NULL without such a line. Once the group has been
// removed the kernel adds " (deleted)".
const char *linux_unified_group(const char *text, size_t *length);
// That of a process. False: not known in time, or gone.
bool linux_control_group_path(pid_t pid, char out[3072]);
// Its parent and its real user. False: not known in time, or gone.
bool linux_parent_and_user(pid_t pid, int pidfd, pid_t *parent, uid_t *user);
// Bytes that no file backs, and what is swapped out. -1: not known in time, or gone.
int64_t linux_own_memory(pid_t pid);
// The kernel function that a thread sleeps in (/proc/PID/task/TID/wchan). False where the kernel does not tell, or
// not soon.
bool linux_wait_channel(pid_t pid, pid_t tid, char out[64]);

struct linux_busy_thread {
    pid_t tid;  // 0: none is busy
    struct linux_process_status status;
};
// The first of its threads in state D or R. False: not known in time.
bool linux_find_busy_thread(pid_t pid, struct linux_busy_thread *out);
enum { LINUX_MOST_TRACERS = 16 };
// Who traces (ptrace(2)) one of its threads, each once. How many: 0 as well where it is not known in time.
size_t linux_tracers(pid_t pid, pid_t out[LINUX_MOST_TRACERS]);

// Records of a user and its group for nss-systemd(8), each by name and by number, in a directory that all may read, and
// so keep its lock: by a thread, which is waited for half a second. False where they are not there by then.
bool linux_write_user_records(
    const char *directory, const char *name, uint32_t user, const char *of_user, const char *of_group);

// The users data base. 0, ENOENT when there is no such entry, or an errno. Both may ask a name service, and block.
struct linux_user {
    uid_t uid;
    gid_t gid;
    char *name, *home, *shell;  // free with linux_user_free
};
int linux_user_by_name(const char *name, struct linux_user *out);
int linux_user_by_id(uid_t uid, struct linux_user *out);
void linux_user_free(struct linux_user *user);
int linux_group_by_name(const char *name, gid_t *out);
// The groups a user is in, `gid` among them, into *out (free(3)). The count, or -1 when memory is short.
int linux_user_groups(const char *name, gid_t gid, gid_t **out);
