// Threads: a library's own, and of the daemon for what may wait.
#pragma once
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

// Starts a detached thread that leaves all signals to the threads of the program, but for those that mean a crash.
// name: up to 15 bytes. 0, or an errno.
int linux_start_thread(const char *name, void *(*run)(void *), void *context);
// Does what may never come back, in a thread of its own, on a copy of the context (size: at most 4096 bytes), and
// waits for it no longer than that. True: it is done, and the context is what it has made of the copy. False: it was
// left to itself, or could not be begun: many are on their way already.
bool linux_do_in_time(void (*run)(void *), void *context, size_t size, int milliseconds);
