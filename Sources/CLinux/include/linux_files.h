// What Swift cannot import directly: errno (a macro), variadic calls, and names that clash with Swift's own.
#pragma once
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static inline int linux_errno(void) { return errno; }

// open(2), close-on-exec; of a process in /proc by a mount of our own where there is one. mode: for O_CREAT.
int linux_open_file(const char *path, int flags, mode_t mode);
// opendir(3) in the same way.
DIR *linux_open_list(const char *path);
// Of a process's threads.
DIR *linux_open_threads(pid_t pid);
// Mounts proc(5) once more, where no other process sees it (fsopen(2); Linux 5.8): the locks of what is in it are ours
// alone. Of the one that all users share, any of them can hold the lock of any directory, /proc itself among them.
// Needs root; without it, /proc is used.
void linux_take_own_proc(void);
// That mount, to walk from; -1: there is none.
int linux_own_proc(void);
static inline int linux_dup_cloexec(int fd) { return fcntl(fd, F_DUPFD_CLOEXEC, 3); }
// Both ends: reading, then writing.
static inline int linux_pipe_cloexec(int ends[2]) { return pipe2(ends, O_CLOEXEC); }
// Memory of no file.
static inline int linux_memory(const char *name) { return memfd_create(name, MFD_CLOEXEC); }
static inline int linux_get_flags(int fd) { return fcntl(fd, F_GETFL); }
static inline int linux_set_flags(int fd, int flags) { return fcntl(fd, F_SETFL, flags); }
static inline int linux_set_descriptor_flags(int fd, int flags) { return fcntl(fd, F_SETFD, flags); }

// For writing, all of it, by this open file (F_OFD_SETLK): only what may write to a file can keep others from it. 0, or
// -1 with EAGAIN where it is locked.
static inline int linux_lock_file(int fd) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(fd, F_OFD_SETLK, &lock);
}

// The same of one that is open for reading alone (flock(2)).
static inline int linux_lock_for_reading(int fd) { return flock(fd, LOCK_EX | LOCK_NB); }

// The names in a directory, each with its NUL, to be freed with free(3). 0, or an errno: what could not be read to its
// end is no list.
int linux_list(const char *path, char **names, size_t *length);
// The names in a directory that other users may read as well, and so keep its lock, by a thread: each with its NUL, to
// be freed with free(3). 0, or an errno; ETIMEDOUT: not told in time.
int linux_list_in_time(const char *path, int milliseconds, char **names, size_t *length);

// The first bytes (2048 at most) of a regular file that other users may read as well, by a thread. Who may read a file
// may have the kernel tell of each use of it (inotify(7)), which takes the reader as long as the listener's
// control group makes it: seconds, where that is at its limit of memory. 0, or an errno; ETIMEDOUT: not in time, or too
// much was waited for in the last ten seconds already.
int linux_read_in_time(const char *path, int milliseconds, void *buffer, size_t size, size_t *length);
// The same of one that is open, from its beginning.
int linux_read_open_in_time(int file, int milliseconds, void *buffer, size_t size, size_t *length);
// A word to a control group (cgroup.freeze, cgroup.kill): the kernel has one lock for all groups of the board, which a
// user with groups of its own keeps for seconds. It is waited for a little; for a start up to a second; where much was
// waited for lately, not at all. 0, or an errno; EINPROGRESS: under way, and not waited for any more; EAGAIN: nothing
// was begun, as another word to that group is under way.
int linux_tell_group(const char *path, const char *text, bool is_for_start);
// In the same way: mkdir(2) of one with the mode 0711, for a start; rmdir(2).
int linux_make_group(const char *path);
int linux_remove_group(const char *path);
// Into one that is there, in one write(2).
int linux_write_in_time(const char *path, int milliseconds, const void *bytes, size_t size);

static inline int linux_stat(const char *path, struct stat *out) { return stat(path, out); }
static inline const char *linux_entry_name(const struct dirent *entry) { return entry->d_name; }

// Nanoseconds of a clock; -1 where the kernel has no such clock.
static inline int64_t linux_clock_ns(clockid_t clock) {
    struct timespec t;
    if (clock_gettime(clock, &t) != 0) return -1;
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
static inline int64_t linux_monotonic_ns(void) { return linux_clock_ns(CLOCK_MONOTONIC); }
static inline int64_t linux_boottime_ns(void) { return linux_clock_ns(CLOCK_BOOTTIME); }
static inline int64_t linux_realtime_ns(void) { return linux_clock_ns(CLOCK_REALTIME); }
static inline int64_t linux_thread_ns(void) { return linux_clock_ns(CLOCK_THREAD_CPUTIME_ID); }
