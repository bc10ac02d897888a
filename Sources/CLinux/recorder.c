#include "CLinux.h"

#include <limits.h>
#include <stdatomic.h>

// So much of it is kept free on the disk from its beginning on: what fills a disk is often what the recording is about.
static const off_t reserved = 4 << 20;

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

static int renew(const char *path) {
    char former[PATH_MAX + 2];
    snprintf(former, sizeof former, "%s.1", path);
    return rename(path, former) < 0 && errno != ENOENT ? errno : 0;
}

static int record_to(struct linux_recording *recording, int file) {
    struct linux_recorder_head head;
    struct stat status;
    if (pread(recording->memory, &head, sizeof head, 0) != sizeof head) return EIO;
    if (fstat(file, &status) < 0) return errno;
    if (!S_ISREG(status.st_mode)) return EEXIST;
    if (head.length >= 0 && head.length < status.st_size) {
        if (ftruncate(file, head.length) < 0) return errno;
        status.st_size = head.length;
    }
    if (status.st_size == 0) (void)fallocate(file, FALLOC_FL_KEEP_SIZE, 0, reserved);
    head.length = status.st_size;
    if (write_head(recording->memory, head) < 0) return errno;
    int error = append(recording->memory, head.begin, recording->end, file);
    // A part of it would be taken for a damaged whole.
    if (error != 0 && ftruncate(file, head.length) < 0) return errno;
    recording->size = error != 0 ? head.length : head.length + recording->end - head.begin;
    head = (struct linux_recorder_head){.begin = recording->end, .length = -1};
    if (write_head(recording->memory, head) < 0) return errno;
    if (error == 0 && recording->hurries) linux_start_writeback(file);
    return error;
}

static void *record(void *context) {
    struct linux_recording *recording = context;
    int error = recording->renews ? renew(recording->path) : 0;
    if (error == 0) {
        // What is there may be no file: a FIFO's other end is not waited for.
        int file = open(
            recording->path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, (mode_t)0640);
        error = file < 0 ? errno : record_to(recording, file);
        if (file >= 0) close(file);
    }
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
