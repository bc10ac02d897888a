// What can go wrong with a connection on which the app asks.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "device.h"

#define END_TASK "{\"method\":\"io.curfew.Application.EndBackgroundTask\",\"parameters\":{\"identifier\":42}}"
#define REMAINING "{\"method\":\"io.curfew.Application.GetBackgroundTimeRemaining\",\"parameters\":{}}"
#define DONE "{\"parameters\":{}}"

static void noServer(void) {
    struct device device;
    double seconds;
    device_open(&device, WITH_DESCRIPTOR);
    close(device.listener);
    CHECK_NUMBER(curfew_background_time_remaining(device.app, &seconds), -ECONNREFUSED);
    CHECK_NUMBER(seconds, 0);
    unlink(device.path);
    CHECK_NUMBER(curfew_background_time_remaining(device.app, &seconds), -ENOENT);
    device.listener = -1;
    device_close(&device);
}

static void aConnectionLostBetweenCalls_isOpenedAnew(void) {
    static const struct step steps[] = {
        {ACCEPT, NULL, 0}, {EXPECT, END_TASK, 0}, {REPLY, DONE, 0}, {HANG_UP, NULL, 0}, {END, NULL, 0}};
    struct device device;
    device_open(&device, WITH_DESCRIPTOR);
    for (int i = 0; i < 3; i++) {
        device_play(&device, steps);
        CHECK_NUMBER(curfew_end_background_task(device.app, 42), 0);
        device_finish(&device);
    }
    device_close(&device);
}

static void aConnectionThatTakesNoCall_isOpenedAnew(void) {
    static const struct step refusing[] = {
        {ACCEPT, NULL, 0}, {EXPECT, END_TASK, 0}, {REFUSE, NULL, 0}, {REPLY, DONE, 0}, {WAIT, NULL, 0},
        {ACCEPT, NULL, 0}, {EXPECT, END_TASK, 0}, {REPLY, DONE, 0}, {END, NULL, 0}};
    struct device device;
    device_open(&device, WITH_DESCRIPTOR);
    device_play(&device, refusing);
    CHECK_NUMBER(curfew_end_background_task(device.app, 42), 0);
    CHECK_NUMBER(curfew_end_background_task(device.app, 42), 0);
    device_close(&device);
}

static void aReplyThatWasNotAskedFor_answersNoCall(void) {
    static const struct step steps[] = {
        {ACCEPT, NULL, 0}, {EXPECT, END_TASK, 0}, {REPLY, DONE, 0}, {PAUSE, NULL, 0},
        {REPLY, "{\"parameters\":{\"seconds\":1}}", 0}, {PAUSE, NULL, 0}, {WAIT, NULL, 0},
        {ACCEPT, NULL, 0}, {EXPECT, REMAINING, 0}, {REPLY, "{\"parameters\":{\"seconds\":2}}", 0}, {END, NULL, 0}};
    struct device device;
    double seconds;
    device_open(&device, WITH_DESCRIPTOR);
    device_play(&device, steps);
    CHECK_NUMBER(curfew_end_background_task(device.app, 42), 0);
    device_resume(&device);
    device_resume(&device);
    CHECK_NUMBER(curfew_background_time_remaining(device.app, &seconds), 0);
    CHECK_NUMBER(seconds, 2);
    device_close(&device);
}

static void aConnectionLostInACall_isSaid(void) {
    static const struct step steps[] = {
        {ACCEPT, NULL, 0}, {EXPECT, END_TASK, 0}, {HANG_UP, NULL, 0},
        {ACCEPT, NULL, 0}, {EXPECT, END_TASK, 0}, {RAW, "{\"para", 6}, {HANG_UP, NULL, 0},
        {ACCEPT, NULL, 0}, {EXPECT, END_TASK, 0}, {REPLY, DONE, 0}, {END, NULL, 0}};
    struct device device;
    device_open(&device, WITH_DESCRIPTOR);
    device_play(&device, steps);
    CHECK_NUMBER(curfew_end_background_task(device.app, 42), CURFEW_E_LOST);
    CHECK_NUMBER(curfew_end_background_task(device.app, 42), CURFEW_E_LOST);
    CHECK_NUMBER(curfew_end_background_task(device.app, 42), 0);
    device_close(&device);
}

