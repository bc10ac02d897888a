#include "CLinux.h"

#include <limits.h>
#include <stdatomic.h>

// So much of the disk is kept for a file from its beginning on, which is as long as the daemon lets one become: what
// fills a disk is often what the recording is about.
static const off_t reserved = LINUX_RECORDING_LIMIT;

struct linux_recording {
    int memory;
    int bell;
    int64_t end;
    int64_t size;
    bool renews;
    bool hurries;
    // An errno; -1 until it is over.
    atomic_int outcome;
    char path[PATH_MAX];
};

static int64_t write_head(int memory, struct linux_recorder_head head) {
    return pwrite(memory, &head, sizeof head, 0);
}

// 0 or an errno.
static int append(int memory, int64_t begin, int64_t end, int file) {
    char bytes[16 << 10];
    while (begin < end) {
        size_t count = (size_t)(end - begin) < sizeof bytes ? (size_t)(end - begin) : sizeof bytes;
        ssize_t got = pread(memory, bytes, count, begin);
        if (got < 0) return errno;
        if (got == 0) return EIO;
        begin += got;
        for (ssize_t done = 0; done < got;) {
            ssize_t put = write(file, bytes + done, (size_t)(got - done));
            if (put < 0 && errno == EINTR) continue;
            if (put < 0) return errno;
            done += put;
        }
    }
    return 0;
}

static void reserve(int file) { (void)fallocate(file, FALLOC_FL_KEEP_SIZE, 0, reserved); }

// What is there may be no file: a FIFO's other end is not waited for.
static int open_file(const char *path, int flags, int *file) {
    struct stat status;
    *file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags, (mode_t)0640);
    if (*file < 0) return errno;
    if (fstat(*file, &status) == 0 && S_ISREG(status.st_mode)) return 0;
    close(*file);
    return ENOTSUP;
}

// To the file that there is.
static int record_to(struct linux_recording *recording, int file) {
    struct linux_recorder_head head;
    struct stat status;
    if (pread(recording->memory, &head, sizeof head, 0) != sizeof head) return EIO;
    if (fstat(file, &status) < 0) return errno;
    if (head.length >= 0 && head.length < status.st_size) {
        if (ftruncate(file, head.length) < 0) return errno;
        status.st_size = head.length;
        // With what it took back, this has given back what was kept free.
        reserve(file);
    }
    if (status.st_size == 0) reserve(file);
    head.length = status.st_size;
    if (write_head(recording->memory, head) < 0) return errno;
    int error = append(recording->memory, head.begin, recording->end, file);
    recording->size = head.length;
    if (error != 0) {
        // A part of it would be taken for a damaged whole.
        if (ftruncate(file, head.length) < 0) return errno;
        reserve(file);
        head.length = -1;
        return write_head(recording->memory, head) < 0 ? errno : error;
    }
    recording->size += recording->end - head.begin;
    head = (struct linux_recorder_head){.begin = recording->end, .length = -1};
    if (write_head(recording->memory, head) < 0) return errno;
    if (recording->hurries) linux_start_writeback(file);
    return 0;
}

static int record_on(struct linux_recording *recording) {
    int file, error = open_file(recording->path, 0, &file);
    if (error != 0) return error;
    error = record_to(recording, file);
    close(file);
    return error;
}

// Another file, whole before it takes the place of the one there: until then nothing is lost of that, or of the one
// before it.
static int write_next(struct linux_recording *recording, const char *path) {
    struct linux_recorder_head head;
    if (pread(recording->memory, &head, sizeof head, 0) != sizeof head) return EIO;
    int file, error = open_file(path, O_TRUNC, &file);
    if (error != 0) return error;
    reserve(file);
    error = append(recording->memory, head.begin, recording->end, file);
    if (error == 0 && recording->hurries) linux_start_writeback(file);
    close(file);
    if (error != 0) (void)unlink(path);
    recording->size = recording->end - head.begin;
    return error;
}

static int renew(struct linux_recording *recording, const char *former) {
    char next[PATH_MAX + 8];
    (void)snprintf(next, sizeof next, "%s.next", recording->path);
    int error = write_next(recording, next);
    if (error != 0) return error;
    if (rename(recording->path, former) < 0 && errno != ENOENT) return errno;
    struct linux_recorder_head head;
    if (pread(recording->memory, &head, sizeof head, 0) != sizeof head) return EIO;
    // Who dies from here on has written nothing of it; before this, there is no file that could be cut.
    head.length = 0;
    if (write_head(recording->memory, head) < 0 || rename(next, recording->path) < 0) return errno;
    head = (struct linux_recorder_head){.begin = recording->end, .length = -1};
    return write_head(recording->memory, head) < 0 ? errno : 0;
}

static void *record(void *context) {
    struct linux_recording *recording = context;
    char former[PATH_MAX + 8];
    (void)snprintf(former, sizeof former, "%s.1", recording->path);
    int error = recording->renews ? renew(recording, former) : record_on(recording);
    // What happens now is worth more than what was long ago.
    if ((error == ENOSPC || error == EDQUOT) && unlink(former) == 0)
        error = recording->renews ? renew(recording, former) : record_on(recording);
    int bell = recording->bell;
    // It may be freed from here on.
    atomic_store(&recording->outcome, error);
    uint64_t one = 1;
    (void)!write(bell, &one, sizeof one);
    return NULL;
}

struct linux_recording *linux_record(
    int memory, int64_t end, const char *path, bool renews, bool hurries, int bell) {
    struct linux_recording *recording = calloc(1, sizeof *recording);
    if (recording == NULL) return NULL;
    recording->memory = memory;
    recording->bell = bell;
    recording->end = end;
    recording->renews = renews;
    recording->hurries = hurries;
    atomic_init(&recording->outcome, -1);
    int length = snprintf(recording->path, sizeof recording->path, "%s", path);
    if (length >= PATH_MAX || linux_start_thread("curfewd-record", record, recording) != 0) {
        free(recording);
        return NULL;
    }
    return recording;
}

int linux_recorded(const struct linux_recording *recording, int64_t *size) {
    int outcome = atomic_load(&recording->outcome);
    if (outcome >= 0) *size = recording->size;
    return outcome;
}

void linux_finish_recording(struct linux_recording *recording) { free(recording); }

void linux_forget_recorded(int memory, int64_t begin, int64_t end) {
    (void)fallocate(memory, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, begin, end - begin);
}
