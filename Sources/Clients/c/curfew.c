// Two connections to curfewd. On the one, `link`, the app is the server: it comes as a descriptor that was inherited,
// or by AttachDelegate, and belongs to the thread that dispatches. On the other, `line`, the app asks, a call at a
// time. What is spoken on both is Varlink: JSON objects with a NUL after each.
//
// An epoll instance is the descriptor that the app polls. It holds the link, a timer for attaching anew, and an eventfd
// by which other threads wake the one that dispatches. It is not asked what has happened: dispatching tries all three.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE  // SO_DOMAIN
#endif
#include "curfew.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

// Seconds that a call to curfewd may take.
#ifndef CURFEW_PATIENCE
#define CURFEW_PATIENCE 5.0
#endif

enum {
    MESSAGE_LIMIT = 1 << 20,
    NESTING_LIMIT = 64,
    READ_SIZE = 4 << 10,
    KEPT_CAPACITY = 64 << 10,
    MESSAGES_A_DISPATCH = 64,
    NAME_LIMIT = 255,
    REASON_SIZE = 256,
    // Milliseconds: between attempts to attach, for curfewd's answer to one, and for one wait of a call.
    FIRST_DELAY = 20,
    LAST_DELAY = 10000,
    ATTACH_PATIENCE = 5000,
    SLICE = 100,
};

// MARK: Text that grows

struct buffer {
    char *bytes;
    size_t length, capacity;
    bool failed;  // out of memory, or over the limit; what was put is of no use
};

static bool make_room(struct buffer *buffer, size_t count) {
    if (count <= buffer->capacity - buffer->length) return true;
    size_t wanted = buffer->length + count;
    size_t capacity = buffer->capacity > 0 ? buffer->capacity : READ_SIZE;
    while (capacity < wanted) capacity *= 2;
    char *bytes = wanted <= 4 * (size_t)MESSAGE_LIMIT ? realloc(buffer->bytes, capacity) : NULL;
    if (!bytes) {
        buffer->failed = true;
        return false;
    }
    buffer->bytes = bytes;
    buffer->capacity = capacity;
    return true;
}

static void clear(struct buffer *buffer) {
    if (buffer->capacity > KEPT_CAPACITY) {
        free(buffer->bytes);
        *buffer = (struct buffer){0};
    }
    buffer->length = 0;
    buffer->failed = false;
}

static void drop_first(struct buffer *buffer, size_t count) {
    buffer->length -= count;
    if (buffer->length > 0) memmove(buffer->bytes, buffer->bytes + count, buffer->length);
    if (buffer->length == 0) clear(buffer);
}

static void put_bytes(struct buffer *buffer, const char *bytes, size_t count) {
    if (buffer->failed || !make_room(buffer, count)) return;
    memcpy(buffer->bytes + buffer->length, bytes, count);
    buffer->length += count;
}

static void put(struct buffer *buffer, const char *text) {
    put_bytes(buffer, text, strlen(text));
}

// Takes UTF-8 only.
static void put_string(struct buffer *buffer, const char *text) {
    put(buffer, "\"");
    for (; *text; text++) {
        char escape[8];
        if (*text == '"' || *text == '\\') {
            put_bytes(buffer, (char[]){'\\', *text}, 2);
        } else if ((unsigned char)*text < 0x20) {
            snprintf(escape, sizeof escape, "\\u%04x", (unsigned)*text);
            put(buffer, escape);
        } else {
            put_bytes(buffer, text, 1);
        }
    }
    put(buffer, "\"");
}

static void put_integer(struct buffer *buffer, int64_t value) {
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, value);
    put(buffer, text);
}

// 0 or more, to the nanosecond; without printf's idea of a decimal point, which is the locale's.
static void put_seconds(struct buffer *buffer, double seconds) {
    char text[40];
    if (seconds > 1e15) seconds = 1e15;
    uint64_t whole = (uint64_t)seconds;
    uint64_t nanoseconds = (uint64_t)((seconds - (double)whole) * 1e9 + 0.5);
    snprintf(text, sizeof text, "%" PRIu64 ".%09" PRIu64, whole + nanoseconds / 1000000000, nanoseconds % 1000000000);
    put(buffer, text);
}

// MARK: JSON that came
// A value is a pointer to its first character in a message that has been checked, NULL where there is none. The NUL
// that ends every message is no JSON, so that nothing reads past it.

// The bytes of the UTF-8 character at `at`; 0 where there is none.
static size_t utf8_length(const char *at) {
    const unsigned char *byte = (const unsigned char *)at;
    size_t length = byte[0] < 0x80 ? 1 : byte[0] < 0xc2 ? 0 : byte[0] < 0xe0 ? 2 : byte[0] < 0xf0 ? 3 : 4;
    if (byte[0] > 0xf4) return 0;
    for (size_t i = 1; i < length; i++) {
        if ((byte[i] & 0xc0) != 0x80) return 0;
    }
    // Longer than need be, halves of a surrogate pair, and beyond U+10FFFF.
    if (byte[0] == 0xe0 && byte[1] < 0xa0) return 0;
    if (byte[0] == 0xed && byte[1] > 0x9f) return 0;
    if (byte[0] == 0xf0 && byte[1] < 0x90) return 0;
    if (byte[0] == 0xf4 && byte[1] > 0x8f) return 0;
    return length;
}

static size_t put_utf8(uint32_t code, char out[4]) {
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = length - 1; i > 0; i--, code >>= 6) out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)(leads[length] | code);
    return length;
}

// After "\u".
static const char *take_hex(const char *at, uint32_t *code) {
    *code = 0;
    for (int i = 0; i < 4; i++, at++) {
        char letter = (char)(*at | 0x20);
        if (*at >= '0' && *at <= '9')
            *code = *code << 4 | (uint32_t)(*at - '0');
        else if (letter >= 'a' && letter <= 'f')
            *code = *code << 4 | (uint32_t)(letter - 'a' + 10);
        else
            return NULL;
    }
    return at;
}

