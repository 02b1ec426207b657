/**
 * Makes sockets as full as they may ever be: every third write to one takes nothing, and every other one of the rest a
 * part. Either is what a slow reader may do to a server, at any moment.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sys/socket.h>

static unsigned writes;

static ssize_t take(int socket, const void *bytes, size_t length, int flags) {
  static ssize_t (*next)(int, const void *, size_t, int);
  if (!next) next = dlsym(RTLD_NEXT, "send");
  unsigned write = writes++;
  if (write % 3 == 2) {
    errno = EAGAIN;
    return -1;
  }
  return next(socket, bytes, write % 2 ? (length + 1) / 2 : length, flags);
}

ssize_t send(int socket, const void *bytes, size_t length, int flags) {
  return take(socket, bytes, length, flags);
}
