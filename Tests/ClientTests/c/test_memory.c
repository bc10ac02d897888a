// Each allocation fails once. `run` links the library's calloc and realloc to these.
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device.h"

void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

static int left = -1;  // allocations before the one that fails; -1: none fails

static bool fails(void) { return left >= 0 && left-- == 0; }

void *__wrap_calloc(size_t count, size_t size) { return fails() ? NULL : __real_calloc(count, size); }
void *__wrap_realloc(void *old, size_t size) { return fails() ? NULL : __real_realloc(old, size); }

static void open_fails(void) {
    struct curfew *app;
    left = 0;
    CHECK_NUMBER(curfew_open(&app, NULL, NULL), -ENOMEM);
    CHECK(app == NULL);
    left = -1;
}

static void aCall_isNotSent(void) {
    struct device device;
    double seconds;
    device_open(&device, WITH_DESCRIPTOR);
    left = 0;
    CHECK_NUMBER(curfew_background_time_remaining(device.app, &seconds), -ENOMEM);
    left = -1;
    struct pollfd entry = {.fd = device.listener, .events = POLLIN};
    CHECK_NUMBER(poll(&entry, 1, 0), 0);
    device_close(&device);
}

static void theConnection_isLost_andAttachedAnew(void) {
    static const char ask[] =
        "{\"method\":\"org.varlink.service.GetInterfaceDescription\",\"parameters\":{\"interface\":"
        "\"io.curfew.Delegate\"}}";
    // The first allocation is for what comes, the second one for the reply.
    for (int i = 0; i < 2; i++) {
        struct device device;
        device_open(&device, WITH_DESCRIPTOR);
        left = i;
        device_send(&device, ask);
        CHECK(device_hung_up(&device));
        CHECK_CONTAINS(device_heard(&device), "no connection to curfewd");
        left = -1;
        device_close(&device);
    }
}

const struct test memory_tests[] = {
    {"open_fails", open_fails},
    {"aCall_isNotSent", aCall_isNotSent},
    {"theConnection_isLost_andAttachedAnew", theConnection_isLost_andAttachedAnew},
    {NULL, NULL},
};
