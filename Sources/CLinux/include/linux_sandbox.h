// What of the system a program can see and change: mounts and a network of its own (namespaces(7)), set up by the
// child between clone and exec.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    // All is read-only, but for /dev, /proc, /sys and the paths that are writable.
    LINUX_SANDBOX_SYSTEM = 1,
    // An empty /dev, with the usual nodes and the devices listed.
    LINUX_SANDBOX_DEVICES = 2,
    // An empty /tmp, /var/tmp and /dev/shm.
    LINUX_SANDBOX_TMP = 4,
    // An empty /home, /root and /run/user.
    LINUX_SANDBOX_HOMES = 8,
    // /proc without the processes of other users (Linux 5.8).
    LINUX_SANDBOX_PROCESSES = 16,
    // No network interface but a lo of its own, which is down.
    LINUX_SANDBOX_NETWORK = 32,
    // lo is up.
    LINUX_SANDBOX_LOOPBACK = 64,
    // System V and POSIX messages, and System V memory, are its own.
    LINUX_SANDBOX_IPC = 128,
    // What cannot be had is told, and gone without.
    LINUX_SANDBOX_OPTIONAL = 1 << 16,
};

// The first byte of a path says what it is for.
enum {
    LINUX_SANDBOX_WRITABLE = 'w',  // has to be there
    LINUX_SANDBOX_READABLE = 'r',  // seen in what is empty otherwise; has to be there
    LINUX_SANDBOX_OWN = 'h',       // writable, where it is there and belongs to the program's user
    LINUX_SANDBOX_DEVICE = 'd',    // below /dev, where it is there
    // FOLDER/X/NAME, a folder: is seen in the place of FOLDER.
    LINUX_SANDBOX_COVER = 'c',
};

enum {
    LINUX_SANDBOX_MAX_PATHS = 64,
    // What a start failed of, and the place of the path is added: it is not there; a symbolic link on its way is
    // another user's than root's.
    LINUX_SANDBOX_PATH = 256,
    LINUX_SANDBOX_LINK = 512,
};

// A program of system calls that seccomp(2) lets through: struct sock_filter of <linux/filter.h>.
struct linux_filter_step {
    uint16_t code;
    uint8_t on_true, on_false;
    uint32_t value;
};

enum { LINUX_MAX_FILTER_STEPS = 4096 };

// Compiles with libseccomp a filter that refuses the calls named (strings one after the other, each with its NUL) and
// new namespaces with EPERM. The number of steps, or -1 and errno; ELIBACC: there is no libseccomp.
ssize_t linux_refuse_calls(const char *names, size_t count, struct linux_filter_step *out, size_t room);
