#include "monotonic.h"

#include <stdatomic.h>
#include <stdalign.h>

struct thread {
    char name[16];
    void *(*run)(void *);
    void *context;
};

// It names itself: another's name is written to /proc/self/task, whose lock any user may keep.
static void *run_thread(void *context) {
    struct thread thread = *(struct thread *)context;
    free(context);
    (void)prctl(PR_SET_NAME, thread.name, 0, 0, 0);
    return thread.run(thread.context);
}

int linux_start_thread(const char *name, void *(*run)(void *), void *context) {
    struct thread *made = calloc(1, sizeof *made);
    if (!made) return ENOMEM;
    strncpy(made->name, name, sizeof made->name - 1);
    made->run = run;
    made->context = context;
    sigset_t left_alone, before;
    sigfillset(&left_alone);
    sigdelset(&left_alone, SIGSEGV);
    sigdelset(&left_alone, SIGBUS);
    sigdelset(&left_alone, SIGILL);
    sigdelset(&left_alone, SIGTRAP);
    sigdelset(&left_alone, SIGFPE);
    sigdelset(&left_alone, SIGABRT);
    pthread_t thread;
    pthread_sigmask(SIG_SETMASK, &left_alone, &before);
    int error = pthread_create(&thread, NULL, run_thread, made);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0) {
        free(made);
        return error;
    }
    pthread_detach(thread);
    return 0;
}

enum { MOST_ON_THEIR_WAY = 16 };

// Freed by whichever of the two comes last.
struct errand {
    void (*run)(void *);
    pthread_mutex_t guard;
    pthread_cond_t is_done_now;
    bool is_done, is_left;
    alignas(max_align_t) char context[4096];
};

static atomic_int on_their_way;

static void free_errand(struct errand *errand) {
    pthread_cond_destroy(&errand->is_done_now);
    pthread_mutex_destroy(&errand->guard);
    free(errand);
}

static void *do_errand(void *context) {
    struct errand *errand = context;
    errand->run(errand->context);
    atomic_fetch_sub(&on_their_way, 1);
    pthread_mutex_lock(&errand->guard);
    errand->is_done = true;
    bool is_left = errand->is_left;
    pthread_cond_signal(&errand->is_done_now);
    pthread_mutex_unlock(&errand->guard);
    if (is_left) free_errand(errand);
    return NULL;
}

static struct errand *begin_errand(void (*run)(void *), const void *context, size_t size) {
    struct errand *errand = calloc(1, sizeof *errand);
    if (!errand) return NULL;
    errand->run = run;
    memcpy(errand->context, context, size);
    pthread_mutex_init(&errand->guard, NULL);
    linux_make_condition(&errand->is_done_now);
    if (atomic_fetch_add(&on_their_way, 1) < MOST_ON_THEIR_WAY &&
        linux_start_thread("curfewd-look", do_errand, errand) == 0)
        return errand;
    atomic_fetch_sub(&on_their_way, 1);
    free_errand(errand);
    return NULL;
}

bool linux_do_in_time(void (*run)(void *), void *context, size_t size, int milliseconds) {
    struct errand *errand = begin_errand(run, context, size);
    if (!errand) return false;
    struct timespec end = linux_after(milliseconds);
    pthread_mutex_lock(&errand->guard);
    while (!errand->is_done && pthread_cond_timedwait(&errand->is_done_now, &errand->guard, &end) == 0) {
    }
    bool is_done = errand->is_done;
    errand->is_left = !is_done;
    if (is_done) memcpy(context, errand->context, size);
    pthread_mutex_unlock(&errand->guard);
    if (is_done) free_errand(errand);
    return is_done;
}
