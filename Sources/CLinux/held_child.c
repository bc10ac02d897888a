#include "CLinux.h"

extern char **environ;

enum { NO_PROGRAM = 125 };

// The child, between fork and exec: system calls only.
_Noreturn static void become(
    const char *path, char **arguments, char **with_shell, bool own_group, const sigset_t *mask, int gate) {
    if (own_group) setpgid(0, 0);
    char word;
    ssize_t count;
    do count = read(gate, &word, 1);
    while (count < 0 && errno == EINTR);
    if (count != 1) _exit(NO_PROGRAM);
    sigprocmask(SIG_SETMASK, mask, NULL);
    execve(path, arguments, environ);
    // A script without a first line that says whose it is: the shell's, as execvp(3) has it.
    if (errno == ENOEXEC) execve("/bin/sh", with_shell, environ);
    int error = errno;
    send(gate, &error, sizeof error, MSG_NOSIGNAL);
    _exit(NO_PROGRAM);
}

int linux_hold_child(
    const char *path, const char *strings, size_t count, bool own_group, const sigset_t *mask,
    struct linux_held_child *out) {
    char **arguments = calloc(count + 1, sizeof *arguments);
    // "sh", the path in place of the name, the other arguments.
    char **with_shell = calloc(count + 2, sizeof *with_shell);
    int gate[2] = {-1, -1};
    pid_t pid = -1;
    if (arguments && with_shell && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, gate) == 0) {
        with_shell[0] = "sh";
        with_shell[1] = (char *)path;
        for (size_t i = 0; i < count; i++) {
            arguments[i] = (char *)strings;
            if (i > 0) with_shell[i + 1] = (char *)strings;
            strings += strlen(strings) + 1;
        }
        pid = fork();
        if (pid == 0) {
            close(gate[0]);
            become(path, arguments, with_shell, own_group, mask, gate[1]);
        }
    }
    int error = errno;
    // Both sides do it, so that it is done before either goes on.
    if (pid > 0 && own_group) setpgid(pid, pid);
    free(with_shell);
    free(arguments);
    if (gate[1] >= 0) close(gate[1]);
    *out = (struct linux_held_child){.pid = pid, .pidfd = pid > 0 ? linux_pidfd_open(pid) : -1, .gate = gate[0]};
    if (out->pidfd >= 0) return 0;
    if (pid > 0) error = errno;
    if (gate[0] >= 0) close(gate[0]);
    if (pid > 0) waitpid(pid, NULL, 0);
    errno = error;
    return -1;
}

int linux_release_child(struct linux_held_child *child) {
    int error = 0;
    ssize_t count = send(child->gate, "", 1, MSG_NOSIGNAL);
    // exec closes the child's end; so does its death.
    while (count > 0) {
        count = recv(child->gate, &error, sizeof error, MSG_WAITALL);
        if (count >= 0 || errno != EINTR) break;
        count = 1;
    }
    close(child->gate);
    child->gate = -1;
    return count == sizeof error ? error : 0;
}
