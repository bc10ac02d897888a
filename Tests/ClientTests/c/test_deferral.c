// CURFEW_LATER and curfew_handled(), and the end of the loop.
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "device.h"

#define HANDLED "{\"parameters\":{}}"
#define ENTER "{\"method\":\"io.curfew.Delegate.DidEnterBackground\",\"parameters\":{\"deadline\":5}}"
#define FOREGROUND "{\"method\":\"io.curfew.Delegate.WillEnterForeground\",\"parameters\":{\"deadline\":5}}"
#define FETCH "{\"method\":\"io.curfew.Delegate.PerformFetch\",\"parameters\":{\"deadline\":30}}"
#define TERMINATE \
    "{\"method\":\"io.curfew.Delegate.WillTerminate\",\"parameters\":{\"reason\":\"user\",\"deadline\":5}}"
#define WARNING \
    "{\"method\":\"io.curfew.Delegate.DidReceiveMemoryWarning\",\"parameters\":{\"level\":\"warning\"},\"oneway\":true}"

static void later_isAnsweredByHandled(void) {
    struct device device;
    device_open(&device, WITH_DESCRIPTOR);
    CHECK_NUMBER(curfew_handled(device.app, CURFEW_HANDLED), CURFEW_E_NO_CALL);
    device.answer = CURFEW_LATER;
    CHECK_TEXT(device_call(&device, ENTER), NULL);
    CHECK_TEXT(device_heard(&device), "DidEnterBackground 5\n");
    CHECK_NUMBER(curfew_handled(device.app, CURFEW_LATER), -EINVAL);
    CHECK_NUMBER(curfew_handled(device.app, CURFEW_HANDLED), 0);
    CHECK_TEXT(device_receive(&device), HANDLED);
    CHECK_NUMBER(curfew_handled(device.app, CURFEW_HANDLED), CURFEW_E_NO_CALL);
    CHECK_TEXT(device_call(&device, FETCH), NULL);
    CHECK_NUMBER(curfew_handled(device.app, CURFEW_NEW_DATA), 0);
    CHECK_TEXT(device_receive(&device), "{\"parameters\":{\"result\":\"newData\"}}");
    device_close(&device);
}

static void later_holdsBackOtherCalls_butNotInformation(void) {
    struct device device;
    device_open(&device, WITH_DESCRIPTOR);
    device.answer = CURFEW_LATER;
    CHECK_TEXT(device_call(&device, ENTER), NULL);
    device_send(&device, WARNING);
    device_send(&device, FOREGROUND);
    device_send(&device, WARNING);
    CHECK_TEXT(device_receive(&device), NULL);
    CHECK_TEXT(device_heard(&device), "DidEnterBackground 5\nDidReceiveMemoryWarning warning\n");
    // A message that has to wait does not keep the poll loop busy.
    struct pollfd entry = {.fd = curfew_fd(device.app), .events = POLLIN};
    CHECK_NUMBER(poll(&entry, 1, 0), 0);
    device.answer = CURFEW_HANDLED;
    CHECK_NUMBER(curfew_handled(device.app, CURFEW_HANDLED), 0);
    CHECK_NUMBER(poll(&entry, 1, 0), 1);
    CHECK_TEXT(device_receive(&device), HANDLED);
    CHECK_TEXT(device_receive(&device), HANDLED);
    CHECK_TEXT(device_heard(&device), "WillEnterForeground 5\nDidReceiveMemoryWarning warning\n");
    device_close(&device);
}

static void answer_in_handler(struct device *device) {
    CHECK_NUMBER(curfew_handled(device->app, CURFEW_FAILED), 0);
    CHECK_NUMBER(curfew_handled(device->app, CURFEW_HANDLED), CURFEW_E_NO_CALL);
}

static void handled_beforeTheHandlerReturns(void) {
    struct device device;
    device_open(&device, WITH_DESCRIPTOR);
    device.in_handler = answer_in_handler;
    device.answer = CURFEW_LATER;
    CHECK_TEXT(device_call(&device, FETCH), "{\"parameters\":{\"result\":\"failed\"}}");
    device.in_handler = NULL;
    device.answer = CURFEW_HANDLED;
    CHECK_TEXT(device_call(&device, ENTER), HANDLED);
    device_close(&device);
}

static void handled_whenItIsNotRead(void) {
    struct device device;
    device_open(&device, WITH_DESCRIPTOR);
    device.answer = CURFEW_LATER;
    CHECK_TEXT(device_call(&device, ENTER), NULL);
    close(device.far);
    device.far = -1;
    CHECK_NUMBER(curfew_handled(device.app, CURFEW_HANDLED), 0);  // and no SIGPIPE
    CHECK_NUMBER(curfew_dispatch(device.app), 1);
    CHECK_CONTAINS(device_heard(&device), "it was closed");
    device_close(&device);
}

static bool has_said_connected(struct device *device) { return strstr(device->heard, "connected to curfewd"); }
static bool has_come_to_front(struct device *device) { return strstr(device->heard, "WillEnterForeground"); }

