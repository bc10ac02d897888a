// The floor that curfewd's figures are compared with: the least a supervisor can do. A fresh cgroup per instance, vfork
// and exec, a pidfd per child in one epoll, restart at once. No configuration, no states, no logs.
//
//     cc -O2 -static -o floor floor.c
//     floor [--group DIR] [--kills K] N [--] CMD [ARG...]
//
// Prints how long the start of N children took. With --kills it then kills K children one after the other, prints the
// time from kill to the new instance's exec, and ends. Without, it idles, restarts what dies with the time from the
// pidfd's event to the new exec, and ends all at SIGTERM or SIGINT. DIR: an absolute directory on a cgroup v2 file
// system, made and removed; by default "curfew-floor" below the mount.
#include "floor_group.h"

#include <sys/signalfd.h>

static void find_base(void) {
    FILE *mounts = fopen("/proc/self/mounts", "re");
    char line[1024], point[400], type[64];
    while (mounts && fgets(line, sizeof line, mounts)) {
        if (sscanf(line, "%*s %399s %63s", point, type) == 2 && strcmp(type, "cgroup2") == 0) {
            snprintf(base, sizeof base, "%s/curfew-floor", point);
            break;
        }
    }
    if (mounts) fclose(mounts);
    if (!base[0]) {
        fprintf(stderr, "floor: no cgroup2 file system is mounted\n");
        exit(1);
    }
}

// The new instance first, the old one's remains after.
static void restart(int index) {
    unsigned old = children[index].instance;
    reap(&children[index]);
    start(&children[index], index, -1);
    remove_group(old);
}

static int ascending(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static void kill_and_measure(int kills) {
    int64_t *times = calloc((size_t)kills, sizeof *times);
    for (int i = 0; i < kills; i++) {
        struct epoll_event event;
        int64_t begin = now();
        syscall(SYS_pidfd_send_signal, children[i % child_count].pidfd, SIGKILL, NULL, 0);
        if (epoll_wait(epoll_fd, &event, 1, -1) != 1) fail("epoll_wait");
        int index = (int)event.data.u32;
        unsigned old = children[index].instance;
        reap(&children[index]);
        start(&children[index], index, -1);
        times[i] = now() - begin;
        remove_group(old);
    }
    qsort(times, (size_t)kills, sizeof *times, ascending);
    printf("kill to new instance: median %.3f ms, worst %.3f ms of %d\n", (double)times[kills / 2] / 1e6,
           (double)times[kills - 1] / 1e6, kills);
    free(times);
}

static void idle(int signals) {
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = UINT32_MAX};
    if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, signals, &event) != 0) fail("epoll_ctl");
    while (1) {
        int count = epoll_wait(epoll_fd, &event, 1, -1);
        if (count < 0 && errno == EINTR) continue;
        if (count != 1) fail("epoll_wait");
        if (event.data.u32 == UINT32_MAX) return;
        int64_t begin = now();
        restart((int)event.data.u32);
        printf("restarted %u in %.3f ms\n", event.data.u32, (double)(now() - begin) / 1e6);
        fflush(stdout);
    }
}

static void end_all(void) {
    for (int i = 0; i < child_count; i++) syscall(SYS_pidfd_send_signal, children[i].pidfd, SIGKILL, NULL, 0);
    for (int i = 0; i < child_count; i++) {
        reap(&children[i]);
        remove_group(children[i].instance);
    }
    rmdir(base);
}

int main(int argc, char **argv) {
    int kills = 0, next = 1;
    for (; next + 1 < argc && strncmp(argv[next], "--", 2) == 0 && argv[next][2]; next += 2) {
        if (strcmp(argv[next], "--kills") == 0)
            kills = atoi(argv[next + 1]);
        else if (strcmp(argv[next], "--group") == 0)
            snprintf(base, sizeof base, "%s", argv[next + 1]);
        else
            break;
    }
    if (next < argc) child_count = atoi(argv[next++]);
    if (next < argc && strcmp(argv[next], "--") == 0) next++;
    command = argv + next;
    if (child_count < 1 || !command[0] || command[0][0] != '/') {
        fprintf(stderr, "usage: floor [--group DIR] [--kills K] N [--] /ABSOLUTE/CMD [ARG...]\n");
        return 2;
    }
    if (!base[0]) find_base();
    if (mkdir(base, 0755) != 0 && errno != EEXIST) fail(base);

    sigset_t ending;
    sigemptyset(&ending);
    sigaddset(&ending, SIGTERM);
    sigaddset(&ending, SIGINT);
    sigprocmask(SIG_BLOCK, &ending, NULL);
    int signals = signalfd(-1, &ending, SFD_CLOEXEC);
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    children = calloc((size_t)child_count, sizeof *children);
    if (signals < 0 || epoll_fd < 0 || null_fd < 0 || !children) fail("start");

    int64_t begin = now();
    for (int i = 0; i < child_count; i++) start(&children[i], i, -1);
    printf("started %d in %.3f ms\n", child_count, (double)(now() - begin) / 1e6);
    fflush(stdout);
    if (kills > 0)
        kill_and_measure(kills);
    else
        idle(signals);
    end_all();
    return 0;
}
