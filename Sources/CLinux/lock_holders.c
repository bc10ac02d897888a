#include "process_walk.h"

#include <dirent.h>
#include <linux/kcmp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/syscall.h>

enum {
    MOST_ORDERS = 64,  // that wait
    MOST_HOLDERS = 64, // that are told of, an order
    MOST_LOCKS = 8192, // logind has no more
    LONGEST = 2,       // seconds: logind may wait for five
    FEW = 4096,        // descriptors of a process that are looked at before those of others
};

struct order {
    uid_t user;
    pid_t pid;
    size_t told;
    pid_t holders[MOST_HOLDERS];
};

// A lock is the open end of a FIFO for writing.
struct lock {
    uint64_t number; // its inode
    size_t order;
};

// What a search has to know of the locks: it may hang with it for longer than its turn is.
struct locks {
    size_t count;
    struct lock *all;
    struct statx place; // of the directory: all FIFOs are on its file system
};

struct turn {
    int socket;
    char *directory;
    size_t order_count;
    struct order *orders;
    time_t end;
};

static void tell(const struct turn *turn, const struct order *order, pid_t holder) {
    struct keeper_word word = {
        .kind = KEEPER_LOCK_HOLDER,
        .pid = holder,
        .id = (int64_t)((uint64_t)order->user << 32 | (uint32_t)order->pid),
    };
    while (linux_packet_send(turn->socket, &word, sizeof word, NULL, 0) != 0) {
        // A loop that is late reads them later, within as much time as the search has; it counts on no word of ours.
        bool waits = errno == EAGAIN && linux_seconds() < turn->end + LONGEST;
        if (errno != EINTR && !waits) return;
        struct pollfd room = {.fd = turn->socket, .events = POLLOUT};
        if (waits) (void)poll(&room, 1, 100);
    }
}

static void tell_once(void *context, size_t number, pid_t holder) {
    const struct turn *turn = context;
    struct order *order = &turn->orders[number];
    for (size_t i = 0; i < order->told; i++)
        if (order->holders[i] == holder) return;
    if (order->told == MOST_HOLDERS) return;
    order->holders[order->told++] = holder;
    tell(turn, order, holder);
}

static bool names_sleep(const char *what) {
    static const char sleep[] = "sleep";
    for (const char *at = what;; at++) {
        size_t length = strcspn(at, ":\n");
        if (length == sizeof sleep - 1 && strncmp(at, sleep, length) == 0) return true;
        at += length;
        if (*at != ':') return false;
    }
}

enum { NO_ORDER = -1 };

// Which order logind's file on a lock is meant by. Logind writes no pid where it knows that the number is another
// process's by now, and says 0 then. WHO and WHY, which may be long, have no line's end in them.
static int order_of(const struct turn *turn, int directory, const char *name) {
    int descriptor = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "r");
    if (!file) {
        if (descriptor >= 0) close(descriptor);
        return NO_ORDER;
    }
    char text[256];
    bool is_of_sleep = false, delays = false, begins = true;
    unsigned long user = UINT32_MAX, pid = 0;
    while (fgets(text, sizeof text, file)) {
        if (begins && strncmp(text, "WHAT=", 5) == 0) is_of_sleep = names_sleep(text + 5);
        if (begins && strcmp(text, "MODE=delay\n") == 0) delays = true;
        if (begins && strncmp(text, "UID=", 4) == 0) user = strtoul(text + 4, NULL, 10);
        if (begins && strncmp(text, "PID=", 4) == 0) pid = strtoul(text + 4, NULL, 10);
        begins = strchr(text, '\n') != NULL;
    }
    fclose(file);
    for (size_t i = 0; is_of_sleep && delays && i < turn->order_count; i++)
        if (turn->orders[i].user == user && (unsigned long)turn->orders[i].pid == pid) return (int)i;
    return NO_ORDER;
}

