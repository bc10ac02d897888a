// The floor for background tasks: a socket that answers io.curfew.Application.BeginBackgroundTask and EndBackgroundTask
// with as many bytes as curfewd does, and timers; nothing is understood, counted or remembered.
//
//     cc -O2 -static -o floor_tasks floor_tasks.c
//     floor_tasks --serve N SOCKET GROUP CMD [ARG...]
//     floor_tasks --expire MS SOCKET GROUP CMD [ARG...]
//
// --serve: starts N of CMD and answers them.
// --expire: at each SIGUSR1 starts CMD, sends it to background, answers its one begin, calls its expiration handler
// when a tenth of the MS is left, and kills its group when they are over.
// Each CMD is the app that Curfew's client libraries take it for. Goes on until it is ended; who ends it ends what it
// has started. GROUP: a directory on a cgroup v2 file system, made here and not removed.
#include "floor_group.h"

#include <sys/timerfd.h>
#include <sys/un.h>

static int listener;
static sigset_t starting;

static void listen_at(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) fail(path);
    strcpy(address.sun_path, path);
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) != 0) fail(path);
    if (listen(listener, 128) != 0) fail("listen");
}

static int accept_one(void) {
    int client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (client < 0) fail("accept");
    return client;
}

// One call: a client waits for the reply before it asks again. 0 when it has gone.
static int answer(int client) {
    static const char begun[] = "{\"parameters\":{\"identifier\":12345,\"timeRemaining\":null}}";
    static const char done[] = "{\"parameters\":{}}";  // the NUL ends the message
    char message[4096];
    ssize_t length = read(client, message, sizeof message - 1);
    if (length <= 0) return 0;
    message[length] = 0;
    int begins = strstr(message, ".BeginBackgroundTask\"") != NULL;
    const char *reply = begins ? begun : done;
    ssize_t size = begins ? sizeof begun : sizeof done;
    return write(client, reply, (size_t)size) == size;
}

static void watch(int descriptor) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = descriptor};
    if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, descriptor, &event) != 0) fail("epoll_ctl");
}

static void serve(void) {
    for (int i = 0; i < child_count; i++) {
        start(&children[i], i, -1);
        epoll_ctl(epoll_fd, EPOLL_CTL_DEL, children[i].pidfd, NULL);
    }
    watch(listener);
    while (1) {
        struct epoll_event ready[64];
        int count = epoll_wait(epoll_fd, ready, 64, -1);
        for (int i = 0; i < count; i++) {
            int descriptor = ready[i].data.fd;
            if (descriptor == listener)
                watch(accept_one());
            else if (!answer(descriptor))
                close(descriptor);
        }
    }
}

static void wait_until(int timer, int64_t due) {
    struct itimerspec at = {.it_value = {.tv_sec = due / 1000000000, .tv_nsec = due % 1000000000}};
    uint64_t expirations;
    if (timerfd_settime(timer, TFD_TIMER_ABSTIME, &at, NULL) != 0) fail("timerfd");
    if (read(timer, &expirations, sizeof expirations) != sizeof expirations) fail("timerfd");
}

static void expire(int milliseconds) {
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    char reply[256];
    int signal;
    while (sigwait(&starting, &signal) == 0) {
        int app = start_with_socket(0);
        call(app, "DidEnterBackground", "", 5);
        int client = accept_one();
        if (!answer(client) || read(app, reply, sizeof reply) <= 0) fail("the app");
        int64_t due = now() + (int64_t)milliseconds * 1000000;
        wait_until(timer, due - (int64_t)milliseconds * 100000);
        call(app, "BackgroundTaskWillExpire", "\"identifier\":12345,\"name\":\"\",", milliseconds / 10000.0);
        wait_until(timer, due);
        write_group(children[0].instance, "/cgroup.kill", "1");
        reap(&children[0]);
        close(client);
        close(app);
        remove_group(children[0].instance);
    }
}

int main(int argc, char **argv) {
    if (argc < 6 || argv[5][0] != '/' || (strcmp(argv[1], "--serve") != 0 && strcmp(argv[1], "--expire") != 0)) {
        fprintf(stderr, "usage: floor_tasks --serve N | --expire MS  SOCKET GROUP /ABSOLUTE/CMD [ARG...]\n");
        return 2;
    }
    int expires = strcmp(argv[1], "--expire") == 0, number = atoi(argv[2]);
    snprintf(base, sizeof base, "%s", argv[4]);
    command = argv + 5;
    child_count = expires ? 1 : number;
    if (mkdir(base, 0755) != 0 && errno != EEXIST) fail(base);
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    children = calloc((size_t)child_count, sizeof *children);
    if (epoll_fd < 0 || null_fd < 0 || !children) fail("start");
    sigemptyset(&starting);
    sigaddset(&starting, SIGUSR1);
    sigprocmask(SIG_BLOCK, &starting, NULL);
    listen_at(argv[3]);
    printf("ready\n");
    fflush(stdout);
    setenv("CURFEW_APP", "floor", 1);
    setenv("CURFEW_SOCKET", argv[3], 1);
    if (expires) {
        setenv("CURFEW_DELEGATE_FD", "3", 1);
        expire(number);
    }
    serve();
}
