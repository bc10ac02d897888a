#include "process_walk.h"

#include "monotonic.h"

#include <dirent.h>
#include <stdatomic.h>
#include <sys/syscall.h>

// Milliseconds in which a thread that looks has to have gone on.
enum { PATIENCE = 100, MOST_HANGING = 32 };

struct walk {
    struct walk_plan plan;
    pthread_mutex_t guard;
    pthread_cond_t is_over_now;
    int owners;
    pid_t *pids;
    size_t count, next;
    // The present walker; those before it were left behind.
    atomic_uint number;
    pid_t thread, at;
    bool is_over;
    atomic_uint steps;
};

struct walker {
    struct walk *walk;
    unsigned number;
};

// Processes that a thread hangs at.
static pthread_mutex_t guard_of_hanging = PTHREAD_MUTEX_INITIALIZER;
static pid_t hanging[MOST_HANGING];
static size_t hanging_count;

time_t linux_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

static bool is_hanging(pid_t pid) {
    bool is = false;
    pthread_mutex_lock(&guard_of_hanging);
    for (size_t i = 0; i < hanging_count; i++) is = is || hanging[i] == pid;
    pthread_mutex_unlock(&guard_of_hanging);
    return is;
}

static bool may_hang_once_more(void) {
    pthread_mutex_lock(&guard_of_hanging);
    bool may = hanging_count < MOST_HANGING;
    pthread_mutex_unlock(&guard_of_hanging);
    return may;
}

static void note_hanging(pid_t pid) {
    pthread_mutex_lock(&guard_of_hanging);
    if (hanging_count < MOST_HANGING) hanging[hanging_count++] = pid;
    pthread_mutex_unlock(&guard_of_hanging);
}

static void hangs_no_more(pid_t pid) {
    pthread_mutex_lock(&guard_of_hanging);
    for (size_t i = 0; i < hanging_count; i++) {
        if (hanging[i] != pid) continue;
        hanging[i] = hanging[--hanging_count];
        break;
    }
    pthread_mutex_unlock(&guard_of_hanging);
}

// With the guard held, which it gives back.
static void let_go(struct walk *walk) {
    bool is_last = --walk->owners == 0;
    pthread_mutex_unlock(&walk->guard);
    if (!is_last) return;
    walk->plan.release(walk->plan.context);
    pthread_cond_destroy(&walk->is_over_now);
    pthread_mutex_destroy(&walk->guard);
    free(walk->pids);
    free(walk);
}

bool linux_goes_on(struct walker *walker) {
    struct walk *walk = walker->walk;
    atomic_fetch_add(&walk->steps, 1);
    return atomic_load(&walk->number) == walker->number && linux_seconds() < walk->plan.end;
}

void linux_found(struct walker *walker, size_t number, pid_t pid) {
    struct walk *walk = walker->walk;
    pthread_mutex_lock(&walk->guard);
    if (walk->number == walker->number) walk->plan.tell(walk->plan.teller, number, pid);
    pthread_mutex_unlock(&walk->guard);
}

static void *go(void *context) {
    struct walk *walk = context;
    pid_t pid = 0;
    pthread_mutex_lock(&walk->guard);
    struct walker walker = {walk, walk->number};
    walk->thread = (pid_t)syscall(SYS_gettid);
    while (walk->next < walk->count * (size_t)walk->plan.parts && linux_goes_on(&walker)) {
        size_t place = walk->next++;
        pid = walk->at = walk->pids[place % walk->count];
        if (is_hanging(pid)) continue;
        pthread_mutex_unlock(&walk->guard);
        walk->plan.look(&walker, walk->plan.context, pid, (int)(place / walk->count));
        pthread_mutex_lock(&walk->guard);
    }
    if (walk->number == walker.number) {
        walk->is_over = true;
        pthread_cond_signal(&walk->is_over_now);
    } else {
        hangs_no_more(pid);
    }
    let_go(walk);
    return NULL;
}

static bool list_processes(struct walk *walk) {
    size_t room = 0;
    DIR *all = linux_open_list("/proc/.");
    if (!all) return false;
    bool is_whole = true;
    for (struct dirent *entry; is_whole && (entry = readdir(all));) {
        pid_t pid = atoi(entry->d_name);
        if (pid <= 0) continue;
        if (walk->count == room) {
            room = room ? 2 * room : 256;
            pid_t *pids = realloc(walk->pids, room * sizeof *pids);
            is_whole = pids != NULL;
            if (!pids) break;
            walk->pids = pids;
        }
        walk->pids[walk->count++] = pid;
    }
    closedir(all);
    return is_whole;
}

// With the guard held.
static bool start(struct walk *walk) {
    walk->thread = 0;
    walk->owners++;
    if (may_hang_once_more() && linux_start_thread("curfewd-walk", go, walk) == 0) return true;
    walk->owners--;
    return false;
}

// Whether its thread waits for something: one that the board gives no time does not hang.
static bool waits(const struct walk *walk) {
    struct linux_process_status status;
    return walk->thread > 0 && linux_read_process_status(getpid(), walk->thread, &status) == 0 && status.state != 'R';
}

// With the guard held. False where it cannot be gone on.
static bool attend(struct walk *walk) {
    while (!walk->is_over) {
        unsigned steps = atomic_load(&walk->steps);
        struct timespec end = linux_after(PATIENCE);
        (void)pthread_cond_timedwait(&walk->is_over_now, &walk->guard, &end);
        if (walk->is_over || atomic_load(&walk->steps) != steps || !waits(walk)) continue;
        note_hanging(walk->at);
        walk->number++;
        if (!start(walk)) return false;
    }
    return linux_seconds() < walk->plan.end;
}

bool linux_walk_processes(const struct walk_plan *plan) {
    struct walk *walk = calloc(1, sizeof *walk);
    if (!walk) {
        plan->release(plan->context);
        return false;
    }
    walk->plan = *plan;
    walk->owners = 1;
    pthread_mutex_init(&walk->guard, NULL);
    linux_make_condition(&walk->is_over_now);
    pthread_mutex_lock(&walk->guard);
    bool is_whole = list_processes(walk) && start(walk) && attend(walk);
    // One that is left behind tells nothing more.
    walk->number++;
    let_go(walk);
    return is_whole;
}