// Without asking the file system, which may be one that an app serves and answers for never.
static bool look(int directory, const char *path, struct statx *out) {
    return statx(directory, path, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_TYPE | STATX_INO, out) == 0;
}

static const char ending[] = ".ref";

static bool is_reference(const char *path, size_t length) {
    size_t suffix = sizeof ending - 1;
    return length > suffix && memcmp(path + length - suffix, ending, suffix) == 0;
}

static int by_number(const void *left, const void *right) {
    uint64_t a = ((const struct lock *)left)->number, b = ((const struct lock *)right)->number;
    return a < b ? -1 : a > b;
}

// False where that cannot be known.
static bool list_locks(const struct turn *turn, struct locks *out) {
    DIR *all = opendir(turn->directory);
    if (!all) return errno == ENOENT;
    out->all = calloc(MOST_LOCKS, sizeof *out->all);
    bool is_known = out->all && look(dirfd(all), ".", &out->place);
    for (struct dirent *entry; is_known && out->count < MOST_LOCKS && (entry = readdir(all));) {
        char path[sizeof entry->d_name + sizeof ending];
        struct statx fifo;
        if (entry->d_name[0] == '.' || is_reference(entry->d_name, strlen(entry->d_name))) continue;
        int order = order_of(turn, dirfd(all), entry->d_name);
        (void)snprintf(path, sizeof path, "%s%s", entry->d_name, ending);
        if (order == NO_ORDER || !look(dirfd(all), path, &fifo) || !S_ISFIFO(fifo.stx_mode)) continue;
        out->all[out->count++] = (struct lock){fifo.stx_ino, (size_t)order};
    }
    closedir(all);
    if (out->count > 1) qsort(out->all, out->count, sizeof *out->all, by_number);
    return is_known;
}

// The lock that a descriptor is.
static const struct lock *lock_by(const struct locks *locks, int table, const char *name) {
    char link[512];
    struct statx file;
    struct stat own;
    ssize_t length = readlinkat(table, name, link, sizeof link);
    if (length <= 0 || !is_reference(link, (size_t)length) || !look(table, name, &file)) return NULL;
    if (file.stx_dev_major != locks->place.stx_dev_major || file.stx_dev_minor != locks->place.stx_dev_minor)
        return NULL;
    struct lock wanted = {.number = file.stx_ino};
    const struct lock *lock = bsearch(&wanted, locks->all, locks->count, sizeof wanted, by_number);
    // Logind's own end is for reading.
    if (!lock || fstatat(table, name, &own, AT_SYMLINK_NOFOLLOW) != 0 || !(own.st_mode & S_IWUSR)) return NULL;
    return lock;
}

// thread: 0: of the process.
static DIR *open_table(pid_t pid, pid_t thread) {
    char path[64];
    if (thread)
        (void)snprintf(path, sizeof path, "/proc/%d/task/%d/fd", pid, thread);
    else
        (void)snprintf(path, sizeof path, "/proc/%d/fd", pid);
    return linux_open_list(path);
}

// What a process has open, or one of its threads, from a place in it on and up to another.
static void look_through(
    struct walker *walker, const struct locks *locks, pid_t pid, pid_t thread, size_t begin, size_t end) {
    DIR *table = open_table(pid, thread);
    size_t place = 0;
    if (!table) return;
    for (struct dirent *entry; place < end && (entry = readdir(table)) && linux_goes_on(walker); place++) {
        if (place < begin || entry->d_name[0] == '.') continue;
        const struct lock *lock = lock_by(locks, dirfd(table), entry->d_name);
        if (lock) linux_found(walker, lock->order, pid);
    }
    closedir(table);
}

