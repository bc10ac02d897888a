// Getting a connection for the handlers' calls, losing it, and doing without.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "device.h"

#define ATTACH "{\"method\":\"io.curfew.Application.AttachDelegate\",\"upgrade\":true}"
#define ACTIVE "{\"method\":\"io.curfew.Delegate.DidBecomeActive\",\"parameters\":{\"deadline\":4}}"
#define HANDLED "{\"parameters\":{}}"

static const struct step attaching[] = {
    {ACCEPT, NULL, 0}, {EXPECT, ATTACH, 0}, {REPLY, "{\"parameters\":{}}", 0}, {REPLY, ACTIVE, 0}, {END, NULL, 0},
};

static bool is_active(struct device *device) { return strstr(device->heard, "DidBecomeActive 4\n"); }
static bool has_said_connected(struct device *device) { return strstr(device->heard, "message: connected to"); }
static bool has_said_why(struct device *device) { return strstr(device->heard, "message: "); }

static void withoutADescriptor_attaches(void) {
    struct device device;
    device_open(&device, WITHOUT_DESCRIPTOR);
    device_play(&device, attaching);
    CHECK(device_dispatch_until(&device, is_active));
    device_finish(&device);
    CHECK_TEXT(device_receive(&device), HANDLED);
    CHECK_TEXT(device_heard(&device), "DidBecomeActive 4\n");
    device_close(&device);
}

static void theFirstCall_comesWithTheReply(void) {
    static const char both[] = "{\"parameters\":{}}\0" ACTIVE;
    static const struct step steps[] = {
        {ACCEPT, NULL, 0}, {EXPECT, ATTACH, 0}, {RAW, both, sizeof both}, {END, NULL, 0}};
    struct device device;
    device_open(&device, WITHOUT_DESCRIPTOR);
    device_play(&device, steps);
    CHECK(device_dispatch_until(&device, is_active));
    device_finish(&device);
    CHECK_TEXT(device_receive(&device), HANDLED);
    device_close(&device);
}

static void aLostConnection_isAttachedAnew(void) {
    struct device device;
    device_open(&device, WITH_DESCRIPTOR);
    for (int i = 0; i < 3; i++) {
        close(device.far);
        device.far = -1;
        device_play(&device, attaching);
        CHECK(device_dispatch_until(&device, is_active));
        device_finish(&device);
        CHECK_TEXT(device_receive(&device), HANDLED);
        CHECK_TEXT(device_heard(&device),
                   "message: no connection to curfewd for the handlers' calls: it was closed; trying again\n"
                   "message: connected to curfewd\nDidBecomeActive 4\n");
    }
    device_close(&device);
}

static void anAttemptThatFails_isRepeated_andSaidOnce(void) {
    static const struct step steps[] = {
        {ACCEPT, NULL, 0}, {HANG_UP, NULL, 0},
        {ACCEPT, NULL, 0}, {EXPECT, ATTACH, 0}, {HANG_UP, NULL, 0},
        {ACCEPT, NULL, 0}, {EXPECT, ATTACH, 0}, {REPLY, "{\"error\":\"io.curfew.Application.NotAnApp\"}", 0},
        {ACCEPT, NULL, 0}, {EXPECT, ATTACH, 0}, {REPLY, "garbage", 0},
        {ACCEPT, NULL, 0}, {EXPECT, ATTACH, 0}, {REPLY, "{\"parameters\":{}}", 0},
        {END, NULL, 0},
    };
    struct device device;
    device_open(&device, WITHOUT_DESCRIPTOR);
    device_play(&device, steps);
    CHECK(device_dispatch_until(&device, has_said_connected));
    device_finish(&device);
    CHECK_TEXT(device_heard(&device),
               "message: no connection to curfewd for the handlers' calls: it was closed; trying again\n"
               "message: connected to curfewd\n");
    CHECK_TEXT(device_call(&device, ACTIVE), HANDLED);
    device_close(&device);
}

static void aDelegateThatIsDenied_isGivenUp(void) {
    static const struct step steps[] = {
        {ACCEPT, NULL, 0}, {EXPECT, ATTACH, 0},
        {REPLY, "{\"error\":\"io.curfew.Application.DelegateDenied\",\"parameters\":{\"reason\":\"its delegate is "
                "\\\"hooks\\\"\"}}", 0},
        {WAIT, NULL, 0}, {END, NULL, 0},
    };
    struct device device;
    device_open(&device, WITHOUT_DESCRIPTOR);
    device_play(&device, steps);
    CHECK(device_dispatch_until(&device, has_said_why));
    device_finish(&device);
    CHECK_TEXT(device_heard(&device), "message: the handlers will not be called: its delegate is \"hooks\"\n");
    struct pollfd entries[] = {
        {.fd = device.listener, .events = POLLIN}, {.fd = curfew_fd(device.app), .events = POLLIN}};
    CHECK_NUMBER(poll(entries, 2, 100), 0);
    device_close(&device);
}

