// An app of the board tests. It says every handler that it hears, with both clocks, on stdout, which is the journal's
// curfew-NAME; and does what its arguments say:
//
//     slow:HANDLER:MILLISECONDS   returns later        hang:HANDLER    never returns
//     start:MILLISECONDS          a slow launch: so long before it listens
//     task                        holds a background task from did_enter_background on, until it is to end
//     grow                        takes memory until it is ended, 4 MB at a time, and uses it
//     deaf                        ignores SIGTERM
//     child                       has a child in a session of its own that ignores SIGTERM
//     lock:FILE                   says "a second one runs" where another process has the lock on FILE
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "curfew.h"

static char **behaviours;
static int64_t task;

static double now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void tell(const char *what, const char *detail) {
    printf("%s %s%smonotonic=%.3f boottime=%.3f\n", what, detail, *detail ? " " : "", now(CLOCK_MONOTONIC),
        now(CLOCK_BOOTTIME));
}

// The argument that begins so, after that; NULL: there is none.
static const char *behaviour(const char *beginning) {
    size_t length = strlen(beginning);
    for (char **each = behaviours; *each; each++)
        if (strncmp(*each, beginning, length) == 0) return *each + length;
    return NULL;
}

static void pause_for(long milliseconds) {
    struct timespec left = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    while (nanosleep(&left, &left) != 0) {}  // not a wait: slow on purpose
}

static enum curfew_answer handle(const char *handler, const char *detail) {
    char wanted[64];
    tell(handler, detail);
    snprintf(wanted, sizeof wanted, "hang:%s", handler);
    if (behaviour(wanted))
        for (;;) pause();
    snprintf(wanted, sizeof wanted, "slow:%s:", handler);
    const char *time = behaviour(wanted);
    if (time) {
        pause_for(atol(time));
        tell("done", handler);
    }
    return CURFEW_HANDLED;
}

static enum curfew_answer did_finish_launching(
    struct curfew *app, enum curfew_launch_reason reason, double deadline, void *context) {
    (void)app, (void)reason, (void)deadline, (void)context;
    return handle("DidFinishLaunching", "");
}

static enum curfew_answer did_become_active(struct curfew *app, double deadline, void *context) {
    (void)app, (void)deadline, (void)context;
    return handle("DidBecomeActive", "");
}

static enum curfew_answer will_resign_active(struct curfew *app, double deadline, void *context) {
    (void)app, (void)deadline, (void)context;
    return handle("WillResignActive", "");
}

static enum curfew_answer did_enter_background(struct curfew *app, double deadline, void *context) {
    char detail[32];
    (void)context;
    snprintf(detail, sizeof detail, "deadline=%.2f", deadline);
    if (behaviour("task") && task == 0) {
        int error = curfew_begin_background_task(app, "work", NULL, &task);
        tell("task", error == 0 ? "begun" : curfew_strerror(error));
    }
    return handle("DidEnterBackground", detail);
}

static enum curfew_answer will_enter_foreground(struct curfew *app, double deadline, void *context) {
    (void)app, (void)deadline, (void)context;
    return handle("WillEnterForeground", "");
}

static enum curfew_answer will_terminate(struct curfew *app, const char *reason, double deadline, void *context) {
    (void)app, (void)deadline, (void)context;
    return handle("WillTerminate", reason);
}

static enum curfew_answer background_task_will_expire(
    struct curfew *app, int64_t id, const char *name, double deadline, void *context) {
    (void)name, (void)deadline, (void)context;
    curfew_end_background_task(app, id);
    task = 0;
    return handle("BackgroundTaskWillExpire", "");
}

static void did_receive_memory_warning(struct curfew *app, enum curfew_memory_level level, void *context) {
    (void)app, (void)level, (void)context;
    tell("DidReceiveMemoryWarning", "");
}

static void power_state_did_change(
    struct curfew *app, bool external_power, double battery_level, bool low_power_mode, void *context) {
    char detail[96];
    (void)app, (void)context;
    snprintf(detail, sizeof detail, "external=%d battery=%.2f low=%d", external_power, battery_level, low_power_mode);
    tell("PowerStateDidChange", detail);
}

static const struct curfew_delegate delegate = {
    .did_finish_launching = did_finish_launching,
    .did_become_active = did_become_active,
    .will_resign_active = will_resign_active,
    .did_enter_background = did_enter_background,
    .will_enter_foreground = will_enter_foreground,
    .will_terminate = will_terminate,
    .background_task_will_expire = background_task_will_expire,
    .did_receive_memory_warning = did_receive_memory_warning,
    .power_state_did_change = power_state_did_change,
};

static void take_lock(const char *path) {
    int descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0 || flock(descriptor, LOCK_EX | LOCK_NB) != 0) tell("a second one runs", "");
}

static void have_child(void) {
    if (fork() != 0) return;
    setsid();
    signal(SIGTERM, SIG_IGN);
    for (;;) pause();
}

static void grow(void) {
    const size_t size = 4 << 20;
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) memset(memory, 1, size);
}

static volatile sig_atomic_t is_over;

static void end(int number) { is_over = number; }

// SIGTERM comes with the end of WillTerminate; it is heard while nothing else is done, with the mask returned.
static sigset_t hear_sigterm(void) {
    sigset_t term, before;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    sigprocmask(SIG_BLOCK, &term, &before);
    signal(SIGTERM, behaviour("deaf") ? SIG_IGN : end);
    return before;
}

int main(int count, char **arguments) {
    (void)count;
    behaviours = arguments + 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    sigset_t waiting = hear_sigterm();
    const char *lock = behaviour("lock:"), *start = behaviour("start:");
    if (lock) take_lock(lock);
    if (behaviour("child")) have_child();
    if (start) pause_for(atol(start));
    struct curfew *app;
    int error = curfew_open(&app, &delegate, NULL);
    if (error != 0) {
        fprintf(stderr, "app: %s\n", curfew_strerror(error));
        return 1;
    }
    tell("started", "");
    while (curfew_dispatch(app) && !is_over) {
        bool grows = behaviour("grow");
        struct pollfd entry = {.fd = curfew_fd(app), .events = POLLIN};
        struct timespec soon = {0, 20000000};
        if (ppoll(&entry, 1, grows ? &soon : NULL, &waiting) == 0 && grows) grow();
    }
    tell("ended", "");
    curfew_close(app);
    return 0;
}
