// Switches and keys of evdev (/dev/input/event*).
#pragma once
#include <linux/input.h>
#include <stdint.h>
#include <sys/ioctl.h>

// Only SW_LID, KEY_POWER, KEY_SLEEP and KEY_WAKEUP are to be reported to this descriptor (EVIOCSMASK, Linux 4.4). What
// other keys do is then neither read nor a wake-up. -1 and errno.
static inline int linux_input_hear_switches(int fd) {
    uint8_t types[(EV_CNT + 7) / 8] = {0}, keys[(KEY_CNT + 7) / 8] = {0}, switches[(SW_CNT + 7) / 8] = {0};
    struct input_mask masks[] = {
        {EV_KEY, sizeof keys, (uintptr_t)keys},
        {EV_SW, sizeof switches, (uintptr_t)switches},
        {EV_SYN, sizeof types, (uintptr_t)types}};  // for EV_SYN the codes are the types themselves
    types[EV_KEY / 8] |= 1 << EV_KEY % 8;
    types[EV_SW / 8] |= 1 << EV_SW % 8;
    switches[SW_LID / 8] |= 1 << SW_LID % 8;
    keys[KEY_POWER / 8] |= 1 << KEY_POWER % 8;
    keys[KEY_SLEEP / 8] |= 1 << KEY_SLEEP % 8;
    keys[KEY_WAKEUP / 8] |= 1 << KEY_WAKEUP % 8;
    for (unsigned i = 0; i < 3; i++)
        if (ioctl(fd, EVIOCSMASK, &masks[i]) != 0) return -1;
    return 0;
}

// Whether the lid is closed (EVIOCGSW): 1 or 0; -1 and errno.
static inline int linux_input_lid(int fd) {
    uint8_t switches[(SW_CNT + 7) / 8] = {0};
    if (ioctl(fd, EVIOCGSW(sizeof switches), switches) < 0) return -1;
    return switches[SW_LID / 8] >> SW_LID % 8 & 1;
}
