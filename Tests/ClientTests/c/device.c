#define _GNU_SOURCE
#include "device.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE = 10000 };  // milliseconds for what has to happen

double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static bool is_readable(int fd, int milliseconds) {
    struct pollfd entry = {.fd = fd, .events = POLLIN};
    return poll(&entry, 1, milliseconds) > 0;
}

// MARK: An app that writes down what it hears

void device_note(struct device *device, const char *format, ...) {
    size_t length = strlen(device->heard);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(device->heard + length, sizeof device->heard - length, format, arguments);
    va_end(arguments);
    length = strlen(device->heard);
    if (length + 1 < sizeof device->heard) strcpy(device->heard + length, "\n");
}

const char *device_heard(struct device *device) {
    static char text[sizeof device->heard];
    strcpy(text, device->heard);
    device->heard[0] = 0;
    return text;
}

static enum curfew_answer answer(void *context) {
    struct device *device = context;
    if (device->in_handler) device->in_handler(device);
    return device->answer;
}

static enum curfew_answer did_finish_launching(
    struct curfew *app, enum curfew_launch_reason reason, double deadline, void *context) {
    (void)app;
    device_note(context, "DidFinishLaunching %s %g", curfew_launch_reason_name(reason), deadline);
    return answer(context);
}

#define PLAIN(function, name)                                                            \
    static enum curfew_answer function(struct curfew *app, double deadline, void *context) \
    {                                                                                    \
        (void)app;                                                                       \
        device_note(context, name " %g", deadline);                                      \
        return answer(context);                                                          \
    }
PLAIN(did_become_active, "DidBecomeActive")
PLAIN(will_resign_active, "WillResignActive")
PLAIN(did_enter_background, "DidEnterBackground")
PLAIN(will_enter_foreground, "WillEnterForeground")
PLAIN(perform_fetch, "PerformFetch")

static enum curfew_answer will_terminate(struct curfew *app, const char *reason, double deadline, void *context) {
    (void)app;
    device_note(context, "WillTerminate %s %g", reason, deadline);
    return answer(context);
}

static enum curfew_answer will_expire(
    struct curfew *app, int64_t task, const char *name, double deadline, void *context) {
    (void)app;
    device_note(context, "BackgroundTaskWillExpire %lld %s %g", (long long)task, name, deadline);
    return answer(context);
}

static enum curfew_answer did_receive_notification(
    struct curfew *app, const char *payload, size_t length, double deadline, void *context) {
    (void)app;
    device_note(context, "DidReceiveRemoteNotification %s %zu %g", payload, length, deadline);
    CHECK_NUMBER(strlen(payload), length);
    return answer(context);
}

static enum curfew_answer handle_events(struct curfew *app, const char *session, double deadline, void *context) {
    (void)app;
    device_note(context, "HandleEventsForBackgroundSession %s %g", session, deadline);
    return answer(context);
}

static void did_receive_memory_warning(struct curfew *app, enum curfew_memory_level level, void *context) {
    (void)app;
    device_note(context, "DidReceiveMemoryWarning %s", curfew_memory_level_name(level));
    answer(context);
}

static void power_state_did_change(struct curfew *app, bool external, double level, bool low, void *context) {
    (void)app;
    device_note(context, "PowerStateDidChange %d %g %d", external, level, low);
    answer(context);
}

static void thermal_state_did_change(struct curfew *app, enum curfew_thermal_state state, void *context) {
    (void)app;
    device_note(context, "ThermalStateDidChange %s", curfew_thermal_state_name(state));
    answer(context);
}

static void message(const char *text, void *context) { device_note(context, "message: %s", text); }

const struct curfew_delegate noting_delegate = {
    .did_finish_launching = did_finish_launching,
    .did_become_active = did_become_active,
    .will_resign_active = will_resign_active,
    .did_enter_background = did_enter_background,
    .will_enter_foreground = will_enter_foreground,
    .will_terminate = will_terminate,
    .background_task_will_expire = will_expire,
    .perform_fetch = perform_fetch,
    .did_receive_remote_notification = did_receive_notification,
    .handle_events_for_background_session = handle_events,
    .did_receive_memory_warning = did_receive_memory_warning,
    .power_state_did_change = power_state_did_change,
    .thermal_state_did_change = thermal_state_did_change,
    .message = message,
};

// MARK: The device

void device_open(struct device *device, int how) { device_open_with(device, how, &noting_delegate); }

void device_open_with(struct device *device, int how, const struct curfew_delegate *delegate) {
    static int count;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int pair[2] = {-1, -1};
    char number[16];
    *device = (struct device){.far = -1};
    sem_init(&device->paused, 0, 0);
    sem_init(&device->resumed, 0, 0);
    // Not in the test's folder, whose path may be longer than a socket's may be.
    snprintf(device->path, sizeof device->path, "/tmp/curfew-c-test-%d-%d", (int)getpid(), count++);
    strcpy(address.sun_path, device->path);
    device->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    need(bind(device->listener, (struct sockaddr *)&address, sizeof address) == 0, "bind");
    need(listen(device->listener, 16) == 0, "listen");
    setenv("CURFEW_APP", "camera", 1);
    setenv("CURFEW_SOCKET", device->path, 1);
    setenv("CURFEW_LAUNCH_REASON", "boot", 1);
    unsetenv("CURFEW_DELEGATE_FD");
    if (how == WITH_DESCRIPTOR) {
        need(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0, "socketpair");
        device->far = pair[0];
        snprintf(number, sizeof number, "%d", pair[1]);
        setenv("CURFEW_DELEGATE_FD", number, 1);
    }
    need(curfew_open(&device->app, delegate, device) == 0, "curfew_open");
}