static void noServer_theSocketComesLater(void) {
    struct device device;
    device_open(&device, WITHOUT_DESCRIPTOR);
    char aside[sizeof device.path + 8];
    snprintf(aside, sizeof aside, "%s.aside", device.path);
    need(rename(device.path, aside) == 0, "rename");
    CHECK(device_dispatch_until(&device, has_said_why));
    CHECK_CONTAINS(device_heard(&device), "curfewd is not running");
    need(rename(aside, device.path) == 0, "rename");
    device_play(&device, attaching);
    CHECK(device_dispatch_until(&device, is_active));
    device_finish(&device);
    device_close(&device);
}

static void withoutADelegate_nothingIsAttached(void) {
    struct device device;
    device_open_with(&device, WITHOUT_DESCRIPTOR, NULL);
    struct pollfd entries[] = {
        {.fd = device.listener, .events = POLLIN}, {.fd = curfew_fd(device.app), .events = POLLIN}};
    CHECK_NUMBER(poll(entries, 2, 100), 0);
    CHECK_NUMBER(curfew_dispatch(device.app), 1);
    device_close(&device);
}

// CURFEW_DELEGATE_FD may say anything.
static void aDescriptorThatIsNone_isLeftAlone(void) {
    int pipes[2], ours[2], datagrams[2];
    char numbers[3][16];
    need(pipe(pipes) == 0, "pipe");
    need(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ours) == 0, "socketpair");
    need(socketpair(AF_UNIX, SOCK_DGRAM, 0, datagrams) == 0, "socketpair");
    snprintf(numbers[0], sizeof *numbers, "%d", pipes[0]);
    snprintf(numbers[1], sizeof *numbers, "%d", ours[0]);  // opened by the program: it is closed on exec
    snprintf(numbers[2], sizeof *numbers, "%d", datagrams[0]);
    const char *const values[] = {
        numbers[0], numbers[1], numbers[2], "", "x", "-1", "3x", "99999", "99999999999999999999", " 3"};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct device device;
        device_open(&device, WITHOUT_DESCRIPTOR);
        curfew_close(device.app);
        setenv("CURFEW_DELEGATE_FD", values[i], 1);
        need(curfew_open(&device.app, &noting_delegate, &device) == 0, "curfew_open");
        device_play(&device, attaching);
        if (!CHECK(device_dispatch_until(&device, is_active))) printf("for %s\n", values[i]);
        device_close(&device);
    }
    for (int i = 0; i < 2; i++) CHECK(close(pipes[i]) == 0 && close(ours[i]) == 0 && close(datagrams[i]) == 0);
}

static void nothingIsLeftOpenOverExec(void) {
    static const struct step steps[] = {
        {ACCEPT, NULL, 0}, {EXPECT, "{\"method\":\"io.curfew.Application.GetBackgroundTimeRemaining\","
                                    "\"parameters\":{}}", 0},
        {REPLY, "{\"parameters\":{\"seconds\":null}}", 0}, {END, NULL, 0}};
    bool before[64] = {false};
    struct device device;
    double seconds;
    for (int fd = 0; fd < 64; fd++) before[fd] = fcntl(fd, F_GETFD) >= 0;
    device_open(&device, WITH_DESCRIPTOR);
    fcntl(device.far, F_SETFD, FD_CLOEXEC);
    device_play(&device, steps);
    CHECK_NUMBER(curfew_background_time_remaining(device.app, &seconds), 0);
    device_finish(&device);
    for (int fd = 0; fd < 64; fd++) {
        int flags = fcntl(fd, F_GETFD);
        if (!before[fd] && flags >= 0) CHECK(flags & FD_CLOEXEC);
    }
    device_close(&device);
    for (int fd = 0; fd < 64; fd++) CHECK(before[fd] == (fcntl(fd, F_GETFD) >= 0));
}

static void message_to_buffer(const char *text, void *context) { strcpy(context, text); }

