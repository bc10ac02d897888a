// What Swift cannot import directly: errno (a macro), variadic calls, and names that clash with Swift's own.
#pragma once
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
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

// The names in a directory, each with its NUL, to be freed with free(3). 0, or an errno: what could not be read to its
// end is no list.
int linux_list(const char *path, char **names, size_t *length);
// The names in a directory that other users may read as well, and so keep its lock, by a thread: each with its NUL, to
// be freed with free(3). 0, or an errno; ETIMEDOUT: not told in time.
int linux_list_in_time(const char *path, int milliseconds, char **names, size_t *length);

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
