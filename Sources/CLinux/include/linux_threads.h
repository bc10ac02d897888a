// Threads: a library's own, and of the daemon for what may wait.
#pragma once
#include <pthread.h>

// Starts a detached thread that leaves all signals to the threads of the program, but for those that mean a crash.
// name: up to 15 bytes. 0, or an errno.
int linux_start_thread(const char *name, void *(*run)(void *), void *context);
