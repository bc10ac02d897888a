// Real memory pressure for a bounded time, on a machine that has plenty.
//
//     hog [-g GROUP] [-t SECONDS] [-b MEGABYTES]
//
// A child has used up all it may have, which a group of the old memory controller limits, and asks for more again and
// again. Each time the kernel searches for something to reclaim before it refuses: a stall that needs no disk, disturbs
// no other group's caches, and shows in the cgroup v2 that the child is in, in those above it, and in
// /proc/pressure/memory.
//
//     -g  a cgroup v2 to make, to press in, and to remove; without, the child stays where it was started
//     -t  when to end (default 30)
//     -b  memory besides, that is its own
//
// Writes "pressing" when it has begun. Ends earlier by SIGTERM or SIGINT. Status 77: this machine has nothing to limit
// it with; stderr says what is missing.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum { limit_bytes = 8 << 20, page = 4096, threads = 2, unavailable = 77 };

static char limit_group[PATH_MAX], pressure_group[PATH_MAX];
static volatile sig_atomic_t ended;

static void on_signal(int number) {
    (void)number;
    ended = 1;
}

static void remove_group(const char *group) {
    // Its processes have ended, but may not be out of it.
    for (int i = 0; i < 1000 && *group && rmdir(group) != 0 && errno == EBUSY; i++)
        usleep(5000);  // not a wait: between two attempts, which have a bound
}

__attribute__((format(printf, 2, 3), noreturn)) static void fail(int status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("hog: ", stderr);
    int error = errno;
    vfprintf(stderr, format, arguments);
    fprintf(stderr, ": %s\n", strerror(error));
    remove_group(limit_group);
    remove_group(pressure_group);
    exit(status);
}

static void write_file(const char *group, const char *name, const char *text) {
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", group, name);
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0) fail(unavailable, "open %s", path);
    if (write(file, text, strlen(text)) < 0) fail(unavailable, "write %s to %s", text, path);
    close(file);
}

static void make_limit_group(void) {
    FILE *mounts = setmntent("/proc/self/mounts", "r");
    struct mntent *mount;
    while (mounts && (mount = getmntent(mounts)))
        if (!strcmp(mount->mnt_type, "cgroup") && hasmntopt(mount, "memory")) {
            char path[PATH_MAX];
            snprintf(path, sizeof path, "%s/curfew-hog-%d", mount->mnt_dir, getpid());
            if (mkdir(path, 0755) != 0) fail(unavailable, "mkdir %s", path);
            strcpy(limit_group, path);
            break;
        }
    if (mounts) endmntent(mounts);
    errno = ENOENT;
    if (!*limit_group) fail(unavailable, "the memory controller of cgroup v1 is not mounted");
    char bytes[32];
    snprintf(bytes, sizeof bytes, "%d", limit_bytes);
    write_file(limit_group, "memory.limit_in_bytes", bytes);
    // Refused, not killed.
    write_file(limit_group, "memory.oom_control", "1");
}

static char *take(size_t size) {
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) fail(1, "mmap");
    return memory;
}

// Between parent and child. A pipe would need memory.
static struct {
    _Atomic bool full;
} *shared;
static char *wanted;

static void *press(void *context) {
    size_t taken = (uintptr_t)context * limit_bytes;
    while (true) {
        if (!atomic_load(&shared->full)) usleep(1000);  // not a wait: its idle time
        // What it gets all the same, it keeps: it can be no more than the limit.
        else if (madvise(wanted + taken, page, MADV_POPULATE_WRITE) == 0) taken += page;
    }
    return NULL;
}

static void run_child(pid_t parent, size_t ballast) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    if (ballast) memset(take(ballast), 1, ballast);
    for (uintptr_t i = 0; i < threads; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, press, (void *)i) != 0) fail(1, "pthread_create");
    }
    // From the limit on, a page that it does not have yet would make it wait for ever.
    if (mlockall(MCL_CURRENT) != 0) fail(unavailable, "mlockall");
    wanted = take((threads + 1) * limit_bytes);
    if (*pressure_group) write_file(pressure_group, "cgroup.procs", "0");
    write_file(limit_group, "cgroup.procs", "0");
    madvise(wanted + threads * limit_bytes, limit_bytes, MADV_POPULATE_WRITE);
    atomic_store(&shared->full, true);
    while (true) pause();
}

static int64_t now_ms(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

// Until the end. Whether the child is still there. The pressure is not read meanwhile: each reading takes the time
// since the last one in whole ticks of the kernel, so that frequent ones lose what there is.
static bool watch(pid_t child, int64_t end) {
    while (!ended && now_ms() < end) {
        if (waitpid(child, NULL, WNOHANG) != 0) return false;
        usleep(1000);  // not a wait: between two looks, which have a bound
    }
    return true;
}

int main(int count, char **arguments) {
    int option, seconds = 30;
    size_t ballast = 0;
    const char *group = NULL;
    while ((option = getopt(count, arguments, "g:t:b:")) != -1) {
        if (option == 'g') group = optarg;
        else if (option == 't') seconds = atoi(optarg);
        else if (option == 'b') ballast = (size_t)atoi(optarg) << 20;
        else return 2;
    }
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    if (group) {
        if (mkdir(group, 0755) != 0) fail(1, "mkdir %s", group);
        snprintf(pressure_group, sizeof pressure_group, "%s", group);
    }
    make_limit_group();
    shared = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (shared == MAP_FAILED) fail(1, "mmap");
    pid_t parent = getpid(), child = fork();
    if (child < 0) fail(1, "fork");
    if (child == 0) run_child(parent, ballast);
    int status = 0;
    bool alive = true;
    int64_t end = now_ms() + (int64_t)seconds * 1000;
    while (alive && !ended && now_ms() < end && !atomic_load(&shared->full)) {
        alive = waitpid(child, &status, WNOHANG) == 0;
        usleep(1000);  // not a wait: between two looks, which have a bound
    }
    if (alive && !ended) {
        puts("pressing");
        fflush(stdout);
        alive = watch(child, end);
    }
    if (alive) {
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    remove_group(limit_group);
    remove_group(pressure_group);
    return alive ? 0 : WIFEXITED(status) && WEXITSTATUS(status) ? WEXITSTATUS(status) : 1;
}
