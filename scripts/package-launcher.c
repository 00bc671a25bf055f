// bin/locus of the package: starts the program with the package's own loader and libraries, wherever the package lies and whatever
// the machine has. Linked statically; needs no shell.
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int exists(const char* path) { return access(path, X_OK) == 0; }

// The path of this program: by the system, else as it was called, else on PATH.
static int own_path(const char* called, char* out) {
  const ssize_t n = readlink("/proc/self/exe", out, PATH_MAX - 1);
  if (n > 0) {
    out[n] = '\0';
    return 1;
  }
  if (strchr(called, '/') != NULL) return realpath(called, out) != NULL;
  const char* folders = getenv("PATH");
  while (folders != NULL && *folders != '\0') {
    const size_t length = strcspn(folders, ":");
    char candidate[PATH_MAX];
    if (snprintf(candidate, sizeof candidate, "%.*s/%s", (int)length, folders, called) < (int)sizeof candidate &&
        exists(candidate))
      return realpath(candidate, out) != NULL;
    folders += length + (folders[length] == ':');
  }
  return 0;
}

int main(int argc, char** argv) {
  char self[PATH_MAX];
  if (argc < 1 || !own_path(argv[0], self)) {
    fputs("error: locus cannot find its own folder; call it with its full path\n", stderr);
    return 1;
  }
  // .../bin/locus: the package is two steps up.
  char root[PATH_MAX];
  strcpy(root, self);
  for (int i = 0; i < 2; ++i) {
    char* slash = strrchr(root, '/');
    if (slash != NULL) *slash = '\0';
  }
  static char loader[PATH_MAX + 64], libraries[PATH_MAX + 64], program[PATH_MAX + 64];
  snprintf(loader, sizeof loader, "%s/lib/loader", root);
  snprintf(libraries, sizeof libraries, "%s/lib", root);
  snprintf(program, sizeof program, "%s/lib/locus", root);
  setenv("LOCUS_PROGRAM", self, 1);  // what starts further processes
  char** arguments = calloc((size_t)argc + 7, sizeof *arguments);
  if (arguments == NULL) return 1;
  int n = 0;
  arguments[n++] = loader;
  arguments[n++] = "--argv0";
  arguments[n++] = "locus";
  arguments[n++] = "--library-path";
  arguments[n++] = libraries;
  arguments[n++] = program;
  for (int i = 1; i < argc; ++i) arguments[n++] = argv[i];
  execv(loader, arguments);
  perror(loader);
  return 127;
}
