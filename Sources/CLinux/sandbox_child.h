// What the child that builds a sandbox knows of it: shared by what finds the paths and what mounts.
#pragma once
#include "spawn_child.h"

#include <limits.h>
#include <sys/mount.h>
#include <sys/syscall.h>

#ifndef MOUNT_ATTR_RDONLY
#error "Linux 5.12 headers are needed"
#endif

enum {
    // The mounts of a place and below.
    SANDBOX_TREE = OPEN_TREE_CLONE | O_CLOEXEC | AT_RECURSIVE,
};

// What is made empty: /dev, what is its own, then homes, which are read-only in the end. Last their number.
enum { DEV, TMP, VAR_TMP, SHM, HOME, ROOT, RUN_USER, ROOTS };

// A path of the request, found while the system is still as it was.
struct held {
    const char *path;  // without symbolic links
    char kind;
    int tree;    // a clone of the mounts from there on; -1: it is left out
    int target;  // the place itself
    bool is_hidden;  // what is made empty is above it
    bool is_inside;  // another held path is above it
    bool is_file;
};

struct view {
    const struct start *start;
    struct held held[LINUX_SANDBOX_MAX_PATHS];
    size_t count;
    bool hides_some;  // of those, some are in homes that are made empty
    char roots[ROOTS][64];  // without symbolic links; empty: not made empty, or not there
    char pool[16384];       // paths that differ from what the request says
    size_t pooled;
    bool has_strange_link;  // what failed last did so for a symbolic link of another user's
};

CHILD static inline bool wants(const struct view *view, uint32_t flag) {
    return view->start->request->sandbox & flag;
}

CHILD static inline void close_one(int descriptor) {
    if (descriptor >= 0) syscall(SYS_close, descriptor);
}

CHILD static inline size_t length_of(const char *text) {
    size_t length = 0;
    while (text[length]) length++;
    return length;
}

// Or the root itself.
CHILD static inline bool is_below(const char *path, const char *root) {
    if (!*root) return false;
    for (; *root; root++, path++)
        if (*root != *path) return false;
    return *path == '/' || !*path;
}

// Finds what is to be made empty, and what of the system is put back. False: the start is over.
bool linux_child_finds_paths(struct view *view);
