// What the daemon itself needs of libc and the kernel.
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

// The process group that a session leader of ours heads: only while it is not reaped, so that the number is its own.
static inline void linux_kill_session(int32_t leader) {
    if (leader > 1) kill(-leader, SIGKILL);
}

// Has a file system keep room for so many bytes of a file, which becomes no longer by it. Some cannot.
static inline _Bool linux_reserve(int fd, off_t bytes) { return fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, bytes) == 0; }
// Starts writing a file's dirty pages to the disk and does not wait for it.
static inline void linux_start_writeback(int fd) { (void)sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE); }


enum {
    linux_descriptor_limit = RLIMIT_NOFILE,
    linux_core_limit = RLIMIT_CORE,
    linux_process_limit = RLIMIT_NPROC,
    linux_file_limit = RLIMIT_FSIZE,
};

// As many descriptors as the kernel lets us have. Fills in what the limits were; false where they are not known.
bool linux_raise_descriptor_limit(uint64_t *soft, uint64_t *hard);

// How many descriptors this process may have.
static inline uint64_t linux_descriptor_room(void) {
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 1024;
}

static inline void linux_ignore(int signal_number) { signal(signal_number, SIG_IGN); }

// Gives memory back that only start-up needed.
static inline void linux_trim_memory(void) { malloc_trim(0); }

// Short-lived allocations of any size come back to the kernel, and one arena is enough for one thread.
static inline void linux_tune_memory(void) {
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_TRIM_THRESHOLD, 64 * 1024);
}

// What the process has in memory stays there, and so does what it comes to have; nothing is read or made for it before
// it is used. Where the board is short of memory, its supervisor then neither waits for its own code to be read back
// nor wakes the kernel's hunt for a process to kill by wanting a page. Children do not inherit it.
// Only by right (CAP_IPC_LOCK, or no limit at all): with a limit the next allocation beyond it would fail.
static inline int linux_lock_memory(void) {
#ifdef MCL_ONFAULT
    struct rlimit limit;
    if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return -1;
    if (limit.rlim_cur != RLIM_INFINITY) {
        // With a limit of 0 the kernel grants nothing but by right.
        struct rlimit none = {0, limit.rlim_max};
        if (setrlimit(RLIMIT_MEMLOCK, &none) != 0) return -1;
    }
    int result = mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT);
    int error = errno;
    if (limit.rlim_cur != RLIM_INFINITY) (void)setrlimit(RLIMIT_MEMLOCK, &limit);
    errno = error;
    return result;
#else
    errno = ENOSYS;
    return -1;
#endif
}

// The same once memory is locked: pages that are cannot be given back (MADV_DONTNEED).
static inline void linux_trim_locked_memory(void) {
    (void)munlockall();
    malloc_trim(0);
    (void)linux_lock_memory();
}

// The command line; the program's own name is number 0.
int linux_argument_count(void);
const char *linux_argument(int index);
