/* A library for LD_PRELOAD that disturbs one call of a program that changes files below a folder: it fails, is cut short,
   is interrupted by a signal, or the process is killed before it. Calls of all processes count together, in a file.

   LOCUS_INJECT_ROOT   the folder, absolute
   LOCUS_INJECT_STATE  a file of at least 16 bytes outside of it: two numbers, calls counted and calls disturbed
   LOCUS_INJECT_KIND   count, eio, enospc, full (from that call on nothing can be written), kill, short, eintr
   LOCUS_INJECT_AT     which call, from 1 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum Call { kWrites, kMakes, kOther };

static uint64_t* state; /* [0] calls so far, [1] disturbed */
static const char* root;
static const char* kind;
static uint64_t at;

__attribute__((constructor)) static void begin(void) {
  const char* file = getenv("LOCUS_INJECT_STATE");
  const char* number = getenv("LOCUS_INJECT_AT");
  root = getenv("LOCUS_INJECT_ROOT");
  kind = getenv("LOCUS_INJECT_KIND");
  at = number != NULL ? strtoull(number, NULL, 10) : 0;
  if (file == NULL || root == NULL || kind == NULL) return;
  const int fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_RDWR | O_CLOEXEC, 0);
  if (fd < 0) return;
  void* const memory = mmap(NULL, 16, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory != MAP_FAILED) state = memory;
  close(fd);
}

static int is_below_root(const char* path) {
  const size_t length = strlen(root);
  return strncmp(path, root, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

static int open_file_counts(int fd) {
  char link[64];
  char target[PATH_MAX];
  if (state == NULL) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t n = readlink(link, target, sizeof target - 1);
  if (n < 0) return 0;
  target[n] = '\0';
  return is_below_root(target);
}

static int path_counts(int folder, const char* path) {
  char here[PATH_MAX];
  if (state == NULL) return 0;
  if (path[0] == '/') return is_below_root(path);
  if (folder != AT_FDCWD) return open_file_counts(folder);
  return getcwd(here, sizeof here) != NULL && is_below_root(here);
}

static int is_kind(const char* name) { return strcmp(kind, name) == 0; }

/* 1: the call fails with errno; 2: a write is to be cut short; 0: it goes on. */
static int disturb(enum Call call, size_t bytes) {
  const uint64_t number = __atomic_add_fetch(&state[0], 1, __ATOMIC_SEQ_CST);
  const int full = is_kind("full") && number >= at && call != kOther;
  if (is_kind("count") || (number != at && !full)) return 0;
  if (is_kind("full") && !full) return 0;
  if (is_kind("short") && (call != kWrites || bytes < 2)) return 0;
  __atomic_add_fetch(&state[1], 1, __ATOMIC_SEQ_CST);
  if (is_kind("short")) return 2;
  if (is_kind("kill")) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
  }
  errno = is_kind("eio") ? EIO : is_kind("eintr") ? EINTR : ENOSPC;
  return 1;
}

#define FAIL_IF(condition, call) \
  if ((condition) && disturb(call, 0) != 0) return -1

static int open_below(int folder, const char* path, int flags, mode_t mode) {
  const int changes = (flags & (O_CREAT | O_TRUNC)) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  FAIL_IF(changes && path_counts(folder, path), kMakes);
  return (int)syscall(SYS_openat, folder, path, flags, mode);
}

#define MODE_OF(flags)                                              \
  mode_t mode = 0;                                                  \
  if ((flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE) { \
    va_list list;                                                   \
    va_start(list, flags);                                          \
    mode = va_arg(list, mode_t);                                    \
    va_end(list);                                                   \
  }

int open(const char* path, int flags, ...) {
  MODE_OF(flags)
  return open_below(AT_FDCWD, path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  MODE_OF(flags)
  return open_below(AT_FDCWD, path, flags, mode);
}
int openat(int folder, const char* path, int flags, ...) {
  MODE_OF(flags)
  return open_below(folder, path, flags, mode);
}
int openat64(int folder, const char* path, int flags, ...) {
  MODE_OF(flags)
  return open_below(folder, path, flags, mode);
}

ssize_t write(int fd, const void* data, size_t bytes) {
  if (open_file_counts(fd)) {
    const int how = disturb(kWrites, bytes);
    if (how == 1) return -1;
    if (how == 2) bytes /= 2;
  }
  return syscall(SYS_write, fd, data, bytes);
}
ssize_t pwrite(int fd, const void* data, size_t bytes, off_t place) {
  if (open_file_counts(fd)) {
    const int how = disturb(kWrites, bytes);
    if (how == 1) return -1;
    if (how == 2) bytes /= 2;
  }
  return syscall(SYS_pwrite64, fd, data, bytes, place);
}
ssize_t pwrite64(int fd, const void* data, size_t bytes, off64_t place) { return pwrite(fd, data, bytes, place); }
ssize_t writev(int fd, const struct iovec* parts, int count) {
  FAIL_IF(open_file_counts(fd), kWrites);
  return syscall(SYS_writev, fd, parts, count);
}

int ftruncate(int fd, off_t size) {
  FAIL_IF(open_file_counts(fd), kOther);
  return (int)syscall(SYS_ftruncate, fd, size);
}
int ftruncate64(int fd, off64_t size) { return ftruncate(fd, size); }

/* Counted, but nothing is waited for: a kill does not lose what the system has. */
int fsync(int fd) {
  FAIL_IF(open_file_counts(fd), kOther);
  return state != NULL ? 0 : (int)syscall(SYS_fsync, fd);
}
int fdatasync(int fd) { return fsync(fd); }

int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  FAIL_IF(path_counts(from_folder, from) || path_counts(to_folder, to), kOther);
  return (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
}
int renameat(int from_folder, const char* from, int to_folder, const char* to) {
  return renameat2(from_folder, from, to_folder, to, 0);
}
int rename(const char* from, const char* to) { return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0); }

int unlinkat(int folder, const char* path, int flags) {
  FAIL_IF(path_counts(folder, path), kOther);
  return (int)syscall(SYS_unlinkat, folder, path, flags);
}
int unlink(const char* path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char* path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }
int remove(const char* path) {
  struct stat info;
  if (lstat(path, &info) != 0) return -1;
  return unlinkat(AT_FDCWD, path, S_ISDIR(info.st_mode) ? AT_REMOVEDIR : 0);
}

int mkdirat(int folder, const char* path, mode_t mode) {
  FAIL_IF(path_counts(folder, path), kMakes);
  return (int)syscall(SYS_mkdirat, folder, path, mode);
}
int mkdir(const char* path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }
