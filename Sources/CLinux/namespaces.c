#include "CLinux.h"

#include <linux/nsfs.h>
#include <sys/ioctl.h>

// Whether both descriptors are of one namespace.
static bool is_same(int one, int other) {
    struct stat first, second;
    return one >= 0 && other >= 0 && fstat(one, &first) == 0 && fstat(other, &second) == 0 &&
           first.st_ino == second.st_ino;
}

static int open_own(const char *name) {
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/self/ns/%s", name);
    return linux_open_file(path, O_RDONLY, 0);
}

struct opening {
    pid_t pid;
    const char *name;
    int file;
};

static void open_other(void *context) {
    struct opening *opening = context;
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/ns/%s", opening->pid, opening->name);
    opening->file = linux_open_file(path, O_RDONLY, 0);
}

static void close_other(void *context) {
    struct opening *opening = context;
    if (opening->file >= 0) close(opening->file);
}

// By PIDFD_GET_..._NAMESPACE (Linux 6.11); before that another user may keep /proc/PID locked.
static int open_namespace(pid_t pid, int pidfd, const char *name, int number) {
    enum { OF_PIDFDS = 0xFF, MILLISECONDS = 100 };
    int found = ioctl(pidfd, _IO(OF_PIDFDS, number), 0);
    if (found >= 0) return found;
    struct opening opening = {.pid = pid, .name = name, .file = -1};
    struct linux_errand errand = {.run = open_other, .discard = close_other, .subject = (uint64_t)pid};
    return linux_do_in_time(errand, &opening, sizeof opening, MILLISECONDS) ? opening.file : -1;
}

// -1 where it is one that a program has made for itself, in a user namespace of its own: what is there it has chosen.
static int given_namespace(pid_t pid, int pidfd, const char *name, int number, int our_users) {
    int found = open_namespace(pid, pidfd, name, number);
    int users = found >= 0 ? ioctl(found, NS_GET_USERNS) : -1;
    bool is_given = is_same(users, our_users);
    if (users >= 0) close(users);
    if (is_given) return found;
    if (found >= 0) close(found);
    return -1;
}

struct linux_namespaces linux_namespaces_of(pid_t pid, int pidfd) {
    int our_users = open_own("user"), our_mounts = open_own("mnt");
    struct linux_namespaces all = {
        .ipc = given_namespace(pid, pidfd, "ipc", 2, our_users),
        .mounts = given_namespace(pid, pidfd, "mnt", 3, our_users),
        .network = given_namespace(pid, pidfd, "net", 4, our_users),
    };
    // All that it was given, or nothing.
    if (all.mounts < 0 || all.network < 0 || all.ipc < 0 || is_same(all.mounts, our_mounts))
        linux_close_namespaces(&all);
    if (our_users >= 0) close(our_users);
    if (our_mounts >= 0) close(our_mounts);
    return all;
}
