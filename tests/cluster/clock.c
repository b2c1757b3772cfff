/* A clock that is off by QUIRE_TEST_CLOCK_S seconds, for a process that is started with this in LD_PRELOAD. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int failed = real(clock, now);
    const char *off = getenv("QUIRE_TEST_CLOCK_S");
    if (!failed && off && clock == CLOCK_REALTIME) now->tv_sec += atol(off);
    return failed;
}