static void outsideCurfew_nothingHappens(void) {
    const struct curfew_delegate delegate = {.message = message_to_buffer};
    const struct curfew_task_options options = {.time_allowed = -1};
    char said[512] = "", reason[256];
    struct curfew *app;
    struct curfew_state state;
    struct curfew_task task;
    int64_t identifier = 7;
    double seconds;
    size_t count = 7;
    setenv("CURFEW_APP", "", 1);
    CHECK_NUMBER(curfew_open(&app, &delegate, said), 0);
    CHECK_CONTAINS(said, "not started by curfewd");
    unsetenv("CURFEW_APP");
    said[0] = 0;
    curfew_close(app);
    CHECK_NUMBER(curfew_open(&app, &delegate, said), 0);
    CHECK_CONTAINS(said, "not started by curfewd");
    CHECK(!curfew_is_supervised(app));
    CHECK_NUMBER(curfew_begin_background_task(app, "upload", NULL, &identifier), 0);
    CHECK_NUMBER(identifier, 0);
    CHECK_NUMBER(curfew_end_background_task(app, identifier), 0);
    CHECK_NUMBER(curfew_end_background_task(app, 4), CURFEW_E_NO_SUCH_TASK);
    CHECK_NUMBER(curfew_background_time_remaining(app, &seconds), 0);
    CHECK_NUMBER(seconds, INFINITY);
    CHECK_NUMBER(curfew_set_minimum_background_fetch_interval(app, 900, &seconds), 0);
    CHECK_NUMBER(seconds, 900);
    CHECK_NUMBER(curfew_get_state(app, &state), 0);
    CHECK_NUMBER(state.scene_phase, CURFEW_SCENE_ACTIVE);
    CHECK_NUMBER(state.task_state, CURFEW_TASK_RUNNING);
    CHECK_NUMBER(state.background_time_remaining, INFINITY);
    CHECK_NUMBER(curfew_get_tasks(app, &task, 1, &count), 0);
    CHECK_NUMBER(count, 0);
    // What would be refused on a board is refused on the desk.
    CHECK_NUMBER(curfew_begin_background_task(app, "\xff", NULL, &identifier), -EINVAL);
    CHECK_TEXT(curfew_last_reason(app, reason, sizeof reason), "the task's name is not UTF-8");
    CHECK_NUMBER(curfew_begin_background_task(app, "a", &options, &identifier), -EINVAL);
    CHECK_NUMBER(curfew_set_minimum_background_fetch_interval(app, -1, NULL), -EINVAL);
    struct pollfd entry = {.fd = curfew_fd(app), .events = POLLIN};
    CHECK_NUMBER(poll(&entry, 1, 0), 0);
    CHECK_NUMBER(curfew_dispatch(app), 1);
    curfew_stop(app);
    CHECK_NUMBER(poll(&entry, 1, 0), 1);
    CHECK_NUMBER(curfew_run(app), 0);
    curfew_close(app);
    curfew_close(NULL);
}

static void theEnvironment_isRead(void) {
    struct device device;
    struct curfew *app;
    char path[256];
    device_open(&device, WITH_DESCRIPTOR);
    CHECK(curfew_is_supervised(device.app));
    CHECK_NUMBER(curfew_launch_reason(device.app), CURFEW_LAUNCH_BOOT);
    device_close(&device);
    setenv("CURFEW_LAUNCH_REASON", "unknown", 1);
    CHECK_NUMBER(curfew_open(&app, NULL, NULL), 0);
    CHECK_NUMBER(curfew_launch_reason(app), CURFEW_LAUNCH_UNKNOWN);
    curfew_close(app);
    memset(path, 'x', sizeof path);
    path[108] = 0;
    setenv("CURFEW_SOCKET", path, 1);
    CHECK_NUMBER(curfew_open(&app, NULL, NULL), -ENAMETOOLONG);
    CHECK(app == NULL);
    path[107] = 0;
    setenv("CURFEW_SOCKET", path, 1);
    CHECK_NUMBER(curfew_open(&app, NULL, NULL), 0);
    curfew_close(app);
}

const struct test connection_tests[] = {
    {"withoutADescriptor_attaches", withoutADescriptor_attaches},
    {"theFirstCall_comesWithTheReply", theFirstCall_comesWithTheReply},
    {"aLostConnection_isAttachedAnew", aLostConnection_isAttachedAnew},
    {"anAttemptThatFails_isRepeated_andSaidOnce", anAttemptThatFails_isRepeated_andSaidOnce},
    {"aDelegateThatIsDenied_isGivenUp", aDelegateThatIsDenied_isGivenUp},
    {"noServer_theSocketComesLater", noServer_theSocketComesLater},
    {"withoutADelegate_nothingIsAttached", withoutADelegate_nothingIsAttached},
    {"aDescriptorThatIsNone_isLeftAlone", aDescriptorThatIsNone_isLeftAlone},
    {"nothingIsLeftOpenOverExec", nothingIsLeftOpenOverExec},
    {"outsideCurfew_nothingHappens", outsideCurfew_nothingHappens},
    {"theEnvironment_isRead", theEnvironment_isRead},
    {NULL, NULL},
};
