// The floor for conditions of the board: a datagram says that there is something new, two files say what, and an app is
// told when that is not what it was told last. Nothing is understood, debounced or remembered.
//
//     cc -O2 -static -o floor_conditions floor_conditions.c
//     floor_conditions SOCKET ONLINE CAPACITY GROUP CMD [ARG...]
//
// CMD has its socket as descriptor 3. Goes on until it is ended; who ends it ends what it has started. GROUP: a
// directory on a cgroup v2 file system, made here and not removed.
#include "floor_group.h"

#include <sys/un.h>

static int number_in(const char *path) {
    char text[32] = {0};
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || read(file, text, sizeof text - 1) < 0) fail(path);
    close(file);
    return atoi(text);
}

int main(int argc, char **argv) {
    if (argc < 6 || argv[5][0] != '/') {
        fprintf(stderr, "usage: floor_conditions SOCKET ONLINE CAPACITY GROUP /ABSOLUTE/CMD [ARG...]\n");
        return 2;
    }
    snprintf(base, sizeof base, "%s", argv[4]);
    command = argv + 5;
    child_count = 1;
    if (mkdir(base, 0755) != 0 && errno != EEXIST) fail(base);
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    children = calloc(1, sizeof *children);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(argv[1]) >= sizeof address.sun_path) fail(argv[1]);
    strcpy(address.sun_path, argv[1]);
    int events = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (events < 0 || bind(events, (struct sockaddr *)&address, sizeof address) != 0) fail(argv[1]);
    setenv("CURFEW_DELEGATE_FD", "3", 1);
    int app = start_with_socket(0);
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = 1};
    if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, events, &event) != 0) fail("epoll_ctl");
    printf("ready\n");
    fflush(stdout);

    char message[4096];
    int told = -1;
    while (epoll_wait(epoll_fd, &event, 1, -1) == 1 || errno == EINTR) {
        if (event.data.u32 != 1 || recv(events, message, sizeof message, 0) <= 0) continue;
        int online = number_in(argv[2]), capacity = number_in(argv[3]);
        if (told == online * 1000 + capacity) continue;
        told = online * 1000 + capacity;
        int length = snprintf(message, sizeof message,
                              "{\"method\":\"io.curfew.Delegate.PowerStateDidChange\",\"parameters\":{"
                              "\"externalPower\":%s,\"batteryLevel\":%.2f,\"lowPowerMode\":false},\"oneway\":true}",
                              online ? "true" : "false", capacity / 100.0);
        if (write(app, message, (size_t)length + 1) != length + 1) fail("the app");
    }
    return 1;
}
