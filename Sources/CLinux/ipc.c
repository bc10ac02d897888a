#include "CLinux.h"

#include <dirent.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>

// What System V keeps of a user's.
struct left {
    size_t count, room;
    struct object {
        int kind, id;
        void *place;  // of a segment
    } *objects;
};

enum { SEGMENT, QUEUE, SEMAPHORES };

union argument {
    struct semid_ds *status;
    struct seminfo *info;
};

static void add(struct left *left, int kind, int id, const struct ipc_perm *owner, uid_t user) {
    if (owner->uid != user && owner->cuid != user) return;
    if (left->count == left->room) {
        size_t room = left->room ? 2 * left->room : 64;
        void *objects = realloc(left->objects, room * sizeof *left->objects);
        if (!objects) return;
        left->objects = objects;
        left->room = room;
    }
    left->objects[left->count++] = (struct object){kind, id, NULL};
}

static void list_segments(struct left *left, uid_t user) {
    struct shm_info info = {0};
    int last = shmctl(0, SHM_INFO, (struct shmid_ds *)(void *)&info);
    for (int i = 0; info.used_ids > 0 && i <= last; i++) {
        struct shmid_ds status;
        int id = shmctl(i, SHM_STAT, &status);
        if (id >= 0) add(left, SEGMENT, id, &status.shm_perm, user);
    }
}

static void list_queues(struct left *left, uid_t user) {
    struct msginfo info = {0};
    int last = msgctl(0, MSG_INFO, (struct msqid_ds *)(void *)&info);
    for (int i = 0; info.msgpool > 0 && i <= last; i++) {
        struct msqid_ds status;
        int id = msgctl(i, MSG_STAT, &status);
        if (id >= 0) add(left, QUEUE, id, &status.msg_perm, user);
    }
}

static void list_semaphores(struct left *left, uid_t user) {
    struct seminfo info = {0};
    int last = semctl(0, 0, SEM_INFO, (union argument){.info = &info});
    for (int i = 0; info.semusz > 0 && i <= last; i++) {
        struct semid_ds status;
        int id = semctl(i, 0, SEM_STAT, (union argument){.status = &status});
        if (id >= 0) add(left, SEMAPHORES, id, &status.sem_perm, user);
    }
}

// /proc says whose a process is. Another daemon may have given the same number to an app of its own.
static bool has_processes(uid_t user) {
    DIR *all = linux_open_list("/proc/.");
    if (!all) return true;
    bool has = false;
    for (struct dirent *entry; !has && (entry = readdir(all));) {
        struct stat status;
        if (entry->d_name[0] < '0' || entry->d_name[0] > '9') continue;
        has = fstatat(dirfd(all), entry->d_name, &status, 0) == 0 && status.st_uid == user
            && !linux_has_ended(atoi(entry->d_name));
    }
    closedir(all);
    return has;
}

// What has a key can be had by it no more from here on. The memory itself is given back by the last that has it.
static void remove_keys(struct left *left) {
    for (size_t i = 0; i < left->count; i++) {
        struct object *object = &left->objects[i];
        if (object->kind == QUEUE) (void)msgctl(object->id, IPC_RMID, NULL);
        if (object->kind == SEMAPHORES) (void)semctl(object->id, 0, IPC_RMID);
        if (object->kind != SEGMENT) continue;
        void *place = shmat(object->id, NULL, SHM_RDONLY);
        object->place = place == (void *)-1 ? NULL : place;
        (void)shmctl(object->id, IPC_RMID, NULL);
    }
}

// More is taken away by a thread: the kernel frees what is in a queue at once. So few are gone before their app is
// started again, which may look for what is its own by the same keys.
enum { FEW = 64 };

static void *finish(void *context) {
    struct left *left = context;
    if (left->count > FEW) remove_keys(left);
    for (size_t i = 0; i < left->count; i++)
        if (left->objects[i].place) (void)shmdt(left->objects[i].place);
    free(left->objects);
    free(left);
    return NULL;
}

// Whether a user has POSIX message queues, where the system shows them as files; removes: takes them away.
static bool posix_queues(uid_t user, bool removes) {
    DIR *all = opendir("/dev/mqueue");
    bool has = false;
    if (!all) return false;
    for (struct dirent *entry; (removes || !has) && (entry = readdir(all));) {
        struct stat status;
        if (fstatat(dirfd(all), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
        if (!S_ISREG(status.st_mode) || status.st_uid != user) continue;
        has = true;
        if (removes) (void)unlinkat(dirfd(all), entry->d_name, 0);
    }
    closedir(all);
    return has;
}

static void remove_all(void *context) {
    uid_t user = *(uid_t *)context;
    struct left *left = calloc(1, sizeof *left);
    if (!left) return;
    list_segments(left, user);
    list_queues(left, user);
    list_semaphores(left, user);
    bool has_queues = posix_queues(user, false);
    if (left->count > 0 || has_queues) {
        if (has_processes(user)) {
            left->count = 0;
        } else if (has_queues) {
            (void)posix_queues(user, true);
        }
    }
    if (left->count <= FEW) remove_keys(left);
    // To give back much memory takes its time.
    if (left->count == 0 || linux_start_thread("curfewd-ipc", finish, left) != 0) finish(left);
}

// /dev/mqueue and /proc are open to all, who may keep their locks for as long as they like.
void linux_remove_ipc(uid_t user) {
    struct linux_errand errand = {.run = remove_all, .subject = linux_at_queues};
    (void)linux_do_in_time(errand, &user, sizeof user, 100);
}
