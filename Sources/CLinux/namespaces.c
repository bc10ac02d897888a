#include "CLinux.h"

#include <linux/nsfs.h>
#include <sys/ioctl.h>

// Whether both descriptors are of one namespace.
static bool is_same(int one, int other) {
    struct stat first, second;
    return one >= 0 && other >= 0 && fstat(one, &first) == 0 && fstat(other, &second) == 0 &&
           first.st_ino == second.st_ino;
}

static int open_namespace(const char *process, const char *name) {
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%s/ns/%s", process, name);
    return open(path, O_RDONLY | O_CLOEXEC);
}

// -1 where it is one that a program has made for itself, in a user namespace of its own: what is there it has chosen.
static int given_namespace(pid_t pid, const char *name, int our_users) {
    char process[16];
    (void)snprintf(process, sizeof process, "%d", pid);
    int found = open_namespace(process, name);
    int users = found >= 0 ? ioctl(found, NS_GET_USERNS) : -1;
    bool is_given = is_same(users, our_users);
    if (users >= 0) close(users);
    if (is_given) return found;
    if (found >= 0) close(found);
    return -1;
}

struct linux_namespaces linux_namespaces_of(pid_t pid) {
    int our_users = open_namespace("self", "user"), our_mounts = open_namespace("self", "mnt");
    struct linux_namespaces all = {
        .mounts = given_namespace(pid, "mnt", our_users),
        .network = given_namespace(pid, "net", our_users),
        .ipc = given_namespace(pid, "ipc", our_users),
    };
    // All that it was given, or nothing.
    if (all.mounts < 0 || all.network < 0 || all.ipc < 0 || is_same(all.mounts, our_mounts))
        linux_close_namespaces(&all);
    if (our_users >= 0) close(our_users);
    if (our_mounts >= 0) close(our_mounts);
    return all;
}
