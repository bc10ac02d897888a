#include "CLinux.h"

#include <dirent.h>
#include <pthread.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>

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

// Those of a directory's connections that some users made.
static void list_connections(DIR *all, bool (*is_meant)(const void *, uid_t), const void *users, struct numbers *out) {
    for (struct dirent *entry; (entry = readdir(all));) {
        struct stat status;
        char *end;
        unsigned long number = strtoul(entry->d_name, &end, 10);
        if (end == entry->d_name || *end || fstatat(dirfd(all), entry->d_name, &status, 0) != 0) continue;
        if (is_meant(users, status.st_uid)) (void)add(out, number);
    }
}

// All but what is mounted where we see it.
static void abort_hidden(DIR *all, const struct numbers *found) {
    struct numbers mounted = {0};
    bool is_known = found->count > 0 && list_mounted(&mounted);
    for (size_t i = 0; is_known && i < found->count; i++)
        if (!has(&mounted, found->numbers[i])) abort_connection(dirfd(all), found->numbers[i]);
    free(mounted.numbers);
}

static bool is_one_of(const void *users, uid_t user) { return has(users, user); }

static void abort_all_of(const struct numbers *users) {
    DIR *all = open_connections();
    struct numbers found = {0};
    if (!all) return;
    list_connections(all, is_one_of, users, &found);
    abort_hidden(all, &found);
    free(found.numbers);
    closedir(all);
}

struct range {
    uid_t first, end;
};

static bool is_in_range(const void *users, uid_t user) {
    const struct range *range = users;
    return user >= range->first && user < range->end;
}

// What is only slow or busy has moments at which no answer of it is awaited.
static void keep_awaited(int root, struct numbers *found) {
    size_t kept = 0;
    for (size_t i = 0; i < found->count; i++)
        if (is_awaited(root, found->numbers[i])) found->numbers[kept++] = found->numbers[i];
    found->count = kept;
}

enum { LOOKS = 100, LOOKS_AFTER_ABORT = 10 };
static const struct timespec between_looks = {.tv_nsec = 50000000};

static bool is_not_root(const void *users, uid_t user) {
    (void)users;
    return user != 0;
}

struct stacks {
    pid_t pid;
    bool is_told, names_fuse;
};

static void read_stacks(void *context) {
    struct stacks *stacks = context;
    DIR *tasks = linux_open_threads(stacks->pid);
    if (!tasks) return;
    for (struct dirent *entry; !stacks->names_fuse && (entry = readdir(tasks));) {
        char path[64], text[4096];
        if (entry->d_name[0] == '.') continue;
        (void)snprintf(path, sizeof path, "/proc/%d/task/%.20s/stack", stacks->pid, entry->d_name);
        int file = linux_open_file(path, O_RDONLY, 0);
        ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);
        if (file >= 0) close(file);
        if (length <= 0) continue;
        text[length] = 0;
        stacks->is_told = true;
        stacks->names_fuse = strstr(text, "fuse") != NULL;
    }
    closedir(tasks);
}

// Whether some thread of it stands in a FUSE file system, by the kernel's stacks; where those are not told, or not
// soon, as of one that hangs in its exec: true.
static bool waits_for_fuse(pid_t pid) {
    struct stacks stacks = {.pid = pid};
    struct linux_errand errand = {.run = read_stacks, .subject = (uint64_t)pid};
    if (!linux_do_in_time(errand, &stacks, sizeof stacks, 500)) return true;
    return stacks.names_fuse || !stacks.is_told;
}

// One after the other, until that process is gone: which of them it waits for the kernel does not tell.
static void abort_until_gone(DIR *all, const struct numbers *found, pid_t pid) {
    struct numbers mounted = {0};
    bool is_known = found->count > 0 && list_mounted(&mounted);
    for (size_t i = 0; is_known && i < found->count; i++) {
        if (has(&mounted, found->numbers[i])) continue;
        if (linux_has_ended(pid)) break;
        abort_connection(dirfd(all), found->numbers[i]);
        for (int look = 0; look < LOOKS_AFTER_ABORT && !linux_has_ended(pid); look++)
            (void)nanosleep(&between_looks, NULL);
    }
    free(mounted.numbers);
}

