/* A disk that fails as the file QUIRE_TEST_DISK_FAULT says, for a process that is started with this in LD_PRELOAD. Where it begins with
   `s`, nothing is written through: EIO. Where it begins with `r`, nothing below QUIRE_TEST_DISK can be written: EROFS. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REAL(name) \
    static __typeof__(name) *real; \
    if (!real) real = dlsym(RTLD_NEXT, #name)

static int is(char wanted) {
    const char *path = getenv("QUIRE_TEST_DISK_FAULT");
    int file = path ? syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC) : -1;
    char said = 0;
    if (file < 0) return 0;
    syscall(SYS_read, file, &said, 1);
    syscall(SYS_close, file);
    return said == wanted;
}

static int fails(int error) {
    errno = error;
    return -1;
}

/* Sockets and pipes are no disk. */
static int unwritable(int file) {
    struct stat found;
    return fstat(file, &found) == 0 && S_ISREG(found.st_mode) && is('r');
}

static int unwritable_at(const char *path) {
    const char *disk = getenv("QUIRE_TEST_DISK");
    return disk && strncmp(path, disk, strlen(disk)) == 0 && is('r');
}

#define THROUGH(name) \
    int name(int file) { \
        REAL(name); \
        if (is('s')) return fails(EIO); \
        return unwritable(file) ? fails(EROFS) : real(file); \
    }
THROUGH(fsync)
THROUGH(fdatasync)

ssize_t write(int file, const void *bytes, size_t count) {
    REAL(write);
    return unwritable(file) ? fails(EROFS) : real(file, bytes, count);
}

#define WRITE_AT(name, offset) \
    ssize_t name(int file, const void *bytes, size_t count, offset at) { \
        REAL(name); \
        return unwritable(file) ? fails(EROFS) : real(file, bytes, count, at); \
    }
WRITE_AT(pwrite, off_t)
WRITE_AT(pwrite64, off64_t)

#define CUT(name, length) \
    int name(int file, length size) { \
        REAL(name); \
        return unwritable(file) ? fails(EROFS) : real(file, size); \
    }
CUT(ftruncate, off_t)
CUT(ftruncate64, off64_t)

#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        REAL(name); \
        va_list more; \
        va_start(more, flags); \
        int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, int) : 0; \
        va_end(more); \
        if ((flags & (O_WRONLY | O_RDWR | O_CREAT)) && unwritable_at(path)) return fails(EROFS); \
        return real(path, flags, mode); \
    }
OPEN(open)
OPEN(open64)

int mkdir(const char *path, mode_t mode) {
    REAL(mkdir);
    return unwritable_at(path) ? fails(EROFS) : real(path, mode);
}

int rename(const char *from, const char *to) {
    REAL(rename);
    return unwritable_at(to) ? fails(EROFS) : real(from, to);
}

int unlink(const char *path) {
    REAL(unlink);
    return unwritable_at(path) ? fails(EROFS) : real(path);
}
