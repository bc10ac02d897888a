// Curfew's client library for apps in C: hear of the app's transitions, and ask for background time.
//
// Four steps to an app:
//   1. Add curfew.h and curfew.c to the program (C11, libc and POSIX threads' mutexes; nothing else).
//   2. Fill in a struct curfew_delegate: a function for each handler that the app needs, NULL for the others.
//   3. curfew_open().
//   4. curfew_run(); or, in a program with a loop of its own, poll curfew_fd() for reading and call curfew_dispatch().
// If you are not sure which handlers you need: save what must not be lost in did_enter_background, stop your tasks in
// background_task_will_expire. examples/uploader.c is a whole app.
//
// Functions return 0 or more when they succeed, and else an error below 0: an errno value (-ENOENT) or one of enum
// curfew_error; curfew_strerror() has the words. Times are seconds, and INFINITY where there is no limit.
//
// The library starts no threads, keeps no global state, raises no SIGPIPE, and leaves no descriptor open over exec.
// Every function but curfew_open() and curfew_close() may be called from any thread, and out of any handler. No lock is
// held while a handler runs. After fork() the child must not use its parent's struct curfew.
//
// Outside Curfew (CURFEW_APP is not set) everything works and nothing happens: handlers are not called, tasks get the
// identifier 0, and background time has no limit. Thus the same program runs on a desk.
#ifndef CURFEW_H
#define CURFEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define CURFEW_VERSION "0.1.0"

