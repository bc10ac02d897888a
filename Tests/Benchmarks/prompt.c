// The smallest app with a delegate: answers each call of io.curfew.Delegate at once. Started with "hang" it never
// answers DidEnterBackground, and has a child that has left its session. Started with "power" it says what it hears.
//
//     cc -O2 -static -o prompt prompt.c
//     prompt FIFO [hang|power]
//
// Writes into the FIFO, times in nanoseconds of CLOCK_MONOTONIC:
//     start PID NOW CHILD                    CHILD: 0 when there is none
//     call PID ARRIVAL REPLIED DEADLINE      DidEnterBackground came; REPLIED: when it began to answer the call before;
//                                            DEADLINE: as told, in nanoseconds from the moment of the call
//     power PID ARRIVAL EXTERNAL PERCENT     PowerStateDidChange came; EXTERNAL: 0 or 1
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (long long)t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void say(const char *path, const char *line, int length) {
    int fifo = open(path, O_WRONLY | O_CLOEXEC);
    if (fifo < 0 || write(fifo, line, (size_t)length) != length) exit(1);
    close(fifo);
}

int main(int argc, char **argv) {
    const char *descriptor = getenv("CURFEW_DELEGATE_FD");
    if (argc < 2 || !descriptor) return 2;
    int delegate = atoi(descriptor);
    int hangs = argc > 2 && strcmp(argv[2], "hang") == 0;
    int listens = argc > 2 && strcmp(argv[2], "power") == 0;
    pid_t child = 0;
    if (hangs && (child = fork()) == 0) {
        setsid();
        close(delegate);
        while (1) pause();
    }

    char line[160], message[4096];
    say(argv[1], line, snprintf(line, sizeof line, "start %d %lld %d\n", (int)getpid(), now(), (int)child));

    static const char reply[] = "{\"parameters\":{}}";  // its NUL ends the message
    size_t length = 0;
    long long replied = 0;
    while (1) {
        ssize_t count = read(delegate, message + length, sizeof message - length);
        long long arrival = now();
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return 0;
        length += (size_t)count;
        char *end;
        while ((end = memchr(message, 0, length))) {
            char *deadline = strstr(message, "\"deadline\":");
            if (hangs && strstr(message, ".DidEnterBackground\"") && deadline) {
                long long told = (long long)(strtod(deadline + strlen("\"deadline\":"), NULL) * 1e9 + 0.5);
                say(argv[1], line, snprintf(line, sizeof line, "call %d %lld %lld %lld\n", (int)getpid(), arrival,
                                            replied, told));
            } else if (listens && strstr(message, ".PowerStateDidChange\"")) {
                char *level = strstr(message, "\"batteryLevel\":");
                int percent = level ? (int)(strtod(level + strlen("\"batteryLevel\":"), NULL) * 100 + 0.5) : 0;
                say(argv[1], line, snprintf(line, sizeof line, "power %d %lld %d %d\n", (int)getpid(), arrival,
                                            strstr(message, "\"externalPower\":true") != NULL, percent));
            } else if (!strstr(message, "\"oneway\":true")) {
                replied = now();
                if (write(delegate, reply, sizeof reply) != (ssize_t)sizeof reply) return 1;
            }
            length -= (size_t)(end + 1 - message);
            memmove(message, end + 1, length);
        }
        if (length == sizeof message) return 1;
    }
}
