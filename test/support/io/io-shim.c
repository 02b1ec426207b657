/*
 * Stands between a process and the C library for the files below one directory (LD_PRELOAD, Linux).
 *
 * IO_SHIM_DIRECTORY  the directory, as an absolute path without links
 * IO_SHIM_CONTROL    a file of which `struct control` is mapped: another process arms a failure there, at any time
 * IO_SHIM_TRACE      a file to which every change is appended, in the order in which the kernel has got them:
 *                    see io-trace.ts
 * IO_SHIM_MARKS      a file; what is written to it is a mark in the trace: what was acknowledged
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind {
  KIND_WRITE = 1,
  KIND_SYNC = 2,
  KIND_RENAME = 4,
  KIND_TRUNCATE = 8,
  KIND_OPEN = 16,
  KIND_MMAP = 32,
  KIND_LINK = 64,
  KIND_UNLINK = 128,
  KIND_MKDIR = 256,
};

/* How a call fails: nothing is done; the first half of a write is; all is, and an error is reported. */
enum mode { MODE_ERROR, MODE_SHORT, MODE_LATE };

struct control {
  /* The number of the call that fails, of those that are seen from now on; 0: none does. */
  int32_t first;
  int32_t error;
  int32_t mode;
  /* Bits of enum kind. */
  int32_t kinds;
  /* So many calls fail, beginning with that one. */
  int32_t failures;
  int32_t seen;
  int32_t fired;
  int32_t firedKind;
  char firedPath[256];
};

enum operation {
  OP_CREATE = 1,
  OP_WRITE,
  OP_SYNC_BEGIN,
  OP_SYNC_END,
  OP_WRITE_SYNCED,
  OP_TRUNCATE,
  OP_PUNCH,
  OP_RENAME,
  OP_LINK,
  OP_UNLINK,
  OP_MKDIR,
  OP_RMDIR,
  OP_MARK,
};

struct record {
  uint32_t operation;
  uint32_t pathLength;
  uint64_t inode;
  uint64_t offset;
  uint64_t length;
  uint64_t dataLength;
};

