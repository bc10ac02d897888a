#include "CLinux.h"

#include <sys/syscall.h>

int linux_keep_over_exec(int fd, bool keep) { return fcntl(fd, F_SETFD, keep ? 0 : FD_CLOEXEC); }

int linux_own_program(void) { return open("/proc/self/exe", O_PATH | O_CLOEXEC); }

ssize_t linux_own_program_path(char *out, size_t size) {
    static const char deleted[] = " (deleted)";
    ssize_t length = readlink("/proc/self/exe", out, size);
    if (length < 0 || (size_t)length == size) return -1;
    ssize_t mark = (ssize_t)sizeof deleted - 1;
    if (length > mark && memcmp(out + length - mark, deleted, (size_t)mark) == 0) length -= mark;
    return length;
}

static struct rlimit found;

bool linux_raise_descriptor_limit(uint64_t *soft, uint64_t *hard) {
    if (getrlimit(RLIMIT_NOFILE, &found) != 0) return false;
    *soft = found.rlim_cur == RLIM_INFINITY ? UINT64_MAX : found.rlim_cur;
    *hard = found.rlim_max == RLIM_INFINITY ? UINT64_MAX : found.rlim_max;
    struct rlimit raised = {found.rlim_max, found.rlim_max};
    (void)setrlimit(RLIMIT_NOFILE, &raised);
    return true;
}

// What comes after us finds what we have found.
static void set_descriptor_limit(rlim_t value) {
    struct rlimit limit = {value, found.rlim_max};
    if (found.rlim_max > 0) (void)setrlimit(RLIMIT_NOFILE, &limit);
}

static int nice_found, nice_taken;
static bool is_raised;

static void set_nice(int value) {
    if (is_raised) (void)setpriority(PRIO_PROCESS, 0, value);
}

int linux_take_priority(int nice) {
    nice_found = getpriority(PRIO_PROCESS, 0);
    if (nice_found <= nice || setpriority(PRIO_PROCESS, 0, nice) != 0) return nice_found;
    nice_taken = nice;
    is_raised = true;
    // Where the scheduler has a group for each session, that counts first (sched(7)). A shell's is not ours.
    if (getsid(0) != getpid()) return nice_found;
    int file = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
    if (file < 0) return nice_found;
    char text[12];
    int length = snprintf(text, sizeof text, "%d", nice);
    (void)!write(file, text, (size_t)length);
    close(file);
    return nice_found;
}

void linux_become(const char *path, int program, const char *arguments, size_t length) {
    char *texts = calloc(length + 1, 1);
    char **values = calloc(length + 1, sizeof *values);
    if (!texts || !values) {
        free(texts);
        free(values);
        errno = ENOMEM;
        return;
    }
    memcpy(texts, arguments, length);
    size_t count = 0;
    for (size_t at = 0; at < length; at += strlen(texts + at) + 1) values[count++] = texts + at;
    set_descriptor_limit(found.rlim_cur);
    set_nice(nice_found);
    if (program < 0) {
        execve(path, values, environ);
    } else {
        syscall(SYS_execveat, program, "", values, environ, AT_EMPTY_PATH);
    }
    int error = errno;
    set_descriptor_limit(found.rlim_max);
    set_nice(nice_taken);
    free(texts);
    free(values);
    errno = error;
}

void linux_name_process(const char *name) { (void)prctl(PR_SET_NAME, name, 0, 0, 0); }

int linux_other_threads(void) {
    struct stat status;
    return stat("/proc/self/task", &status) == 0 ? (int)status.st_nlink - 3 : 0;
}
