// Threads: a library's own, and of the daemon for what may wait.
#pragma once
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Starts a detached thread that leaves all signals to the threads of the program, but for those that mean a crash.
// name: up to 15 bytes. 0, or an errno.
int linux_start_thread(const char *name, void *(*run)(void *), void *context);
struct linux_errand {
    // On a copy of the context.
    void (*run)(void *context);
    // Frees what was made for one who waits no more, or of what could not be begun; may be NULL.
    void (*discard)(void *context);
    // What it may hang at: while one does, no other is sent there.
    uint64_t subject;
};
// Directories that all users share have one each; a process's is its pid.
static const uint64_t linux_at_queues = 1ull << 40, linux_at_records = 2ull << 40, linux_at_swift = 3ull << 40,
                      linux_at_path = 1ull << 63;
static inline uint64_t linux_at_text(const char *path, size_t length) {
    uint64_t mark = 0xcbf29ce484222325;
    for (size_t i = 0; i < length; i++) mark = (mark ^ (unsigned char)path[i]) * 0x100000001b3;
    return mark | linux_at_path;
}

// Does what may never come back, in a thread of its own (context: at most 4096 bytes), and waits for it no longer than
// that. True: it is done, and the context is what it has made of the copy. False: it was left to itself, or could not
// be begun: one hangs there, or many are on their way already.
bool linux_do_in_time(struct linux_errand plan, void *context, size_t size, int milliseconds);
// For a fork: it has none of those threads.
void linux_forget_errands(void);
