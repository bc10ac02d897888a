// An app that holds background tasks, through Curfew's C library.
//
//     cc -O2 -static -I Sources/Clients/c -o task_load task_load.c Sources/Clients/c/curfew.c
//     task_load FIFO time N      at each SIGUSR1: N begins, each ended; says how long each begin took
//     task_load FIFO load N      the same, and says when it began and when it was done
//     task_load FIFO hold N      begins N tasks when it enters background, and keeps them
//     task_load FIFO expire      begins one then, never ends it, and hangs in its expiration handler
//
// Writes into the FIFO, times in nanoseconds of CLOCK_MONOTONIC:
//     start PID NOW CHILD        CHILD: of `expire`, one that has left its session; else 0
//     took DURATION              of `time`, N of them
//     done PID BEGUN ENDED       of `load`
//     holds PID N                of `hold`
//     expire PID REPLIED NOW LEFT
//                                BackgroundTaskWillExpire came; REPLIED: when it began to answer DidEnterBackground;
//                                LEFT: of the budget, as told
#define _GNU_SOURCE
#include "curfew.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int fifo, count;
static long long replied;

static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (long long)t.tv_sec * 1000000000LL + t.tv_nsec;
}

// A line in one piece, whatever else is written there.
__attribute__((format(printf, 1, 2))) static void say(const char *format, ...) {
    char line[160];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (write(fifo, line, (size_t)length) != length) exit(1);
}

static int64_t begin(struct curfew *app, const char *name) {
    int64_t task;
    int result = curfew_begin_background_task(app, name, NULL, &task);
    if (result == 0) return task;
    char reason[200];
    fprintf(stderr, "task_load: begin %s: %s\n", name, curfew_last_reason(app, reason, sizeof reason));
    exit(1);
}

static void end(struct curfew *app, int64_t task) {
    int result = curfew_end_background_task(app, task);
    if (result == 0) return;
    fprintf(stderr, "task_load: end: %s\n", curfew_strerror(result));
    exit(1);
}

// At each SIGUSR1, which is blocked.
static void rounds(struct curfew *app, bool is_timed) {
    sigset_t starting;
    int signal;
    long long *took = calloc((size_t)count, sizeof *took);
    sigemptyset(&starting);
    sigaddset(&starting, SIGUSR1);
    while (took && sigwait(&starting, &signal) == 0) {
        long long begun = now();
        for (int i = 0; i < count; i++) {
            long long before = now();
            int64_t task = begin(app, "upload of the day");
            took[i] = now() - before;
            end(app, task);
        }
        long long ended = now();
        for (int i = 0; is_timed && i < count; i++) say("took %lld\n", took[i]);
        if (!is_timed) say("done %d %lld %lld\n", (int)getpid(), begun, ended);
    }
}

static enum curfew_answer hold(struct curfew *app, double deadline, void *context) {
    (void)deadline, (void)context;
    char name[40];
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "upload of picture %d", i);
        begin(app, name);
    }
    say("holds %d %d\n", (int)getpid(), count);
    return CURFEW_HANDLED;
}

static enum curfew_answer hold_one(struct curfew *app, double deadline, void *context) {
    (void)deadline, (void)context;
    begin(app, "upload of the day");
    replied = now();
    return CURFEW_HANDLED;
}

static enum curfew_answer hang(struct curfew *app, int64_t task, const char *name, double deadline, void *context) {
    long long arrival = now();
    (void)app, (void)task, (void)name, (void)context;
    say("expire %d %lld %lld %lld\n", (int)getpid(), replied, arrival, (long long)(deadline * 1e9 + 0.5));
    while (1) pause();
    return CURFEW_HANDLED;
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    const char *what = argv[2];
    bool is_timed = strcmp(what, "time") == 0, is_loaded = strcmp(what, "load") == 0;
    bool expires = strcmp(what, "expire") == 0;
    struct curfew_delegate delegate = {.did_enter_background = expires ? hold_one : hold};
    if (expires) delegate.background_task_will_expire = hang;
    sigset_t starting;
    sigemptyset(&starting);
    sigaddset(&starting, SIGUSR1);
    sigprocmask(SIG_BLOCK, &starting, NULL);
    count = argc > 3 ? atoi(argv[3]) : 0;
    fifo = open(argv[1], O_WRONLY | O_CLOEXEC);
    pid_t child = 0;
    if (expires && (child = fork()) == 0) {
        setsid();
        while (1) pause();
    }

    struct curfew *app;
    int result = curfew_open(&app, is_timed || is_loaded ? NULL : &delegate, NULL);
    if (fifo < 0 || result != 0) return 1;
    say("start %d %lld %d\n", (int)getpid(), now(), (int)child);
    if (is_timed || is_loaded)
        rounds(app, is_timed);
    else
        curfew_run(app);
    return 0;
}