struct awaited {
    pid_t pid;
    int pidfd; // it may wait here for longer than its pid is its own
    struct range apps;
};

// First those of users that are no apps, to whom less is promised.
static void abort_awaited(const struct awaited *awaited) {
    struct numbers every = {0}, apps = {0}, ordered = {0};
    if (linux_pidfd_send_signal(awaited->pidfd, 0) != 0 || !waits_for_fuse(awaited->pid)) return;
    DIR *all = open_connections();
    if (!all) return;
    list_connections(all, is_not_root, NULL, &every);
    rewinddir(all);
    list_connections(all, is_in_range, &awaited->apps, &apps);
    for (size_t i = 0; i < every.count; i++)
        if (!has(&apps, every.numbers[i])) (void)add(&ordered, every.numbers[i]);
    for (size_t i = 0; i < apps.count; i++) (void)add(&ordered, apps.numbers[i]);
    for (int i = 0; i < LOOKS && ordered.count > 0 && !linux_has_ended(awaited->pid); i++) {
        keep_awaited(dirfd(all), &ordered);
        if (ordered.count > 0) (void)nanosleep(&between_looks, NULL);
    }
    abort_until_gone(all, &ordered, awaited->pid);
    free(every.numbers);
    free(apps.numbers);
    free(ordered.numbers);
    closedir(all);
}

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static struct numbers waiting;
static bool is_at_work;

// Whose turn it is is taken out: more may come meanwhile.
static void *work(void *context) {
    (void)context;
    while (true) {
        pthread_mutex_lock(&guard);
        struct numbers users = waiting;
        waiting = (struct numbers){0};
        is_at_work = users.count > 0;
        pthread_mutex_unlock(&guard);
        if (users.count == 0) return NULL;
        abort_all_of(&users);
        free(users.numbers);
    }
}

void linux_abort_fuse(uid_t user) {
    if (access(connections, F_OK) != 0) return;
    pthread_mutex_lock(&guard);
    bool starts = (has(&waiting, user) || add(&waiting, user)) && !is_at_work;
    if (starts) is_at_work = linux_start_thread("curfewd-fuse", work, NULL) == 0;
    pthread_mutex_unlock(&guard);
}

// A thread of its own: it looks for seconds. One process may be held where another is not.
enum { MOST_AWAITED = 16 };
static struct awaited to_look_for[MOST_AWAITED];
static size_t to_look_for_count;
static bool is_looking;

static void *look(void *context) {
    (void)context;
    pthread_mutex_lock(&guard);
    while (to_look_for_count > 0) {
        struct awaited awaited = to_look_for[0];
        pthread_mutex_unlock(&guard);
        abort_awaited(&awaited);
        close(awaited.pidfd);
        pthread_mutex_lock(&guard);
        // Only here: what is looked for is not asked for once more.
        memmove(to_look_for, to_look_for + 1, --to_look_for_count * sizeof *to_look_for);
    }
    is_looking = false;
    pthread_mutex_unlock(&guard);
    return NULL;
}

void linux_abort_awaited_fuse(pid_t pid, uid_t first, uint32_t count) {
    if (access(connections, F_OK) != 0) return;
    pthread_mutex_lock(&guard);
    bool is_known = false;
    for (size_t i = 0; i < to_look_for_count; i++) is_known = is_known || to_look_for[i].pid == pid;
    int pidfd = is_known || to_look_for_count == MOST_AWAITED ? -1 : linux_pidfd_open(pid);
    if (pidfd >= 0) to_look_for[to_look_for_count++] = (struct awaited){pid, pidfd, {first, first + count}};
    if (!is_looking && to_look_for_count > 0) is_looking = linux_start_thread("curfewd-waits", look, NULL) == 0;
    pthread_mutex_unlock(&guard);
}
