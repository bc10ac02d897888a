// Calls from many threads, while handlers are called and answered by others.
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "device.h"

enum { THREADS = 4, ROUNDS = 200 };

// A device that answers every call as fast as it comes.
static void *serve(void *context) {
    struct device *device = context;
    int line = accept(device->listener, NULL, NULL);
    char text[1024];
    size_t length = 0;
    ssize_t count;
    while ((count = recv(line, text + length, sizeof text - length, 0)) > 0) {
        length += (size_t)count;
        if (text[length - 1] != 0) continue;
        const char *reply = strstr(text, "Begin")     ? "{\"parameters\":{\"identifier\":7,\"timeRemaining\":1}}"
                            : strstr(text, "GetBack") ? "{\"parameters\":{\"seconds\":12.5}}"
                            : strstr(text, "GetSta")  ? "{\"parameters\":{\"tasks\":[{\"identifier\":7,\"name\":\"a\","
                                                        "\"keepAwake\":true,\"secondsHeld\":1}]}}"
                            : strstr(text, "\"identifier\":9") ? "{\"error\":\"io.curfew.Application."
                                                                 "BackgroundTimeDenied\",\"parameters\":"
                                                                 "{\"reason\":\"spent\"}}"
                                                               : "{\"parameters\":{}}";
        send(line, reply, strlen(reply) + 1, MSG_NOSIGNAL);
        length = 0;
    }
    close(line);
    return NULL;
}

static void *ask(void *context) {
    struct device *device = context;
    for (int i = 0; i < ROUNDS; i++) {
        struct curfew_task held;
        int64_t task = 0;
        double seconds = 0;
        size_t count = 0;
        char reason[64];
        CHECK_NUMBER(curfew_begin_background_task(device->app, "a", NULL, &task), 0);
        CHECK_NUMBER(task, 7);
        CHECK_NUMBER(curfew_background_time_remaining(device->app, &seconds), 0);
        CHECK_NUMBER(seconds, 12.5);
        CHECK_NUMBER(curfew_get_tasks(device->app, &held, 1, &count), 0);
        CHECK_NUMBER(held.identifier, 7);
        CHECK_NUMBER(curfew_end_background_task(device->app, task), 0);
        CHECK_NUMBER(curfew_end_background_task(device->app, 9), CURFEW_E_DENIED);
        CHECK_TEXT(curfew_last_reason(device->app, reason, sizeof reason), "spent");
    }
    return NULL;
}

static atomic_bool owed, done;

static enum curfew_answer hand_over(struct curfew *app, double deadline, void *context) {
    (void)app;
    (void)deadline;
    (void)context;
    CHECK(!atomic_exchange(&owed, true));
    return CURFEW_LATER;
}

static const struct curfew_delegate handing_over = {.did_become_active = hand_over, .perform_fetch = hand_over};

// Answers what the handlers left for later, in another thread than the one that dispatches.
static void *answer_later(void *context) {
    struct device *device = context;
    while (!atomic_load(&done)) {
        // Before the handler has returned, perhaps: that is answered in time as well.
        if (atomic_exchange(&owed, false)) CHECK_NUMBER(curfew_handled(device->app, CURFEW_NEW_DATA), 0);
    }
    return NULL;
}

static void *run(void *context) {
    struct device *device = context;
    CHECK_NUMBER(curfew_run(device->app), 0);
    return NULL;
}

static void manyThreads_askAndAnswer(void) {
    static const char call[] = "{\"method\":\"io.curfew.Delegate.PerformFetch\",\"parameters\":{\"deadline\":30}}";
    static const char reply[] = "{\"parameters\":{\"result\":\"newData\"}}";
    pthread_t server, asking[THREADS], answering, running[2];
    struct device device;
    device_open_with(&device, WITH_DESCRIPTOR, &handing_over);
    need(pthread_create(&server, NULL, serve, &device) == 0, "pthread_create");
    need(pthread_create(&answering, NULL, answer_later, &device) == 0, "pthread_create");
    // Two that dispatch: the second one finds the first one at it, and does nothing.
    for (int i = 0; i < 2; i++) need(pthread_create(&running[i], NULL, run, &device) == 0, "pthread_create");
    for (int i = 0; i < THREADS; i++) need(pthread_create(&asking[i], NULL, ask, &device) == 0, "pthread_create");
    for (int i = 0; i < ROUNDS; i++) {
        char text[128] = "";
        send(device.far, call, sizeof call, MSG_NOSIGNAL);
        struct pollfd entry = {.fd = device.far, .events = POLLIN};
        if (!CHECK(poll(&entry, 1, 10000) == 1)) break;
        recv(device.far, text, sizeof reply, MSG_WAITALL);
        CHECK_TEXT(text, reply);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(asking[i], NULL);
    curfew_stop(device.app);
    for (int i = 0; i < 2; i++) pthread_join(running[i], NULL);
    atomic_store(&done, true);
    pthread_join(answering, NULL);
    device_close(&device);
    pthread_join(server, NULL);
}

const struct test thread_tests[] = {
    {"manyThreads_askAndAnswer", manyThreads_askAndAnswer},
    {NULL, NULL},
};