// One character inside a string, as UTF-8; returns what follows it, NULL for what may not stand in a string.
static const char *take_character(const char *at, char out[4], size_t *length) {
    static const char escapes[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    if (*at != '\\') {
        *length = (unsigned char)*at < 0x20 ? 0 : utf8_length(at);
        memcpy(out, at, *length);
        return *length > 0 ? at + *length : NULL;
    }
    at++;
    if (*at != 'u') {
        const char *found = *at ? strchr(escapes, *at) : NULL;
        if (!found) return NULL;
        out[0] = meanings[found - escapes];
        *length = 1;
        return at + 1;
    }
    uint32_t code, low;
    at = take_hex(at + 1, &code);
    if (!at || (code >= 0xdc00 && code < 0xe000)) return NULL;
    if (code >= 0xd800 && code < 0xdc00) {
        if (at[0] != '\\' || at[1] != 'u') return NULL;
        at = take_hex(at + 2, &low);
        if (!at || low < 0xdc00 || low >= 0xe000) return NULL;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    *length = put_utf8(code, out);
    return at;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static const char *skip_space(const char *at) {
    while (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r') at++;
    return at;
}

static const char *skip_digits(const char *at) {
    if (!is_digit(*at)) return NULL;
    while (is_digit(*at)) at++;
    return at;
}

static const char *check_number(const char *at) {
    if (*at == '-') at++;
    at = *at == '0' ? at + 1 : skip_digits(at);
    if (at && *at == '.') at = skip_digits(at + 1);
    if (at && (*at == 'e' || *at == 'E')) {
        at++;
        if (*at == '+' || *at == '-') at++;
        at = skip_digits(at);
    }
    return at;
}

static const char *check_string(const char *at) {
    char ignored[4];
    size_t length;
    if (*at != '"') return NULL;
    at++;
    while (at && *at != '"') at = take_character(at, ignored, &length);
    return at ? at + 1 : NULL;
}

static const char *check_value(const char *at, int depth);

// From its bracket on: an array, or an object, whose values have names.
static const char *check_container(const char *at, int depth) {
    bool named = *at == '{';
    char end = named ? '}' : ']';
    if (depth >= NESTING_LIMIT) return NULL;
    at = skip_space(at + 1);
    if (*at == end) return at + 1;
    while (true) {
        if (named) {
            at = check_string(at);
            if (!at) return NULL;
            at = skip_space(at);
            if (*at != ':') return NULL;
            at = skip_space(at + 1);
        }
        at = check_value(at, depth + 1);
        if (!at) return NULL;
        at = skip_space(at);
        if (*at == end) return at + 1;
        if (*at != ',') return NULL;
        at = skip_space(at + 1);
    }
}

// Returns what follows the value, NULL where there is none. In a message that was checked it never fails.
static const char *check_value(const char *at, int depth) {
    switch (*at) {
    case '{':
    case '[': return check_container(at, depth);
    case '"': return check_string(at);
    case 't': return strncmp(at, "true", 4) == 0 ? at + 4 : NULL;
    case 'f': return strncmp(at, "false", 5) == 0 ? at + 5 : NULL;
    case 'n': return strncmp(at, "null", 4) == 0 ? at + 4 : NULL;
    default: return check_number(at);
    }
}

// The object that a message is; NULL when it is not one and nothing else.
static char *check_message(char *text) {
    const char *start = skip_space(text);
    const char *rest = *start == '{' ? check_value(start, 0) : NULL;
    return rest && *skip_space(rest) == 0 ? text + (start - text) : NULL;
}

// Copies a string with a NUL after it; `out` may be where `value` is. False for another kind of value, and for a string
// that has a NUL inside or is too long.
static bool copy_string(const char *value, char *out, size_t size) {
    if (!value || *value != '"') return false;
    const char *at = value + 1;
    size_t used = 0;
    while (*at != '"') {
        char bytes[4];
        size_t length;
        at = take_character(at, bytes, &length);
        if (!at || bytes[0] == 0 || length >= size - used) return false;
        memcpy(out + used, bytes, length);
        used += length;
    }
    out[used] = 0;
    return true;
}

static bool is_string(const char *value, const char *text) {
    if (!value || *value != '"') return false;
    const char *at = value + 1;
    while (*at != '"') {
        char bytes[4];
        size_t length;
        at = take_character(at, bytes, &length);
        if (!at || strncmp(text, bytes, length) != 0 || bytes[0] == 0) return false;
        text += length;
    }
    return *text == 0;
}

// The value of the last member of that name, in an object.
static char *member(char *object, const char *name) {
    char *found = NULL;
    if (!object || *object != '{') return NULL;
    const char *at = skip_space(object + 1);
    while (*at != '}') {
        bool is_it = is_string(at, name);
        at = skip_space(check_string(at));
        at = skip_space(at + 1);
        if (is_it) found = object + (at - object);
        at = skip_space(check_value(at, 0));
        if (*at == ',') at = skip_space(at + 1);
    }
    return found;
}

// The first value of an array, the next one after `value`; NULL at the end.
static char *first_item(char *array) {
    if (!array || *array != '[') return NULL;
    const char *at = skip_space(array + 1);
    return *at == ']' ? NULL : array + (at - array);
}

static char *next_item(char *value) {
    const char *at = skip_space(check_value(value, 0));
    return *at == ',' ? value + (skip_space(at + 1) - value) : NULL;
}

static bool is_absent(const char *value) {
    return !value || *value == 'n';
}

static bool take_integer(const char *value, int64_t *out) {
    if (!value || !(*value == '-' || is_digit(*value))) return false;
    bool negative = *value == '-';
    uint64_t number = 0;
    for (value += negative; is_digit(*value); value++) {
        uint64_t digit = (uint64_t)(*value - '0');
        if (number > ((uint64_t)INT64_MAX - digit) / 10) return false;
        number = number * 10 + digit;
    }
    if (*value == '.' || *value == 'e' || *value == 'E') return false;
    *out = negative ? -(int64_t)number : (int64_t)number;
    return true;
}

// Without strtod, whose decimal point is the locale's. Exact where no more than 15 digits and 22 places are used, as
// numbers of seconds do; else within a few units of the last place.
static bool take_number(const char *value, double *out) {
    if (!value || !(*value == '-' || is_digit(*value))) return false;
    bool negative = *value == '-', in_fraction = false;
    uint64_t digits = 0;
    int64_t exponent = 0, written = 0;
    for (value += negative; is_digit(*value) || *value == '.'; value++) {
        if (*value == '.') {
            in_fraction = true;
        } else if (digits < UINT64_MAX / 10 - 1) {
            digits = digits * 10 + (uint64_t)(*value - '0');
            exponent -= in_fraction;
        } else {
            exponent += !in_fraction;
        }
    }
    if (*value == 'e' || *value == 'E') {
        bool minus = value[1] == '-';
        for (value += is_digit(value[1]) ? 1 : 2; is_digit(*value); value++) {
            if (written < MESSAGE_LIMIT * 2) written = written * 10 + (*value - '0');
        }
        exponent += minus ? -written : written;
    }
    double number = (double)digits;
    while (exponent != 0 && number > 0 && isfinite(number)) {
        double power = 1;
        int64_t step = exponent < -22 ? -22 : exponent > 22 ? 22 : exponent;
        for (int64_t i = step; i != 0; i += i < 0 ? 1 : -1) power *= 10;
        number = step < 0 ? number / power : number * power;
        exponent -= step;
    }
    *out = negative ? -number : number;
    return true;
}

// null, and nothing, are `otherwise`.
static bool take_optional_number(const char *value, double otherwise, double *out) {
    *out = otherwise;
    return is_absent(value) || take_number(value, out);
}

static bool take_bool(const char *value, bool *out) {
    *out = value && *value == 't';
    return value && (*value == 't' || *value == 'f');
}

// MARK: Names

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char *const launch_reasons[] = {
    "unknown", "user", "boot", "restart", "backgroundFetch", "remoteNotification", "backgroundSession",
    "backgroundTask", "location", "accessory"};
static const char *const scene_phases[] = {"none", "active", "inactive", "background"};
static const char *const task_states[] = {"notRunning", "running", "suspended", "terminating"};
static const char *const refresh_statuses[] = {"available", "denied", "restricted"};
static const char *const memory_levels[] = {"warning", "critical"};
static const char *const thermal_states[] = {"nominal", "fair", "serious", "critical"};
static const char *const fetch_results[] = {"noData", "newData", "noData", "failed"};

static const char *name_of(unsigned index, const char *const *names, size_t count) {
    return index < count ? names[index] : "unknown";
}

// The place of a string among names; -1 when it is not among them.
static int take_name(const char *value, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (is_string(value, names[i])) return (int)i;
    }
    return -1;
}

#define NAME_OF(index, names) name_of((unsigned)(index), names, COUNT(names))
#define TAKE_NAME(value, names) take_name(value, names, COUNT(names))

const char *curfew_launch_reason_name(enum curfew_launch_reason reason) { return NAME_OF(reason, launch_reasons); }
const char *curfew_scene_phase_name(enum curfew_scene_phase phase) { return NAME_OF(phase, scene_phases); }
const char *curfew_task_state_name(enum curfew_task_state state) { return NAME_OF(state, task_states); }
const char *curfew_refresh_status_name(enum curfew_refresh_status status) { return NAME_OF(status, refresh_statuses); }
const char *curfew_memory_level_name(enum curfew_memory_level level) { return NAME_OF(level, memory_levels); }
const char *curfew_thermal_state_name(enum curfew_thermal_state state) { return NAME_OF(state, thermal_states); }

const char *curfew_strerror(int error) {
    switch (error) {
    case 0: return "no error";
    case CURFEW_E_NOT_AN_APP: return "this process belongs to no app of curfewd's; try `curfew try -- PROGRAM`";
    case CURFEW_E_NO_SUCH_TASK: return "the app holds no such background task; it has ended or expired";
    case CURFEW_E_TOO_MANY: return "the app holds as many background tasks as it may; end some";
    case CURFEW_E_DENIED: return "background time is denied";
    case CURFEW_E_LOST: return "the connection to curfewd was lost in the middle of a call; see what tasks are held";
    case CURFEW_E_NOT_KNOWN: return "curfewd does not know this call; it is older than the program";
    case CURFEW_E_NO_CALL: return "there is no call to answer";
    case -ENOENT:
    case -ECONNREFUSED: return "curfewd is not running: its socket is not served";
    case -EACCES: return "this user may not connect to curfewd's socket";
    case -EPIPE: return "curfewd closed the connection before the call was sent; try again";
    case -ETIMEDOUT: return "curfewd takes no calls in time; try again";
    case -EPROTO: return "curfewd's reply makes no sense; do curfewd and the program fit?";
    case -EINVAL: return "an argument has a value that it may not have";
    default: return strerror(error < 0 ? -error : error);
    }
}

// MARK: The app

enum link_state { LINK_DOWN, LINK_ATTACHING, LINK_UP };

// The call whose answer is owed.
enum call_state { CALL_NONE, CALL_IN_HANDLER, CALL_DEFERRED };

struct call {
    enum call_state state;
    bool wants_reply;      // it has one, and the connection it came on is still there
    bool is_fetch, ends;   // the reply has a result; after it, the app is to end
    bool answered_early;   // curfew_handled() came before the handler returned
    enum curfew_answer answer;
};

struct curfew {
    struct curfew_delegate delegate;
    void *context;
    bool supervised, listens;
    enum curfew_launch_reason launch_reason;
    struct sockaddr_un address;
    int epoll, wake, timer;
    atomic_bool ended;

    // The dispatching thread's.
    atomic_flag dispatching;
    enum link_state state;
    struct buffer in;
    size_t scanned;   // bytes of `in` known to hold no NUL
    bool undigested;  // `in` begins with a whole message, which has to wait
    uint32_t watched;
    int delay;
    bool complained;  // of attaching, since it last worked

    // Under `lock`: what curfew_handled() touches as well. `link` is set by the dispatching thread only.
    pthread_mutex_t lock;
    int link;
    struct buffer out;
    struct call call;

    // Under `asking`.
    pthread_mutex_t asking;
    int line;
    struct buffer request, reply;
    char reason[REASON_SIZE];
};

__attribute__((format(printf, 2, 3))) static void say(struct curfew *app, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (app->delegate.message)
        app->delegate.message(text, app->context);
    else
        fprintf(stderr, "curfew: %s\n", text);
}

static void wake(struct curfew *app) {
    ssize_t written = write(app->wake, &(uint64_t){1}, sizeof(uint64_t));
    (void)written;  // it fails when the counter is full: then it is ready to be read already
}

static void set_timer(struct curfew *app, int milliseconds) {
    struct itimerspec time = {
        .it_value = {.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000L}};
    timerfd_settime(app->timer, 0, &time, NULL);
}

// The socket of all, in the place of an app's own (folder/apps/name).
static bool find_shared_socket(struct sockaddr_un *address) {
    static const char apps[] = "/apps", shared[] = "io.curfew.Application";
    char *name = strrchr(address->sun_path, '/');
    size_t length = name ? (size_t)(name - address->sun_path) : 0;
    if (length < strlen(apps) || memcmp(name - strlen(apps), apps, strlen(apps)) != 0) return false;
    char *place = name - strlen(apps) + 1;
    if ((size_t)(place - address->sun_path) + sizeof shared > sizeof address->sun_path) return false;
    memcpy(place, shared, sizeof shared);
    return true;
}

// connect(2). The socket of an app of root's is root's alone: what has given up those rights uses that of all.
static int connect_by_either(int fd, struct sockaddr_un address) {
    int result = connect(fd, (const struct sockaddr *)&address, sizeof address);
    if (result == 0 || errno != EACCES) return result;
    if (!find_shared_socket(&address)) {
        errno = EACCES;
        return -1;
    }
    return connect(fd, (const struct sockaddr *)&address, sizeof address);
}

// A socket connected to curfewd, or -errno. SO_SNDTIMEO bounds the wait for a place in its queue.
static int connect_to_curfewd(struct curfew *app, int flags, struct timeval limit) {
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
    if (fd < 0) return -errno;
    if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) != 0
        || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) != 0
        || connect_by_either(fd, app->address) != 0) {
        int error = -errno;
        close(fd);
        return error;
    }
    return fd;
}

