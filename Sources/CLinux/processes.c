#include "CLinux.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

int linux_pidfd_open(pid_t pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

int linux_pidfd_send_signal(int pidfd, int signal) {
    return (int)syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0);
}

// A whole small file of /proc, NUL-terminated: its length, or -1.
static ssize_t read_text(const char *path, char *buffer, size_t size) {
    int file = linux_open_file(path, O_RDONLY, 0);
    if (file < 0) return -1;
    size_t length = 0;
    while (length < size - 1) {
        ssize_t count = read(file, buffer + length, size - 1 - length);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) {
            int error = errno;
            close(file);
            errno = error;
            return -1;
        }
        if (count == 0) break;
        length += (size_t)count;
    }
    close(file);
    buffer[length] = 0;
    return (ssize_t)length;
}

pid_t linux_pidfd_pid(int pidfd) {
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/self/fdinfo/%d", pidfd);
    if (read_text(path, text, sizeof text) < 0) return -1;
    const char *line = strstr(text, "\nPid:");
    return line ? (pid_t)strtol(line + 5, NULL, 10) : -1;
}

void linux_fill_exit(const siginfo_t *info, const struct rusage *usage, struct linux_exit *out) {
    out->code = info->si_code;
    out->status = info->si_status;
    out->cpu_ns = ((int64_t)usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000000 +
                  ((int64_t)usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * 1000;
    out->max_rss_bytes = (int64_t)usage->ru_maxrss * 1024;
}

// <linux/pidfd.h>'s pidfd_info, which older headers lack.
struct pidfd_facts {
    uint64_t mask, group;
    uint32_t pid, process, parent, user, others[7];
    int32_t exit_code;
};
enum { FACTS_USERS = 1 << 1, FACTS_GROUP = 1 << 2, FACTS_EXIT = 1 << 3 };

// PIDFD_GET_INFO (Linux 6.13): it waits for nothing.
static bool ask_pidfd(int pidfd, uint64_t mask, struct pidfd_facts *out) {
    memset(out, 0, sizeof *out);
    out->mask = mask;
    return ioctl(pidfd, _IOWR(0xFF, 11, struct pidfd_facts), out) == 0 && (out->mask & mask) == mask;
}

bool linux_pidfd_exit(int pidfd, struct linux_exit *out) {
    struct pidfd_facts info;
    if (!ask_pidfd(pidfd, FACTS_EXIT, &info)) return false;
    memset(out, 0, sizeof *out);
    out->code = WIFEXITED(info.exit_code) ? CLD_EXITED : WCOREDUMP(info.exit_code) ? CLD_DUMPED : CLD_KILLED;
    out->status = WIFEXITED(info.exit_code) ? WEXITSTATUS(info.exit_code) : WTERMSIG(info.exit_code);
    return true;
}

int linux_reap(int pidfd, bool block, struct linux_exit *out) {
    enum { BY_PIDFD = 3 };  // P_PIDFD, which older headers lack
    siginfo_t info;
    struct rusage usage;
    memset(&info, 0, sizeof info);
    memset(&usage, 0, sizeof usage);
    // glibc's waitid hides the kernel's fifth argument.
    if (syscall(SYS_waitid, BY_PIDFD, pidfd, &info, WEXITED | (block ? 0 : WNOHANG), &usage) != 0) return -1;
    if (info.si_pid == 0) return 0;
    // A stop of one that has us trace it: nothing is awaited here but its end.
    if (!linux_is_end(info.si_code)) {
        (void)ptrace(PTRACE_DETACH, info.si_pid, 0, linux_signal_of_stop(info.si_status));
        return 0;
    }
    linux_fill_exit(&info, &usage, out);
    return 1;
}

bool linux_has_ended(pid_t pid) {
    DIR *threads = linux_open_threads(pid);
    if (!threads) return errno == ENOENT || errno == ESRCH;
    bool has_ended = true;
    for (struct dirent *entry; has_ended && (entry = readdir(threads));) {
        struct linux_process_status status;
        pid_t thread = atoi(entry->d_name);
        if (thread <= 0 || linux_read_process_status(pid, thread, &status) != 0) continue;
        has_ended = status.state == 'Z' || status.state == 'X';
    }
    closedir(threads);
    return has_ended;
}

// What follows a key, which begins a line: the name is on the first, and its newlines are escaped.
static const char *value_of(const char *text, const char *key) {
    const char *line = strstr(text, key);
    return line ? line + strlen(key) : NULL;
}

static bool parse_status(const char *text, struct linux_process_status *out) {
    static const char first[] = "Name:\t";
    const char *state = value_of(text, "\nState:\t"), *parent = value_of(text, "\nPPid:\t");
    const char *user = value_of(text, "\nUid:\t");
    if (strncmp(text, first, sizeof first - 1) != 0 || !state || !parent || !user) return false;
    const char *name = text + sizeof first - 1;
    size_t length = strcspn(name, "\n");
    if (length >= sizeof out->name) length = sizeof out->name - 1;
    memcpy(out->name, name, length);
    out->name[length] = 0;
    out->state = *state;
    out->parent = (pid_t)strtol(parent, NULL, 10);
    out->user = (uid_t)strtoul(user, NULL, 10);
    return true;
}

int linux_read_process_status(pid_t pid, pid_t tid, struct linux_process_status *out) {
    char path[64], text[4096];
    if (tid)
        (void)snprintf(path, sizeof path, "/proc/%d/task/%d/status", pid, tid);
    else
        (void)snprintf(path, sizeof path, "/proc/%d/status", pid);
    if (read_text(path, text, sizeof text) < 0) return -1;
    if (parse_status(text, out)) return 0;
    errno = EBADMSG;
    return -1;
}

static uint64_t start_ticks(pid_t pid) {
    char path[64], text[1024];
    (void)snprintf(path, sizeof path, "/proc/%d/stat", pid);
    if (read_text(path, text, sizeof text) < 0) return 0;
    // The name may hold ") (", so its end is the last parenthesis; the fields after it are single words.
    const char *field = strrchr(text, ')');
    for (int number = 2; field && number < 22; number++) {
        field = strchr(field, ' ');
        if (field) field++;
    }
    if (!field) errno = EBADMSG;
    return field ? strtoull(field, NULL, 10) : 0;
}

uint64_t linux_process_identity(pid_t pid, int pidfd) {
    enum { OF_PIDFDS = 0x50494446 };
    struct statfs system;
    struct stat status;
    if (fstatfs(pidfd, &system) != 0) return 0;
    if (system.f_type != OF_PIDFDS) return start_ticks(pid);
    return fstat(pidfd, &status) == 0 ? status.st_ino : 0;
}

bool linux_pidfd_is_over(int pidfd) {
    struct pollfd end = {.fd = pidfd, .events = POLLIN};
    return poll(&end, 1, 0) == 1;
}

uint64_t linux_control_group_id(pid_t pid) {
    int pidfd = linux_pidfd_open(pid);
    if (pidfd < 0) return 0;
    struct pidfd_facts facts;
    bool is_told = ask_pidfd(pidfd, FACTS_GROUP, &facts);
    close(pidfd);
    return is_told ? facts.group : 0;
}

// What others may keep waiting, by threads that are waited for so many milliseconds.
enum { SOON = 100, AT_ONCE = 20 };

// In a /proc of our own no other process has a lock: there it is done at once.
static bool look_soon(pid_t pid, void (*run)(void *), void *context, size_t size) {
    struct linux_errand errand = {.run = run, .subject = (uint64_t)pid};
    if (linux_own_proc() < 0) return linux_do_in_time(errand, context, size, SOON);
    run(context);
    return true;
}

struct file_of_proc {
    pid_t pid, tid;
    const char *name;
    ssize_t length;
    char text[3072];
};

static void read_file_of_proc(void *context) {
    struct file_of_proc *file = context;
    char path[64];
    if (file->tid)
        (void)snprintf(path, sizeof path, "/proc/%d/task/%d/%s", file->pid, file->tid, file->name);
    else
        (void)snprintf(path, sizeof path, "/proc/%d/%s", file->pid, file->name);
    file->length = read_text(path, file->text, sizeof file->text);
}

static bool read_soon(struct file_of_proc *file) {
    return look_soon(file->pid, read_file_of_proc, file, sizeof *file) && file->length >= 0;
}

const char *linux_unified_group(const char *text, size_t *length) {
    const char *line = strncmp(text, "0::", 3) == 0 ? text : strstr(text, "\n0::");
    if (!line) return NULL;
    const char *path = line + (*line == '\n' ? 4 : 3);
    *length = strcspn(path, "\n");
    return path;
}

bool linux_control_group_path(pid_t pid, char out[3072]) {
    struct file_of_proc file = {.pid = pid, .name = "cgroup"};
    if (!read_soon(&file)) return false;
    size_t length;
    const char *path = linux_unified_group(file.text, &length);
    if (!path) return false;
    memcpy(out, path, length);
    out[length] = 0;
    return true;
}

bool linux_parent_and_user(pid_t pid, int pidfd, pid_t *parent, uid_t *user) {
    struct pidfd_facts facts;
    if (ask_pidfd(pidfd, FACTS_USERS, &facts)) {
        *parent = (pid_t)facts.parent;
        *user = facts.user;
        return true;
    }
    struct file_of_proc file = {.pid = pid, .name = "status"};
    struct linux_process_status status;
    if (!read_soon(&file) || !parse_status(file.text, &status)) return false;
    *parent = status.parent;
    *user = status.user;
    return true;
}

int64_t linux_own_memory(pid_t pid) {
    struct file_of_proc file = {.pid = pid, .name = "status"};
    if (!read_soon(&file)) return -1;
    static const char *const keys[] = {"\nRssAnon:", "\nRssShmem:", "\nVmSwap:"};
    int64_t sum = 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *value = value_of(file.text, keys[i]);
        if (value) sum += (int64_t)strtoll(value, NULL, 10) * 1024;
    }
    return sum;
}

bool linux_wait_channel(pid_t pid, pid_t tid, char out[64]) {
    struct file_of_proc file = {.pid = pid, .tid = tid, .name = "wchan"};
    // An exec that hangs has a lock on this, whatever /proc it is read in.
    struct linux_errand errand = {.run = read_file_of_proc, .subject = (uint64_t)pid};
    if (!linux_do_in_time(errand, &file, sizeof file, AT_ONCE) || file.length < 0) return false;
    (void)snprintf(out, 64, "%.63s", file.text);
    return out[0] && strcmp(out, "0") != 0;
}

struct look_at_threads {
    pid_t pid;
    bool (*take)(struct look_at_threads *look, pid_t tid);
    struct linux_busy_thread busy;
    size_t count;
    pid_t tracers[LINUX_MOST_TRACERS];
};

static void look_at_threads(void *context) {
    struct look_at_threads *look = context;
    DIR *threads = linux_open_threads(look->pid);
    if (!threads) return;
    for (struct dirent *entry; (entry = readdir(threads));) {
        pid_t thread = atoi(entry->d_name);
        if (thread > 0 && look->take(look, thread)) break;
    }
    closedir(threads);
}

static bool take_busy(struct look_at_threads *look, pid_t tid) {
    struct linux_busy_thread *busy = &look->busy;
    if (linux_read_process_status(look->pid, tid, &busy->status) != 0) return false;
    if (busy->status.state == 'D' || busy->status.state == 'R') busy->tid = tid;
    return busy->tid != 0;
}

static bool take_tracer(struct look_at_threads *look, pid_t tid) {
    struct file_of_proc file = {.pid = look->pid, .tid = tid, .name = "status"};
    read_file_of_proc(&file);
    const char *value = file.length < 0 ? NULL : value_of(file.text, "\nTracerPid:\t");
    pid_t tracer = value ? (pid_t)strtol(value, NULL, 10) : 0;
    bool is_known = tracer <= 0;
    for (size_t i = 0; i < look->count; i++) is_known = is_known || look->tracers[i] == tracer;
    if (!is_known) look->tracers[look->count++] = tracer;
    return look->count == LINUX_MOST_TRACERS;
}

bool linux_find_busy_thread(pid_t pid, struct linux_busy_thread *out) {
    struct look_at_threads look = {.pid = pid, .take = take_busy};
    if (!look_soon(pid, look_at_threads, &look, sizeof look)) return false;
    *out = look.busy;
    return true;
}

size_t linux_tracers(pid_t pid, pid_t out[LINUX_MOST_TRACERS]) {
    struct look_at_threads look = {.pid = pid, .take = take_tracer};
    if (!look_soon(pid, look_at_threads, &look, sizeof look)) return 0;
    memcpy(out, look.tracers, sizeof look.tracers);
    return look.count;
}
