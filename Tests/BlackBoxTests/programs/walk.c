// An app that writes down what happens to it, a line each: the handler and its main argument, and what it did about it.
//
//     walk TRACE [overrun] [keep-awake]
//
// In the background it holds a task, "upload". It ends it when it expires, unless it overruns, and when it is in front
// again.
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "curfew.h"

struct walk {
    int trace;
    bool overruns, keeps_awake;
    int64_t task;
};

__attribute__((format(printf, 2, 3))) static void note(struct walk *walk, const char *format, ...) {
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line - 1, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof line - 1) return;
    line[length] = '\n';
    if (write(walk->trace, line, (size_t)length + 1) < 0) perror("walk: trace");
}

static void begin(struct curfew *app, struct walk *walk) {
    const struct curfew_task_options options = {
        .keep_awake = walk->keeps_awake ? CURFEW_KEEP_AWAKE_YES : CURFEW_KEEP_AWAKE_DEFAULT};
    char reason[256];
    double remaining;
    int error = curfew_begin_background_task(app, "upload", &options, &walk->task);
    if (error == 0) error = curfew_background_time_remaining(app, &remaining);
    if (error != 0)
        note(walk, "denied %s", curfew_last_reason(app, reason, sizeof reason));
    else if (isinf(remaining))
        note(walk, "began upload inf");
    else
        note(walk, "began upload %.0f", remaining);
}

static void end(struct curfew *app, struct walk *walk) {
    char reason[256];
    if (curfew_end_background_task(app, walk->task) == 0)
        note(walk, "ended upload");
    else
        note(walk, "not ended: %s", curfew_last_reason(app, reason, sizeof reason));
    walk->task = 0;
}

static enum curfew_answer did_finish_launching(
    struct curfew *app, enum curfew_launch_reason reason, double deadline, void *context) {
    (void)app;
    (void)deadline;
    note(context, "DidFinishLaunching %s", curfew_launch_reason_name(reason));
    return CURFEW_HANDLED;
}

static enum curfew_answer did_become_active(struct curfew *app, double deadline, void *context) {
    (void)app;
    (void)deadline;
    note(context, "DidBecomeActive");
    return CURFEW_HANDLED;
}

static enum curfew_answer will_resign_active(struct curfew *app, double deadline, void *context) {
    (void)app;
    (void)deadline;
    note(context, "WillResignActive");
    return CURFEW_HANDLED;
}

static enum curfew_answer did_enter_background(struct curfew *app, double deadline, void *context) {
    struct walk *walk = context;
    (void)deadline;
    note(walk, "DidEnterBackground");
    if (walk->task == 0) begin(app, walk);
    return CURFEW_HANDLED;
}

static enum curfew_answer will_enter_foreground(struct curfew *app, double deadline, void *context) {
    struct walk *walk = context;
    (void)deadline;
    note(walk, "WillEnterForeground");
    if (walk->task != 0) end(app, walk);
    return CURFEW_HANDLED;
}

static enum curfew_answer will_terminate(struct curfew *app, const char *reason, double deadline, void *context) {
    (void)app;
    (void)deadline;
    note(context, "WillTerminate %s", reason);
    return CURFEW_HANDLED;
}

static enum curfew_answer background_task_will_expire(
    struct curfew *app, int64_t task, const char *name, double deadline, void *context) {
    struct walk *walk = context;
    (void)task;
    (void)deadline;
    note(walk, "BackgroundTaskWillExpire %s", name);
    if (!walk->overruns) end(app, walk);
    return CURFEW_HANDLED;
}

static void power_state_did_change(
    struct curfew *app, bool external_power, double battery_level, bool low_power_mode, void *context) {
    (void)app;
    char level[32] = "-";
    if (!isnan(battery_level)) snprintf(level, sizeof level, "%.0f", battery_level * 100);
    note(context, "PowerStateDidChange %s %s %s", external_power ? "external" : "battery", level,
         low_power_mode ? "low" : "normal");
}

static void thermal_state_did_change(struct curfew *app, enum curfew_thermal_state state, void *context) {
    (void)app;
    note(context, "ThermalStateDidChange %s", curfew_thermal_state_name(state));
}

static void did_receive_memory_warning(struct curfew *app, enum curfew_memory_level level, void *context) {
    (void)app;
    note(context, "DidReceiveMemoryWarning %s", curfew_memory_level_name(level));
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
    .thermal_state_did_change = thermal_state_did_change,
};

int main(int argc, char **argv) {
    struct walk walk = {.trace = -1};
    struct curfew *app;
    if (argc > 1) walk.trace = open(argv[1], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (walk.trace < 0) {
        perror("walk: a trace file is needed");
        return 2;
    }
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "overrun") == 0) walk.overruns = true;
        if (strcmp(argv[i], "keep-awake") == 0) walk.keeps_awake = true;
    }
    int error = curfew_open(&app, &delegate, &walk);
    if (error == 0) {
        error = curfew_run(app);
        curfew_close(app);
    }
    if (error != 0) fprintf(stderr, "walk: %s\n", curfew_strerror(error));
    return error != 0;
}
