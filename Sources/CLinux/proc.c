#include "CLinux.h"

#include <sys/mount.h>
#include <sys/syscall.h>

// -1: there is none of our own.
static int own = -1;

void linux_take_own_proc(void) {
    if (own >= 0) return;
    int context = (int)syscall(SYS_fsopen, "proc", FSOPEN_CLOEXEC);
    if (context < 0) return;
    if (syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0) {
        unsigned attributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;
        own = (int)syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, attributes);
    }
    close(context);
}

int linux_own_proc(void) { return own; }

static const char proc[] = "/proc/";

int linux_open_file(const char *path, int flags, mode_t mode) {
    // Processes, and their list ("/proc/."): names that come and go. The system's own files stay where they are.
    bool is_there = own >= 0 && strncmp(path, proc, sizeof proc - 1) == 0;
    char first = is_there ? path[sizeof proc - 1] : 0;
    if (first == '.' || (first >= '0' && first <= '9')) return openat(own, path + sizeof proc - 1, flags | O_CLOEXEC);
    return open(path, flags | O_CLOEXEC, mode);
}

DIR *linux_open_list(const char *path) {
    if (own < 0) return opendir(path);
    int file = linux_open_file(path, O_RDONLY | O_DIRECTORY, 0);
    if (file < 0) return NULL;
    DIR *list = fdopendir(file);
    if (!list) close(file);
    return list;
}

DIR *linux_open_threads(pid_t pid) {
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/task", pid);
    return linux_open_list(path);
}
