// What is JSON and what is not, and the locale.
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"

static void malformed_closesTheConnection(void) {
    static const char *const malformed[] = {
        "", " ", "{", "}", "{}", "[]", "null", "7", "\"method\"", "{\"method\":7}", "{\"method\":null}", "{\"method\"}",
        "{method:\"a.b\"}", "{\"method\":\"a.b\",}", "{\"method\":\"a.b\"}}", "{\"method\":\"a.b\"} x",
        "{\"method\":\"a.b\"}{}", "{\"method\":'a.b'}", "{\"method\":\"a.b\" \"x\":1}", "{\"method\":\"a.b\",\"x\":}",
        "{\"method\":\"a.b\",\"x\":[1,]}", "{\"method\":\"a.b\",\"x\":[,]}", "{\"method\":\"a.b\",\"x\":[1 2]}",
        "{\"method\":\"a.b\",\"x\":[1}", "{\"method\":\"a.b\",\"x\":{]}", "{\"method\":\"a.b\",\"x\":01}",
        "{\"method\":\"a.b\",\"x\":+1}", "{\"method\":\"a.b\",\"x\":-}", "{\"method\":\"a.b\",\"x\":1.}",
        "{\"method\":\"a.b\",\"x\":.5}", "{\"method\":\"a.b\",\"x\":1e}", "{\"method\":\"a.b\",\"x\":1e+}",
        "{\"method\":\"a.b\",\"x\":0x10}", "{\"method\":\"a.b\",\"x\":1,5}", "{\"method\":\"a.b\",\"x\":NaN}",
        "{\"method\":\"a.b\",\"x\":Infinity}", "{\"method\":\"a.b\",\"x\":tru}", "{\"method\":\"a.b\",\"x\":True}",
        "{\"method\":\"a.b\",\"x\":nul", "{\"method\":\"a.b\",\"x\":\"", "{\"method\":\"a.b\",\"x\":\"\\",
        "{\"method\":\"a.b\",\"x\":\"\\x\"}", "{\"method\":\"a.b\",\"x\":\"\\u12g4\"}",
        "{\"method\":\"a.b\",\"x\":\"\\u12", "{\"method\":\"a.b\",\"x\":\"\\ud800\"}",
        "{\"method\":\"a.b\",\"x\":\"\\ud800\\n\"}", "{\"method\":\"a.b\",\"x\":\"\\ud800\\ud800\"}",
        "{\"method\":\"a.b\",\"x\":\"\\udc00\"}", "{\"method\":\"a.b\",\"x\":\"a\nb\"}",
        "{\"method\":\"a.b\",\"x\":\"\x1f\"}", "{\"method\":\"a.b\",\"x\":\"\x80\"}",
        "{\"method\":\"a.b\",\"x\":\"\xc3\"}", "{\"method\":\"a.b\",\"x\":\"\xc0\xaf\"}",
        "{\"method\":\"a.b\",\"x\":\"\xc1\x81\"}", "{\"method\":\"a.b\",\"x\":\"\xe0\x80\x80\"}",
        "{\"method\":\"a.b\",\"x\":\"\xed\xa0\x80\"}", "{\"method\":\"a.b\",\"x\":\"\xf0\x80\x80\x80\"}",
        "{\"method\":\"a.b\",\"x\":\"\xf4\x90\x80\x80\"}", "{\"method\":\"a.b\",\"x\":\"\xf5\x80\x80\x80\"}",
        "{\"method\":\"a.b\",\"x\":\"\xff\"}", "{\"method\":\"a.b\",\"x\":\"\xf0\x9f\x98\"}",
        "\xef\xbb\xbf{\"method\":\"a.b\"}", "{\"method\":\"a.b\",\"parameters\":[]}",
        "{\"method\":\"a.b\",\"parameters\":\"\"}", "{\"method\":\"a.b\",\"oneway\":1}", "{\"parameters\":{}}",
        "{\"method\":\"a\\u0000b\"}",
    };
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++) {
        struct device device;
        device_open(&device, WITH_DESCRIPTOR);
        device_send(&device, malformed[i]);
        if (!CHECK(device_hung_up(&device))) printf("after %s\n", malformed[i]);
        CHECK_TEXT(device_heard(&device), "message: no connection to curfewd for the handlers' calls: a message came "
                                          "that is not Varlink; trying again\n");
        device_close(&device);
    }
}

