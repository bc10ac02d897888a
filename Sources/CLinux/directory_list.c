#include "CLinux.h"

struct list {
    char path[3072];
    char *names;
    size_t length;
    int error;
};

static bool add(struct list *list, const char *name, size_t size) {
    char *longer = realloc(list->names, list->length + size);
    if (!longer) return false;
    memcpy(longer + list->length, name, size);
    list->names = longer;
    list->length += size;
    return true;
}

static void read_list(void *context) {
    struct list *list = context;
    DIR *directory = opendir(list->path);
    if (!directory) {
        list->error = errno;
        return;
    }
    while (list->error == 0) {
        errno = 0;
        struct dirent *entry = readdir(directory);
        if (!entry) {
            // A disk's own words: libraries in between leave others behind.
            if (errno == EIO || errno == EUCLEAN || errno == ESTALE || errno == EBADMSG) list->error = errno;
            break;
        }
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (!add(list, entry->d_name, strlen(entry->d_name) + 1)) list->error = ENOMEM;
    }
    closedir(directory);
}

static int give(struct list *list, char **names, size_t *length) {
    if (list->error != 0) {
        free(list->names);
        return list->error;
    }
    *names = list->names;
    *length = list->length;
    return 0;
}

static void free_list(void *context) { free(((struct list *)context)->names); }

int linux_list(const char *path, char **names, size_t *length) {
    struct list list = {.error = 0};
    size_t size = strlen(path) + 1;
    if (size > sizeof list.path) return ENAMETOOLONG;
    memcpy(list.path, path, size);
    read_list(&list);
    return give(&list, names, length);
}

int linux_list_in_time(const char *path, int milliseconds, char **names, size_t *length) {
    struct list list = {.error = 0};
    size_t size = strlen(path) + 1;
    if (size > sizeof list.path) return ENAMETOOLONG;
    memcpy(list.path, path, size);
    struct linux_errand errand = {.run = read_list, .discard = free_list, .subject = linux_at_text(path, size - 1)};
    if (!linux_do_in_time(errand, &list, sizeof list, milliseconds)) return ETIMEDOUT;
    return give(&list, names, length);
}
