#include "monotonic.h"

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

enum { MOST_ON_THEIR_WAY = 64 };

// Freed by whichever of the two comes last.
struct errand {
    void (*run)(void *), (*discard)(void *);
    uint64_t subject;
    bool is_done, is_left;
    alignas(max_align_t) char context[4096];
};

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t one_is_done, one_is_handed;
static struct errand *on_their_way[MOST_ON_THEIR_WAY];
// A thread that has done one waits a little for another: it is there at once.
static struct errand *handed;
static int at_rest;
static pthread_once_t is_ready = PTHREAD_ONCE_INIT;

static bool is_made;

static void get_ready(void) {
    linux_make_condition(&one_is_done);
    linux_make_condition(&one_is_handed);
    is_made = true;
}

// With the guard held. Where the same hangs already: NULL.
static struct errand **place_for(uint64_t subject) {
    struct errand **place = NULL;
    for (int i = 0; i < MOST_ON_THEIR_WAY; i++) {
        if (!on_their_way[i])
            place = &on_their_way[i];
        else if (on_their_way[i]->is_left && on_their_way[i]->subject == subject)
            return NULL;
    }
    return place;
}

// With the guard held.
static void has_come_back(struct errand *errand) {
    for (int i = 0; i < MOST_ON_THEIR_WAY; i++)
        if (on_their_way[i] == errand) on_their_way[i] = NULL;
}

static void do_errand(struct errand *errand) {
    errand->run(errand->context);
    pthread_mutex_lock(&guard);
    has_come_back(errand);
    errand->is_done = true;
    bool is_left = errand->is_left;
    pthread_cond_broadcast(&one_is_done);
    pthread_mutex_unlock(&guard);
    if (!is_left) return;
    if (errand->discard) errand->discard(errand->context);
    free(errand);
}

static struct errand *next_errand(void) {
    struct timespec end = linux_after(1000);
    pthread_mutex_lock(&guard);
    at_rest++;
    while (!handed && pthread_cond_timedwait(&one_is_handed, &guard, &end) == 0) {
    }
    struct errand *next = handed;
    handed = NULL;
    // Who hands one over has counted it.
    if (!next) at_rest--;
    pthread_mutex_unlock(&guard);
    return next;
}

static void *do_errands(void *context) {
    for (struct errand *errand = context; errand; errand = next_errand()) do_errand(errand);
    return NULL;
}

// With the guard held.
static bool hand_over(struct errand *errand) {
    if (at_rest == 0 || handed) return false;
    at_rest--;
    handed = errand;
    pthread_cond_signal(&one_is_handed);
    return true;
}

static struct errand *begin_errand(const struct linux_errand *plan, const void *context, size_t size) {
    struct errand *errand = calloc(1, sizeof *errand);
    if (!errand) return NULL;
    errand->run = plan->run;
    errand->discard = plan->discard;
    errand->subject = plan->subject;
    memcpy(errand->context, context, size);
    pthread_mutex_lock(&guard);
    struct errand **place = place_for(plan->subject);
    if (place) *place = errand;
    bool is_handed = place && hand_over(errand);
    pthread_mutex_unlock(&guard);
    if (is_handed || (place && linux_start_thread("curfewd-look", do_errands, errand) == 0)) return errand;
    pthread_mutex_lock(&guard);
    has_come_back(errand);
    pthread_mutex_unlock(&guard);
    free(errand);
    return NULL;
}

void linux_forget_errands(void) {
    pthread_mutex_init(&guard, NULL);
    memset(on_their_way, 0, sizeof on_their_way);
    handed = NULL;
    at_rest = 0;
    if (!is_made) return;
    linux_make_condition(&one_is_done);
    linux_make_condition(&one_is_handed);
}

bool linux_do_in_time(struct linux_errand plan, void *context, size_t size, int milliseconds) {
    pthread_once(&is_ready, get_ready);
    struct errand *errand = begin_errand(&plan, context, size);
    if (!errand) {
        if (plan.discard) plan.discard(context);
        return false;
    }
    struct timespec end = linux_after(milliseconds);
    pthread_mutex_lock(&guard);
    while (!errand->is_done && pthread_cond_timedwait(&one_is_done, &guard, &end) == 0) {
    }
    bool is_done = errand->is_done;
    errand->is_left = !is_done;
    if (is_done) memcpy(context, errand->context, size);
    pthread_mutex_unlock(&guard);
    if (is_done) free(errand);
    return is_done;
}
