// /dev/watchdogN: the ioctls (variadic, and their numbers are macros that Swift cannot import).
#pragma once
#include <fcntl.h>
#include <linux/watchdog.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>

// Never waits: a FIFO in place of a device is ENXIO.
static const int linux_watchdog_open_flags = O_WRONLY | O_NONBLOCK;

// The ioctl's number, in the order of WatchdogRequest; 0 for anything else.
static inline unsigned long linux_watchdog_number(unsigned request) {
    static const unsigned long numbers[] = {
        WDIOC_GETBOOTSTATUS, WDIOC_KEEPALIVE,     WDIOC_SETTIMEOUT,  WDIOC_GETTIMEOUT,
        WDIOC_SETPRETIMEOUT, WDIOC_GETPRETIMEOUT, WDIOC_GETTIMELEFT,
    };
    return request < sizeof numbers / sizeof *numbers ? numbers[request] : 0;
}

// 0, or -1 and errno. *value is given to the driver, and holds what it answers.
static inline int linux_watchdog_control(int fd, unsigned request, int32_t *value) {
    return ioctl(fd, linux_watchdog_number(request), value);
}

// WDIOC_GETSUPPORT. identity: at least 33 bytes. 0, or -1 and errno.
static inline int linux_watchdog_support(int fd, uint32_t *options, uint32_t *firmware, char *identity) {
    struct watchdog_info info;
    memset(&info, 0, sizeof info);
    if (ioctl(fd, WDIOC_GETSUPPORT, &info) != 0) return -1;
    *options = info.options;
    *firmware = info.firmware_version;
    memcpy(identity, info.identity, sizeof info.identity);
    identity[sizeof info.identity] = 0;
    return 0;
}
