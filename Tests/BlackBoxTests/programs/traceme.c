// Has its parent trace it: traceme JOURNAL ROLE
//   once      then gets SIGUSR1, for which it has a handler, and stays
//   twice     the same, and once more
//   orphans   makes orphans without end that do it, stop, and by a second thread become another program within 300 us
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *journal;
static volatile sig_atomic_t heard;
static volatile int is_there, is_stopping;
static long delay;

static void note(const char *event) {
    char line[200];
    int length = snprintf(line, sizeof line, "{\"event\": \"%s\", \"pid\": %d}\n", event, getpid());
    int file = open(journal, O_WRONLY | O_APPEND | O_CREAT, 0666);
    if (file < 0 || write(file, line, (size_t)length) != length) _exit(9);
    close(file);
}

static void hear(int signal) {
    (void)signal;
    heard++;
}

static long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

static void *become_another(void *context) {
    is_there = 1;
    while (!is_stopping) {}
    long end = now() + delay;
    while (now() < end) {}
    execl("/bin/sleep", "sleep", "60", NULL);
    _exit(3);
    return context;
}

static void be_an_orphan(pid_t parent) {
    pthread_t thread;
    while (getppid() == parent) sched_yield();
    srand((unsigned)now());
    delay = rand() % 300 * 1000L;
    pthread_create(&thread, NULL, become_another, NULL);
    while (!is_there) sched_yield();
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) _exit(1);
    is_stopping = 1;
    syscall(SYS_tkill, getpid(), SIGSTOP);
    pause();
    _exit(0);
}

static void make_orphan(void) {
    pid_t middle = fork();
    if (middle == 0) {
        pid_t self = getpid();
        if (fork() == 0) be_an_orphan(self);
        _exit(0);
    }
    waitpid(middle, NULL, 0);
}

int main(int count, char **words) {
    if (count != 3) return 2;
    journal = words[1];
    signal(SIGUSR1, hear);
    note("running");
    if (strcmp(words[2], "orphans") == 0) {
        for (int made = 0;; made++) {
            make_orphan();
            if (made == 100) note("made");
            usleep(5000); // not a wait: so that not all processors are its own
        }
    }
    int times = strcmp(words[2], "once") == 0 ? 1 : 2;
    for (int time = 0; time < times; time++) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) note("refused");
        raise(SIGUSR1);
        note(heard > time ? "heard" : "missed");
    }
    for (;;) pause();
}
