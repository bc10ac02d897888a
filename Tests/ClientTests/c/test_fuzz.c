// Mutated messages, the same ones in every run, for some seconds at most. The sanitizers are the judges.
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "device.h"

static const double seconds_to_spend = 3;

static uint64_t state;

static uint32_t draw(uint32_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

static const char *const seeds[] = {
    "{\"method\":\"io.curfew.Delegate.DidFinishLaunching\",\"parameters\":{\"reason\":\"boot\",\"deadline\":20.0}}",
    "{\"method\":\"io.curfew.Delegate.BackgroundTaskWillExpire\",\"parameters\":{\"identifier\":12,\"name\":"
    "\"a\\u00e4\\ud83d\\ude00\xc3\xa4\\n\",\"deadline\":4.5e-1}}",
    "{\"method\":\"io.curfew.Delegate.DidReceiveRemoteNotification\",\"parameters\":{\"payload\":{\"a\":[1,{}]},"
    "\"deadline\":30}}",
    "{\"method\":\"io.curfew.Delegate.PowerStateDidChange\",\"parameters\":{\"externalPower\":false,"
    "\"batteryLevel\":null,\"lowPowerMode\":true},\"oneway\":true}",
    "{\"method\":\"org.varlink.service.GetInterfaceDescription\",\"parameters\":{\"interface\":\"a.b\"}}",
    "{\"parameters\":{\"state\":{\"app\":\"camera\",\"scenePhase\":\"active\",\"taskState\":\"running\","
    "\"backgroundTimeRemaining\":7.25,\"backgroundRefreshStatus\":\"denied\",\"lowPowerMode\":true,"
    "\"thermalState\":\"fair\"},\"tasks\":[{\"identifier\":3,\"name\":\"a\\tb\",\"keepAwake\":false,"
    "\"secondsHeld\":1.5},{\"identifier\":4,\"name\":\"c\",\"keepAwake\":true,\"secondsHeld\":0}]}}",
    "{\"error\":\"io.curfew.Application.BackgroundTimeDenied\",\"parameters\":{\"reason\":\"the budget is spent\"}}",
};

enum { SEEDS = sizeof seeds / sizeof *seeds };

// What JSON is made of, and what it is not.
static const char *const pieces[] = {
    "\"", "\\", "\\u", "\\ud800", "\\udc00", "\\u0000", "{", "}", "[", "]", ",", ":", "null", "true", "-", "0", "e",
    ".", "1e999", "99999999999999999999", "\xff", "\xc3", "\xf0\x9f", " ", "\n", "\x01", "{\"deadline\":1}", "[[[[[[["};

// With its NUL, and perhaps some inside; returns its length.
static size_t mutate(const char *seed, char *out, size_t size) {
    size_t length = strlen(seed);
    memcpy(out, seed, length + 1);
    for (uint32_t count = draw(5); count > 0; count--) {
        size_t at = draw((uint32_t)length + 1), cut = draw(8);
        const char *piece = pieces[draw(sizeof pieces / sizeof *pieces)];
        switch (draw(4)) {
        case 0:
            if (at < length) out[at] = (char)draw(256);
            break;
        case 1:
            if (cut > length - at) cut = length - at;
            memmove(out + at, out + at + cut, length - at - cut + 1);
            length -= cut;
            break;
        case 2:
            if (length + strlen(piece) + 1 > size) break;
            memmove(out + at + strlen(piece), out + at, length - at + 1);
            memcpy(out + at, piece, strlen(piece));
            length += strlen(piece);
            break;
        default:
            if (2 * length + 1 > size) break;
            memcpy(out + length, out + at, length - at);
            length += length - at;
            out[length] = 0;
        }
    }
    return length + 1;
}

static void mutatedCalls(void) {
    struct device device;
    char text[8192];
    double end = seconds_now() + seconds_to_spend;
    int sent = 0, lost = 0;
    state = 20260101;
    device_open(&device, WITH_DESCRIPTOR);
    for (; sent < 30000 && seconds_now() < end; sent++) {
        size_t length = mutate(seeds[draw(SEEDS)], text, sizeof text);
        size_t first = draw((uint32_t)length) + 1;
        device_send_bytes(&device, text, first);
        device_dispatch(&device);
        device_send_bytes(&device, text + first, length - first);
        device_dispatch(&device);
        while (recv(device.far, text, sizeof text, MSG_DONTWAIT) > 0) continue;
        if (device_hung_up(&device)) {
            device_close(&device);
            device_open(&device, WITH_DESCRIPTOR);
            lost++;
        }
        device.heard[0] = 0;
    }
    CHECK_TEXT(device_call(&device, seeds[0]) ? "" : "nothing came", "");
    CHECK(sent >= 100 && lost > 0 && lost < sent);
    device_close(&device);
}

// Answers every connection's first call with something mutated, and hangs up.
static void *answer_mutated(void *context) {
    struct device *device = context;
    char text[8192];
    while (true) {
        int line = accept(device->listener, NULL, NULL);
        if (line < 0) return NULL;
        if (recv(line, text, sizeof text, 0) > 0) {
            size_t length = mutate(seeds[4 + draw(SEEDS - 4)], text, sizeof text);
            send(line, text, length, MSG_NOSIGNAL);
        }
        close(line);
    }
}

static void mutatedReplies(void) {
    struct device device;
    pthread_t thread;
    double end = seconds_now() + seconds_to_spend;
    int asked = 0, right = 0;
    state = 20260102;
    device_open(&device, WITH_DESCRIPTOR);
    need(pthread_create(&thread, NULL, answer_mutated, &device) == 0, "pthread_create");
    for (; asked < 20000 && seconds_now() < end; asked++) {
        struct curfew_state app_state;
        struct curfew_task tasks[2];
        size_t count;
        int result = asked % 2 ? curfew_get_state(device.app, &app_state)
                               : curfew_get_tasks(device.app, tasks, 2, &count);
        CHECK(result <= 0);
        right += result == 0;
    }
    CHECK(asked >= 100 && right > 0 && right < asked);
    shutdown(device.listener, SHUT_RDWR);
    pthread_join(thread, NULL);
    device_close(&device);
}

const struct test fuzz_tests[] = {
    {"mutatedCalls", mutatedCalls},
    {"mutatedReplies", mutatedReplies},
    {NULL, NULL},
};
