#include "CLinux.h"

#include <dirent.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

// fusectl, mounted for as long as it is open: /sys/fs/fuse/connections, whether the system mounts it there or not.
static DIR *open_connections(void) {
    // There from the moment on that the kernel has FUSE: no module is loaded for this.
    if (access("/sys/fs/fuse/connections", F_OK) != 0) return NULL;
    int context = fsopen("fusectl", FSOPEN_CLOEXEC);
    if (context < 0) return NULL;
    int root = fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0 ? fsmount(context, FSMOUNT_CLOEXEC, 0) : -1;
    close(context);
    // What fsmount gives cannot be read, only be walked from.
    int readable = root < 0 ? -1 : openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root >= 0) close(root);
    DIR *all = readable < 0 ? NULL : fdopendir(readable);
    if (!all && readable >= 0) close(readable);
    return all;
}

// number: the device of its file system, as the kernel has it inside.
static bool is_mounted_here(unsigned long number) {
    FILE *mounts = fopen("/proc/self/mountinfo", "re");
    if (!mounts) return true;
    bool is_mounted = false;
    char *line = NULL;
    size_t room = 0;
    while (!is_mounted && getline(&line, &room, mounts) > 0) {
        unsigned major, minor;
        if (sscanf(line, "%*d %*d %u:%u", &major, &minor) != 2) continue;
        is_mounted = ((unsigned long)major << 20 | minor) == number;
    }
    free(line);
    fclose(mounts);
    return is_mounted;
}

void linux_abort_fuse(uid_t user) {
    DIR *all = open_connections();
    if (!all) return;
    for (struct dirent *entry; (entry = readdir(all));) {
        struct stat status;
        char path[64];
        char *end;
        unsigned long number = strtoul(entry->d_name, &end, 10);
        if (end == entry->d_name || *end) continue;
        if (fstatat(dirfd(all), entry->d_name, &status, 0) != 0 || status.st_uid != user) continue;
        if (is_mounted_here(number)) continue;
        (void)snprintf(path, sizeof path, "%lu/abort", number);
        int abort = openat(dirfd(all), path, O_WRONLY | O_CLOEXEC);
        if (abort < 0) continue;
        (void)!write(abort, "1", 1);
        close(abort);
    }
    closedir(all);
}