void device_close(struct device *device) {
    device_finish(device);
    curfew_close(device->app);
    if (device->far >= 0) close(device->far);
    close(device->listener);
    unlink(device->path);
    sem_destroy(&device->paused);
    sem_destroy(&device->resumed);
}

static void complain(struct device *device, const char *what, const char *text, const char *wanted) {
    size_t length = strlen(device->complaint);
    snprintf(device->complaint + length, sizeof device->complaint - length, "%s: %s (wanted %s)\n", what, text, wanted);
}

// One message, NULL at the end of the stream or of patience. Byte by byte, as the next one is not ours to take.
static char *read_message(int fd, char *text, size_t size) {
    for (size_t length = 0; length < size; length++) {
        if (!is_readable(fd, PATIENCE) || recv(fd, text + length, 1, 0) != 1) return NULL;
        if (text[length] == 0) return text;
    }
    return NULL;
}

static void send_all(int fd, const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t sent = send(fd, bytes, count, MSG_NOSIGNAL);
        if (sent < 0) return;
        bytes += sent;
        count -= (size_t)sent;
    }
}

static void *play(void *context) {
    struct device *device = context;
    int line = -1;
    char text[8192];
    for (const struct step *step = device->steps; step->kind != END; step++) {
        switch (step->kind) {
        case ACCEPT:
            if (line >= 0) close(line);
            line = is_readable(device->listener, PATIENCE) ? accept(device->listener, NULL, NULL) : -1;
            if (line < 0) complain(device, "accept", "no connection came", "one");
            break;
        case EXPECT:
            if (!read_message(line, text, sizeof text)) strcpy(text, "(nothing)");
            if (strcmp(text, step->text) != 0) complain(device, "expect", text, step->text);
            break;
        case REPLY: send_all(line, step->text, strlen(step->text) + 1); break;
        case RAW: send_all(line, step->text, step->count); break;
        case HANG_UP:
            close(line);
            line = -1;
            break;
        case WAIT:
            if (!is_readable(line, PATIENCE) || recv(line, text, 1, 0) > 0)
                complain(device, "wait", "the connection is open", "its end");
            break;
        case PAUSE:
            sem_post(&device->paused);
            sem_wait(&device->resumed);
            break;
        case REFUSE: shutdown(line, SHUT_RD); break;
        case END: break;
        }
    }
    // The last connection is the delegate's, where there is none.
    if (device->far < 0)
        device->far = line;
    else if (line >= 0)
        close(line);
    return NULL;
}

void device_play(struct device *device, const struct step *steps) {
    device->steps = steps;
    device->playing = true;
    need(pthread_create(&device->thread, NULL, play, device) == 0, "pthread_create");
}

void device_resume(struct device *device) {
    while (sem_wait(&device->paused) != 0) continue;
    sem_post(&device->resumed);
}

void device_finish(struct device *device) {
    if (!device->playing) return;
    pthread_join(device->thread, NULL);
    device->playing = false;
    CHECK_TEXT(device->complaint, "");
    device->complaint[0] = 0;
}

void device_send_bytes(struct device *device, const void *bytes, size_t count) {
    const char *at = bytes;
    double end = seconds_now() + PATIENCE / 1000.0;
    while (count > 0 && seconds_now() < end) {
        ssize_t sent = send(device->far, at, count, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno != EAGAIN) return;
        if (sent > 0) {
            at += sent;
            count -= (size_t)sent;
        } else {
            device_dispatch(device);
        }
    }
}

void device_send(struct device *device, const char *text) { device_send_bytes(device, text, strlen(text) + 1); }

void device_dispatch(struct device *device) {
    while (curfew_dispatch(device->app) && is_readable(curfew_fd(device->app), 0)) continue;
}

bool device_dispatch_until(struct device *device, bool (*condition)(struct device *)) {
    double end = seconds_now() + PATIENCE / 1000.0;
    while (!condition(device)) {
        if (seconds_now() > end) return false;
        is_readable(curfew_fd(device->app), 5);
        curfew_dispatch(device->app);
    }
    return true;
}

const char *device_receive(struct device *device) {
    static char text[65536];
    device_dispatch(device);
    return is_readable(device->far, 0) ? read_message(device->far, text, sizeof text) : NULL;
}

const char *device_call(struct device *device, const char *text) {
    device_send(device, text);
    return device_receive(device);
}

bool device_hung_up(struct device *device) {
    char byte;
    device_dispatch(device);
    return is_readable(device->far, 0) && recv(device->far, &byte, 1, MSG_PEEK) <= 0;
}
