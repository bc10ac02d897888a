#include "CLinux.h"

#include <stdatomic.h>

// What is waited for beyond a little of each counts: so much in a span of time.
struct patience {
    int64_t little, span, most;
    _Atomic int64_t span_began, waited;
};

// Of files that are read: a second in ten. After that none is, until those are over.
static struct patience with_files = {.little = 20000000, .span = 10000000000, .most = 1000000000};
// Of control groups: a tenth of a second. After that nothing is waited for, and done all the same.
static struct patience with_groups = {.little = 1000000, .span = 1000000000, .most = 100000000};

// Of groups that a start needs: a second in ten, what a slow board takes for one aside.
static struct patience with_starts = {.little = 100000000, .span = 10000000000, .most = 800000000};

static bool is_over(struct patience *patience, int64_t now) {
    if (now - patience->span_began >= patience->span) {
        patience->span_began = now;
        patience->waited = 0;
    }
    return patience->waited >= patience->most;
}

static void count(struct patience *patience, int64_t since) {
    int64_t took = linux_monotonic_ns() - since;
    if (took > patience->little) patience->waited += took - patience->little;
}

struct shared_file {
    int file, error;
    bool writes;
    size_t size, length;
    char bytes[2048];
    char path[1536];
};

static void use(void *context) {
    struct shared_file *shared = context;
    int file = shared->file;
    if (file < 0)
        file = linux_open_file(shared->path, (shared->writes ? O_WRONLY : O_RDONLY) | O_NONBLOCK | O_NOCTTY, 0);
    struct stat status;
    ssize_t length = -1;
    if (file >= 0 && fstat(file, &status) == 0) {
        if (!S_ISREG(status.st_mode))
            errno = EINVAL;
        else if (shared->writes)
            length = write(file, shared->bytes, shared->size);
        else
            length = pread(file, shared->bytes, shared->size, 0);
    }
    shared->error = length < 0 ? errno : 0;
    shared->length = length < 0 ? 0 : (size_t)length;
    if (file >= 0) close(file);
    shared->file = -1;
}

static void close_copy(void *context) {
    struct shared_file *shared = context;
    if (shared->file >= 0) close(shared->file);
}

static int wait_for(struct shared_file *shared, uint64_t subject, int milliseconds) {
    int64_t now = linux_monotonic_ns();
    if (is_over(&with_files, now)) {
        close_copy(shared);
        return ETIMEDOUT;
    }
    struct linux_errand errand = {.run = use, .discard = close_copy, .subject = subject};
    bool is_done = linux_do_in_time(errand, shared, sizeof *shared, milliseconds);
    count(&with_files, now);
    return is_done ? shared->error : ETIMEDOUT;
}

// Of what lies in one directory, one at a time: who holds up one may hold up all.
static uint64_t directory_of(const char *path) {
    const char *end = strrchr(path, '/');
    return linux_at_text(path, end ? (size_t)(end - path) : 0);
}

static int prepare(struct shared_file *shared, const char *path) {
    size_t size = strlen(path) + 1;
    if (size > sizeof shared->path) return ENAMETOOLONG;
    memcpy(shared->path, path, size);
    return 0;
}

int linux_read_in_time(const char *path, int milliseconds, void *buffer, size_t size, size_t *length) {
    struct shared_file shared = {.file = -1, .size = size < sizeof shared.bytes ? size : sizeof shared.bytes};
    int error = prepare(&shared, path);
    if (error == 0) error = wait_for(&shared, directory_of(path), milliseconds);
    if (error != 0) return error;
    memcpy(buffer, shared.bytes, shared.length);
    *length = shared.length;
    return 0;
}

int linux_write_in_time(const char *path, int milliseconds, const void *bytes, size_t size) {
    struct shared_file shared = {.file = -1, .writes = true, .size = size};
    if (size > sizeof shared.bytes) return EMSGSIZE;
    memcpy(shared.bytes, bytes, size);
    int error = prepare(&shared, path);
    return error != 0 ? error : wait_for(&shared, directory_of(path), milliseconds);
}

int linux_read_open_in_time(int file, int milliseconds, void *buffer, size_t size, size_t *length) {
    struct shared_file shared = {.file = linux_dup_cloexec(file), .size = size};
    if (shared.file < 0) return errno;
    if (size > sizeof shared.bytes) shared.size = sizeof shared.bytes;
    struct stat status;
    // Whatever its path is.
    uint64_t subject = fstat(file, &status) == 0 ? (uint64_t)status.st_ino | linux_at_path : linux_at_path;
    int error = wait_for(&shared, subject, milliseconds);
    if (error != 0) return error;
    memcpy(buffer, shared.bytes, shared.length);
    *length = shared.length;
    return 0;
}

enum deed { WRITE, MAKE, REMOVE };

struct group_word {
    enum deed deed;
    int error;
    bool is_dropped, is_done;
    size_t size;
    char bytes[32];
    char path[1536];
};

static void say(void *context) {
    struct group_word *word = context;
    switch (word->deed) {
    case MAKE: word->is_done = mkdir(word->path, 0711) == 0; break;
    case REMOVE: word->is_done = rmdir(word->path) == 0; break;
    case WRITE: {
        int file = linux_open_file(word->path, O_WRONLY, 0);
        word->is_done = file >= 0 && write(file, word->bytes, word->size) >= 0;
        int error = errno;
        if (file >= 0) close(file);
        errno = error;
        break;
    }
    }
    word->error = word->is_done ? 0 : errno;
}

// Too late, or not begun. A group that none waits for any more is taken away.
static void drop(void *context) {
    struct group_word *word = context;
    word->is_dropped = true;
    if (word->deed == MAKE && word->is_done) (void)rmdir(word->path);
}

static int tell(struct group_word *word, const char *path, uint64_t subject, bool is_for_start) {
    size_t size = strlen(path) + 1;
    if (size > sizeof word->path) return ENAMETOOLONG;
    memcpy(word->path, path, size);
    struct linux_errand errand = {.run = say, .discard = drop, .subject = subject};
    struct patience *patience = is_for_start ? &with_starts : &with_groups;
    int64_t now = linux_monotonic_ns();
    int milliseconds = is_over(patience, now) ? (is_for_start ? 20 : 0) : (is_for_start ? 1000 : 20);
    bool is_done = linux_do_in_time(errand, word, sizeof *word, milliseconds);
    count(patience, now);
    return is_done ? word->error : word->is_dropped ? EAGAIN : EINPROGRESS;
}

int linux_tell_group(const char *path, const char *text, bool is_for_start) {
    struct group_word word = {.deed = WRITE, .size = strlen(text)};
    if (word.size > sizeof word.bytes) return EMSGSIZE;
    memcpy(word.bytes, text, word.size);
    return tell(&word, path, directory_of(path), is_for_start);
}

int linux_make_group(const char *path) {
    struct group_word word = {.deed = MAKE};
    return tell(&word, path, linux_at_text(path, strlen(path)), true);
}

int linux_remove_group(const char *path) {
    struct group_word word = {.deed = REMOVE};
    // Not with the words to it: what is killed may be gone before the word is.
    return tell(&word, path, linux_at_text(path, strlen(path)) ^ 1, false);
}
