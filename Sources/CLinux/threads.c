#include "CLinux.h"

int linux_start_thread(const char *name, void *(*run)(void *), void *context) {
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
    int error = pthread_create(&thread, NULL, run, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0) return error;
    pthread_setname_np(thread, name);
    pthread_detach(thread);
    return 0;
}