static void unusualButRight_isTaken(void) {
    static const char *const right[] = {
        " \t\r\n{ \"method\" : \"io.curfew.Delegate.DidBecomeActive\" , \"parameters\" : { \"deadline\" : 4 } } \n",
        "{\"parameters\":{\"deadline\":4},\"method\":\"io.curfew.Delegate.DidBecomeActive\"}",
        "{\"m\\u0065thod\":\"io.curfew.Delegate.Did\\u0042ecomeActive\",\"parameters\":{\"\\u0064eadline\":4}}",
        "{\"method\":\"a.b\",\"method\":\"io.curfew.Delegate.DidBecomeActive\",\"parameters\":"
        "{\"deadline\":1,\"deadline\":4}}",
        "{\"x\":{\"method\":\"a.b\"},\"method\":\"io.curfew.Delegate.DidBecomeActive\",\"parameters\":"
        "{\"x\":[\"deadline\",{\"deadline\":1}],\"deadline\":4}}",
        "{\"x\":[[],{},null,true,false,-0,1.5e-3,\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"],\"method\":"
        "\"io.curfew.Delegate.DidBecomeActive\",\"parameters\":{\"deadline\":4}}",
        "{\"method\":\"io.curfew.Delegate.DidBecomeActive\",\"oneway\":null,\"more\":true,\"parameters\":"
        "{\"deadline\":4}}",
    };
    struct device device;
    device_open(&device, WITH_DESCRIPTOR);
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        CHECK_TEXT(device_call(&device, right[i]), "{\"parameters\":{}}");
        CHECK_TEXT(device_heard(&device), "DidBecomeActive 4\n");
    }
    device_close(&device);
}

static double heard_number;

static enum curfew_answer keep_deadline(struct curfew *app, double deadline, void *context) {
    (void)app;
    (void)context;
    heard_number = deadline;
    return CURFEW_HANDLED;
}

// What the library makes of a number.
static double number_of(const char *text) {
    const struct curfew_delegate delegate = {.did_become_active = keep_deadline};
    struct device device;
    char call[256];
    device_open_with(&device, WITH_DESCRIPTOR, &delegate);
    heard_number = NAN;
    snprintf(call, sizeof call,
             "{\"method\":\"io.curfew.Delegate.DidBecomeActive\",\"parameters\":{\"deadline\":%s}}", text);
    CHECK_TEXT(device_call(&device, call), "{\"parameters\":{}}");
    device_close(&device);
    return heard_number;
}

static void numbers_areRead(void) {
    CHECK_NUMBER(number_of("0"), 0);
    CHECK_NUMBER(number_of("-0.0"), 0);
    CHECK_NUMBER(number_of("0.1"), 0.1);
    CHECK_NUMBER(number_of("-12.75"), -12.75);
    CHECK_NUMBER(number_of("4.999871234"), 4.999871234);
    CHECK_NUMBER(number_of("1e3"), 1000);
    CHECK_NUMBER(number_of("1E+3"), 1000);
    CHECK_NUMBER(number_of("25e-1"), 2.5);
    CHECK_NUMBER(number_of("9007199254740992"), 9007199254740992.0);
    CHECK_NUMBER(number_of("1e22"), 1e22);
    CHECK_NUMBER(number_of("1e400"), INFINITY);
    CHECK_NUMBER(number_of("-1e400"), -INFINITY);
    CHECK_NUMBER(number_of("1e-400"), 0);
    CHECK_NUMBER(number_of("0e999999999999999999999"), 0);
    CHECK_NUMBER(number_of("1e-999999999999999999999"), 0);
    CHECK_NUMBER(number_of("100000000000000000000000"), 1e23);
    double value = number_of("4.9998712340000001000000");
    CHECK(fabs(value - 4.999871234) < 1e-14);
}

