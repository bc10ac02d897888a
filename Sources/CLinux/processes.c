#include "CLinux.h"

#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

int linux_pidfd_open(pid_t pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

int linux_pidfd_send_signal(int pidfd, int signal) {
    return (int)syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0);
}

// A whole small file of /proc, NUL-terminated: its length, or -1.
static ssize_t read_text(const char *path, char *buffer, size_t size) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
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

bool linux_pidfd_exit(int pidfd, struct linux_exit *out) {
    // <linux/pidfd.h>'s, which older headers lack.
    struct {
        uint64_t mask, group;
        uint32_t ids[11];
        int32_t exit_code;
    } info = {.mask = 1 << 3};
    if (ioctl(pidfd, _IOWR(0xFF, 11, info), &info) != 0 || !(info.mask & 1 << 3)) return false;
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
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *threads = opendir(path);
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

int linux_read_process_status(pid_t pid, pid_t tid, struct linux_process_status *out) {
    char path[64], text[4096];
    if (tid)
        (void)snprintf(path, sizeof path, "/proc/%d/task/%d/status", pid, tid);
    else
        (void)snprintf(path, sizeof path, "/proc/%d/status", pid);
    if (read_text(path, text, sizeof text) < 0) return -1;
    static const char first[] = "Name:\t";
    const char *state = value_of(text, "\nState:\t"), *parent = value_of(text, "\nPPid:\t");
    const char *user = value_of(text, "\nUid:\t");
    if (strncmp(text, first, sizeof first - 1) != 0 || !state || !parent || !user) {
        errno = EBADMSG;
        return -1;
    }
    const char *name = text + sizeof first - 1;
    size_t length = strcspn(name, "\n");
    if (length >= sizeof out->name) length = sizeof out->name - 1;
    memcpy(out->name, name, length);
    out->name[length] = 0;
    out->state = *state;
    out->parent = (pid_t)strtol(parent, NULL, 10);
    out->user = (uid_t)strtoul(user, NULL, 10);
    return 0;
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

struct channel {
    pid_t pid, tid;
    char name[64];
};

static void read_channel(void *context) {
    struct channel *channel = context;
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/task/%d/wchan", channel->pid, channel->tid);
    if (read_text(path, channel->name, sizeof channel->name) < 0) channel->name[0] = 0;
}

bool linux_wait_channel(pid_t pid, pid_t tid, char out[64]) {
    struct channel channel = {.pid = pid, .tid = tid};
    if (!linux_do_in_time(read_channel, &channel, sizeof channel, 20)) return false;
    memcpy(out, channel.name, sizeof channel.name);
    return out[0] && strcmp(out, "0") != 0;
}

// glibc reports a missing entry as 0 with no result, some name services as one of these.
static bool means_missing(int error) {
    return error == 0 || error == ENOENT || error == ESRCH || error == EBADF || error == EPERM;
}

static int look_up_user(const char *name, uid_t uid, struct linux_user *out) {
    size_t size = 1024;
    while (1) {
        char *buffer = malloc(size);
        if (!buffer) return ENOMEM;
        struct passwd entry, *found = NULL;
        int error = name ? getpwnam_r(name, &entry, buffer, size, &found)
                         : getpwuid_r(uid, &entry, buffer, size, &found);
        if (error == ERANGE || error == EINTR) {
            free(buffer);
            if (error == ERANGE && (size *= 2) > 1 << 20) return ERANGE;
            continue;
        }
        if (found) {
            out->uid = entry.pw_uid;
            out->gid = entry.pw_gid;
            out->name = strdup(entry.pw_name);
            out->home = strdup(entry.pw_dir);
            out->shell = strdup(entry.pw_shell);
        }
        free(buffer);
        if (!found) return means_missing(error) ? ENOENT : error;
        if (out->name && out->home && out->shell) return 0;
        linux_user_free(out);
        return ENOMEM;
    }
}

int linux_user_by_name(const char *name, struct linux_user *out) { return look_up_user(name, 0, out); }
int linux_user_by_id(uid_t uid, struct linux_user *out) { return look_up_user(NULL, uid, out); }

void linux_user_free(struct linux_user *user) {
    free(user->name);
    free(user->home);
    free(user->shell);
    memset(user, 0, sizeof *user);
}

int linux_group_by_name(const char *name, gid_t *out) {
    size_t size = 1024;
    while (1) {
        char *buffer = malloc(size);
        if (!buffer) return ENOMEM;
        struct group entry, *found = NULL;
        int error = getgrnam_r(name, &entry, buffer, size, &found);
        if (found) *out = entry.gr_gid;
        free(buffer);
        if (error == ERANGE || error == EINTR) {
            if (error == ERANGE && (size *= 2) > 1 << 20) return ERANGE;
            continue;
        }
        if (found) return 0;
        return means_missing(error) ? ENOENT : error;
    }
}

int linux_user_groups(const char *name, gid_t gid, gid_t **out) {
    int room = 32;
    while (1) {
        gid_t *groups = malloc((size_t)room * sizeof *groups);
        if (!groups) return -1;
        int count = room;
        if (getgrouplist(name, gid, groups, &count) >= 0) {
            *out = groups;
            return count;
        }
        free(groups);
        room = count > room ? count : room * 2;
        if (room > 65536) return -1;
    }
}
