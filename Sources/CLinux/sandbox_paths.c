#include "sandbox_child.h"

// The paths of a sandbox, while the child still sees the system as it is.

static const char *const devices[] = {
    "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/pts", "/dev/mqueue",
};

// MARK: symbolic links

// Puts what a link leads to in place of the link, which is the first `length` bytes of a path. Behind those is a NUL,
// then the rest of the path with two.
CHILD static bool replace_link(char path[PATH_MAX + 1], size_t length) {
    char text[PATH_MAX];
    long count = syscall(SYS_readlinkat, AT_FDCWD, path, text, sizeof text);
    if (count <= 0) return false;
    size_t kept = 0;  // of the path before the link
    if (text[0] != '/')
        for (size_t i = 0; i < length; i++)
            if (path[i] == '/') kept = i + 1;
    size_t rest = length_of(path + length + 1);
    if (kept + (size_t)count + 1 + rest >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    char after[PATH_MAX];
    for (size_t i = 0; i <= rest; i++) after[i] = path[length + 1 + i];
    size_t end = kept + (size_t)count;
    for (size_t i = kept; i < end; i++) path[i] = text[i - kept];
    if (rest > 0) path[end++] = '/';
    for (size_t i = 0; i < rest; i++) path[end++] = after[i];
    path[end] = path[end + 1] = 0;
    return true;
}

// Follows the links on the way of a path: those of root, or whose user we are. Another's could lead anywhere, and the
// next time elsewhere.
CHILD static bool follow_links(struct view *view, char path[PATH_MAX + 1]) {
    int links = 0;
    for (size_t i = 1;; i++) {
        char end = path[i];
        if (end && end != '/') continue;
        path[i] = 0;
        struct statx status;
        if (syscall(SYS_statx, AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_TYPE | STATX_UID, &status) != 0) return false;
        if (S_ISLNK(status.stx_mode)) {
            view->has_strange_link = status.stx_uid != 0 && status.stx_uid != view->start->own_uid;
            if (view->has_strange_link || ++links > 32) {
                errno = ELOOP;
                return false;
            }
            if (!replace_link(path, i)) return false;
            i = 0;
            continue;
        }
        path[i] = end;
        if (!end) return true;
    }
}

// A place without links on its way, by a path that was looked at.
CHILD static int open_place(const char *path) {
    struct {
        uint64_t flags, mode, resolve;
    } how = {O_PATH | O_CLOEXEC, 0, 4 /* RESOLVE_NO_SYMLINKS */};
    return (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
}

// MARK: what is held

// By the kernel's own word; empty where it is longer.
CHILD static void name_of(const struct start *start, int descriptor, char *out, size_t size) {
    char link[] = "/proc/self/fd/          ";
    char *digit = link + 14;
    int place = 1;
    while (descriptor / place >= 10) place *= 10;
    for (; place > 0; place /= 10) *digit++ = (char)('0' + descriptor / place % 10);
    *digit = 0;
    int directory = start->proc >= 0 ? start->proc : AT_FDCWD;
    const char *path = start->proc >= 0 ? link + sizeof "/proc/" - 1 : link;
    long length = syscall(SYS_readlinkat, directory, path, out, size - 1);
    out[length > 0 && (size_t)length < size - 1 ? length : 0] = 0;
}

CHILD static const char *keep(struct view *view, const char *asked, const char *found) {
    size_t length = length_of(found) + 1, same = 0;
    while (same < length && asked[same] == found[same]) same++;
    if (same == length) return asked;
    if (length > sizeof view->pool - view->pooled) {
        errno = E2BIG;
        return NULL;
    }
    char *kept = view->pool + view->pooled;
    for (size_t i = 0; i < length; i++) kept[i] = found[i];
    view->pooled += length;
    return kept;
}

CHILD static bool belongs(const struct view *view, const struct statx *status) {
    const struct linux_spawn_request *request = view->start->request;
    return status->stx_uid == (request->change_user ? request->uid : view->start->own_uid);
}

CHILD static bool open_held(struct view *view, struct held *held, const char *path, char real[PATH_MAX + 1]) {
    size_t length = length_of(path);
    if (length == 0 || length >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    for (size_t i = 0; i < length; i++) real[i] = path[i];
    real[length] = real[length + 1] = 0;
    if (!follow_links(view, real)) return false;
    held->target = open_place(real);
    if (held->target < 0) return false;
    name_of(view->start, held->target, real, PATH_MAX);
    return true;
}

// FOLDER of FOLDER/X/NAME.
CHILD static void cut_to_folder(char *path) {
    size_t length = length_of(path);
    for (int i = 0; i < 2; i++)
        while (length > 1 && path[--length] != '/') {}
    path[length] = 0;
}

// The place is the covered folder from here on; the tree is that of the folder which covers it.
CHILD static bool hold_covered(struct held *held, char real[PATH_MAX + 1]) {
    cut_to_folder(real);
    close_one(held->target);
    held->target = open_place(real);
    return held->target >= 0;
}

// False where the path is not there, cannot be trusted, or the kernel is too old. Another user's home is left out.
CHILD static bool hold(struct view *view, const char *path, char kind) {
    if (view->count == LINUX_SANDBOX_MAX_PATHS) {
        errno = E2BIG;
        return false;
    }
    struct held *held = &view->held[view->count];
    *held = (struct held){.kind = kind, .tree = -1, .target = -1};
    view->has_strange_link = false;
    char real[PATH_MAX + 1];
    if (!open_held(view, held, path, real)) return false;
    held->tree = (int)syscall(SYS_open_tree, held->target, "", SANDBOX_TREE | AT_EMPTY_PATH);
    if (held->tree < 0) return false;
    if (kind == LINUX_SANDBOX_COVER && !hold_covered(held, real)) return false;
    if (!(held->path = keep(view, path, real))) return false;
    struct statx status;
    if (syscall(SYS_statx, held->target, "", AT_EMPTY_PATH, STATX_TYPE | STATX_UID, &status) != 0) return false;
    if (kind == LINUX_SANDBOX_OWN && !belongs(view, &status)) {
        close_one(held->target);
        close_one(held->tree);
        return true;
    }
    held->is_file = !S_ISDIR(status.stx_mode);
    for (int i = 0; i < ROOTS; i++) {
        if (!is_below(held->path, view->roots[i])) continue;
        held->is_hidden = true;
        view->hides_some |= i >= HOME;
    }
    for (size_t i = 0; i < view->count; i++) held->is_inside |= is_below(held->path, view->held[i].path);
    view->count++;
    return true;
}

// MARK: what is made empty

CHILD static void find_root(struct view *view, int place, uint32_t flag, const char *path) {
    view->roots[place][0] = 0;
    if (!wants(view, flag)) return;
    int descriptor = (int)syscall(SYS_openat, AT_FDCWD, path, O_PATH | O_CLOEXEC);
    if (descriptor < 0) return;
    name_of(view->start, descriptor, view->roots[place], sizeof view->roots[place]);
    close_one(descriptor);
}

CHILD static void find_roots(struct view *view) {
    find_root(view, DEV, LINUX_SANDBOX_DEVICES, "/dev");
    find_root(view, TMP, LINUX_SANDBOX_TMP, "/tmp");
    find_root(view, VAR_TMP, LINUX_SANDBOX_TMP, "/var/tmp");
    find_root(view, SHM, LINUX_SANDBOX_TMP, "/dev/shm");
    find_root(view, HOME, LINUX_SANDBOX_HOMES, "/home");
    find_root(view, ROOT, LINUX_SANDBOX_HOMES, "/root");
    find_root(view, RUN_USER, LINUX_SANDBOX_HOMES, "/run/user");
}

CHILD bool linux_child_finds_paths(struct view *view) {
    const struct linux_spawn_request *request = view->start->request;
    find_roots(view);
    if (view->roots[DEV][0]) {
        for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
            (void)hold(view, devices[i], LINUX_SANDBOX_DEVICE);
        if (!view->roots[SHM][0]) (void)hold(view, "/dev/shm", LINUX_SANDBOX_DEVICE);
    }
    const char *next = request->sandbox_paths;
    for (size_t i = 0; i < request->sandbox_path_count; i++, next += length_of(next) + 1) {
        char kind = *next;
        if (hold(view, next + 1, kind) || kind == LINUX_SANDBOX_OWN || kind == LINUX_SANDBOX_DEVICE) continue;
        if (kind == LINUX_SANDBOX_COVER && wants(view, LINUX_SANDBOX_OPTIONAL)) continue;
        int of = view->has_strange_link ? LINUX_SANDBOX_LINK : LINUX_SANDBOX_PATH;
        return linux_child_fails(view->start, LINUX_SPAWN_SANDBOX, of + (int)i);
    }
    return true;
}
