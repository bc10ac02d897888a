// A played device: the far end of an app's connections, and an app that writes down what it hears.
#pragma once
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>

#include "check.h"
#include "curfew.h"

// What the device does with one connection or message to its Application socket, in order.
struct step {
    enum {
        END,
        ACCEPT,   // takes the next connection, and closes the one before
        EXPECT,   // reads a message, which must be `text`
        REPLY,    // sends `text` and a NUL
        RAW,      // sends `count` bytes of `text`
        HANG_UP,  // closes the connection
        WAIT,     // until the app closes it
        PAUSE,    // until device_resume()
        REFUSE,   // reads no more: what the app sends next is not taken
    } kind;
    const char *text;
    size_t count;
};

struct device {
    struct curfew *app;
    int far;       // our end of the app's delegate connection, -1 when there is none
    int listener;  // the Application socket
    char path[108];
    char heard[4096];        // a line for each handler that was called, and for each message
    enum curfew_answer answer;  // what the handlers return
    void (*in_handler)(struct device *);  // is called by each handler
    pthread_t thread;
    sem_t paused, resumed;
    bool playing;
    const struct step *steps;
    char complaint[2048];  // what was not as the steps say
};

enum { WITH_DESCRIPTOR = 1, WITHOUT_DESCRIPTOR = 0 };

// Opens an app with all handlers, as curfewd would have started it: "camera", for the reason "boot".
void device_open(struct device *device, int how);
// The same with a delegate of the test's own; NULL for none.
void device_open_with(struct device *device, int how, const struct curfew_delegate *delegate);
void device_close(struct device *device);

// Plays the steps in a thread of its own; device_finish() waits for their end and checks that all went as they say.
void device_play(struct device *device, const struct step *steps);
void device_finish(struct device *device);
// Waits until the device has come to its next PAUSE, and has it go on.
void device_resume(struct device *device);

// The delegate connection. The calls return what the app answered, NULL when it has not or has hung up.
void device_send(struct device *device, const char *text);
void device_send_bytes(struct device *device, const void *bytes, size_t count);
const char *device_call(struct device *device, const char *text);
const char *device_receive(struct device *device);
// Dispatches as often as there is something to do; once when the app is to end.
void device_dispatch(struct device *device);
// Dispatches until `condition` is true; false when that takes longer than ten seconds.
bool device_dispatch_until(struct device *device, bool (*condition)(struct device *));
bool device_hung_up(struct device *device);

// Adds a line to what was heard.
void device_note(struct device *device, const char *format, ...) __attribute__((format(printf, 2, 3)));
// What was heard since the last time.
const char *device_heard(struct device *device);

// All handlers; the context is a device.
extern const struct curfew_delegate noting_delegate;

double seconds_now(void);
