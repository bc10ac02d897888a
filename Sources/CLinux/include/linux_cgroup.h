// cgroup v2 directories.
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

// Whether a path lies on a cgroup2 file system (CGROUP2_SUPER_MAGIC).
static inline bool linux_is_cgroup2(const char *path) {
    struct statfs system;
    return statfs(path, &system) == 0 && (unsigned long)system.f_type == 0x63677270UL;
}
static const int linux_directory_flags = O_PATH | O_DIRECTORY;
static const int linux_path_flags = O_PATH;