// MARK: The link: replies

// With `lock` held. What is gone shows in the next read, as the end of the stream.
static void flush_link(struct curfew *app) {
    size_t sent = 0;
    while (app->link >= 0 && !app->out.failed && sent < app->out.length) {
        ssize_t count = send(app->link, app->out.bytes + sent, app->out.length - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && errno == EAGAIN) break;
        if (count < 0) app->out.failed = true;
        if (count > 0) sent += (size_t)count;
    }
    if (app->out.failed && app->link >= 0) shutdown(app->link, SHUT_RDWR);
    drop_first(&app->out, app->out.failed ? app->out.length : sent);
}

static void send_message(struct curfew *app) {
    put_bytes(&app->out, "", 1);
    flush_link(app);
}

// With `lock` held. The errors of org.varlink.service have one parameter each: what is wrong.
static void send_error(struct curfew *app, const char *name, const char *parameter, const char *what) {
    put(&app->out, "{\"error\":\"org.varlink.service.");
    put(&app->out, name);
    put(&app->out, "\",\"parameters\":{\"");
    put(&app->out, parameter);
    put(&app->out, "\":");
    put_string(&app->out, what);
    put(&app->out, "}}");
    send_message(app);
}

// With `lock` held: the call is over.
static void answer_call(struct curfew *app, enum curfew_answer answer) {
    if (app->call.wants_reply) {
        put(&app->out, "{\"parameters\":{");
        if (app->call.is_fetch) {
            put(&app->out, "\"result\":");
            put_string(&app->out, NAME_OF(answer, fetch_results));
        }
        put(&app->out, "}}");
        send_message(app);
    }
    app->call.state = CALL_NONE;
    if (app->call.ends) atomic_store(&app->ended, true);
}

