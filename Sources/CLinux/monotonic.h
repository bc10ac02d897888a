// Waiting for a condition by CLOCK_MONOTONIC, which no one can set.
#pragma once
#include "CLinux.h"

#include <pthread.h>
#include <time.h>

static inline void linux_make_condition(pthread_cond_t *condition) {
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

// For pthread_cond_timedwait(3).
static inline struct timespec linux_after(int milliseconds) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    int64_t nanoseconds = time.tv_nsec + (int64_t)milliseconds * 1000000;
    return (struct timespec){time.tv_sec + nanoseconds / 1000000000, nanoseconds % 1000000000};
}
