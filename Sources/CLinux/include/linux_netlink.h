// Multicast groups of generic netlink, as their listeners need them.
#pragma once
#include <stdbool.h>
#include <stdint.h>

// A socket that hears one group of one family ("thermal", "event"); non-blocking, close-on-exec. -1 and errno: ENOENT
// where the kernel has no such family or group.
int linux_generic_netlink_open(const char *family, const char *group);
// Takes up to 64 of the messages that wait. The number of those that the kernel itself sent and whose command is
// in the mask (1 << command); what any process sent does not count. -1 and errno: ENOBUFS where some were lost.
int linux_generic_netlink_drain(int fd, uint64_t commands);

// A socket that hears network links come, go and change (rtnetlink(7), RTMGRP_LINK); non-blocking, close-on-exec.
int linux_link_events_open(void);
// Takes up to 64 of the messages that wait; whether the kernel has said anything, or some were lost.
bool linux_link_events_drain(int fd);
