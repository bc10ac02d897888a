// Descriptors that go with a message (SCM_RIGHTS).
#pragma once
#include <string.h>
#include <sys/socket.h>

// room: of CMSG_SPACE for them, cleared, and there until the message is sent.
static inline void pass_descriptors(struct msghdr *message, void *room, const int *descriptors, size_t count) {
    if (count == 0) return;
    message->msg_control = room;
    message->msg_controllen = CMSG_SPACE(sizeof(int) * count);
    struct cmsghdr *header = CMSG_FIRSTHDR(message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int) * count);
    memcpy(CMSG_DATA(header), descriptors, sizeof(int) * count);
}
