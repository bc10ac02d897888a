// An app that says when it runs: its first instructions read the clock and write "start PID NANOSECONDS"
// (CLOCK_MONOTONIC) into a FIFO. Then it waits to be ended.
//
//     cc -O2 -static -o beacon beacon.c
//     beacon FIFO
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (argc != 2) return 2;
    int fifo = open(argv[1], O_WRONLY | O_CLOEXEC);
    if (fifo < 0) return 1;
    char line[64];
    int length = snprintf(line, sizeof line, "start %d %lld\n", (int)getpid(),
                          (long long)now.tv_sec * 1000000000LL + now.tv_nsec);
    if (write(fifo, line, (size_t)length) != length) return 1;
    close(fifo);
    while (1) pause();
}
