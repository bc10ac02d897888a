#include "CLinux.h"

// glibc reports a missing entry as 0 with no result, some name services as one of these.
static bool means_missing(int error) {
    return error == 0 || error == ENOENT || error == ESRCH || error == EBADF || error == EPERM;
}

static int look_up_user(const char *name, uid_t uid, struct linux_user *out) {
    size_t size = 1024;
    while (1) {
        char *buffer = malloc(size);
        if (!buffer) return ENOMEM;
        struct passwd entry, *found = NULL;
        int error = name ? getpwnam_r(name, &entry, buffer, size, &found)
                         : getpwuid_r(uid, &entry, buffer, size, &found);
        if (error == ERANGE || error == EINTR) {
            free(buffer);
            if (error == ERANGE && (size *= 2) > 1 << 20) return ERANGE;
            continue;
        }
        if (found) {
            out->uid = entry.pw_uid;
            out->gid = entry.pw_gid;
            out->name = strdup(entry.pw_name);
            out->home = strdup(entry.pw_dir);
            out->shell = strdup(entry.pw_shell);
        }
        free(buffer);
        if (!found) return means_missing(error) ? ENOENT : error;
        if (out->name && out->home && out->shell) return 0;
        linux_user_free(out);
        return ENOMEM;
    }
}

int linux_user_by_name(const char *name, struct linux_user *out) { return look_up_user(name, 0, out); }
int linux_user_by_id(uid_t uid, struct linux_user *out) { return look_up_user(NULL, uid, out); }

void linux_user_free(struct linux_user *user) {
    free(user->name);
    free(user->home);
    free(user->shell);
    memset(user, 0, sizeof *user);
}

int linux_group_by_name(const char *name, gid_t *out) {
    size_t size = 1024;
    while (1) {
        char *buffer = malloc(size);
        if (!buffer) return ENOMEM;
        struct group entry, *found = NULL;
        int error = getgrnam_r(name, &entry, buffer, size, &found);
        if (found) *out = entry.gr_gid;
        free(buffer);
        if (error == ERANGE || error == EINTR) {
            if (error == ERANGE && (size *= 2) > 1 << 20) return ERANGE;
            continue;
        }
        if (found) return 0;
        return means_missing(error) ? ENOENT : error;
    }
}

int linux_user_groups(const char *name, gid_t gid, gid_t **out) {
    int room = 32;
    while (1) {
        gid_t *groups = malloc((size_t)room * sizeof *groups);
        if (!groups) return -1;
        int count = room;
        if (getgrouplist(name, gid, groups, &count) >= 0) {
            *out = groups;
            return count;
        }
        free(groups);
        room = count > room ? count : room * 2;
        if (room > 65536) return -1;
    }
}
