#include "CLinux.h"
#include <linux/genetlink.h>
#include <linux/netlink.h>

struct request {
    struct nlmsghdr header;
    struct genlmsghdr generic;
    struct nlattr attribute;
    char name[GENL_NAMSIZ];
};

// The attributes between two addresses, one after the other.
static const struct nlattr *attribute_at(const char *at, const char *end) {
    if (end - at < NLA_HDRLEN) return NULL;
    const struct nlattr *attribute = (const void *)at;
    return attribute->nla_len >= NLA_HDRLEN && attribute->nla_len <= end - at ? attribute : NULL;
}
static const char *next_of(const struct nlattr *attribute) {
    return (const char *)attribute + NLA_ALIGN(attribute->nla_len);
}
static const char *end_of(const struct nlattr *attribute) { return (const char *)attribute + attribute->nla_len; }

static const struct nlattr *find(const char *at, const char *end, int type) {
    const struct nlattr *attribute;
    for (; (attribute = attribute_at(at, end)) != NULL; at = next_of(attribute))
        if ((attribute->nla_type & NLA_TYPE_MASK) == type) return attribute;
    return NULL;
}

static int group_number(const char *at, const char *end, const char *name) {
    const struct nlattr *groups = find(at, end, CTRL_ATTR_MCAST_GROUPS), *group;
    if (groups == NULL) return 0;
    for (at = (const char *)(groups + 1); (group = attribute_at(at, end_of(groups))) != NULL; at = next_of(group)) {
        const struct nlattr *label = find((const char *)(group + 1), end_of(group), CTRL_ATTR_MCAST_GRP_NAME);
        const struct nlattr *number = find((const char *)(group + 1), end_of(group), CTRL_ATTR_MCAST_GRP_ID);
        if (label == NULL || number == NULL || number->nla_len < NLA_HDRLEN + sizeof(int)) continue;
        size_t length = label->nla_len - NLA_HDRLEN;
        if (length == strlen(name) + 1 && memcmp(label + 1, name, length) == 0) return *(const int *)(number + 1);
    }
    return 0;
}

static int join(int fd, const char *family, const char *group) {
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    struct request request = {
        .header = {.nlmsg_len = sizeof request, .nlmsg_type = GENL_ID_CTRL, .nlmsg_flags = NLM_F_REQUEST},
        .generic = {.cmd = CTRL_CMD_GETFAMILY, .version = 1},
        .attribute = {.nla_len = sizeof request.attribute + sizeof request.name, .nla_type = CTRL_ATTR_FAMILY_NAME}};
    union {
        struct nlmsghdr header;
        char bytes[8192];
    } answer;
    if (bind(fd, (struct sockaddr *)&kernel, sizeof kernel) != 0) return -1;
    strncpy(request.name, family, sizeof request.name - 1);
    if (sendto(fd, &request, sizeof request, 0, (struct sockaddr *)&kernel, sizeof kernel) < 0) return -1;
    // The kernel has answered before sendto(2) returns; a message of another sender counts as no answer.
    struct sockaddr_nl sender = {0};
    socklen_t size = sizeof sender;
    ssize_t length = recvfrom(fd, &answer, sizeof answer, 0, (struct sockaddr *)&sender, &size);
    if (length < 0) return -1;
    int number = 0;
    if (sender.nl_pid == 0 && length >= (ssize_t)NLMSG_LENGTH(GENL_HDRLEN) && answer.header.nlmsg_type == GENL_ID_CTRL)
        number = group_number(answer.bytes + NLMSG_LENGTH(GENL_HDRLEN), answer.bytes + length, group);
    if (number == 0) {
        errno = ENOENT;
        return -1;
    }
    return setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &number, sizeof number);
}

int linux_generic_netlink_open(const char *family, const char *group) {
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_GENERIC);
    if (fd < 0) return -1;
    if (join(fd, family, group) == 0) return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

int linux_generic_netlink_drain(int fd, uint64_t commands) {
    int count = 0;
    for (int i = 0; i < 64; i++) {
        struct {
            struct nlmsghdr header;
            struct genlmsghdr generic;
        } message;
        struct sockaddr_nl sender = {0};
        socklen_t size = sizeof sender;
        ssize_t length = recvfrom(fd, &message, sizeof message, MSG_DONTWAIT, (struct sockaddr *)&sender, &size);
        if (length < 0 && errno == EINTR) continue;
        if (length < 0) return errno == EAGAIN ? count : -1;
        if (length < (ssize_t)sizeof message || sender.nl_pid != 0 || message.header.nlmsg_type < NLMSG_MIN_TYPE)
            continue;
        if (message.generic.cmd < 64 && (commands >> message.generic.cmd & 1)) count++;
    }
    return count;
}
