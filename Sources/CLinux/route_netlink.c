#include "CLinux.h"
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

int linux_link_events_open(void) {
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (fd < 0) return -1;
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK};
    if (bind(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

bool linux_link_events_drain(int fd) {
    bool heard = false;
    for (int i = 0; i < 64; i++) {
        struct nlmsghdr header;
        struct sockaddr_nl sender = {0};
        socklen_t size = sizeof sender;
        ssize_t length = recvfrom(fd, &header, sizeof header, MSG_DONTWAIT, (struct sockaddr *)&sender, &size);
        if (length < 0 && errno == EINTR) continue;
        // Lost messages (ENOBUFS) may have been about anything.
        if (length < 0) return heard || errno != EAGAIN;
        if (length == (ssize_t)sizeof header && sender.nl_pid == 0) heard = true;
    }
    return heard;
}
