/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Failing calls while the heap is exhausted: the first ones of a thread, on more threads at once
 * than there are places in the reserve for texts. Each gives a status and a text; none ends the
 * process. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tessera/tessera.h>

#define THREADS 40

extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t count, size_t size);
extern void* __libc_realloc(void* block, size_t size);

static volatile int g_exhausted;

/* The build hides symbols; these must be found by the library. */
#pragma GCC visibility push(default)
void* malloc(size_t size) {
  return g_exhausted ? NULL : __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  return g_exhausted ? NULL : __libc_calloc(count, size);
}
void* realloc(void* block, size_t size) {
  return g_exhausted ? NULL : __libc_realloc(block, size);
}
#pragma GCC visibility pop

static tsr_error_view empty_view(void) {
  tsr_error_view view;
  memset(&view, 0, sizeof(view));
  view.struct_size = sizeof(view);
  return view;
}

static pthread_barrier_t g_barrier;
static int g_bad, g_full_texts;
static pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;

/* Notes a failure; counts texts that name their function, as those in the reserve do. */
static void fails(tsr_status status, const char* what) {
  tsr_error_view view = empty_view();
  const int fine = status != TSR_OK && tsr_error_last(&view) == TSR_OK && view.code == status &&
                   view.message_len > 0;
  pthread_mutex_lock(&g_mutex);
  if (!fine) {
    g_bad = 1;
    fputs(what, stderr);
  }
  g_full_texts +=
      fine && (strncmp(view.message, "empty: ", 7) == 0 || strncmp(view.message, "abs: ", 5) == 0);
  pthread_mutex_unlock(&g_mutex);
}

static void* body(void* unused) {
  const int64_t huge = INT64_C(1) << 50;
  tsr_tensor out = NULL;
  pthread_barrier_wait(&g_barrier); /* the heap is exhausted from here */
  pthread_barrier_wait(&g_barrier);
  fails(tsr_empty(&huge, 1, TSR_FLOAT32, -1, -1, &out), "empty\n");
  fails(tsr_abs(NULL, &out), "abs\n");
  pthread_barrier_wait(&g_barrier); /* until all have failed */
  return unused;
}

/* A long text is cut to the place in the reserve, visibly and between characters. */
static int cuts_texts(void) {
  static char text[4001];
  tsr_error_view view = empty_view();
  tsr_status status;
  int i;
  for (i = 0; i < 4000; i += 2) memcpy(text + i, "\xc3\xa9", 2);
  g_exhausted = 1;
  status = tsr_error_set(TSR_VALUE, text, -1, NULL, NULL);
  g_exhausted = 0;
  if (status != TSR_OK || tsr_error_last(&view) != TSR_OK || view.message_len < 900 ||
      view.message_len > 1023)
    return 0;
  return strcmp(view.message + view.message_len - 4, "\xa9...") == 0 && view.message_len % 2 == 1;
}

int main(void) {
  pthread_t threads[THREADS];
  const int64_t two = 2;
  tsr_tensor x = NULL;
  tsr_error_view view = empty_view();
  int i;
  setvbuf(stderr, NULL, _IONBF, 0);
  if (!cuts_texts()) return 2;
  for (i = 0; i < 2; ++i) {
    int n;
    pthread_barrier_init(&g_barrier, NULL, THREADS + 1);
    for (n = 0; n < THREADS; ++n) {
      if (pthread_create(&threads[n], NULL, body, NULL) != 0) return 3;
    }
    pthread_barrier_wait(&g_barrier);
    g_exhausted = 1;
    pthread_barrier_wait(&g_barrier);
    pthread_barrier_wait(&g_barrier);
    g_exhausted = 0;
    for (n = 0; n < THREADS; ++n) pthread_join(threads[n], NULL);
    pthread_barrier_destroy(&g_barrier);
    /* Threads that ended have given their places in the reserve back. */
    if (g_full_texts < 2 * 30 * (i + 1)) {
      fprintf(stderr, "only %d texts name their function\n", g_full_texts);
      return 4;
    }
  }
  if (g_bad) return 1;
  if (tsr_ones(&two, 1, TSR_FLOAT32, -1, -1, &x) != TSR_OK) return 5;
  tsr_tensor_clear(&x);
  if (tsr_abs(NULL, &x) != TSR_INVALID_ARGUMENT || tsr_error_last(&view) != TSR_OK) return 6;
  return strstr(view.message, "expected a tensor, got NULL") != NULL ? 0 : 7;
}
