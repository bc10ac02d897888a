// Every method of io.curfew.Delegate.
#include <stdio.h>
#include <string.h>

#include "device.h"

#define HANDLED "{\"parameters\":{}}"

static const struct {
    const char *call, *heard, *reply;
} calls[] = {
    {"{\"method\":\"io.curfew.Delegate.DidFinishLaunching\",\"parameters\":{\"reason\":\"boot\",\"deadline\":20.0}}",
     "DidFinishLaunching boot 20\n", HANDLED},
    {"{\"method\":\"io.curfew.Delegate.DidFinishLaunching\",\"parameters\":{\"deadline\":1,\"reason\":\"accessory\"}}",
     "DidFinishLaunching accessory 1\n", HANDLED},
    {"{\"method\":\"io.curfew.Delegate.DidFinishLaunching\",\"parameters\":{\"reason\":\"of 2040\",\"deadline\":1}}",
     "DidFinishLaunching unknown 1\n", HANDLED},
    {"{\"method\":\"io.curfew.Delegate.DidBecomeActive\",\"parameters\":{\"deadline\":10.0}}", "DidBecomeActive 10\n",
     HANDLED},
    {"{\"method\":\"io.curfew.Delegate.WillResignActive\",\"parameters\":{\"deadline\":10.25}}",
     "WillResignActive 10.25\n", HANDLED},
    {"{\"method\":\"io.curfew.Delegate.DidEnterBackground\",\"parameters\":{\"deadline\":5}}", "DidEnterBackground 5\n",
     HANDLED},
    {"{\"method\":\"io.curfew.Delegate.WillEnterForeground\",\"parameters\":{\"deadline\":10}}",
     "WillEnterForeground 10\n", HANDLED},
    {"{\"method\":\"io.curfew.Delegate.BackgroundTaskWillExpire\",\"parameters\":{\"identifier\":9007199254740993,"
     "\"name\":\"upload \\u00e4\\n\\\"x\\\" \\ud83d\\ude00\",\"deadline\":4.5}}",
     "BackgroundTaskWillExpire 9007199254740993 upload \xc3\xa4\n\"x\" \xf0\x9f\x98\x80 4.5\n", HANDLED},
    {"{\"method\":\"io.curfew.Delegate.PerformFetch\",\"parameters\":{\"deadline\":30}}", "PerformFetch 30\n",
     "{\"parameters\":{\"result\":\"noData\"}}"},
    {"{\"method\":\"io.curfew.Delegate.DidReceiveRemoteNotification\",\"parameters\":{\"payload\":"
     "{\"a\":[1,{\"b\":\"}\"}]} ,\"deadline\":30}}",
     "DidReceiveRemoteNotification {\"a\":[1,{\"b\":\"}\"}]} 19 30\n", "{\"parameters\":{\"result\":\"noData\"}}"},
    {"{\"method\":\"io.curfew.Delegate.HandleEventsForBackgroundSession\",\"parameters\":{\"session\":\"maps\","
     "\"deadline\":30}}",
     "HandleEventsForBackgroundSession maps 30\n", HANDLED},
    {"{\"method\":\"io.curfew.Delegate.DidReceiveMemoryWarning\",\"parameters\":{\"level\":\"critical\"},"
     "\"oneway\":true}",
     "DidReceiveMemoryWarning critical\n", NULL},
    {"{\"method\":\"io.curfew.Delegate.PowerStateDidChange\",\"parameters\":{\"externalPower\":true,"
     "\"batteryLevel\":0.5,\"lowPowerMode\":false},\"oneway\":true}",
     "PowerStateDidChange 1 0.5 0\n", NULL},
    {"{\"method\":\"io.curfew.Delegate.PowerStateDidChange\",\"parameters\":{\"externalPower\":false,"
     "\"batteryLevel\":null,\"lowPowerMode\":true},\"oneway\":true}",
     "PowerStateDidChange 0 nan 1\n", NULL},
    {"{\"method\":\"io.curfew.Delegate.ThermalStateDidChange\",\"parameters\":{\"state\":\"serious\"},"
     "\"oneway\":true}",
     "ThermalStateDidChange serious\n", NULL},
    {"{\"method\":\"io.curfew.Delegate.ThermalStateDidChange\",\"parameters\":{\"state\":\"fair\"}}",
     "ThermalStateDidChange fair\n", HANDLED},
    {"{\"method\":\"io.curfew.Delegate.WillTerminate\",\"parameters\":{\"reason\":\"user\",\"deadline\":5}}",
     "WillTerminate user 5\n", HANDLED},
};