// Of a process whose first thread has ended, the others have what is open; a thread may have a table of its own, too:
// one that shares its first thread's has nothing new.
static void look_through_threads(struct walker *walker, const struct locks *locks, pid_t pid) {
    DIR *threads = linux_open_threads(pid);
    if (!threads) return;
    for (struct dirent *entry; (entry = readdir(threads)) && linux_goes_on(walker);) {
        pid_t thread = atoi(entry->d_name);
        if (thread > 0 && thread != pid && syscall(SYS_kcmp, pid, thread, KCMP_FILES, 0, 0) != 0)
            look_through(walker, locks, pid, thread, 0, SIZE_MAX);
    }
    closedir(threads);
}

enum part { FIRST, REST, THREADS, PARTS };

// First the first of what each process has open, then the rest of what is much, then threads, which seldom have what
// theirs has not: none is to hide behind another.
static void look_at(struct walker *walker, const void *context, pid_t pid, int part) {
    if (part == FIRST) look_through(walker, context, pid, 0, 0, FEW);
    if (part == REST) look_through(walker, context, pid, 0, FEW, SIZE_MAX);
    if (part == THREADS) look_through_threads(walker, context, pid);
}

static void free_locks(void *context) {
    struct locks *locks = context;
    free(locks->all);
    free(locks);
}

// False: not all was looked at.
static bool look_for(struct turn *turn) {
    struct locks *locks = calloc(1, sizeof *locks);
    if (!locks) return false;
    bool is_known = list_locks(turn, locks);
    if (locks->count == 0) {
        free_locks(locks);
        return is_known;
    }
    struct walk_plan plan = {
        .look = look_at, .parts = PARTS, .context = locks, .release = free_locks,
        .tell = tell_once, .teller = turn, .end = turn->end};
    return linux_walk_processes(&plan) && is_known;
}

static void find_all_of(struct turn *turn) {
    turn->end = linux_seconds() + LONGEST;
    pid_t last = look_for(turn) && linux_seconds() < turn->end ? 0 : -1;
    for (size_t i = 0; i < turn->order_count; i++) tell(turn, &turn->orders[i], last);
}

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static struct turn next;
static bool is_at_work;

static void forget(struct turn *turn) {
    if (turn->directory) close(turn->socket);
    free(turn->directory);
    free(turn->orders);
    *turn = (struct turn){0};
}

// Whose turn it is is taken out: more may come meanwhile.
static void *work(void *context) {
    (void)context;
    while (true) {
        pthread_mutex_lock(&guard);
        struct turn turn = next;
        next = (struct turn){0};
        is_at_work = turn.order_count > 0;
        pthread_mutex_unlock(&guard);
        if (turn.order_count == 0) return NULL;
        find_all_of(&turn);
        forget(&turn);
    }
}

// With the guard held. The socket is kept for as long as the thread has it: the loop's may be closed, and its number
// be another's.
static bool take(int socket, const char *directory) {
    if (next.directory) return true;
    next.socket = fcntl(socket, F_DUPFD_CLOEXEC, 0);
    if (next.socket < 0) return false;
    next.directory = strdup(directory);
    next.orders = calloc(MOST_ORDERS, sizeof *next.orders);
    if (next.directory && next.orders) return true;
    close(next.socket);
    free(next.directory);
    free(next.orders);
    next = (struct turn){0};
    return false;
}

void linux_forget_lock_holders(void) {
    pthread_mutex_lock(&guard);
    forget(&next);
    pthread_mutex_unlock(&guard);
}

void linux_find_lock_holders(int socket, uid_t user, pid_t pid, const char *directory) {
    struct order order = {.user = user, .pid = pid};
    bool is_taken = false;
    pthread_mutex_lock(&guard);
    if (take(socket, directory) && next.order_count < MOST_ORDERS) {
        next.orders[next.order_count++] = order;
        if (!is_at_work) is_at_work = linux_start_thread("curfewd-locks", work, NULL) == 0;
        is_taken = is_at_work;
        if (!is_at_work) forget(&next);
    }
    pthread_mutex_unlock(&guard);
    // Without waiting: it is the keeper who says it.
    if (!is_taken) tell(&(struct turn){.socket = socket, .end = linux_seconds() - LONGEST}, &order, -1);
}
