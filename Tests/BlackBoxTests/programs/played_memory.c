// Plays the kernel's memory files to a program that is started with LD_PRELOAD=played_memory.so, on machines that have
// none or that cannot be brought to say what is wanted:
//
//     PLAYED_MEMORY=FOLDER [PLAYED_OOMD=UID]
//
// What is opened of the names below is looked for in FOLDER, the slashes of its path written as "+"; where that is not
// there, the real file is opened. A socket there stands for a file that announces changes: the program gets a
// connection to it, whose other end says that there is something new by sending a byte out of band. That is EPOLLPRI,
// as the kernel says it; and once, as it does. What the program writes comes out of the connection, what it reads from
// the start is the file beside the socket, with ".text" added. When the program closes the file, the connection ends.
// UID is the user systemd-oom's.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static const char *const names[] = {
    "/proc/pressure/memory", "/cgroup.subtree_control", "/memory.current", "/memory.events", "/memory.high",
    "/memory.max",
};

enum { descriptors = 1024 };
// Of those that are played: the file that is read.
static char *texts[descriptors];

#define REAL(name) ((typeof(&name))dlsym(RTLD_NEXT, #name))

static bool ends_with(const char *path, const char *name) {
    size_t length = strlen(path), tail = strlen(name);
    return length >= tail && strcmp(path + length - tail, name) == 0;
}

// Whether the file is played, and where it is then.
static bool is_played(const char *path, char *place) {
    const char *folder = getenv("PLAYED_MEMORY");
    for (size_t i = 0; folder && i < sizeof names / sizeof *names; i++) {
        if (!ends_with(path, names[i])) continue;
        size_t start = strlen(folder) + 1;
        if (snprintf(place, PATH_MAX, "%s/%s", folder, path) >= PATH_MAX) return false;
        for (char *c = place + start; *c; c++)
            if (*c == '/') *c = '+';
        struct stat status;
        return stat(place, &status) == 0;
    }
    return false;
}

static int connect_to(const char *place, int flags) {
    int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (file < 0) return -1;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    // A long path, by way of its folder.
    char near[sizeof address.sun_path];
    int folder = REAL(open)(getenv("PLAYED_MEMORY"), O_PATH | O_DIRECTORY | O_CLOEXEC);
    snprintf(near, sizeof near, "/proc/self/fd/%d/%s", folder, strrchr(place, '/') + 1);
    strcpy(address.sun_path, near);
    int result = connect(file, (struct sockaddr *)&address, sizeof address);
    close(folder);
    if (result != 0 || file >= descriptors) {
        close(file);
        errno = EIO;
        return -1;
    }
    if (flags & O_NONBLOCK) fcntl(file, F_SETFL, O_NONBLOCK);
    free(texts[file]);
    if (asprintf(&texts[file], "%s.text", place) < 0) texts[file] = NULL;
    return file;
}

int open(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    char place[PATH_MAX];
    struct stat status;
    if (!is_played(path, place)) return REAL(open)(path, flags, mode);
    if (stat(place, &status) == 0 && S_ISSOCK(status.st_mode)) return connect_to(place, flags);
    // It always says the same.
    if (ends_with(path, "/cgroup.subtree_control") && flags & O_WRONLY) return REAL(open)("/dev/null", flags);
    return REAL(open)(place, flags, mode);
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));

int access(const char *path, int mode) {
    char place[PATH_MAX];
    return REAL(access)(is_played(path, place) ? place : path, mode);
}

static bool is_socket(int file) { return file >= 0 && file < descriptors && texts[file]; }

int close(int file) {
    if (is_socket(file)) {
        free(texts[file]);
        texts[file] = NULL;
    }
    return REAL(close)(file);
}

ssize_t pread(int file, void *buffer, size_t size, off_t offset) {
    if (!is_socket(file)) return REAL(pread)(file, buffer, size, offset);
    int text = REAL(open)(texts[file], O_RDONLY | O_CLOEXEC);
    if (text < 0) {
        errno = ENODEV;
        return -1;
    }
    ssize_t count = REAL(pread)(text, buffer, size, offset);
    REAL(close)(text);
    return count;
}

ssize_t pread64(int, void *, size_t, off_t) __attribute__((alias("pread")));

int epoll_ctl(int epoll, int operation, int file, struct epoll_event *event) {
    if (!is_socket(file) || !event) return REAL(epoll_ctl)(epoll, operation, file, event);
    struct epoll_event once = *event;
    // The byte is never read, which would be news for ever.
    once.events |= EPOLLET;
    return REAL(epoll_ctl)(epoll, operation, file, &once);
}

int getpwnam_r(const char *name, struct passwd *entry, char *buffer, size_t size, struct passwd **found) {
    const char *user = getenv("PLAYED_OOMD");
    if (!user || strcmp(name, "systemd-oom") != 0) return REAL(getpwnam_r)(name, entry, buffer, size, found);
    int result = REAL(getpwnam_r)("nobody", entry, buffer, size, found);
    if (*found) entry->pw_uid = (uid_t)atoi(user);
    return result;
}
