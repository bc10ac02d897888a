#include "CLinux.h"

enum { MOST = 1024 };

struct records {
    char directory[256];
    char name[64];
    uint32_t user;
    char of_user[MOST], of_group[MOST];
    bool is_written;
};

static bool write_file(const char *path, const char *text) {
    char next[400];
    (void)snprintf(next, sizeof next, "%s.new", path);
    // Not what lies there: that may be left from a crash.
    if (unlink(next) != 0 && errno != ENOENT) return false;
    int file = open(next, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (file < 0) return false;
    size_t length = strlen(text);
    bool is_written = write(file, text, length) == (ssize_t)length;
    close(file);
    if (is_written && rename(next, path) == 0) return true;
    (void)unlink(next);
    return false;
}

// By name, and by number.
static bool write_record(const struct records *records, const char *kind, const char *text) {
    char path[384], number[384], target[128];
    (void)snprintf(path, sizeof path, "%s/%s.%s", records->directory, records->name, kind);
    (void)snprintf(number, sizeof number, "%s/%u.%s", records->directory, records->user, kind);
    (void)snprintf(target, sizeof target, "%s.%s", records->name, kind);
    if (!write_file(path, text)) return false;
    (void)unlink(number);
    return symlink(target, number) == 0;
}

static void write_records(void *context) {
    struct records *records = context;
    if (mkdir(records->directory, 0755) != 0 && errno != EEXIST) return;
    records->is_written =
        write_record(records, "user", records->of_user) && write_record(records, "group", records->of_group);
}

bool linux_write_user_records(
    const char *directory, const char *name, uint32_t user, const char *of_user, const char *of_group) {
    struct records records = {.user = user};
    if (strlen(directory) >= sizeof records.directory || strlen(name) >= sizeof records.name ||
        strlen(of_user) >= MOST || strlen(of_group) >= MOST)
        return false;
    strcpy(records.directory, directory);
    strcpy(records.name, name);
    strcpy(records.of_user, of_user);
    strcpy(records.of_group, of_group);
    struct linux_errand errand = {.run = write_records, .subject = linux_at_records};
    return linux_do_in_time(errand, &records, sizeof records, 500) && records.is_written;
}