int curfew_handled(struct curfew *app, enum curfew_answer answer) {
    int result = 0;
    if ((unsigned)answer >= CURFEW_LATER) return -EINVAL;
    pthread_mutex_lock(&app->lock);
    if (app->call.state == CALL_DEFERRED) {
        answer_call(app, answer);
        wake(app);
    } else if (app->call.state == CALL_IN_HANDLER && !app->call.answered_early) {
        app->call.answered_early = true;
        app->call.answer = answer;
    } else {
        result = CURFEW_E_NO_CALL;
    }
    pthread_mutex_unlock(&app->lock);
    return result;
}

// MARK: The link: handlers

// As the contract names them.
enum handler {
    DID_FINISH_LAUNCHING,
    DID_BECOME_ACTIVE,
    WILL_RESIGN_ACTIVE,
    DID_ENTER_BACKGROUND,
    WILL_ENTER_FOREGROUND,
    WILL_TERMINATE,
    BACKGROUND_TASK_WILL_EXPIRE,
    PERFORM_FETCH,
    DID_RECEIVE_REMOTE_NOTIFICATION,
    HANDLE_EVENTS_FOR_BACKGROUND_SESSION,
    // From here on they inform.
    DID_RECEIVE_MEMORY_WARNING,
    POWER_STATE_DID_CHANGE,
    THERMAL_STATE_DID_CHANGE,
};

#define DELEGATE "io.curfew.Delegate"

static const char *const handlers[] = {
    DELEGATE ".DidFinishLaunching",
    DELEGATE ".DidBecomeActive",
    DELEGATE ".WillResignActive",
    DELEGATE ".DidEnterBackground",
    DELEGATE ".WillEnterForeground",
    DELEGATE ".WillTerminate",
    DELEGATE ".BackgroundTaskWillExpire",
    DELEGATE ".PerformFetch",
    DELEGATE ".DidReceiveRemoteNotification",
    DELEGATE ".HandleEventsForBackgroundSession",
    DELEGATE ".DidReceiveMemoryWarning",
    DELEGATE ".PowerStateDidChange",
    DELEGATE ".ThermalStateDidChange",
};

struct arguments {
    double deadline, battery_level;
    int64_t task;
    bool external_power, low_power_mode;
    int choice;  // a value of the enum in question
    char *text;
    size_t length;
};

// A string is unescaped where it is, an object gets a NUL after it: nothing can be taken from the message after that.
static bool take_text(char *value, struct arguments *out) {
    out->text = value;
    if (!value || *value != '{') return copy_string(value, value, SIZE_MAX);
    out->length = (size_t)(check_value(value, 0) - value);
    value[out->length] = 0;
    return true;
}

// Returns NULL, or the parameter that is wrong.
static const char *take_arguments(enum handler handler, char *in, struct arguments *out) {
    char *value;
    if (handler < DID_RECEIVE_MEMORY_WARNING && !take_number(member(in, "deadline"), &out->deadline)) return "deadline";
    switch (handler) {
    case DID_FINISH_LAUNCHING:
        value = member(in, "reason");
        out->choice = TAKE_NAME(value, launch_reasons);
        if (out->choice < 0) out->choice = CURFEW_LAUNCH_UNKNOWN;
        return value && *value == '"' ? NULL : "reason";
    case WILL_TERMINATE:
        value = member(in, "reason");
        return value && *value == '"' && take_text(value, out) ? NULL : "reason";
    case BACKGROUND_TASK_WILL_EXPIRE:
        value = member(in, "name");
        if (!take_integer(member(in, "identifier"), &out->task)) return "identifier";
        return value && *value == '"' && take_text(value, out) ? NULL : "name";
    case DID_RECEIVE_REMOTE_NOTIFICATION:
        value = member(in, "payload");
        return value && *value == '{' && take_text(value, out) ? NULL : "payload";
    case HANDLE_EVENTS_FOR_BACKGROUND_SESSION:
        value = member(in, "session");
        return value && *value == '"' && take_text(value, out) ? NULL : "session";
    case DID_RECEIVE_MEMORY_WARNING:
        out->choice = TAKE_NAME(member(in, "level"), memory_levels);
        return out->choice >= 0 ? NULL : "level";
    case POWER_STATE_DID_CHANGE:
        if (!take_bool(member(in, "externalPower"), &out->external_power)) return "externalPower";
        if (!take_optional_number(member(in, "batteryLevel"), NAN, &out->battery_level)) return "batteryLevel";
        return take_bool(member(in, "lowPowerMode"), &out->low_power_mode) ? NULL : "lowPowerMode";
    case THERMAL_STATE_DID_CHANGE:
        out->choice = TAKE_NAME(member(in, "state"), thermal_states);
        return out->choice >= 0 ? NULL : "state";
    default: return NULL;
    }
}

// False when the app does not implement it.
static bool call_handler(
    struct curfew *app, enum handler handler, const struct arguments *a, enum curfew_answer *answer) {
    const struct curfew_delegate *to = &app->delegate;
    void *c = app->context;
#define AWAIT(member, ...) (to->member && (*answer = to->member(app, __VA_ARGS__, c), true))
#define INFORM(member, ...) (to->member && (to->member(app, __VA_ARGS__, c), true))
    switch (handler) {
    case DID_FINISH_LAUNCHING:
        return AWAIT(did_finish_launching, (enum curfew_launch_reason)a->choice, a->deadline);
    case DID_BECOME_ACTIVE: return AWAIT(did_become_active, a->deadline);
    case WILL_RESIGN_ACTIVE: return AWAIT(will_resign_active, a->deadline);
    case DID_ENTER_BACKGROUND: return AWAIT(did_enter_background, a->deadline);
    case WILL_ENTER_FOREGROUND: return AWAIT(will_enter_foreground, a->deadline);
    case WILL_TERMINATE: return AWAIT(will_terminate, a->text, a->deadline);
    case BACKGROUND_TASK_WILL_EXPIRE: return AWAIT(background_task_will_expire, a->task, a->text, a->deadline);
    case PERFORM_FETCH: return AWAIT(perform_fetch, a->deadline);
    case DID_RECEIVE_REMOTE_NOTIFICATION:
        return AWAIT(did_receive_remote_notification, a->text, a->length, a->deadline);
    case HANDLE_EVENTS_FOR_BACKGROUND_SESSION:
        return AWAIT(handle_events_for_background_session, a->text, a->deadline);
    case DID_RECEIVE_MEMORY_WARNING:
        return INFORM(did_receive_memory_warning, (enum curfew_memory_level)a->choice);
    case POWER_STATE_DID_CHANGE:
        return INFORM(power_state_did_change, a->external_power, a->battery_level, a->low_power_mode);
    case THERMAL_STATE_DID_CHANGE:
        return INFORM(thermal_state_did_change, (enum curfew_thermal_state)a->choice);
    }
    return false;
}

static void run_call(struct curfew *app, enum handler handler, char *in, bool oneway) {
    struct arguments arguments = {0};
    enum curfew_answer answer = CURFEW_HANDLED;
    bool informs = handler >= DID_RECEIVE_MEMORY_WARNING;
    const char *wrong = take_arguments(handler, in, &arguments);
    if (informs && oneway) {  // even while an answer to another call is owed
        if (!wrong) call_handler(app, handler, &arguments, &answer);
        return;
    }
    pthread_mutex_lock(&app->lock);
    app->call = (struct call){
        .state = CALL_IN_HANDLER,
        .wants_reply = !oneway,
        .is_fetch = handler == PERFORM_FETCH || handler == DID_RECEIVE_REMOTE_NOTIFICATION,
        .ends = handler == WILL_TERMINATE,
    };
    pthread_mutex_unlock(&app->lock);
    bool implemented = wrong || call_handler(app, handler, &arguments, &answer);

    pthread_mutex_lock(&app->lock);
    if (app->call.answered_early) answer = app->call.answer;
    if (!wrong && implemented && answer == CURFEW_LATER) {
        app->call.state = CALL_DEFERRED;
    } else if (!wrong && implemented) {
        answer_call(app, answer);
    } else {
        app->call.wants_reply = false;
        if (!oneway && wrong) send_error(app, "InvalidParameter", "parameter", wrong);
        if (!oneway && !wrong) send_error(app, "MethodNotImplemented", "method", handlers[handler]);
        answer_call(app, answer);
    }
    pthread_mutex_unlock(&app->lock);
}

