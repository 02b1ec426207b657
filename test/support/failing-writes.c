/*
 * Preloaded into a service: while the file $ASSAY_FAULT is there, every write to a file below
 * $ASSAY_FAULT_UNDER fails with the number that is in it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static int fault(int fd) {
  const char *control = getenv("ASSAY_FAULT");
  const char *under = getenv("ASSAY_FAULT_UNDER");
  if (!control || !under) return 0;
  int saved = errno;
  char link[64], path[4096], text[16] = {0};
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  int number = 0;
  if (length > 0) {
    path[length] = 0;
    if (strncmp(path, under, strlen(under)) == 0) {
      int file = open(control, O_RDONLY);
      if (file >= 0) {
        if (read(file, text, sizeof text - 1) > 0) number = atoi(text);
        close(file);
      }
    }
  }
  errno = saved;
  return number;
}

#define FAILING(type, name, parameters, arguments)                  \
  type name parameters {                                            \
    static type(*real) parameters;                                  \
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, #name);           \
    int number = fault(fd);                                         \
    if (!number) return real arguments;                             \
    errno = number;                                                 \
    return -1;                                                      \
  }

FAILING(ssize_t, write, (int fd, const void *from, size_t size), (fd, from, size))
FAILING(ssize_t, writev, (int fd, const struct iovec *from, int count), (fd, from, count))
FAILING(ssize_t, pwrite, (int fd, const void *from, size_t size, off_t at), (fd, from, size, at))
FAILING(ssize_t, pwrite64, (int fd, const void *from, size_t size, off64_t at), (fd, from, size, at))
FAILING(ssize_t, pwritev, (int fd, const struct iovec *from, int count, off_t at), (fd, from, count, at))
FAILING(ssize_t, pwritev64, (int fd, const struct iovec *from, int count, off64_t at), (fd, from, count, at))
FAILING(int, fdatasync, (int fd), (fd))
FAILING(int, fsync, (int fd), (fd))