static void aReplyThatNeverComes_isNotWaitedForForEver(void) {
    static const struct step steps[] = {
        {ACCEPT, NULL, 0}, {EXPECT, END_TASK, 0}, {RAW, "{", 1}, {WAIT, NULL, 0},
        {ACCEPT, NULL, 0}, {EXPECT, END_TASK, 0}, {REPLY, DONE, 0}, {END, NULL, 0}};
    struct device device;
    device_open(&device, WITH_DESCRIPTOR);
    device_play(&device, steps);
    double before = seconds_now();
    CHECK_NUMBER(curfew_end_background_task(device.app, 42), CURFEW_E_LOST);
    double passed = seconds_now() - before;
    CHECK(passed >= CURFEW_PATIENCE && passed < CURFEW_PATIENCE + 5);
    CHECK_NUMBER(curfew_end_background_task(device.app, 42), 0);
    device_close(&device);
}

static void replies_comeAsTheyLike(void) {
    static char large[1 << 20], too_large[(1 << 20) + 100];
    memset(large, ' ', sizeof large);
    memcpy(large, DONE, strlen(DONE));
    large[sizeof large - 1] = 0;
    memset(too_large, ' ', sizeof too_large);
    static const struct step steps[] = {
        {ACCEPT, NULL, 0},
        {EXPECT, END_TASK, 0}, {RAW, "{", 1}, {RAW, "\"parameters\"", 12}, {RAW, ":{}}", 5},
        {EXPECT, END_TASK, 0}, {RAW, large, sizeof large},
        {EXPECT, END_TASK, 0}, {RAW, DONE "\0" DONE, 2 * sizeof DONE}, {WAIT, NULL, 0},
        {ACCEPT, NULL, 0}, {EXPECT, END_TASK, 0}, {RAW, too_large, sizeof too_large},
        {ACCEPT, NULL, 0}, {EXPECT, END_TASK, 0}, {REPLY, "[]", 0}, {WAIT, NULL, 0},
        {END, NULL, 0}};
    struct device device;
    device_open(&device, WITH_DESCRIPTOR);
    device_play(&device, steps);
    CHECK_NUMBER(curfew_end_background_task(device.app, 42), 0);
    CHECK_NUMBER(curfew_end_background_task(device.app, 42), 0);
    CHECK_NUMBER(curfew_end_background_task(device.app, 42), -EPROTO);
    CHECK_NUMBER(curfew_end_background_task(device.app, 42), -EPROTO);
    CHECK_NUMBER(curfew_end_background_task(device.app, 42), -EPROTO);
    device_close(&device);
}

static volatile sig_atomic_t alarms;

static void count_alarm(int number) {
    (void)number;
    alarms++;
}

static void signals_doNotDisturb(void) {
    static const struct step steps[] = {
        {ACCEPT, NULL, 0}, {EXPECT, END_TASK, 0}, {RAW, "{", 1}, {WAIT, NULL, 0},
        {ACCEPT, NULL, 0}, {EXPECT, END_TASK, 0}, {REPLY, DONE, 0}, {END, NULL, 0}};
    struct sigaction action = {.sa_handler = count_alarm}, old;
    struct itimerval often = {.it_interval.tv_usec = 2000, .it_value.tv_usec = 2000}, never = {.it_value.tv_sec = 0};
    struct device device;
    sigset_t alarm, before;
    device_open(&device, WITH_DESCRIPTOR);
    // The signals are for this thread, which asks.
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm, &before);
    device_play(&device, steps);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    sigaction(SIGALRM, &action, &old);
    setitimer(ITIMER_REAL, &often, NULL);
    double start = seconds_now();
    CHECK_NUMBER(curfew_end_background_task(device.app, 42), CURFEW_E_LOST);
    CHECK(seconds_now() - start < CURFEW_PATIENCE + 5);
    CHECK_NUMBER(curfew_end_background_task(device.app, 42), 0);
    CHECK(alarms > 10);
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &old, NULL);
    device_close(&device);
}

const struct test failure_tests[] = {
    {"noServer", noServer},
    {"aConnectionLostBetweenCalls_isOpenedAnew", aConnectionLostBetweenCalls_isOpenedAnew},
    {"aConnectionThatTakesNoCall_isOpenedAnew", aConnectionThatTakesNoCall_isOpenedAnew},
    {"aReplyThatWasNotAskedFor_answersNoCall", aReplyThatWasNotAskedFor_answersNoCall},
    {"aConnectionLostInACall_isSaid", aConnectionLostInACall_isSaid},
    {"aReplyThatNeverComes_isNotWaitedForForEver", aReplyThatNeverComes_isNotWaitedForForEver},
    {"replies_comeAsTheyLike", replies_comeAsTheyLike},
    {"signals_doNotDisturb", signals_doNotDisturb},
    {NULL, NULL},
};
