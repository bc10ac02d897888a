// Every method of io.curfew.Application, and its replies.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "device.h"

#define BEGIN "{\"method\":\"io.curfew.Application.BeginBackgroundTask\",\"parameters\":"
#define END_TASK "{\"method\":\"io.curfew.Application.EndBackgroundTask\",\"parameters\":{\"identifier\":42}}"
#define REMAINING "{\"method\":\"io.curfew.Application.GetBackgroundTimeRemaining\",\"parameters\":{}}"
#define GET_STATE "{\"method\":\"io.curfew.Application.GetState\",\"parameters\":{}}"
#define FETCH "{\"method\":\"io.curfew.Application.SetMinimumBackgroundFetchInterval\",\"parameters\":"
#define BEGAN "{\"parameters\":{\"identifier\":42,\"timeRemaining\":599.5}}"
#define DONE "{\"parameters\":{}}"

static void everyMethod_isCalled(void) {
    static const struct step steps[] = {
        {ACCEPT, NULL, 0},
        {EXPECT, BEGIN "{\"name\":\"upload\"}}", 0}, {REPLY, BEGAN, 0},
        {EXPECT, BEGIN "{\"name\":\"\\\"a\\\\b\\\" \xc3\xa4\",\"keepAwake\":true,\"processIdentifier\":77,"
                       "\"timeAllowed\":0.250000000}}", 0}, {REPLY, BEGAN, 0},
        {EXPECT, BEGIN "{\"name\":\"\",\"keepAwake\":false}}", 0}, {REPLY, BEGAN, 0},
        {EXPECT, END_TASK, 0}, {REPLY, DONE, 0},
        {EXPECT, REMAINING, 0}, {REPLY, "{\"parameters\":{\"seconds\":12.5}}", 0},
        {EXPECT, REMAINING, 0}, {REPLY, "{\"parameters\":{\"seconds\":null}}", 0},
        {EXPECT, REMAINING, 0}, {REPLY, DONE, 0},
        {EXPECT, FETCH "{\"seconds\":900.000000000}}", 0}, {REPLY, "{\"parameters\":{\"effective\":1800}}", 0},
        {EXPECT, FETCH "{\"seconds\":null}}", 0}, {REPLY, "{\"parameters\":{\"effective\":null}}", 0},
        {EXPECT, FETCH "{\"seconds\":60.000000001}}", 0}, {REPLY, "{\"parameters\":{\"effective\":60}}", 0},
        {END, NULL, 0},
    };
    const struct curfew_task_options awake = {
        .keep_awake = CURFEW_KEEP_AWAKE_YES, .process = 77, .time_allowed = 0.25};
    const struct curfew_task_options asleep = {.keep_awake = CURFEW_KEEP_AWAKE_NO, .time_allowed = INFINITY};
    struct device device;
    int64_t task;
    double seconds;
    device_open(&device, WITH_DESCRIPTOR);
    device_play(&device, steps);
    CHECK_NUMBER(curfew_begin_background_task(device.app, "upload", NULL, &task), 0);
    CHECK_NUMBER(task, 42);
    CHECK_NUMBER(curfew_begin_background_task(device.app, "\"a\\b\" \xc3\xa4", &awake, &task), 0);
    CHECK_NUMBER(curfew_begin_background_task(device.app, "", &asleep, &task), 0);
    CHECK_NUMBER(curfew_end_background_task(device.app, task), 0);
    CHECK_NUMBER(curfew_end_background_task(device.app, 0), 0);
    CHECK_NUMBER(curfew_background_time_remaining(device.app, &seconds), 0);
    CHECK_NUMBER(seconds, 12.5);
    CHECK_NUMBER(curfew_background_time_remaining(device.app, &seconds), 0);
    CHECK_NUMBER(seconds, INFINITY);
    CHECK_NUMBER(curfew_background_time_remaining(device.app, &seconds), 0);
    CHECK_NUMBER(seconds, INFINITY);
    CHECK_NUMBER(curfew_set_minimum_background_fetch_interval(device.app, 900, &seconds), 0);
    CHECK_NUMBER(seconds, 1800);
    CHECK_NUMBER(curfew_set_minimum_background_fetch_interval(device.app, INFINITY, &seconds), 0);
    CHECK_NUMBER(seconds, INFINITY);
    CHECK_NUMBER(curfew_set_minimum_background_fetch_interval(device.app, 60.000000001, NULL), 0);
    device_close(&device);
}

