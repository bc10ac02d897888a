// A test is a function; main.c lists them. What fails is said with its place, and the test goes on.
#pragma once
#include <stdbool.h>
#include <stddef.h>

#define CHECK(condition) check((condition), __FILE__, __LINE__, #condition)
#define CHECK_NUMBER(value, wanted) check_number((double)(value), (double)(wanted), __FILE__, __LINE__, #value)
// NULL is a text of its own.
#define CHECK_TEXT(value, wanted) check_text((value), (wanted), __FILE__, __LINE__, #value)
#define CHECK_CONTAINS(value, part) check_contains((value), (part), __FILE__, __LINE__, #value)

bool check(bool condition, const char *file, int line, const char *what);
bool check_number(double value, double wanted, const char *file, int line, const char *what);
bool check_text(const char *value, const char *wanted, const char *file, int line, const char *what);
bool check_contains(const char *value, const char *part, const char *file, int line, const char *what);

// Ends the program: nothing can be tested without this.
void need(bool condition, const char *what);

struct test {
    const char *name;
    void (*run)(void);
};

extern const struct test delegate_tests[], deferral_tests[], message_tests[], connection_tests[], application_tests[],
    failure_tests[], thread_tests[], memory_tests[], fuzz_tests[];
