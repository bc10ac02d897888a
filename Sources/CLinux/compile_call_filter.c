#include "CLinux.h"

#include <dlfcn.h>
#include <sched.h>
#include <sys/mman.h>

// What is used of <seccomp.h> of libseccomp 2, which is loaded where it is needed and no longer.

enum {
    ALLOW = 0x7fff0000,
    FAIL_WITH = 0x00050000,
    MASKED_EQUAL = 7,
    OPTIMIZE = 8,
    BINARY_TREE = 2,
};

struct comparison {
    unsigned argument;
    int how;
    uint64_t mask, value;
};

struct library {
    void *handle;
    void *(*init)(uint32_t action);
    void (*release)(void *context);
    int (*add_architecture)(void *context, uint32_t token);
    int (*set)(void *context, int attribute, uint32_t value);
    int (*resolve)(const char *name);
    int (*add)(void *context, uint32_t action, int call, unsigned count, const struct comparison *comparisons);
    int (*export)(const void *context, int descriptor);
};

// Programs of the older sibling of this architecture run beside those of our own.
#if defined(__x86_64__)
enum { SIBLING = 0x40000003 };
#elif defined(__aarch64__)
enum { SIBLING = 0x40000028 };
#else
enum { SIBLING = 0 };
#endif

static bool open_library(struct library *out) {
    out->handle = dlopen("libseccomp.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!out->handle) return false;
    struct {
        void **place;
        const char *name;
    } symbols[] = {
        {(void **)&out->init, "seccomp_init"},
        {(void **)&out->release, "seccomp_release"},
        {(void **)&out->add_architecture, "seccomp_arch_add"},
        {(void **)&out->set, "seccomp_attr_set"},
        {(void **)&out->resolve, "seccomp_syscall_resolve_name"},
        {(void **)&out->add, "seccomp_rule_add_array"},
        {(void **)&out->export, "seccomp_export_bpf"},
    };
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        *symbols[i].place = dlsym(out->handle, symbols[i].name);
        if (*symbols[i].place) continue;
        dlclose(out->handle);
        return false;
    }
    return true;
}

// 0, or a negative errno. A call that this architecture does not have needs no rule.
static int refuse(const struct library *library, void *context, const char *name, int error, unsigned count,
                  const struct comparison *comparisons) {
    int call = library->resolve(name);
    if (call == -1) return 0;
    int result = library->add(context, FAIL_WITH | (uint32_t)error, call, count, comparisons);
    return result == -EDOM ? 0 : result;
}

// New namespaces: by the flags of clone(2) and unshare(2); those of clone3(2) cannot be looked at, and libc does
// without it.
static int refuse_namespaces(const struct library *library, void *context) {
    static const uint64_t flags[] = {
        CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWUTS, CLONE_NEWCGROUP,
        0x80,  // CLONE_NEWTIME
    };
    int result = refuse(library, context, "clone3", ENOSYS, 0, NULL);
    if (result == 0) result = refuse(library, context, "setns", EPERM, 0, NULL);
    for (size_t i = 0; i < sizeof flags / sizeof *flags && result == 0; i++) {
        struct comparison has = {0, MASKED_EQUAL, flags[i], flags[i]};
        result = refuse(library, context, "unshare", EPERM, 1, &has);
        // In clone's flags this bit is of the exit signal.
        if (result == 0 && flags[i] != 0x80) result = refuse(library, context, "clone", EPERM, 1, &has);
    }
    return result;
}

static int fill(const struct library *library, void *context, const char *names, size_t count) {
    int result = SIBLING ? library->add_architecture(context, SIBLING) : 0;
    // Of version 2.5.
    (void)library->set(context, OPTIMIZE, BINARY_TREE);
    for (size_t i = 0; i < count && result >= 0; i++, names += strlen(names) + 1)
        result = refuse(library, context, names, EPERM, 0, NULL);
    return result < 0 ? result : refuse_namespaces(library, context);
}

static ssize_t export(const struct library *library, void *context, struct linux_filter_step *out, size_t room) {
    int memory = memfd_create("filter", MFD_CLOEXEC);
    if (memory < 0) return -1;
    int result = library->export(context, memory);
    ssize_t length = result < 0 ? -1 : pread(memory, out, room * sizeof *out, 0);
    close(memory);
    if (result < 0) errno = -result;
    return length < 0 ? -1 : length / (ssize_t)sizeof *out;
}

ssize_t linux_refuse_calls(const char *names, size_t count, struct linux_filter_step *out, size_t room) {
    struct library library;
    if (!open_library(&library)) {
        errno = ELIBACC;
        return -1;
    }
    void *context = library.init(ALLOW);
    int result = context ? fill(&library, context, names, count) : -ENOMEM;
    ssize_t steps = -1;
    if (result < 0) {
        errno = -result;
    } else {
        steps = export(&library, context, out, room);
    }
    int error = errno;
    if (context) library.release(context);
    dlclose(library.handle);
    errno = error;
    return steps;
}