static const char state_reply[] =
    "{\"parameters\":{\"state\":{\"app\":\"camera\",\"scenePhase\":\"background\",\"taskState\":\"terminating\","
    "\"backgroundTimeRemaining\":7.25,\"backgroundRefreshStatus\":\"restricted\",\"lowPowerMode\":true,"
    "\"thermalState\":\"serious\"},\"tasks\":[{\"identifier\":3,\"name\":\"a\\tb\",\"keepAwake\":false,"
    "\"secondsHeld\":1.5},{\"identifier\":4,\"name\":\"c\",\"keepAwake\":true,\"secondsHeld\":0}]}}";

static void theState_isRead(void) {
    static const struct step steps[] = {
        {ACCEPT, NULL, 0}, {EXPECT, GET_STATE, 0}, {REPLY, state_reply, 0}, {EXPECT, GET_STATE, 0},
        {REPLY, state_reply, 0}, {EXPECT, GET_STATE, 0}, {REPLY, state_reply, 0}, {END, NULL, 0}};
    struct device device;
    struct curfew_state state;
    struct curfew_task tasks[CURFEW_TASKS_MAX];
    size_t count;
    device_open(&device, WITH_DESCRIPTOR);
    device_play(&device, steps);
    CHECK_NUMBER(curfew_get_state(device.app, &state), 0);
    CHECK_TEXT(state.app, "camera");
    CHECK_TEXT(curfew_scene_phase_name(state.scene_phase), "background");
    CHECK_TEXT(curfew_task_state_name(state.task_state), "terminating");
    CHECK_NUMBER(state.background_time_remaining, 7.25);
    CHECK_TEXT(curfew_refresh_status_name(state.refresh_status), "restricted");
    CHECK(state.low_power_mode);
    CHECK_TEXT(curfew_thermal_state_name(state.thermal_state), "serious");
    CHECK_NUMBER(curfew_get_tasks(device.app, tasks, CURFEW_TASKS_MAX, &count), 0);
    CHECK_NUMBER(count, 2);
    CHECK_NUMBER(tasks[0].identifier, 3);
    CHECK_TEXT(tasks[0].name, "a\tb");
    CHECK(!tasks[0].keep_awake);
    CHECK_NUMBER(tasks[0].seconds_held, 1.5);
    CHECK_NUMBER(tasks[1].identifier, 4);
    CHECK(tasks[1].keep_awake);
    memset(tasks, 0, sizeof tasks);
    CHECK_NUMBER(curfew_get_tasks(device.app, tasks, 1, &count), 0);
    CHECK_NUMBER(count, 2);
    CHECK_NUMBER(tasks[0].identifier, 3);
    CHECK_NUMBER(tasks[1].identifier, 0);
    device_close(&device);
}

