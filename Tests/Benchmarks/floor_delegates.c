// The floor for what happens between a supervisor and its apps: the same sockets, the same groups, nothing decided.
//
//     cc -O2 -static -o floor_delegates floor_delegates.c
//     floor_delegates --deadline MS ROUNDS GROUP CMD [ARG...]
//     floor_delegates --sleep N ROUNDS GROUP CMD [ARG...]
//
// --deadline: starts CMD, tells it DidEnterBackground with MS to answer, and kills its group when they are over, ROUNDS
// times. The bench watches the processes, and sees when they are dead.
// --sleep: starts N of CMD; prints ROUNDS times how long it took until all had answered WillResignActive, then
// DidEnterBackground, and were frozen ("asleep NANOSECONDS").
// CMD has its socket as descriptor 3. GROUP: a directory on a cgroup v2 file system, made and removed.
#include "floor_group.h"

#include <sys/timerfd.h>

static int *sockets, *events, *answers, *watched;

static void end(int index) {
    reap(&children[index]);
    close(sockets[index]);
    remove_group(children[index].instance);
}

static void deadlines(int milliseconds, int rounds) {
    for (int round = 0; round < rounds; round++) {
        sockets[0] = start_with_socket(0);
        int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
        int64_t due = now() + (int64_t)milliseconds * 1000000;
        call(sockets[0], "DidEnterBackground", "", milliseconds / 1000.0);
        struct itimerspec at = {.it_value = {.tv_sec = due / 1000000000, .tv_nsec = due % 1000000000}};
        struct epoll_event event = {.events = EPOLLIN, .data.u32 = UINT32_MAX};
        if (timer < 0 || timerfd_settime(timer, TFD_TIMER_ABSTIME, &at, NULL) != 0) fail("timerfd");
        if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, timer, &event) != 0) fail("epoll_ctl");
        if (epoll_wait(epoll_fd, &event, 1, -1) != 1 || event.data.u32 != UINT32_MAX) {
            fprintf(stderr, "floor_delegates: the app ended before its deadline\n");
            exit(1);
        }
        write_group(children[0].instance, "/cgroup.kill", "1");
        close(timer);
        end(0);
    }
}

// Whether a group is frozen; starts to watch it when it is not yet.
static int is_frozen(int index) {
    char text[256] = {0};
    if (pread(events[index], text, sizeof text - 1, 0) <= 0) fail("cgroup.events");
    if (strstr(text, "frozen 1")) return 1;
    if (!watched[index]) {
        struct epoll_event event = {.events = EPOLLPRI, .data.u32 = (uint32_t)index | 0x40000000};
        if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, events[index], &event) != 0) fail("epoll_ctl");
        watched[index] = 1;
    }
    return 0;
}

// One answer has come; 1 when the app is frozen with it.
static int answered(int index) {
    char reply[256];
    if (read(sockets[index], reply, sizeof reply) <= 0) fail("an app");
    if (++answers[index] == 1) {
        call(sockets[index], "DidEnterBackground", "", 4.5);
        return 0;
    }
    write_group(children[index].instance, "/cgroup.freeze", "1");
    return is_frozen(index);
}

static void sleep_once(void) {
    memset(answers, 0, (size_t)child_count * sizeof *answers);
    int64_t begin = now();
    for (int i = 0; i < child_count; i++) call(sockets[i], "WillResignActive", "", 2.25);
    for (int frozen = 0; frozen < child_count;) {
        struct epoll_event ready[64];
        int count = epoll_wait(epoll_fd, ready, 64, 10000);
        if (count <= 0 && errno != EINTR) fail("epoll_wait");
        for (int i = 0; i < count; i++) {
            int index = (int)(ready[i].data.u32 & 0xfffffff);
            if (!(ready[i].data.u32 & 0x40000000)) {
                frozen += answered(index);
            } else if (is_frozen(index)) {
                epoll_ctl(epoll_fd, EPOLL_CTL_DEL, events[index], NULL);
                watched[index] = 0;
                frozen++;
            }
        }
    }
    printf("asleep %lld\n", (long long)(now() - begin));
    fflush(stdout);
    for (int i = 0; i < child_count; i++) write_group(children[i].instance, "/cgroup.freeze", "0");
}

static void sleeps(int rounds) {
    for (int i = 0; i < child_count; i++) {
        sockets[i] = start_with_socket(i);
        epoll_ctl(epoll_fd, EPOLL_CTL_DEL, children[i].pidfd, NULL);
        struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)i | 0x80000000};
        if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, sockets[i], &event) != 0) fail("epoll_ctl");
        char path[600];
        group_path(path, sizeof path, children[i].instance, "/cgroup.events");
        events[i] = open(path, O_RDONLY | O_CLOEXEC);
        if (events[i] < 0) fail(path);
    }
    struct timespec pause = {.tv_nsec = 100000000};
    for (int round = 0; round < rounds; round++) {
        nanosleep(&pause, NULL);  // not a wait: the rounds are to be apart
        sleep_once();
    }
    for (int i = 0; i < child_count; i++) syscall(SYS_pidfd_send_signal, children[i].pidfd, SIGKILL, NULL, 0);
    for (int i = 0; i < child_count; i++) end(i);
}

int main(int argc, char **argv) {
    if (argc < 6 || argv[5][0] != '/' || (strcmp(argv[1], "--deadline") != 0 && strcmp(argv[1], "--sleep") != 0)) {
        fprintf(stderr, "usage: floor_delegates --deadline MS | --sleep N  ROUNDS GROUP /ABSOLUTE/CMD [ARG...]\n");
        return 2;
    }
    int is_sleep = strcmp(argv[1], "--sleep") == 0, number = atoi(argv[2]), rounds = atoi(argv[3]);
    snprintf(base, sizeof base, "%s", argv[4]);
    command = argv + 5;
    child_count = is_sleep ? number : 1;
    if (mkdir(base, 0755) != 0 && errno != EEXIST) fail(base);
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    children = calloc((size_t)child_count, sizeof *children);
    sockets = calloc((size_t)child_count, sizeof *sockets);
    events = calloc((size_t)child_count, sizeof *events);
    answers = calloc((size_t)child_count, sizeof *answers);
    watched = calloc((size_t)child_count, sizeof *watched);
    if (epoll_fd < 0 || null_fd < 0 || !children || !sockets || !events || !answers || !watched) fail("start");
    setenv("CURFEW_DELEGATE_FD", "3", 1);
    if (is_sleep)
        sleeps(rounds);
    else
        deadlines(number, rounds);
    rmdir(base);
    return 0;
}
