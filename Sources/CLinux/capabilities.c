#include "CLinux.h"

#include <sys/syscall.h>

int linux_keep_capabilities(uint64_t kept) {
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[2];
    if (syscall(SYS_capget, &head, sets) != 0) return -1;
    // First the bounding set: that takes a capability (CAP_SETPCAP) which goes with the others.
    for (int number = 0; prctl(PR_CAPBSET_READ, number, 0, 0, 0) >= 0; number++) {
        if (kept >> number & 1) continue;
        if (prctl(PR_CAPBSET_DROP, number, 0, 0, 0) != 0 && errno != EPERM) return -1;
    }
    for (int half = 0; half < 2; half++) {
        sets[half].permitted &= (uint32_t)(kept >> 32 * half);
        sets[half].effective = sets[half].permitted;
        sets[half].inheritable = 0;
    }
    if (syscall(SYS_capset, &head, sets) != 0) return -1;
    (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}