static void everyMethod_isHeardAndAnswered(void) {
    struct device device;
    device_open(&device, WITH_DESCRIPTOR);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        CHECK_TEXT(device_call(&device, calls[i].call), calls[i].reply);
        CHECK_TEXT(device_heard(&device), calls[i].heard);
    }
    device_close(&device);
}

static void everyMethod_inOnePiece(void) {
    struct device device;
    char all[8192], heard[4096] = "";
    size_t length = 0;
    device_open(&device, WITH_DESCRIPTOR);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        strcpy(all + length, calls[i].call);
        length += strlen(calls[i].call) + 1;
        strcat(heard, calls[i].heard);
    }
    device_send_bytes(&device, all, length);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (calls[i].reply) CHECK_TEXT(device_receive(&device), calls[i].reply);
    }
    CHECK_TEXT(device_receive(&device), NULL);
    CHECK_TEXT(device_heard(&device), heard);
    device_close(&device);
}

static void everyMethod_byteByByte(void) {
    struct device device;
    device_open(&device, WITH_DESCRIPTOR);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        size_t length = strlen(calls[i].call);
        for (size_t j = 0; j < length; j++) {
            device_send_bytes(&device, calls[i].call + j, 1);
            device_dispatch(&device);
        }
        CHECK_TEXT(device_heard(&device), "");
        device_send_bytes(&device, "", 1);
        CHECK_TEXT(device_receive(&device), calls[i].reply);
        CHECK_TEXT(device_heard(&device), calls[i].heard);
    }
    device_close(&device);
}

static void everyMethod_notImplemented(void) {
    struct device device;
    char wanted[256];
    device_open_with(&device, WITH_DESCRIPTOR, &(struct curfew_delegate){0});
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        const char *name = strstr(calls[i].call, "Delegate.") + 9;
        snprintf(wanted, sizeof wanted,
                 "{\"error\":\"org.varlink.service.MethodNotImplemented\",\"parameters\":"
                 "{\"method\":\"io.curfew.Delegate.%.*s\"}}",
                 (int)strcspn(name, "\""), name);
        CHECK_TEXT(device_call(&device, calls[i].call), calls[i].reply ? wanted : NULL);
    }
    CHECK_NUMBER(curfew_dispatch(device.app), 0);  // WillTerminate counts all the same
    device_close(&device);
}

static void aParameterIsWrong(void) {
    static const char *const wrong[][3] = {
        {"DidFinishLaunching", "{\"deadline\":1}", "reason"},
        {"DidFinishLaunching", "{\"deadline\":1,\"reason\":7}", "reason"},
        {"DidFinishLaunching", "{\"reason\":\"boot\"}", "deadline"},
        {"DidEnterBackground", "{}", "deadline"},
        {"DidEnterBackground", "{\"deadline\":\"5\"}", "deadline"},
        {"WillTerminate", "{\"deadline\":5}", "reason"},
        {"WillTerminate", "{\"deadline\":5,\"reason\":null}", "reason"},
        {"WillTerminate", "{\"deadline\":5,\"reason\":\"a\\u0000b\"}", "reason"},
        {"BackgroundTaskWillExpire", "{\"identifier\":1.5,\"name\":\"a\",\"deadline\":1}", "identifier"},
        {"BackgroundTaskWillExpire", "{\"identifier\":9223372036854775808,\"name\":\"a\",\"deadline\":1}",
         "identifier"},
        {"BackgroundTaskWillExpire", "{\"identifier\":1,\"deadline\":1}", "name"},
        {"DidReceiveRemoteNotification", "{\"payload\":[],\"deadline\":1}", "payload"},
        {"DidReceiveRemoteNotification", "{\"deadline\":1}", "payload"},
        {"HandleEventsForBackgroundSession", "{\"session\":{},\"deadline\":1}", "session"},
        {"DidReceiveMemoryWarning", "{\"level\":\"mild\"}", "level"},
        {"PowerStateDidChange", "{\"externalPower\":1,\"lowPowerMode\":true}", "externalPower"},
        {"PowerStateDidChange", "{\"externalPower\":true,\"batteryLevel\":\"\",\"lowPowerMode\":true}",
         "batteryLevel"},
        {"PowerStateDidChange", "{\"externalPower\":true}", "lowPowerMode"},
        {"ThermalStateDidChange", "{}", "state"},
    };
    struct device device;
    char call[512], reply[512];
    device_open(&device, WITH_DESCRIPTOR);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(call, sizeof call, "{\"method\":\"io.curfew.Delegate.%s\",\"parameters\":%s}", wrong[i][0],
                 wrong[i][1]);
        snprintf(reply, sizeof reply,
                 "{\"error\":\"org.varlink.service.InvalidParameter\",\"parameters\":{\"parameter\":\"%s\"}}",
                 wrong[i][2]);
        CHECK_TEXT(device_call(&device, call), reply);
    }
    CHECK_TEXT(device_heard(&device), "");
    CHECK(!device_hung_up(&device));
    device_close(&device);
}