static void errors_areToldApart(void) {
    static const struct {
        const char *reply;
        int error;
        const char *reason;
    } errors[] = {
        {"{\"error\":\"io.curfew.Application.NotAnApp\"}", CURFEW_E_NOT_AN_APP,
         "this process belongs to no app of curfewd's; try `curfew try -- PROGRAM`"},
        {"{\"error\":\"io.curfew.Application.BackgroundTimeDenied\",\"parameters\":{\"reason\":\"the budget is "
         "spent\"}}", CURFEW_E_DENIED, "the budget is spent"},
        {"{\"error\":\"io.curfew.Application.TooManyBackgroundTasks\",\"parameters\":{\"limit\":64}}",
         CURFEW_E_TOO_MANY, "the app holds as many background tasks as it may; end some"},
        {"{\"error\":\"io.curfew.Application.NoSuchBackgroundTask\",\"parameters\":{\"identifier\":42}}",
         CURFEW_E_NO_SUCH_TASK, "the app holds no such background task; it has ended or expired"},
        {"{\"error\":\"org.varlink.service.InvalidParameter\",\"parameters\":{\"parameter\":\"name\"}}", -EINVAL,
         "name"},
        {"{\"error\":\"org.varlink.service.MethodNotImplemented\",\"parameters\":{\"method\":\"x\"}}",
         CURFEW_E_NOT_KNOWN, "curfewd does not know this call; it is older than the program"},
        {"{\"error\":\"org.example.Oops\",\"parameters\":{}}", -EPROTO, "org.example.Oops"},
        {"{\"error\":7}", -EPROTO, "curfewd's reply makes no sense; do curfewd and the program fit?"},
        {"{\"parameters\":7}", -EPROTO, "curfewd's reply makes no sense; do curfewd and the program fit?"},
        {"{\"parameters\":{\"identifier\":\"1\"}}", -EPROTO,
         "curfewd's reply makes no sense; do curfewd and the program fit?"},
        {"", -EPROTO, "curfewd's reply makes no sense; do curfewd and the program fit?"},
    };
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        const struct step steps[] = {
            {ACCEPT, NULL, 0}, {EXPECT, BEGIN "{\"name\":\"a\"}}", 0}, {REPLY, errors[i].reply, 0}, {END, NULL, 0}};
        struct device device;
        char reason[256];
        int64_t task = 7;
        device_open(&device, WITH_DESCRIPTOR);
        device_play(&device, steps);
        CHECK_NUMBER(curfew_begin_background_task(device.app, "a", NULL, &task), errors[i].error);
        CHECK_NUMBER(task, 0);
        CHECK_TEXT(curfew_last_reason(device.app, reason, sizeof reason), errors[i].reason);
        device_close(&device);
    }
}

static void aReason_isCutBetweenCharacters(void) {
    char text[2000] = "{\"error\":\"io.curfew.Application.BackgroundTimeDenied\",\"parameters\":{\"reason\":\"";
    for (int i = 0; i < 200; i++) strcat(text, "\xc3\xa4");
    strcat(text, "\"}}");
    const struct step steps[] = {
        {ACCEPT, NULL, 0}, {EXPECT, END_TASK, 0}, {REPLY, text, 0}, {END, NULL, 0}};
    struct device device;
    char reason[512];
    device_open(&device, WITH_DESCRIPTOR);
    device_play(&device, steps);
    CHECK_NUMBER(curfew_end_background_task(device.app, 42), CURFEW_E_DENIED);
    CHECK_NUMBER(strlen(curfew_last_reason(device.app, reason, sizeof reason)), 254);
    CHECK_TEXT(curfew_last_reason(device.app, reason, 4), "\xc3\xa4");
    CHECK_TEXT(curfew_last_reason(device.app, reason, 1), "");
    curfew_last_reason(device.app, NULL, 0);
    device_close(&device);
}

static void namesAndNumbers_areCheckedHere(void) {
    struct device device;
    char name[300];
    int64_t task;
    const struct curfew_task_options none = {.time_allowed = NAN}, below = {.process = -1};
    device_open(&device, WITH_DESCRIPTOR);  // no device answers: nothing may be asked
    memset(name, 'x', sizeof name);
    name[256] = 0;
    CHECK_NUMBER(curfew_begin_background_task(device.app, name, NULL, &task), -EINVAL);
    name[254] = (char)0xc3;
    name[255] = (char)0xa4;
    CHECK_NUMBER(curfew_begin_background_task(device.app, name, NULL, &task), -EINVAL);
    CHECK_NUMBER(curfew_begin_background_task(device.app, NULL, NULL, &task), -EINVAL);
    CHECK_NUMBER(curfew_begin_background_task(device.app, "a\nb", NULL, &task), -EINVAL);
    CHECK_NUMBER(curfew_begin_background_task(device.app, "\x7f", NULL, &task), -EINVAL);
    CHECK_NUMBER(curfew_begin_background_task(device.app, "a\xc3", NULL, &task), -EINVAL);
    CHECK_NUMBER(curfew_begin_background_task(device.app, "a", &none, &task), -EINVAL);
    CHECK_NUMBER(curfew_begin_background_task(device.app, "a", &below, &task), -EINVAL);
    CHECK_NUMBER(curfew_set_minimum_background_fetch_interval(device.app, NAN, NULL), -EINVAL);
    device_close(&device);

    static char wanted[512];
    name[253] = (char)0xc3;
    name[254] = (char)0xa4;
    name[255] = 0;
    snprintf(wanted, sizeof wanted, BEGIN "{\"name\":\"%s\"}}", name);
    const struct step steps[] = {{ACCEPT, NULL, 0}, {EXPECT, wanted, 0}, {REPLY, BEGAN, 0}, {END, NULL, 0}};
    device_open(&device, WITH_DESCRIPTOR);
    device_play(&device, steps);
    CHECK_NUMBER(curfew_begin_background_task(device.app, name, NULL, &task), 0);
    device_close(&device);
}

