// clone3 with a stack of the child's own. glibc has no public wrapper for it, and returning from the syscall twice on
// one stack is not for C; so a few lines per architecture. Elsewhere clone(2) of glibc serves, and the child joins its
// cgroup by a write.
#pragma once
#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>

struct clone3_arguments {
    uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid, set_tid_size, cgroup;
};

#define CLONE3_INTO_CGROUP 0x200000000ULL

// The child's pid in the parent, or -errno. The child calls `function` and exits with what it returns.
static inline long clone3_with_stack(struct clone3_arguments *arguments, int (*function)(void *), void *argument) {
#if defined(__x86_64__) && defined(SYS_clone3) && !defined(__ILP32__)
    long result;
    register int (*entry)(void *) __asm__("r8") = function;
    register void *parameter __asm__("r9") = argument;
    __asm__ volatile(
        "syscall\n\t"
        "testq %%rax, %%rax\n\t"
        "jnz 1f\n\t"
        "xorl %%ebp, %%ebp\n\t"
        "movq %%r9, %%rdi\n\t"
        "callq *%%r8\n\t"
        "movl %%eax, %%edi\n\t"
        "movl %[exit], %%eax\n\t"
        "syscall\n\t"
        "hlt\n"
        "1:"
        : "=a"(result)
        : "a"((long)SYS_clone3), "D"(arguments), "S"(sizeof *arguments), "r"(entry), "r"(parameter),
          [exit] "i"(SYS_exit_group)
        : "rcx", "r11", "memory", "cc");
    return result;
#elif defined(__aarch64__) && defined(SYS_clone3)
    register long result __asm__("x0") = (long)arguments;
    register long size __asm__("x1") = sizeof *arguments;
    register long number __asm__("x8") = SYS_clone3;
    register int (*entry)(void *) __asm__("x10") = function;
    register void *parameter __asm__("x11") = argument;
    __asm__ volatile(
        "svc #0\n\t"
        "cbnz x0, 1f\n\t"
        "mov x29, xzr\n\t"
        "mov x30, xzr\n\t"
        "mov x0, x11\n\t"
        "blr x10\n\t"
        "mov x8, %[exit]\n\t"
        "svc #0\n\t"
        "brk #1\n"
        "1:"
        : "+r"(result)
        : "r"(size), "r"(number), "r"(entry), "r"(parameter), [exit] "i"(SYS_exit_group)
        : "memory", "cc");
    return result;
#else
    (void)arguments;
    (void)function;
    (void)argument;
    return -ENOSYS;
#endif
}