static void aFetchIsAnsweredWithItsResult(void) {
    static const struct {
        enum curfew_answer answer;
        const char *reply;
    } results[] = {
        {CURFEW_HANDLED, "{\"parameters\":{\"result\":\"noData\"}}"},
        {CURFEW_NEW_DATA, "{\"parameters\":{\"result\":\"newData\"}}"},
        {CURFEW_NO_DATA, "{\"parameters\":{\"result\":\"noData\"}}"},
        {CURFEW_FAILED, "{\"parameters\":{\"result\":\"failed\"}}"},
    };
    struct device device;
    device_open(&device, WITH_DESCRIPTOR);
    for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
        device.answer = results[i].answer;
        CHECK_TEXT(device_call(&device, "{\"method\":\"io.curfew.Delegate.PerformFetch\",\"parameters\":"
                                        "{\"deadline\":30}}"),
                   results[i].reply);
        CHECK_TEXT(device_call(&device, "{\"method\":\"io.curfew.Delegate.DidReceiveRemoteNotification\","
                                        "\"parameters\":{\"payload\":{},\"deadline\":30}}"),
                   results[i].reply);
        CHECK_TEXT(device_call(&device, "{\"method\":\"io.curfew.Delegate.DidBecomeActive\",\"parameters\":"
                                        "{\"deadline\":30}}"),
                   HANDLED);
    }
    device_close(&device);
}

static void theServiceDescribesItself(void) {
    struct device device;
    const char *reply;
    device_open(&device, WITH_DESCRIPTOR);
    reply = device_call(&device, "{\"method\":\"org.varlink.service.GetInfo\"}");
    CHECK_CONTAINS(reply, "\"vendor\":\"Curfew\"");
    CHECK_CONTAINS(reply, "\"interfaces\":[\"org.varlink.service\",\"io.curfew.Delegate\"]");
    reply = device_call(&device, "{\"method\":\"org.varlink.service.GetInterfaceDescription\",\"parameters\":"
                                 "{\"interface\":\"io.curfew.Delegate\"}}");
    CHECK_CONTAINS(reply, "\\u000amethod PerformFetch(deadline: float) -> (result: FetchResult)\\u000a");
    reply = device_call(&device, "{\"method\":\"org.varlink.service.GetInterfaceDescription\",\"parameters\":"
                                 "{\"interface\":\"org.varlink.service\"}}");
    CHECK_CONTAINS(reply, "interface org.varlink.service");
    reply = device_call(&device, "{\"method\":\"org.varlink.service.GetInterfaceDescription\",\"parameters\":"
                                 "{\"interface\":\"a.b\"}}");
    CHECK_CONTAINS(reply, "InvalidParameter");
    CHECK_TEXT(device_call(&device, "{\"method\":\"io.curfew.Delegate.DoWhatIMean\"}"),
               "{\"error\":\"org.varlink.service.MethodNotFound\",\"parameters\":"
               "{\"method\":\"io.curfew.Delegate.DoWhatIMean\"}}");
    CHECK_TEXT(device_call(&device, "{\"method\":\"org.example.ping.Ping\"}"),
               "{\"error\":\"org.varlink.service.InterfaceNotFound\",\"parameters\":"
               "{\"interface\":\"org.example.ping\"}}");
    CHECK_TEXT(device_call(&device, "{\"method\":\"\"}"),
               "{\"error\":\"org.varlink.service.InterfaceNotFound\",\"parameters\":{\"interface\":\"\"}}");
    CHECK_TEXT(device_call(&device, "{\"method\":\"org.example.ping.Ping\",\"oneway\":true}"), NULL);
    CHECK(!device_hung_up(&device));
    device_close(&device);
}

const struct test delegate_tests[] = {
    {"everyMethod_isHeardAndAnswered", everyMethod_isHeardAndAnswered},
    {"everyMethod_inOnePiece", everyMethod_inOnePiece},
    {"everyMethod_byteByByte", everyMethod_byteByByte},
    {"everyMethod_notImplemented", everyMethod_notImplemented},
    {"aParameterIsWrong", aParameterIsWrong},
    {"aFetchIsAnsweredWithItsResult", aFetchIsAnsweredWithItsResult},
    {"theServiceDescribesItself", theServiceDescribesItself},
    {NULL, NULL},
};