#ifdef __cplusplus
extern "C" {
#endif

// An app's side of Curfew.
struct curfew;

enum curfew_error {
    // The process belongs to no app that curfewd supervises.
    CURFEW_E_NOT_AN_APP = -5001,
    // The app holds no such task: it has been ended, or has expired.
    CURFEW_E_NO_SUCH_TASK = -5002,
    // The app holds as many tasks as it may (64).
    CURFEW_E_TOO_MANY = -5003,
    // No background time: the budget is spent, the policy does not allow it, or the app is being ended.
    // curfew_last_reason() says which.
    CURFEW_E_DENIED = -5004,
    // The connection was lost, or curfewd did not answer in time, after the call was sent. Whether it was carried out
    // is not known; curfew_get_tasks() tells.
    CURFEW_E_LOST = -5005,
    // curfewd does not know the call: it is older than this library.
    CURFEW_E_NOT_KNOWN = -5006,
    // curfew_handled(): there is no call to answer.
    CURFEW_E_NO_CALL = -5007,
};

// Why the app was launched. UNKNOWN: outside Curfew, or for a reason that this library does not know.
enum curfew_launch_reason {
    CURFEW_LAUNCH_UNKNOWN,
    CURFEW_LAUNCH_USER,
    CURFEW_LAUNCH_BOOT,
    CURFEW_LAUNCH_RESTART,
    CURFEW_LAUNCH_BACKGROUND_FETCH,
    CURFEW_LAUNCH_REMOTE_NOTIFICATION,
    CURFEW_LAUNCH_BACKGROUND_SESSION,
    CURFEW_LAUNCH_BACKGROUND_TASK,
    CURFEW_LAUNCH_LOCATION,
    CURFEW_LAUNCH_ACCESSORY,
};

enum curfew_scene_phase { CURFEW_SCENE_NONE, CURFEW_SCENE_ACTIVE, CURFEW_SCENE_INACTIVE, CURFEW_SCENE_BACKGROUND };

enum curfew_task_state {
    CURFEW_TASK_NOT_RUNNING,
    CURFEW_TASK_RUNNING,
    CURFEW_TASK_SUSPENDED,
    CURFEW_TASK_TERMINATING,
};

// Background updates: switched off (DENIED), or not now because of low power or the hardware profile (RESTRICTED).
enum curfew_refresh_status { CURFEW_REFRESH_AVAILABLE, CURFEW_REFRESH_DENIED, CURFEW_REFRESH_RESTRICTED };

enum curfew_memory_level { CURFEW_MEMORY_WARNING, CURFEW_MEMORY_CRITICAL };

enum curfew_thermal_state {
    CURFEW_THERMAL_NOMINAL,
    CURFEW_THERMAL_FAIR,
    CURFEW_THERMAL_SERIOUS,
    CURFEW_THERMAL_CRITICAL,
};

// What a handler answers.
enum curfew_answer {
    // It is done.
    CURFEW_HANDLED,
    // It is done, and this is what a background update (perform_fetch, did_receive_remote_notification) brought. A
    // plain CURFEW_HANDLED there means no data; elsewhere these three are as good as CURFEW_HANDLED.
    CURFEW_NEW_DATA,
    CURFEW_NO_DATA,
    CURFEW_FAILED,
    // It is not done when the function returns: the app calls curfew_handled() when it is. The deadline runs on.
    CURFEW_LATER,
};

// The app's handlers. They are called by curfew_dispatch() and curfew_run(), one at a time: while an answer is owed
// (CURFEW_LATER) only the three that inform are called. NULL: the app does not need it.
//
// deadline: seconds from now in which the handler must be done, else the app is killed.
// Strings belong to the library and last until the function returns. context is what curfew_open() was given.
struct curfew_delegate {
    // The process has been started. The phase is inactive, or background after a background launch.
    enum curfew_answer (*did_finish_launching)(
        struct curfew *app, enum curfew_launch_reason reason, double deadline, void *context);
    // The app is in front.
    enum curfew_answer (*did_become_active)(struct curfew *app, double deadline, void *context);
    // The app is about to leave the front: a lock, a lid, another app, or on its way to the background.
    enum curfew_answer (*will_resign_active)(struct curfew *app, double deadline, void *context);
    // Save state now: the app will be frozen, and may be ended without another word. Begin a task to finish something.
    enum curfew_answer (*did_enter_background)(struct curfew *app, double deadline, void *context);
    // The app comes back from the background; did_become_active follows.
    enum curfew_answer (*will_enter_foreground)(struct curfew *app, double deadline, void *context);
    // The app is about to be ended, by SIGTERM when this is done. curfew_dispatch() and curfew_run() then return 0.
    enum curfew_answer (*will_terminate)(struct curfew *app, const char *reason, double deadline, void *context);
    // The expiration handler: end the task now, with curfew_end_background_task().
    enum curfew_answer (*background_task_will_expire)(
        struct curfew *app, int64_t task, const char *name, double deadline, void *context);
    // Get what is new, and answer with what came of it.
    enum curfew_answer (*perform_fetch)(struct curfew *app, double deadline, void *context);
    // payload: a JSON object, as text of `length` bytes with a NUL after it.
    enum curfew_answer (*did_receive_remote_notification)(
        struct curfew *app, const char *payload, size_t length, double deadline, void *context);
    // All transfers of a background session are done.
    enum curfew_answer (*handle_events_for_background_session)(
        struct curfew *app, const char *session, double deadline, void *context);

    // Information; the device does not wait for an answer.
    void (*did_receive_memory_warning)(struct curfew *app, enum curfew_memory_level level, void *context);
    // external_power: also where the board does not say. battery_level: 0 to 1, in steps of 5 %; NAN without a battery.
    // low_power_mode: save energy.
    void (*power_state_did_change)(
        struct curfew *app, bool external_power, double battery_level, bool low_power_mode, void *context);
    // From serious on do less: critical may end the app.
    void (*thermal_state_did_change)(struct curfew *app, enum curfew_thermal_state state, void *context);

    // Not of the device: where the library's own few messages go, one line each without its end: that the app runs
    // outside Curfew, that the connection was lost. NULL: to stderr. A function that does nothing silences them.
    void (*message)(const char *text, void *context);
};

// Makes *app. The delegate is copied. It may be NULL for a process that only asks and does not listen, such as a helper
// of the app's; a second process or struct that listens would take the handlers' calls from the first.
// Errors: -ENOMEM, -EMFILE and their like, -ENAMETOOLONG for CURFEW_SOCKET. curfewd need not run.
int curfew_open(struct curfew **app, const struct curfew_delegate *delegate, void *context);

// Closes what is open and frees it. Tasks stay as they are: they belong to the app, not to this process. Not out of a
// handler, and not while another thread uses `app`. NULL is fine.
void curfew_close(struct curfew *app);

// Whether the program was started by curfewd.
bool curfew_is_supervised(const struct curfew *app);

// As in did_finish_launching, but known from the start.
enum curfew_launch_reason curfew_launch_reason(const struct curfew *app);

// A descriptor to poll for reading (POLLIN), the same as long as `app` lives: it is ready when curfew_dispatch() has
// something to do, and stays so when the app is to end. Do not read from it, or close it.
int curfew_fd(const struct curfew *app);

// Calls the handlers whose time has come, and keeps the connection; never blocks on its own account. Called from within
// a handler, or while another thread is at it, it does nothing.
// 1: the app goes on; 0: it is to end, as will_terminate has been answered or curfew_stop() was called.
int curfew_dispatch(struct curfew *app);

// Polls and dispatches until the app is to end; returns 0 then, or the error of poll(2).
int curfew_run(struct curfew *app);

// Has curfew_run() return 0, and curfew_dispatch() from now on. May be called in a signal handler, too.
void curfew_stop(struct curfew *app);

// The handler that answered CURFEW_LATER is done: `answer` is anything but that. 0 also when the connection on which it
// was called has been lost. Errors: CURFEW_E_NO_CALL, -EINVAL.
int curfew_handled(struct curfew *app, enum curfew_answer answer);

// The calls below ask curfewd and wait for its reply: some 50 us, 5 s at most (of time in which the app is not frozen).
// Where more than one thread asks, each waits for its turn first. When curfewd was restarted they connect again.
// Errors of all of them: -ENOENT, -ECONNREFUSED and -EPIPE when curfewd does not run, -EACCES, -ETIMEDOUT before the
// call was sent, CURFEW_E_LOST after that, CURFEW_E_NOT_AN_APP, CURFEW_E_NOT_KNOWN, -EPROTO for a reply that makes no
// sense, -ENOMEM.

// May a task keep the board awake? DEFAULT: as the app is configured. YES needs task-policy = "keep-awake", and else is
// denied.
enum curfew_keep_awake { CURFEW_KEEP_AWAKE_DEFAULT, CURFEW_KEEP_AWAKE_YES, CURFEW_KEEP_AWAKE_NO };

// Zeroed, it holds the defaults.
struct curfew_task_options {
    enum curfew_keep_awake keep_awake;
    // The task ends by itself when this process of the app's exits. 0: none.
    pid_t process;
    // Seconds after which the task expires and ends by itself, within the app's budget. 0 or INFINITY: no limit of its
    // own.
    double time_allowed;
};

// Asks for time to finish something; while a task is held, the app is not suspended. Every begin is to be matched by
// curfew_end_background_task().
// name: up to 255 bytes of UTF-8 without control characters, for operators to read. options: NULL for the defaults.
// *task: its identifier, > 0; 0 outside Curfew, and after an error.
// Errors: CURFEW_E_DENIED, CURFEW_E_TOO_MANY, -EINVAL for what curfewd does not take.
int curfew_begin_background_task(
    struct curfew *app, const char *name, const struct curfew_task_options *options, int64_t *task);

// Ending 0 does nothing. Error: CURFEW_E_NO_SUCH_TASK.
int curfew_end_background_task(struct curfew *app, int64_t task);

// *seconds: what is left of the budget; INFINITY while the app is in front.
int curfew_background_time_remaining(struct curfew *app, double *seconds);

struct curfew_state {
    char app[256];
    enum curfew_scene_phase scene_phase;
    enum curfew_task_state task_state;
    double background_time_remaining;
    enum curfew_refresh_status refresh_status;
    bool low_power_mode;
    enum curfew_thermal_state thermal_state;
};

// Outside Curfew: an app without a name, in front of a device in good condition.
int curfew_get_state(struct curfew *app, struct curfew_state *state);

struct curfew_task {
    int64_t identifier;
    char name[256];
    bool keep_awake;
    double seconds_held;
};

enum { CURFEW_TASKS_MAX = 64 };

// The tasks that the app holds: up to `capacity` of them into `tasks`. *count: how many it holds.
int curfew_get_tasks(struct curfew *app, struct curfew_task *tasks, size_t capacity, size_t *count);

// Asks for a background fetch every so many seconds; INFINITY: never. *effective (or NULL): what the device made of it.
// Error: -EINVAL for less than 0 and NAN.
int curfew_set_minimum_background_fetch_interval(struct curfew *app, double seconds, double *effective);

// What an error is, and what to do.
const char *curfew_strerror(int error);

// Copies into `text` what was said of the last of these calls that failed, such as why background time was denied, cut
// to `size` bytes with the NUL. Returns `text`. Where several threads ask, another's failure may have come between.
const char *curfew_last_reason(struct curfew *app, char *text, size_t size);

// The names that the interfaces have for these: "boot", "backgroundFetch"; "unknown" for what has none.
const char *curfew_launch_reason_name(enum curfew_launch_reason reason);
const char *curfew_scene_phase_name(enum curfew_scene_phase phase);
const char *curfew_task_state_name(enum curfew_task_state state);
const char *curfew_refresh_status_name(enum curfew_refresh_status status);
const char *curfew_memory_level_name(enum curfew_memory_level level);
const char *curfew_thermal_state_name(enum curfew_thermal_state state);

#ifdef __cplusplus
}
#endif
#endif
