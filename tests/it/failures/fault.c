/* Makes file operations of one process fail on demand (LD_PRELOAD).
 *
 * GROUNDLINE_FAULT names a file with one line, "MODE TEXT": operations on paths that contain TEXT then fail.
 * MODE is full (writes and new names: ENOSPC), sync (fsync: EIO) or hang (writes wait until the line changes). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/* By system calls only: the library's own functions are replaced below. */
static int faulty(const char *mode, const char *path) {
  const char *control = getenv("GROUNDLINE_FAULT");
  if (!control || !path) return 0;
  int fd = syscall(SYS_openat, AT_FDCWD, control, O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0) return 0;
  char line[256];
  long length = syscall(SYS_read, fd, line, sizeof line - 1);
  syscall(SYS_close, fd);
  if (length <= 0) return 0;
  line[length] = 0;
  line[strcspn(line, "\n")] = 0;
  char *text = strchr(line, ' ');
  if (!text) return 0;
  *text++ = 0;
  return !strcmp(line, mode) && strstr(path, text) != NULL;
}

static int faulty_file(const char *mode, int fd) {
  char name[64], path[4096];
  snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
  long length = readlink(name, path, sizeof path - 1);
  if (length <= 0 || path[0] != '/') return 0;
  path[length] = 0;
  return faulty(mode, path);
}

static void hang(int fd) {
  struct timespec rest = {0, 20000000};
  while (faulty_file("hang", fd)) nanosleep(&rest, NULL);
}

static int fail(int number) {
  errno = number;
  return -1;
}

ssize_t write(int fd, const void *bytes, size_t count) {
  static ssize_t (*real)(int, const void *, size_t);
  if (!real) real = dlsym(RTLD_NEXT, "write");
  if (faulty_file("full", fd)) return fail(ENOSPC);
  hang(fd);
  return real(fd, bytes, count);
}

int fsync(int fd) {
  static int (*real)(int);
  if (!real) real = dlsym(RTLD_NEXT, "fsync");
  return faulty_file("sync", fd) ? fail(EIO) : real(fd);
}

int fdatasync(int fd) {
  static int (*real)(int);
  if (!real) real = dlsym(RTLD_NEXT, "fdatasync");
  return faulty_file("sync", fd) ? fail(EIO) : real(fd);
}

int open64(const char *path, int flags, ...) {
  static int (*real)(const char *, int, ...);
  if (!real) real = dlsym(RTLD_NEXT, "open64");
  va_list rest;
  va_start(rest, flags);
  int mode = (flags & O_CREAT) ? va_arg(rest, int) : 0;
  va_end(rest);
  if ((flags & O_CREAT) && faulty("full", path)) return fail(ENOSPC);
  return real(path, flags, mode);
}
