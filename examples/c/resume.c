/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * Resumes a training run that any language began: reads the files in FROM, makes five steps, and
 * writes to TO.
 *
 * Usage: resume FROM TO      FROM contains model.safetensors and, unless the run is new,
 * state.safetensors. Ranks that mpirun has started divide the optimizer's state; the files are
 * those of one process. */
#include "common.h"

static const char kNames[] = "[\"weight\",\"bias\",\"x\",\"y\"]";

static const char* in_folder(const char* folder, const char* name) {
  static char path[1024];
  snprintf(path, sizeof path, "%s/%s.safetensors", folder, name);
  return path;
}

static tsr_optimizer begin_optimizer(tsr_tensor weight, tsr_tensor bias) {
  tsr_optimizer_options options = {0};
  tsr_optimizer optimizer = NULL;
  options.struct_size = sizeof options;
  check(tsr_optimizer_defaults(TSR_OPTIMIZER_ADAMW, &options));
  options.lr = 0.1;
  options.amsgrad = 1;
  check(tsr_optimizer_new(&options, &weight, 1, &optimizer));
  options.lr = 0.2;
  options.weight_decay = 0;
  check(tsr_optimizer_add_group(optimizer, &options, &bias, 1));
  return optimizer;
}

/* `sharded` is NULL in a single process. */
static void step(tsr_optimizer optimizer, tsr_sharded_optimizer sharded,
                 const tsr_tensor model[4]) {
  tsr_scope scope = NULL;
  tsr_tensor found = NULL, loss = NULL;
  check(tsr_scope_begin(&scope));
  check(tsr_optimizer_zero_grad(optimizer, 1));
  check(tsr_linear(model[2], model[0], model[1], &found));
  check(tsr_mse_loss(found, model[3], "mean", -1, &loss));
  check(tsr_backward(&loss, 1, NULL, 0, NULL, 0, 0));
  check(sharded != NULL ? tsr_sharded_optimizer_step(sharded) : tsr_optimizer_step(optimizer));
  check(tsr_scope_end(scope, NULL, 0));
}

int main(int count, char** arguments) {
  const char* names[4] = {"weight", "bias", "x", "y"};
  tsr_archive archive = NULL;
  tsr_optimizer optimizer = NULL, whole = NULL;
  tsr_sharded_optimizer sharded = NULL;
  tsr_group group = NULL;
  tsr_tensor model[4];
  FILE* begun = NULL;
  int i;
  if (count != 3) {
    fprintf(stderr, "usage: resume FROM TO\n");
    return EXIT_FAILURE;
  }
  archive = open_archive(in_folder(arguments[1], "model"));
  for (i = 0; i < 4; ++i) model[i] = tensor_of(archive, names[i]);
  for (i = 0; i < 2; ++i) check(tsr_tensor_set_requires_grad(model[i], 1));
  optimizer = begin_optimizer(model[0], model[1]);
  begun = fopen(in_folder(arguments[1], "state"), "rb");
  if (begun != NULL) {
    fclose(begun);
    check(tsr_optimizer_load(optimizer, in_folder(arguments[1], "state"), -1));
  }
  if (getenv("OMPI_COMM_WORLD_SIZE") != NULL) {
    tsr_group_options options = {0};
    options.struct_size = sizeof options;
    options.rank = options.size = -1;
    check(tsr_group_init("mpi", -1, "", -1, &options, &group));
    check(tsr_optimizer_shard(optimizer, group, &sharded));
  }
  for (i = 0; i < 5; ++i) step(optimizer, sharded, model);
  if (sharded != NULL) check(tsr_sharded_optimizer_gather(sharded, 0, &whole));
  if (sharded == NULL || whole != NULL) {
    check(tsr_archive_save(in_folder(arguments[2], "model"), -1, kNames, -1, model, 4, "{}", -1));
    check(tsr_optimizer_save(whole != NULL ? whole : optimizer, in_folder(arguments[2], "state"),
                             -1));
  }
  tsr_optimizer_release(whole);
  tsr_sharded_optimizer_release(sharded);
  tsr_group_release(group);
  tsr_optimizer_release(optimizer);
  tsr_tensor_release_many(model, 4);
  tsr_archive_release(archive);
  return EXIT_SUCCESS;
}