static void handled_afterTheConnectionWasLost(void) {
    static const struct step attaching[] = {
        {ACCEPT, NULL, 0},
        {EXPECT, "{\"method\":\"io.curfew.Application.AttachDelegate\",\"upgrade\":true}", 0},
        {REPLY, "{\"parameters\":{}}", 0},
        {REPLY, FOREGROUND, 0},
        {END, NULL, 0},
    };
    struct device device;
    device_open(&device, WITH_DESCRIPTOR);
    device.answer = CURFEW_LATER;
    CHECK_TEXT(device_call(&device, ENTER), NULL);
    close(device.far);
    device.far = -1;
    device_play(&device, attaching);
    CHECK(device_dispatch_until(&device, has_said_connected));
    device_finish(&device);
    device_dispatch(&device);
    // Handlers never overlap, not even over two connections; and what is answered late goes to neither.
    CHECK(!has_come_to_front(&device));
    device.answer = CURFEW_HANDLED;
    CHECK_NUMBER(curfew_handled(device.app, CURFEW_HANDLED), 0);
    CHECK(device_dispatch_until(&device, has_come_to_front));
    CHECK_TEXT(device_receive(&device), HANDLED);
    CHECK_TEXT(device_receive(&device), NULL);
    device_close(&device);
}

static void dispatch_in_handler(struct device *device) {
    CHECK_NUMBER(curfew_dispatch(device->app), 1);
}

static void dispatch_inAHandler_doesNothing(void) {
    struct device device;
    device_open(&device, WITH_DESCRIPTOR);
    device.in_handler = dispatch_in_handler;
    device_send(&device, WARNING);
    CHECK_TEXT(device_call(&device, ENTER), HANDLED);
    CHECK_TEXT(device_heard(&device), "DidReceiveMemoryWarning warning\nDidEnterBackground 5\n");
    device_close(&device);
}

static void run_endsAfterWillTerminate(void) {
    struct device device;
    device_open(&device, WITH_DESCRIPTOR);
    device_send(&device, ENTER);
    device_send(&device, TERMINATE);
    CHECK_NUMBER(curfew_run(device.app), 0);
    CHECK_TEXT(device_receive(&device), HANDLED);
    CHECK_TEXT(device_receive(&device), HANDLED);
    CHECK_TEXT(device_heard(&device), "DidEnterBackground 5\nWillTerminate user 5\n");
    device_close(&device);
}

static void willTerminate_later_endsWhenHandled(void) {
    struct device device;
    device_open(&device, WITH_DESCRIPTOR);
    device.answer = CURFEW_LATER;
    CHECK_TEXT(device_call(&device, TERMINATE), NULL);
    CHECK_NUMBER(curfew_dispatch(device.app), 1);
    CHECK_NUMBER(curfew_handled(device.app, CURFEW_HANDLED), 0);
    CHECK_NUMBER(curfew_dispatch(device.app), 0);
    CHECK_TEXT(device_receive(&device), HANDLED);
    device_close(&device);
}

static void stop_in_handler(struct device *device) { curfew_stop(device->app); }

static void stop_endsRun(void) {
    struct device device;
    device_open(&device, WITH_DESCRIPTOR);
    device.in_handler = stop_in_handler;
    device_send(&device, ENTER);
    CHECK_NUMBER(curfew_run(device.app), 0);
    CHECK_TEXT(device_receive(&device), HANDLED);
    CHECK_NUMBER(curfew_run(device.app), 0);
    // Other threads that poll have to hear of it, too.
    struct pollfd entry = {.fd = curfew_fd(device.app), .events = POLLIN};
    CHECK_NUMBER(poll(&entry, 1, 0), 1);
    device_close(&device);
}

static void repliesThatAreNotRead_holdBackCalls(void) {
    static const char ask[] =
        "{\"method\":\"org.varlink.service.GetInterfaceDescription\",\"parameters\":"
        "{\"interface\":\"io.curfew.Delegate\"}}";
    struct device device;
    int asked = 0, answered = 0, full = 0;
    device_open(&device, WITH_DESCRIPTOR);
    while (full < 2) {
        if (send(device.far, ask, sizeof ask, MSG_DONTWAIT) == sizeof ask) {
            asked++;
            full = 0;
        } else {
            full++;
            device_dispatch(&device);
        }
    }
    struct pollfd entry = {.fd = curfew_fd(device.app), .events = POLLIN};
    CHECK_NUMBER(poll(&entry, 1, 0), 0);
    for (const char *reply; (reply = device_receive(&device)); answered++) CHECK_CONTAINS(reply, "interface io.curfew");
    CHECK_NUMBER(answered, asked);
    CHECK(asked > 100);
    device_close(&device);
}

const struct test deferral_tests[] = {
    {"later_isAnsweredByHandled", later_isAnsweredByHandled},
    {"later_holdsBackOtherCalls_butNotInformation", later_holdsBackOtherCalls_butNotInformation},
    {"handled_beforeTheHandlerReturns", handled_beforeTheHandlerReturns},
    {"handled_whenItIsNotRead", handled_whenItIsNotRead},
    {"handled_afterTheConnectionWasLost", handled_afterTheConnectionWasLost},
    {"dispatch_inAHandler_doesNothing", dispatch_inAHandler_doesNothing},
    {"run_endsAfterWillTerminate", run_endsAfterWillTerminate},
    {"willTerminate_later_endsWhenHandled", willTerminate_later_endsWhenHandled},
    {"stop_endsRun", stop_endsRun},
    {"repliesThatAreNotRead_holdBackCalls", repliesThatAreNotRead_holdBackCalls},
    {NULL, NULL},
};