// MARK: The link: messages

static const char description[] =
    "# What the device calls on an app, which is the server here.\n"
    "interface io.curfew.Delegate\n\n"
    "type LaunchReason (user, boot, restart, backgroundFetch, remoteNotification, backgroundSession, backgroundTask, "
    "location, accessory)\n\n"
    "type FetchResult (newData, noData, failed)\n\n"
    "type MemoryLevel (warning, critical)\n\n"
    "type ThermalState (nominal, fair, serious, critical)\n\n"
    "method DidFinishLaunching(reason: LaunchReason, deadline: float) -> ()\n\n"
    "method DidBecomeActive(deadline: float) -> ()\n\n"
    "method WillResignActive(deadline: float) -> ()\n\n"
    "method DidEnterBackground(deadline: float) -> ()\n\n"
    "method WillEnterForeground(deadline: float) -> ()\n\n"
    "method WillTerminate(reason: string, deadline: float) -> ()\n\n"
    "method BackgroundTaskWillExpire(identifier: int, name: string, deadline: float) -> ()\n\n"
    "method PerformFetch(deadline: float) -> (result: FetchResult)\n\n"
    "method DidReceiveRemoteNotification(payload: object, deadline: float) -> (result: FetchResult)\n\n"
    "method HandleEventsForBackgroundSession(session: string, deadline: float) -> ()\n\n"
    "method DidReceiveMemoryWarning(level: MemoryLevel) -> ()\n\n"
    "method PowerStateDidChange(externalPower: bool, batteryLevel: ?float, lowPowerMode: bool) -> ()\n\n"
    "method ThermalStateDidChange(state: ThermalState) -> ()\n";

#define SERVICE "org.varlink.service"

static const char service_description[] =
    "# The interface every Varlink service has.\n"
    "interface " SERVICE "\n\n"
    "method GetInfo() -> (vendor: string, product: string, version: string, url: string, interfaces: []string)\n\n"
    "method GetInterfaceDescription(interface: string) -> (description: string)\n\n"
    "error InterfaceNotFound (interface: string)\n\n"
    "error MethodNotFound (method: string)\n\n"
    "error MethodNotImplemented (method: string)\n\n"
    "error InvalidParameter (parameter: string)\n\n"
    "error PermissionDenied ()\n\n"
    "error ExpectedMore ()\n";

static void send_description(struct curfew *app, const char *text) {
    put(&app->out, "{\"parameters\":{\"description\":");
    put_string(&app->out, text);
    put(&app->out, "}}");
    send_message(app);
}

// Whether the text up to `end` is `word`.
static bool is_prefix(const char *word, const char *text, const char *end) {
    return strlen(word) == (size_t)(end - text) && memcmp(word, text, strlen(word)) == 0;
}

// What is no handler: a call of org.varlink.service, or of nothing we know. With `lock` held. `method` is no JSON here.
static void answer_service(struct curfew *app, char *method, char *in) {
    const char *interface = member(in, "interface");
    char *dot = strrchr(method, '.');
    bool of_ours = dot && (is_prefix(DELEGATE, method, dot) || is_prefix(SERVICE, method, dot));
    if (strcmp(method, SERVICE ".GetInfo") == 0) {
        put(&app->out, "{\"parameters\":{\"vendor\":\"Curfew\",\"product\":\"Curfew client for C\",");
        put(&app->out, "\"version\":\"" CURFEW_VERSION "\",\"url\":\"https://curfew.io/\",");
        put(&app->out, "\"interfaces\":[\"" SERVICE "\",\"" DELEGATE "\"]}}");
        send_message(app);
    } else if (strcmp(method, SERVICE ".GetInterfaceDescription") == 0) {
        const char *text = is_string(interface, DELEGATE)  ? description
                           : is_string(interface, SERVICE) ? service_description
                                                           : NULL;
        if (text)
            send_description(app, text);
        else
            send_error(app, "InvalidParameter", "parameter", "interface");
    } else if (of_ours) {
        send_error(app, "MethodNotFound", "method", method);
    } else {
        if (dot) *dot = 0;
        send_error(app, "InterfaceNotFound", "interface", method);
    }
}

enum fate { TAKEN, HAS_TO_WAIT, MALFORMED };

static enum fate take_call(struct curfew *app, char *message) {
    char *method = member(message, "method"), *in = member(message, "parameters"), *flag = member(message, "oneway");
    bool oneway = false;
    int handler = TAKE_NAME(method, handlers);
    if (!method || *method != '"' || (!is_absent(in) && *in != '{')) return MALFORMED;
    if (!is_absent(flag) && !take_bool(flag, &oneway)) return MALFORMED;

    pthread_mutex_lock(&app->lock);
    bool owed = app->call.state != CALL_NONE;
    pthread_mutex_unlock(&app->lock);
    if (owed && !(handler >= DID_RECEIVE_MEMORY_WARNING && oneway)) return HAS_TO_WAIT;
    app->delay = FIRST_DELAY;
    if (handler >= 0) {
        run_call(app, (enum handler)handler, in, oneway);
        return TAKEN;
    }
    if (!copy_string(method, method, SIZE_MAX)) return MALFORMED;
    pthread_mutex_lock(&app->lock);
    if (!oneway) answer_service(app, method, in);
    pthread_mutex_unlock(&app->lock);
    return TAKEN;
}

// MARK: The link: coming and going

static void close_link(struct curfew *app) {
    if (app->watched != 0) epoll_ctl(app->epoll, EPOLL_CTL_DEL, app->link, NULL);
    pthread_mutex_lock(&app->lock);
    close(app->link);
    app->link = -1;
    clear(&app->out);
    app->call.wants_reply = false;  // its connection is gone; another one's call still waits for it to end
    pthread_mutex_unlock(&app->lock);
    clear(&app->in);
    app->scanned = app->watched = 0;
    app->undigested = false;
    app->state = LINK_DOWN;
}

// Says so once, and tries again later and later.
static void attach_later(struct curfew *app, const char *why) {
    if (!app->complained) say(app, "no connection to curfewd for the handlers' calls: %s; trying again", why);
    app->complained = true;
    set_timer(app, app->delay);
    app->delay = app->delay > LAST_DELAY / 2 ? LAST_DELAY : app->delay * 2;
}

static void lose_link(struct curfew *app, const char *why) {
    attach_later(app, why);
    close_link(app);  // and with it the text, where it came in a message
}

static void attach(struct curfew *app) {
    int fd = connect_to_curfewd(app, SOCK_NONBLOCK, (struct timeval){0});
    if (fd < 0) {
        attach_later(app, curfew_strerror(fd));
        return;
    }
    app->state = LINK_ATTACHING;
    pthread_mutex_lock(&app->lock);
    app->link = fd;
    put(&app->out, "{\"method\":\"io.curfew.Application.AttachDelegate\",\"upgrade\":true}");
    send_message(app);
    pthread_mutex_unlock(&app->lock);
    set_timer(app, ATTACH_PATIENCE);
}