static void numbers_inALocaleWithADecimalComma(void) {
    // `run` makes one, where localedef can.
    if (!setlocale(LC_ALL, "de_DE.UTF-8")) {
        printf("skipped: there is no locale de_DE.UTF-8\n");
        return;
    }
    char text[8];
    snprintf(text, sizeof text, "%.1f", 0.5);
    CHECK_TEXT(text, "0,5");
    CHECK_NUMBER(number_of("4.75"), 4.75);

    static const struct step steps[] = {
        {ACCEPT, NULL, 0},
        {EXPECT, "{\"method\":\"io.curfew.Application.BeginBackgroundTask\",\"parameters\":{\"name\":\"a\","
                 "\"timeAllowed\":2.500000000}}", 0},
        {REPLY, "{\"parameters\":{\"identifier\":1,\"timeRemaining\":1.5}}", 0},
        {END, NULL, 0},
    };
    const struct curfew_task_options options = {.time_allowed = 2.5};
    struct device device;
    int64_t task;
    device_open(&device, WITH_DESCRIPTOR);
    device_play(&device, steps);
    CHECK_NUMBER(curfew_begin_background_task(device.app, "a", &options, &task), 0);
    device_close(&device);
    setlocale(LC_ALL, "C");
}

// A call whose parameters have a string of so many bytes.
static char *long_call(size_t size) {
    static const char head[] =
        "{\"method\":\"io.curfew.Delegate.DidBecomeActive\",\"parameters\":{\"deadline\":4,\"x\":\"";
    static const char tail[] = "\"}}";
    char *text = malloc(size + sizeof head + sizeof tail);
    need(text, "malloc");
    strcpy(text, head);
    memset(text + strlen(head), 'x', size);
    strcpy(text + strlen(head) + size, tail);
    return text;
}

static void aMebibyte_isTheMost(void) {
    struct device device;
    char *empty = long_call(0);
    size_t overhead = strlen(empty);
    char *fits = long_call((1 << 20) - overhead), *does_not = long_call((1 << 20) - overhead + 1);
    device_open(&device, WITH_DESCRIPTOR);
    CHECK_TEXT(device_call(&device, fits), "{\"parameters\":{}}");
    CHECK_TEXT(device_call(&device, fits), "{\"parameters\":{}}");
    CHECK_TEXT(device_heard(&device), "DidBecomeActive 4\nDidBecomeActive 4\n");
    device_send(&device, does_not);
    CHECK(device_hung_up(&device));
    CHECK_CONTAINS(device_heard(&device), "no connection");
    device_close(&device);

    device_open(&device, WITH_DESCRIPTOR);
    for (int i = 0; i < 3; i++) device_send_bytes(&device, does_not, 1 << 19);
    CHECK(device_hung_up(&device));
    CHECK_CONTAINS(device_heard(&device), "a message over 1 MiB came");
    device_close(&device);
    free(empty);
    free(fits);
    free(does_not);
}

static void nested(char *text, size_t depth) {
    // The message and its parameters are two.
    strcpy(text, "{\"method\":\"io.curfew.Delegate.DidBecomeActive\",\"parameters\":{\"deadline\":4,\"x\":");
    size_t length = strlen(text);
    memset(text + length, '[', depth - 2);
    memset(text + length + depth - 2, ']', depth - 2);
    strcpy(text + length + 2 * (depth - 2), "}}");
}

static void sixtyFourLevels_areTheMost(void) {
    struct device device;
    char *text = malloc(1 << 20);
    need(text, "malloc");
    device_open(&device, WITH_DESCRIPTOR);
    nested(text, 64);
    CHECK_TEXT(device_call(&device, text), "{\"parameters\":{}}");
    nested(text, 65);
    device_send(&device, text);
    CHECK(device_hung_up(&device));
    device_close(&device);
    device_open(&device, WITH_DESCRIPTOR);
    nested(text, 400000);
    device_send(&device, text);
    CHECK(device_hung_up(&device));
    device_close(&device);
    free(text);
}

const struct test message_tests[] = {
    {"malformed_closesTheConnection", malformed_closesTheConnection},
    {"unusualButRight_isTaken", unusualButRight_isTaken},
    {"numbers_areRead", numbers_areRead},
    {"numbers_inALocaleWithADecimalComma", numbers_inALocaleWithADecimalComma},
    {"aMebibyte_isTheMost", aMebibyte_isTheMost},
    {"sixtyFourLevels_areTheMost", sixtyFourLevels_areTheMost},
    {NULL, NULL},
};
