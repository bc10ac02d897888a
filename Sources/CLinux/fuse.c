#include "CLinux.h"

#include <dirent.h>
#include <pthread.h>
#include <sys/mount.h>
#include <sys/stat.h>

struct numbers {
    size_t count, room;
    unsigned long *numbers;
};

static bool add(struct numbers *to, unsigned long number) {
    if (to->count == to->room) {
        size_t room = to->room ? 2 * to->room : 16;
        unsigned long *numbers = realloc(to->numbers, room * sizeof *numbers);
        if (!numbers) return false;
        to->numbers = numbers;
        to->room = room;
    }
    to->numbers[to->count++] = number;
    return true;
}

static bool has(const struct numbers *numbers, unsigned long number) {
    for (size_t i = 0; i < numbers->count; i++)
        if (numbers->numbers[i] == number) return true;
    return false;
}

static const char connections[] = "/sys/fs/fuse/connections";

// fusectl, mounted for as long as it is open: /sys/fs/fuse/connections, whether the system mounts it there or not.
static DIR *open_connections(void) {
    // There from the moment on that the kernel has FUSE: no module is loaded for this.
    if (access(connections, F_OK) != 0) return NULL;
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

// Devices of the file systems that are mounted where we see them, as the kernel has them inside. False where that
// cannot be known.
static bool list_mounted(struct numbers *out) {
    FILE *mounts = fopen("/proc/self/mountinfo", "re");
    if (!mounts) return false;
    char *line = NULL;
    size_t room = 0;
    bool is_known = true;
    while (is_known && getline(&line, &room, mounts) > 0) {
        unsigned major, minor;
        if (sscanf(line, "%*d %*d %u:%u", &major, &minor) == 2)
            is_known = add(out, (unsigned long)major << 20 | minor);
    }
    free(line);
    fclose(mounts);
    return is_known;
}

static void abort_connection(int root, unsigned long number) {
    char path[64];
    (void)snprintf(path, sizeof path, "%lu/abort", number);
    int file = openat(root, path, O_WRONLY | O_CLOEXEC);
    if (file < 0) return;
    (void)!write(file, "1", 1);
    close(file);
}

static bool is_awaited(int root, unsigned long number) {
    char text[64];
    (void)snprintf(text, sizeof text, "%lu/waiting", number);
    int file = openat(root, text, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    if (length <= 0) return false;
    text[length] = 0;
    return strtoul(text, NULL, 10) > 0;
}

struct turn {
    struct numbers users;  // all that is theirs
    uid_t first, end;      // of these what is waited for
};

static void abort_all_of(const struct turn *turn) {
    DIR *all = open_connections();
    if (!all) return;
    struct numbers found = {0}, mounted = {0};
    for (struct dirent *entry; (entry = readdir(all));) {
        struct stat status;
        char *end;
        unsigned long number = strtoul(entry->d_name, &end, 10);
        if (end == entry->d_name || *end || fstatat(dirfd(all), entry->d_name, &status, 0) != 0) continue;
        bool is_meant = has(&turn->users, status.st_uid);
        if (!is_meant && status.st_uid >= turn->first && status.st_uid < turn->end)
            is_meant = is_awaited(dirfd(all), number);
        if (is_meant) (void)add(&found, number);
    }
    bool is_known = found.count > 0 && list_mounted(&mounted);
    for (size_t i = 0; is_known && i < found.count; i++)
        if (!has(&mounted, found.numbers[i])) abort_connection(dirfd(all), found.numbers[i]);
    free(found.numbers);
    free(mounted.numbers);
    closedir(all);
}

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static struct turn next;
static bool is_at_work;

// Whose turn it is is taken out: more may come meanwhile.
static void *work(void *context) {
    (void)context;
    while (true) {
        pthread_mutex_lock(&guard);
        struct turn turn = next;
        next = (struct turn){0};
        is_at_work = turn.users.count > 0 || turn.end > 0;
        pthread_mutex_unlock(&guard);
        if (turn.users.count == 0 && turn.end == 0) return NULL;
        abort_all_of(&turn);
        free(turn.users.numbers);
    }
}

// With the guard held.
static void see_to_it(void) {
    if (!is_at_work) is_at_work = linux_start_thread("curfewd-fuse", work, NULL) == 0;
}

void linux_abort_fuse(uid_t user) {
    if (access(connections, F_OK) != 0) return;
    pthread_mutex_lock(&guard);
    if (has(&next.users, user) || add(&next.users, user)) see_to_it();
    pthread_mutex_unlock(&guard);
}

void linux_abort_awaited_fuse(uid_t first, uint32_t count) {
    if (access(connections, F_OK) != 0) return;
    pthread_mutex_lock(&guard);
    next.first = first;
    next.end = first + count;
    see_to_it();
    pthread_mutex_unlock(&guard);
}