static enum fate take_attach_reply(struct curfew *app, char *message) {
    char *error = member(message, "error"), *reason = member(member(message, "parameters"), "reason");
    set_timer(app, 0);
    if (is_absent(error)) {
        app->state = LINK_UP;
        if (app->complained) say(app, "connected to curfewd");
        app->complained = false;
        return TAKEN;
    }
    bool for_good = is_string(error, "io.curfew.Application.DelegateDenied");
    if (for_good && copy_string(reason, reason, SIZE_MAX)) {
        say(app, "the handlers will not be called: %s", reason);
        close_link(app);
    } else {
        if (!copy_string(error, error, SIZE_MAX)) return MALFORMED;
        lose_link(app, error);
    }
    return TAKEN;
}

static void read_link(struct curfew *app) {
    if (!make_room(&app->in, READ_SIZE)) {
        lose_link(app, "out of memory");
        return;
    }
    ssize_t count = recv(app->link, app->in.bytes + app->in.length, app->in.capacity - app->in.length, MSG_DONTWAIT);
    if (count > 0)
        app->in.length += (size_t)count;
    else if (count == 0 || errno == ECONNRESET)
        lose_link(app, "it was closed");
    else if (errno != EAGAIN && errno != EINTR)
        lose_link(app, strerror(errno));
}

// The end of the message that begins `used` bytes into `in`, NULL where it is not there yet.
static char *find_end(struct curfew *app, size_t used) {
    size_t from = app->scanned > used ? app->scanned : used;
    return from < app->in.length ? memchr(app->in.bytes + from, 0, app->in.length - from) : NULL;
}

// Whether there can be no new message now: the device does not read the replies, or others have waited long enough.
static bool is_time_to_pause(struct curfew *app, int taken) {
    pthread_mutex_lock(&app->lock);
    bool pause = app->out.length > 0;
    pthread_mutex_unlock(&app->lock);
    if (taken < MESSAGES_A_DISPATCH) return pause;
    wake(app);
    return true;
}

static void take_messages(struct curfew *app) {
    size_t used = 0;
    char *end;
    app->undigested = false;
    for (int taken = 0; (end = find_end(app, used)); taken++) {
        app->undigested = is_time_to_pause(app, taken);
        if (app->undigested) break;
        char *start = app->in.bytes + used;
        char *message = end - start <= MESSAGE_LIMIT ? check_message(start) : NULL;
        enum fate fate = MALFORMED;
        if (message) fate = app->state == LINK_UP ? take_call(app, message) : take_attach_reply(app, message);
        if (fate == MALFORMED) lose_link(app, "a message came that is not Varlink");
        if (app->state == LINK_DOWN) return;
        app->undigested = fate == HAS_TO_WAIT;
        if (app->undigested) break;
        used = (size_t)(end - app->in.bytes) + 1;
    }
    drop_first(&app->in, used);
    app->scanned = app->undigested ? 0 : app->in.length;
    if (app->scanned > MESSAGE_LIMIT) lose_link(app, "a message over 1 MiB came");
}

// A message that has to wait is not waited for: what wakes us then is curfew_handled(), or room for the replies.
static void watch_link(struct curfew *app) {
    if (app->state == LINK_DOWN) return;
    pthread_mutex_lock(&app->lock);
    uint32_t wanted = (app->undigested ? 0 : EPOLLIN) | (app->out.length > 0 ? EPOLLOUT : 0);
    pthread_mutex_unlock(&app->lock);
    if (wanted == app->watched) return;
    int operation = wanted == 0 ? EPOLL_CTL_DEL : app->watched == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
    if (epoll_ctl(app->epoll, operation, app->link, &(struct epoll_event){.events = wanted}) == 0)
        app->watched = wanted;
    else
        lose_link(app, strerror(errno));
}

int curfew_dispatch(struct curfew *app) {
    if (atomic_flag_test_and_set(&app->dispatching)) return !atomic_load(&app->ended);
    uint64_t count;
    bool woken = read(app->wake, &count, sizeof count) > 0;
    (void)woken;
    pthread_mutex_lock(&app->lock);
    flush_link(app);
    pthread_mutex_unlock(&app->lock);
    if (app->state != LINK_DOWN && !app->undigested) read_link(app);
    if (app->state != LINK_DOWN) take_messages(app);
    // Last, as an answer may have come in time.
    if (read(app->timer, &count, sizeof count) > 0) {
        if (app->state == LINK_ATTACHING)
            lose_link(app, "curfewd does not answer");
        else if (app->state == LINK_DOWN)
            attach(app);
    }
    watch_link(app);
    atomic_flag_clear(&app->dispatching);
    if (!atomic_load(&app->ended)) return 1;
    wake(app);  // for all threads that poll
    return 0;
}

int curfew_run(struct curfew *app) {
    while (curfew_dispatch(app)) {
        struct pollfd entry = {.fd = app->epoll, .events = POLLIN};
        if (poll(&entry, 1, -1) < 0 && errno != EINTR) return -errno;
    }
    return 0;
}

void curfew_stop(struct curfew *app) {
    int saved = errno;
    atomic_store(&app->ended, true);
    wake(app);
    errno = saved;
}

int curfew_fd(const struct curfew *app) { return app->epoll; }
bool curfew_is_supervised(const struct curfew *app) { return app->supervised; }
enum curfew_launch_reason curfew_launch_reason(const struct curfew *app) { return app->launch_reason; }

// MARK: Opening

// The descriptor that curfewd gave us, -1 where there is none. One that is closed on exec cannot have come by it:
// something else has been opened under that number since.
static int inherited_link(void) {
    const char *text = getenv("CURFEW_DELEGATE_FD");
    int domain = 0, type = 0;
    socklen_t size = sizeof(int);
    if (!text || !is_digit(*text) || strlen(text) > 9 || *skip_digits(text) != 0) return -1;
    int fd = atoi(text);
    int flags = fcntl(fd, F_GETFD);
    if (flags < 0 || flags & FD_CLOEXEC) return -1;
    if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0 || domain != AF_UNIX) return -1;
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_STREAM) return -1;
    return fcntl(fd, F_SETFD, flags | FD_CLOEXEC) == 0 ? fd : -1;
}

static int open_descriptors(struct curfew *app) {
    struct epoll_event readable = {.events = EPOLLIN};
    app->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (app->epoll < 0) return -errno;
    app->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    app->timer = app->wake < 0 ? -1 : timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (app->timer < 0) return -errno;
    if (epoll_ctl(app->epoll, EPOLL_CTL_ADD, app->wake, &readable) != 0
        || epoll_ctl(app->epoll, EPOLL_CTL_ADD, app->timer, &readable) != 0)
        return -errno;
    return 0;
}

static int read_environment(struct curfew *app) {
    const char *name = getenv("CURFEW_APP"), *path = getenv("CURFEW_SOCKET"), *reason = getenv("CURFEW_LAUNCH_REASON");
    app->supervised = name && *name;
    app->listens = app->listens && app->supervised;
    for (size_t i = 1; reason && i < COUNT(launch_reasons); i++) {
        if (strcmp(reason, launch_reasons[i]) == 0) app->launch_reason = (enum curfew_launch_reason)i;
    }
    if (!path || !*path) path = "/run/curfew/io.curfew.Application";
    app->address.sun_family = AF_UNIX;
    if (strlen(path) >= sizeof app->address.sun_path) return -ENAMETOOLONG;
    memcpy(app->address.sun_path, path, strlen(path) + 1);
    return 0;
}

