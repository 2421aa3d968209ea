/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * Preloaded by the fuzzers: makes one allocation of the library under test fail. The caller's
 * address decides, so that allocations of other code, such as the interpreter, never fail. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

struct range {
  uintptr_t low, high;
};

static struct range g_ranges[4];
static int g_n_ranges;
static __thread int64_t t_left = -1; /* allocations until one fails; below 0: none does */
static __thread int64_t t_failed;

static int add_range(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size;
  (void)data;
  if (g_n_ranges == 4 || info->dlpi_name == NULL) return 0;
  if (strstr(info->dlpi_name, "libtessera.so") == NULL &&
      strstr(info->dlpi_name, "libstdc++.so") == NULL)
    return 0;
  struct range* range = &g_ranges[g_n_ranges++];
  range->low = UINTPTR_MAX;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
    const uintptr_t low = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    const uintptr_t high = low + info->dlpi_phdr[i].p_memsz;
    if (low < range->low) range->low = low;
    if (high > range->high) range->high = high;
  }
  return 0;
}

/* Call once, after the library is loaded. Returns the number of objects found: the library and
 * libstdc++. */
int failing_malloc_start(void) {
  g_n_ranges = 0;
  dl_iterate_phdr(add_range, NULL);
  return g_n_ranges;
}

/* From now on the n-th allocation (from 0) of this thread fails, once; -1: none. */
void failing_malloc_arm(int64_t n) {
  t_left = n;
  t_failed = 0;
}

/* Disarms; 1 when an allocation has failed since. */
int failing_malloc_disarm(void) {
  t_left = -1;
  return t_failed != 0;
}

static int fails(void* caller) {
  if (t_left < 0) return 0;
  const uintptr_t address = (uintptr_t)caller;
  for (int i = 0; i < g_n_ranges; ++i) {
    if (address < g_ranges[i].low || address >= g_ranges[i].high) continue;
    if (t_left-- > 0) return 0;
    t_failed = 1;
    errno = ENOMEM;
    return 1;
  }
  return 0;
}

void* malloc(size_t size) {
  return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}
void* realloc(void* block, size_t size) {
  return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(block, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  return fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size);
}
int posix_memalign(void** block, size_t alignment, size_t size) {
  if (fails(__builtin_return_address(0))) return ENOMEM;
  *block = __libc_memalign(alignment, size);
  return *block == NULL ? ENOMEM : 0;
}