static void states_thatMakeNoSense(void) {
    static const char *const replies[] = {
        "{\"parameters\":{}}", "{\"parameters\":{\"state\":7,\"tasks\":{}}}",
        "{\"parameters\":{\"state\":{\"app\":\"a\",\"scenePhase\":\"x\",\"taskState\":\"running\","
        "\"backgroundRefreshStatus\":\"denied\",\"lowPowerMode\":true,\"thermalState\":\"fair\"},\"tasks\":[7]}}",
        "{\"parameters\":{\"state\":{\"app\":\"a\",\"scenePhase\":null,\"taskState\":\"running\","
        "\"backgroundRefreshStatus\":\"denied\",\"lowPowerMode\":\"x\",\"thermalState\":\"fair\"},"
        "\"tasks\":[{\"identifier\":1}]}}",
    };
    for (size_t i = 0; i < sizeof replies / sizeof *replies; i++) {
        const struct step steps[] = {
            {ACCEPT, NULL, 0}, {EXPECT, GET_STATE, 0}, {REPLY, replies[i], 0}, {EXPECT, GET_STATE, 0},
            {REPLY, replies[i], 0}, {END, NULL, 0}};
        struct device device;
        struct curfew_state state;
        struct curfew_task task;
        size_t count = 7;
        device_open(&device, WITH_DESCRIPTOR);
        device_play(&device, steps);
        CHECK_NUMBER(curfew_get_state(device.app, &state), -EPROTO);
        CHECK_NUMBER(curfew_get_tasks(device.app, &task, 1, &count), -EPROTO);
        CHECK_NUMBER(count, 0);
        device_close(&device);
    }
}

static void ask_in_handler(struct device *device) {
    int64_t task = 0;
    double seconds;
    CHECK_NUMBER(curfew_begin_background_task(device->app, "a", NULL, &task), 0);
    CHECK_NUMBER(curfew_background_time_remaining(device->app, &seconds), 0);
    CHECK_NUMBER(curfew_end_background_task(device->app, task), 0);
}

static void handlers_mayAsk(void) {
    static const struct step steps[] = {
        {ACCEPT, NULL, 0},
        {EXPECT, BEGIN "{\"name\":\"a\"}}", 0}, {REPLY, BEGAN, 0},
        {EXPECT, REMAINING, 0}, {REPLY, "{\"parameters\":{\"seconds\":12.5}}", 0},
        {EXPECT, END_TASK, 0}, {REPLY, DONE, 0}, {END, NULL, 0}};
    struct device device;
    device_open(&device, WITH_DESCRIPTOR);
    device.in_handler = ask_in_handler;
    device_play(&device, steps);
    CHECK_TEXT(device_call(&device, "{\"method\":\"io.curfew.Delegate.DidEnterBackground\",\"parameters\":"
                                    "{\"deadline\":5}}"), DONE);
    device_close(&device);
}

const struct test application_tests[] = {
    {"everyMethod_isCalled", everyMethod_isCalled},
    {"theState_isRead", theState_isRead},
    {"errors_areToldApart", errors_areToldApart},
    {"aReason_isCutBetweenCharacters", aReason_isCutBetweenCharacters},
    {"namesAndNumbers_areCheckedHere", namesAndNumbers_areCheckedHere},
    {"states_thatMakeNoSense", states_thatMakeNoSense},
    {"handlers_mayAsk", handlers_mayAsk},
    {NULL, NULL},
};