int curfew_open(struct curfew **out, const struct curfew_delegate *delegate, void *context) {
    struct curfew *app = calloc(1, sizeof *app);
    *out = NULL;
    if (!app) return -ENOMEM;
    if (delegate) app->delegate = *delegate;
    app->context = context;
    app->listens = delegate;
    app->epoll = app->wake = app->timer = app->link = app->line = -1;
    app->delay = FIRST_DELAY;
    atomic_init(&app->ended, false);
    atomic_flag_clear(&app->dispatching);
    pthread_mutex_init(&app->lock, NULL);
    pthread_mutex_init(&app->asking, NULL);
    int result = read_environment(app);
    if (result == 0) result = open_descriptors(app);
    if (result != 0) {
        curfew_close(app);
        return result;
    }
    if (app->listens) app->link = inherited_link();
    if (app->link >= 0) {
        app->state = LINK_UP;
        watch_link(app);
    } else if (app->listens) {
        set_timer(app, 1);  // attaches in the first dispatch
    }
    if (!app->supervised) {
        say(app, "not started by curfewd: handlers will not be called, and background time has no limit. "
                 "`curfew try -- PROGRAM` plays a device");
    }
    *out = app;
    return 0;
}

void curfew_close(struct curfew *app) {
    if (!app) return;
    const int descriptors[] = {app->link, app->line, app->timer, app->wake, app->epoll};
    for (size_t i = 0; i < COUNT(descriptors); i++) {
        if (descriptors[i] >= 0) close(descriptors[i]);
    }
    free(app->in.bytes);
    free(app->out.bytes);
    free(app->request.bytes);
    free(app->reply.bytes);
    pthread_mutex_destroy(&app->lock);
    pthread_mutex_destroy(&app->asking);
    free(app);
}

// MARK: The line: asking
// All with `asking` held.

// A wait of a call is over without what it waited for; is there time for another? One counts as no more than two
// slices, however late it ended: the app may have been frozen meanwhile.
static bool has_patience(double *left, struct timespec *since) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double passed = (double)(now.tv_sec - since->tv_sec) + (double)(now.tv_nsec - since->tv_nsec) / 1e9;
    const double most = 2 * SLICE;
    *since = now;
    *left -= passed < most / 1e3 ? passed : most / 1e3;
    return *left > 0;
}

static void hang_up(struct curfew *app) {
    if (app->line >= 0) close(app->line);
    app->line = -1;
}

static int send_request(struct curfew *app, double *left, struct timespec *since) {
    const struct timeval slice = {.tv_usec = SLICE * 1000};
    size_t sent = 0;
    while (app->line < 0) {
        int fd = connect_to_curfewd(app, 0, slice);
        if (fd >= 0)
            app->line = fd;
        else if (fd != -EAGAIN && fd != -EINTR)
            return fd;
        else if (!has_patience(left, since))
            return -ETIMEDOUT;
    }
    while (sent < app->request.length) {
        ssize_t count = send(app->line, app->request.bytes + sent, app->request.length - sent, MSG_NOSIGNAL);
        if (count >= 0)
            sent += (size_t)count;
        else if (errno == EPIPE || errno == ECONNRESET)
            return -EPIPE;
        else if (errno != EAGAIN && errno != EINTR)
            return -errno;
        else if (!has_patience(left, since))
            return -ETIMEDOUT;
    }
    return 0;
}

static int receive_reply(struct curfew *app, double *left, struct timespec *since) {
    struct buffer *reply = &app->reply;
    clear(reply);
    while (true) {
        if (!make_room(reply, READ_SIZE)) return -ENOMEM;
        ssize_t count = recv(app->line, reply->bytes + reply->length, reply->capacity - reply->length, 0);
        if (count > 0) {
            const char *end = memchr(reply->bytes + reply->length, 0, (size_t)count);
            reply->length += (size_t)count;
            if (end) return end + 1 == reply->bytes + reply->length ? 0 : -EPROTO;
            if (reply->length > MESSAGE_LIMIT) return -EPROTO;
        } else if (count == 0 || (errno != EAGAIN && errno != EINTR) || !has_patience(left, since)) {
            return CURFEW_E_LOST;
        }
    }
}