/* What an open file is, found out at each call: descriptors are closed and used again in ways that are not seen here. */
struct known {
  char path[PATH_MAX];
  uint64_t inode;
  int isSynced;
  int isMarks;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct control *control;
static const char *directory;
static size_t directoryLength;
static const char *marks;
static int trace = -1;
static uint64_t syncs;

#define REAL(name) real_##name
#define DECLARE(type, name, parameters) static type(*REAL(name)) parameters

DECLARE(int, open64, (const char *, int, ...));
DECLARE(int, openat64, (int, const char *, int, ...));
DECLARE(ssize_t, write, (int, const void *, size_t));
DECLARE(ssize_t, pwrite64, (int, const void *, size_t, off64_t));
DECLARE(ssize_t, writev, (int, const struct iovec *, int));
DECLARE(ssize_t, pwritev64, (int, const struct iovec *, int, off64_t));
DECLARE(int, fsync, (int));
DECLARE(int, fdatasync, (int));
DECLARE(int, msync, (void *, size_t, int));
DECLARE(int, ftruncate64, (int, off64_t));
DECLARE(int, fallocate64, (int, int, off64_t, off64_t));
DECLARE(int, rename, (const char *, const char *));
DECLARE(int, link, (const char *, const char *));
DECLARE(int, unlink, (const char *));
DECLARE(int, unlinkat, (int, const char *, int));
DECLARE(int, rmdir, (const char *));
DECLARE(int, mkdir, (const char *, mode_t));
DECLARE(void *, mmap64, (void *, size_t, int, int, int, off64_t));

#define FIND(name) REAL(name) = dlsym(RTLD_NEXT, #name)

static int isBelow(const char *path) {
  return directory && path && strncmp(path, directory, directoryLength) == 0 &&
         (path[directoryLength] == '/' || path[directoryLength] == 0);
}

__attribute__((constructor)) static void begin(void) {
  FIND(open64);
  FIND(openat64);
  FIND(write);
  FIND(pwrite64);
  FIND(writev);
  FIND(pwritev64);
  FIND(fsync);
  FIND(fdatasync);
  FIND(msync);
  FIND(ftruncate64);
  FIND(fallocate64);
  FIND(rename);
  FIND(link);
  FIND(unlink);
  FIND(unlinkat);
  FIND(rmdir);
  FIND(mkdir);
  FIND(mmap64);
  directory = getenv("IO_SHIM_DIRECTORY");
  directoryLength = directory ? strlen(directory) : 0;
  marks = getenv("IO_SHIM_MARKS");
  const char *path = getenv("IO_SHIM_CONTROL");
  if (path) {
    int file = REAL(open64)(path, O_RDWR | O_CLOEXEC);
    void *at = REAL(mmap64)(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file < 0 || at == MAP_FAILED) {
      fprintf(stderr, "io-shim: cannot map %s\n", path);
      _exit(99);
    }
    control = at;
  }
  path = getenv("IO_SHIM_TRACE");
  if (path) trace = REAL(open64)(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
}

/* Whether this call is one that is to fail. */
static int mustFail(int kind, const char *path) {
  if (!control || !(control->kinds & kind)) return 0;
  int32_t call = __atomic_add_fetch(&control->seen, 1, __ATOMIC_SEQ_CST);
  int32_t first = control->first;
  if (first <= 0 || call < first || call - first >= control->failures) return 0;
  control->firedKind = kind;
  strncpy(control->firedPath, path ? path : "", sizeof control->firedPath - 1);
  __atomic_add_fetch(&control->fired, 1, __ATOMIC_SEQ_CST);
  return 1;
}

static int failed(void) {
  errno = control->error;
  return -1;
}

static void writeAll(const void *bytes, size_t length) {
  const char *at = bytes;
  while (length > 0) {
    ssize_t done = REAL(write)(trace, at, length);
    if (done < 0) {
      if (errno == EINTR) continue;
      fprintf(stderr, "io-shim: the trace cannot be written\n");
      _exit(98);
    }
    at += done;
    length -= done;
  }
}

/* The lock is held. */
static void note(uint32_t operation, const char *path, uint64_t inode, uint64_t offset, uint64_t length,
                 const struct iovec *data, int count, size_t dataLength) {
  if (trace < 0) return;
  int before = errno;
  struct record record = {operation, path ? strlen(path) : 0, inode, offset, length, dataLength};
  writeAll(&record, sizeof record);
  if (path) writeAll(path, record.pathLength);
  for (int i = 0; i < count && dataLength > 0; i++) {
    size_t part = data[i].iov_len < dataLength ? data[i].iov_len : dataLength;
    writeAll(data[i].iov_base, part);
    dataLength -= part;
  }
  errno = before;
}

static int findFile(int file, struct known *known) {
  if (file < 0 || !directory) return 0;
  int before = errno;
  struct stat64 found;
  char link[64];
  ssize_t length = -1;
  if (fstat64(file, &found) == 0 && (S_ISREG(found.st_mode) || S_ISDIR(found.st_mode))) {
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    length = readlink(link, known->path, sizeof known->path - 1);
  }
  errno = before;
  if (length < 0) return 0;
  known->path[length] = 0;
  known->inode = found.st_ino;
  known->isMarks = marks && strcmp(known->path, marks) == 0;
  known->isSynced = (fcntl(file, F_GETFL) & O_DSYNC) != 0;
  return known->isMarks || isBelow(known->path);
}

static void noteOpened(int file, const char *path, int flags, int isNew) {
  int before = errno;
  struct stat64 found;
  fstat64(file, &found);
  pthread_mutex_lock(&lock);
  if (isNew) note(OP_CREATE, path, found.st_ino, 0, 0, NULL, 0, 0);
  else if (flags & O_TRUNC) note(OP_TRUNCATE, path, found.st_ino, 0, 0, NULL, 0, 0);
  pthread_mutex_unlock(&lock);
  errno = before;
}

static int opened(int at, const char *path, int flags, mode_t mode) {
  int isMarks = marks && path && strcmp(path, marks) == 0;
  if (!isMarks && !isBelow(path)) return REAL(openat64)(at, path, flags, mode);
  if (!isMarks && mustFail(KIND_OPEN, path)) return failed();
  int before = errno;
  int isNew = (flags & O_CREAT) && access(path, F_OK) != 0;
  errno = before;
  int file = REAL(openat64)(at, path, flags, mode);
  if (file >= 0 && !isMarks) noteOpened(file, path, flags, isNew);
  return file;
}

#define MODE(flags)                                 \
  mode_t mode = 0;                                  \
  if ((flags) & (O_CREAT | O_TMPFILE)) {            \
    va_list rest;                                   \
    va_start(rest, flags);                          \
    mode = va_arg(rest, mode_t);                    \
    va_end(rest);                                   \
  }

int open(const char *path, int flags, ...) {
  MODE(flags)
  return opened(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  MODE(flags)
  return opened(AT_FDCWD, path, flags | O_LARGEFILE, mode);
}

int openat(int at, const char *path, int flags, ...) {
  MODE(flags)
  return opened(at, path, flags, mode);
}

int openat64(int at, const char *path, int flags, ...) {
  MODE(flags)
  return opened(at, path, flags | O_LARGEFILE, mode);
}

/* offset < 0: where the file is. */
static ssize_t written(int file, const struct iovec *parts, int count, off64_t offset) {
  struct known found, *known = &found;
  if (!findFile(file, known)) return offset < 0 ? REAL(writev)(file, parts, count) : REAL(pwritev64)(file, parts, count, offset);
  if (known->isMarks) {
    pthread_mutex_lock(&lock);
    size_t length = 0;
    for (int i = 0; i < count; i++) length += parts[i].iov_len;
    note(OP_MARK, NULL, 0, 0, 0, parts, count, length);
    ssize_t done = offset < 0 ? REAL(writev)(file, parts, count) : REAL(pwritev64)(file, parts, count, offset);
    pthread_mutex_unlock(&lock);
    return done;
  }
  int mode = -1;
  if (mustFail(KIND_WRITE, known->path)) {
    mode = control->mode;
    if (mode == MODE_ERROR) return failed();
  }
  struct iovec half[1];
  if (mode == MODE_SHORT) {
    half[0].iov_base = parts[0].iov_base;
    half[0].iov_len = parts[0].iov_len / 2;
    parts = half;
    count = 1;
  }
  pthread_mutex_lock(&lock);
  off64_t at = offset < 0 ? lseek64(file, 0, SEEK_CUR) : offset;
  ssize_t done = offset < 0 ? REAL(writev)(file, parts, count) : REAL(pwritev64)(file, parts, count, offset);
  if (done > 0) {
    note(OP_WRITE, NULL, known->inode, at, done, parts, count, done);
    if (known->isSynced && mode != MODE_LATE) note(OP_WRITE_SYNCED, NULL, known->inode, at, done, NULL, 0, 0);
  }
  pthread_mutex_unlock(&lock);
  return mode == MODE_LATE ? failed() : done;
}

ssize_t write(int file, const void *bytes, size_t length) {
  struct known found;
  if (!findFile(file, &found)) return REAL(write)(file, bytes, length);
  struct iovec part = {(void *)bytes, length};
  return written(file, &part, 1, -1);
}

ssize_t pwrite64(int file, const void *bytes, size_t length, off64_t offset) {
  struct iovec part = {(void *)bytes, length};
  return written(file, &part, 1, offset);
}

ssize_t pwrite(int file, const void *bytes, size_t length, off_t offset) {
  return pwrite64(file, bytes, length, offset);
}

ssize_t writev(int file, const struct iovec *parts, int count) { return written(file, parts, count, -1); }

ssize_t pwritev64(int file, const struct iovec *parts, int count, off64_t offset) {
  return written(file, parts, count, offset);
}

ssize_t pwritev(int file, const struct iovec *parts, int count, off_t offset) {
  return written(file, parts, count, offset);
}

static int synced(int file, int (*sync)(int)) {
  struct known found, *known = &found;
  if (!findFile(file, known)) return sync(file);
  pthread_mutex_lock(&lock);
  uint64_t id = ++syncs;
  uint64_t inode = known->inode;
  note(OP_SYNC_BEGIN, known->path, inode, id, 0, NULL, 0, 0);
  int fails = mustFail(KIND_SYNC, known->path);
  pthread_mutex_unlock(&lock);
  int result = fails && control->mode != MODE_LATE ? failed() : sync(file);
  if (fails) result = failed();
  pthread_mutex_lock(&lock);
  note(OP_SYNC_END, NULL, inode, id, result == 0, NULL, 0, 0);
  pthread_mutex_unlock(&lock);
  return result;
}

int fsync(int file) { return synced(file, REAL(fsync)); }

int fdatasync(int file) { return synced(file, REAL(fdatasync)); }

int msync(void *at, size_t length, int flags) {
  return mustFail(KIND_SYNC, "msync") ? failed() : REAL(msync)(at, length, flags);
}

int ftruncate64(int file, off64_t length) {
  struct known found, *known = &found;
  if (!findFile(file, known)) return REAL(ftruncate64)(file, length);
  if (mustFail(KIND_TRUNCATE, known->path)) return failed();
  pthread_mutex_lock(&lock);
  int result = REAL(ftruncate64)(file, length);
  if (result == 0) note(OP_TRUNCATE, NULL, known->inode, 0, length, NULL, 0, 0);
  pthread_mutex_unlock(&lock);
  return result;
}

int ftruncate(int file, off_t length) { return ftruncate64(file, length); }

int fallocate64(int file, int mode, off64_t offset, off64_t length) {
  struct known found, *known = &found;
  if (!findFile(file, known)) return REAL(fallocate64)(file, mode, offset, length);
  if (mustFail(KIND_TRUNCATE, known->path)) return failed();
  pthread_mutex_lock(&lock);
  int result = REAL(fallocate64)(file, mode, offset, length);
  if (result == 0 && (mode & FALLOC_FL_PUNCH_HOLE)) note(OP_PUNCH, NULL, known->inode, offset, length, NULL, 0, 0);
  else if (result == 0 && !(mode & FALLOC_FL_KEEP_SIZE)) note(OP_TRUNCATE, NULL, known->inode, 1, offset + length, NULL, 0, 0);
  pthread_mutex_unlock(&lock);
  return result;
}

int fallocate(int file, int mode, off_t offset, off_t length) { return fallocate64(file, mode, offset, length); }

int posix_fallocate64(int file, off64_t offset, off64_t length) {
  return fallocate64(file, 0, offset, length) == 0 ? 0 : errno;
}

int posix_fallocate(int file, off_t offset, off_t length) { return posix_fallocate64(file, offset, length); }

static int named(uint32_t operation, int kind, const char *path, const char *other, int (*change)(const char *, const char *)) {
  if (mustFail(kind, path)) return failed();
  pthread_mutex_lock(&lock);
  int result = change(path, other);
  if (result == 0 && trace >= 0) {
    struct iovec to = {(void *)other, other ? strlen(other) : 0};
    note(operation, path, 0, 0, 0, &to, other ? 1 : 0, to.iov_len);
  }
  pthread_mutex_unlock(&lock);
  return result;
}

static int doUnlink(const char *path, const char *other) {
  (void)other;
  return REAL(unlink)(path);
}

static int doRemove(const char *path, const char *other) {
  (void)other;
  return REAL(rmdir)(path);
}

static __thread mode_t folderMode;

static int doMake(const char *path, const char *other) {
  (void)other;
  return REAL(mkdir)(path, folderMode);
}

int rename(const char *path, const char *to) {
  if (!isBelow(path)) return REAL(rename)(path, to);
  return named(OP_RENAME, KIND_RENAME, path, to, REAL(rename));
}

int link(const char *path, const char *to) {
  if (!isBelow(to)) return REAL(link)(path, to);
  return named(OP_LINK, KIND_LINK, path, to, REAL(link));
}

int unlink(const char *path) {
  return isBelow(path) ? named(OP_UNLINK, KIND_UNLINK, path, NULL, doUnlink) : REAL(unlink)(path);
}

int unlinkat(int at, const char *path, int flags) {
  if (!isBelow(path)) return REAL(unlinkat)(at, path, flags);
  return flags & AT_REMOVEDIR ? rmdir(path) : unlink(path);
}

int rmdir(const char *path) {
  return isBelow(path) ? named(OP_RMDIR, KIND_UNLINK, path, NULL, doRemove) : REAL(rmdir)(path);
}

int mkdir(const char *path, mode_t mode) {
  if (!isBelow(path)) return REAL(mkdir)(path, mode);
  folderMode = mode;
  return named(OP_MKDIR, KIND_MKDIR, path, NULL, doMake);
}

void *mmap64(void *at, size_t length, int protection, int flags, int file, off64_t offset) {
  struct known found, *known = &found;
  if (findFile(file, known) && mustFail(KIND_MMAP, known->path)) {
    errno = control->error;
    return MAP_FAILED;
  }
  return REAL(mmap64)(at, length, protection, flags, file, offset);
}

void *mmap(void *at, size_t length, int protection, int flags, int file, off_t offset) {
  return mmap64(at, length, protection, flags, file, offset);
}