// A connection that was kept may have ended since; then the call has not been sent yet, and is sent on a new one.
static int exchange(struct curfew *app) {
    double left = CURFEW_PATIENCE;
    struct timespec since;
    char byte;
    clock_gettime(CLOCK_MONOTONIC, &since);
    if (app->line >= 0 && !(recv(app->line, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN)) hang_up(app);
    bool kept = app->line >= 0;
    int result = send_request(app, &left, &since);
    if (result == -EPIPE && kept) {
        hang_up(app);
        result = send_request(app, &left, &since);
    }
    if (result == 0) result = receive_reply(app, &left, &since);
    if (result != 0) hang_up(app);
    return result;
}

// Cuts it before a character that has no room.
static void copy_text(char *out, size_t size, const char *text) {
    size_t used = 0;
    for (size_t length; size > 0 && *text && (length = utf8_length(text)) > 0 && length < size - used; text += length) {
        memcpy(out + used, text, length);
        used += length;
    }
    if (size > 0) out[used] = 0;
}

static int fail(struct curfew *app, int error, const char *reason) {
    copy_text(app->reason, sizeof app->reason, reason ? reason : curfew_strerror(error));
    return error;
}

static int take_error(struct curfew *app, char *error, char *parameters) {
    static const struct { const char *name; int code; } errors[] = {
        {"io.curfew.Application.NotAnApp", CURFEW_E_NOT_AN_APP},
        {"io.curfew.Application.NoSuchBackgroundTask", CURFEW_E_NO_SUCH_TASK},
        {"io.curfew.Application.TooManyBackgroundTasks", CURFEW_E_TOO_MANY},
        {"io.curfew.Application.BackgroundTimeDenied", CURFEW_E_DENIED},
        {SERVICE ".PermissionDenied", -EACCES},
        {SERVICE ".InvalidParameter", -EINVAL},
        {SERVICE ".InterfaceNotFound", CURFEW_E_NOT_KNOWN},
        {SERVICE ".MethodNotFound", CURFEW_E_NOT_KNOWN},
        {SERVICE ".MethodNotImplemented", CURFEW_E_NOT_KNOWN},
    };
    char *reason = member(parameters, "reason");
    int code = -EPROTO;
    for (size_t i = 0; i < COUNT(errors); i++) {
        if (is_string(error, errors[i].name)) code = errors[i].code;
    }
    if (!reason && code == -EINVAL) reason = member(parameters, "parameter");
    if (!reason && code == -EPROTO) reason = error;
    return fail(app, code, copy_string(reason, reason, SIZE_MAX) ? reason : NULL);
}

// Takes `asking` until end_call().
static struct buffer *begin_call(struct curfew *app, const char *method) {
    pthread_mutex_lock(&app->asking);
    clear(&app->request);
    put(&app->request, "{\"method\":\"io.curfew.Application.");
    put(&app->request, method);
    put(&app->request, "\",\"parameters\":{");
    return &app->request;
}

// *parameters: the reply's, NULL when there are none, or when it failed.
static int send_call(struct curfew *app, char **parameters) {
    put_bytes(&app->request, "}}", 3);
    if (app->request.failed) return fail(app, -ENOMEM, NULL);
    int result = exchange(app);
    if (result != 0) return fail(app, result, NULL);
    char *message = check_message(app->reply.bytes);
    char *error = member(message, "error"), *in = member(message, "parameters");
    if (!message || !(is_absent(error) || *error == '"') || !(is_absent(in) || *in == '{')) {
        hang_up(app);
        return fail(app, -EPROTO, NULL);
    }
    if (!is_absent(error)) return take_error(app, error, in);
    *parameters = in;
    return 0;
}

static int end_call(struct curfew *app, int result, bool understood) {
    if (result == 0 && !understood) result = fail(app, -EPROTO, NULL);
    pthread_mutex_unlock(&app->asking);
    return result;
}

// MARK: The line: what can be asked

static const char *wrong_name(const char *name) {
    if (!name) return "the task has no name";
    size_t length = 0;
    for (const char *at = name; *at; at += length) {
        length = utf8_length(at);
        if (length == 0) return "the task's name is not UTF-8";
        bool is_c1 = (unsigned char)at[0] == 0xc2 && (unsigned char)at[1] < 0xa0;
        if ((unsigned char)*at < 0x20 || *at == 0x7f || is_c1) return "the task's name has control characters";
        if (at + length - name > NAME_LIMIT) return "the task's name is over 255 bytes";
    }
    return NULL;
}

int curfew_begin_background_task(
    struct curfew *app, const char *name, const struct curfew_task_options *options, int64_t *task) {
    static const struct curfew_task_options defaults;
    if (!options) options = &defaults;
    const char *wrong = wrong_name(name);
    if (!wrong && !(options->time_allowed >= 0)) wrong = "the time allowed is negative, or no number";
    if (!wrong && options->process < 0) wrong = "there are no processes below 0";
    *task = 0;
    if (!wrong && !app->supervised) return 0;

    struct buffer *call = begin_call(app, "BeginBackgroundTask");
    if (wrong) return end_call(app, fail(app, -EINVAL, wrong), true);
    char *parameters = NULL;
    put(call, "\"name\":");
    put_string(call, name);
    if (options->keep_awake == CURFEW_KEEP_AWAKE_YES) put(call, ",\"keepAwake\":true");
    if (options->keep_awake == CURFEW_KEEP_AWAKE_NO) put(call, ",\"keepAwake\":false");
    if (options->process > 0) {
        put(call, ",\"processIdentifier\":");
        put_integer(call, options->process);
    }
    if (options->time_allowed > 0 && isfinite(options->time_allowed)) {
        put(call, ",\"timeAllowed\":");
        put_seconds(call, options->time_allowed);
    }
    int result = send_call(app, &parameters);
    return end_call(app, result, result != 0 || take_integer(member(parameters, "identifier"), task));
}

int curfew_end_background_task(struct curfew *app, int64_t task) {
    if (task == 0) return 0;
    if (!app->supervised) return CURFEW_E_NO_SUCH_TASK;
    char *parameters = NULL;
    struct buffer *call = begin_call(app, "EndBackgroundTask");
    put(call, "\"identifier\":");
    put_integer(call, task);
    return end_call(app, send_call(app, &parameters), true);
}

int curfew_background_time_remaining(struct curfew *app, double *seconds) {
    *seconds = INFINITY;
    if (!app->supervised) return 0;
    char *parameters = NULL;
    begin_call(app, "GetBackgroundTimeRemaining");
    int result = send_call(app, &parameters);
    if (result != 0) *seconds = 0;
    return end_call(app, result, result != 0 || take_optional_number(member(parameters, "seconds"), INFINITY, seconds));
}

int curfew_set_minimum_background_fetch_interval(struct curfew *app, double seconds, double *effective) {
    double ignored;
    if (!effective) effective = &ignored;
    *effective = seconds;
    if (!app->supervised && seconds >= 0) return 0;
    char *parameters = NULL;
    struct buffer *call = begin_call(app, "SetMinimumBackgroundFetchInterval");
    if (!(seconds >= 0)) return end_call(app, fail(app, -EINVAL, "the interval is negative, or no number"), true);
    put(call, "\"seconds\":");
    if (isfinite(seconds))
        put_seconds(call, seconds);
    else
        put(call, "null");
    int result = send_call(app, &parameters);
    char *answer = member(parameters, "effective");
    return end_call(app, result, result != 0 || take_optional_number(answer, INFINITY, effective));
}

static bool take_state(char *in, struct curfew_state *out) {
    char *phase = member(in, "scenePhase");
    int scene_phase = is_absent(phase) ? CURFEW_SCENE_NONE : TAKE_NAME(phase, scene_phases);
    int task_state = TAKE_NAME(member(in, "taskState"), task_states);
    int refresh_status = TAKE_NAME(member(in, "backgroundRefreshStatus"), refresh_statuses);
    int thermal_state = TAKE_NAME(member(in, "thermalState"), thermal_states);
    if (scene_phase < 0 || task_state < 0 || refresh_status < 0 || thermal_state < 0) return false;
    out->scene_phase = (enum curfew_scene_phase)scene_phase;
    out->task_state = (enum curfew_task_state)task_state;
    out->refresh_status = (enum curfew_refresh_status)refresh_status;
    out->thermal_state = (enum curfew_thermal_state)thermal_state;
    return copy_string(member(in, "app"), out->app, sizeof out->app)
           && take_bool(member(in, "lowPowerMode"), &out->low_power_mode)
           && take_optional_number(member(in, "backgroundTimeRemaining"), INFINITY, &out->background_time_remaining);
}

int curfew_get_state(struct curfew *app, struct curfew_state *state) {
    *state = (struct curfew_state){
        .scene_phase = CURFEW_SCENE_ACTIVE, .task_state = CURFEW_TASK_RUNNING, .background_time_remaining = INFINITY};
    if (!app->supervised) return 0;
    char *parameters = NULL;
    begin_call(app, "GetState");
    int result = send_call(app, &parameters);
    return end_call(app, result, result != 0 || take_state(member(parameters, "state"), state));
}

static bool take_task(char *in, struct curfew_task *out) {
    return take_integer(member(in, "identifier"), &out->identifier)
           && copy_string(member(in, "name"), out->name, sizeof out->name)
           && take_bool(member(in, "keepAwake"), &out->keep_awake)
           && take_number(member(in, "secondsHeld"), &out->seconds_held);
}

int curfew_get_tasks(struct curfew *app, struct curfew_task *tasks, size_t capacity, size_t *count) {
    *count = 0;
    if (!app->supervised) return 0;
    char *parameters = NULL;
    begin_call(app, "GetState");
    int result = send_call(app, &parameters);
    char *array = member(parameters, "tasks");
    bool understood = array && *array == '[';
    for (char *item = result == 0 ? first_item(array) : NULL; item && understood; item = next_item(item)) {
        struct curfew_task task;
        understood = take_task(item, &task);
        if (understood && *count < capacity) tasks[*count] = task;
        *count += understood;
    }
    if (result == 0 && !understood) *count = 0;
    return end_call(app, result, result != 0 || understood);
}

const char *curfew_last_reason(struct curfew *app, char *text, size_t size) {
    pthread_mutex_lock(&app->asking);
    copy_text(text, size, app->reason);
    pthread_mutex_unlock(&app->asking);
    return text;
}
