/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * Trains the digits network on several ranks: mpirun -n 4 digits_ddp DATA WEIGHTS OUT
 * It begins with the weights of a file, each rank has a part of every batch, and rank 0 writes the
 * weights. Layers run as in evaluation, so that the parts together are the whole batch. */
#include "digits_model.h"

enum { kSteps = 10, kBatch = 240 };

static void load_weights(tsr_tensor* net, const char* path) {
  tsr_archive file = open_archive(path);
  int i;
  for (i = 0; i < kTensors; ++i) {
    tsr_tensor saved = tensor_of(file, kDescriptions[i].name);
    check(tsr_copy_inplace(net[i], saved, 0));
    tsr_tensor_release(saved);
  }
  tsr_archive_release(file);
}

static void save_weights(tsr_tensor* net, const char* path) {
  char names[1024] = "[";
  int i;
  for (i = 0; i < kTensors; ++i) {
    sprintf(names + strlen(names), "%s\"%s\"", i == 0 ? "" : ",", kDescriptions[i].name);
  }
  strcat(names, "]");
  check(tsr_archive_save(path, -1, names, -1, net, kTensors, "{}", -1));
}

static tsr_optimizer new_optimizer(tsr_tensor* net) {
  tsr_optimizer_options settings = {0};
  tsr_optimizer optimizer = NULL;
  settings.struct_size = sizeof settings;
  check(tsr_optimizer_defaults(TSR_OPTIMIZER_SGD, &settings));
  settings.lr = 0.05;
  settings.momentum = 0.9;
  check(tsr_optimizer_new(&settings, net, kTrained, &optimizer));
  return optimizer;
}

static tsr_data_parallel new_parallel(tsr_group group, tsr_tensor* net) {
  tsr_data_parallel_options options = {0};
  tsr_data_parallel parallel = NULL;
  options.struct_size = sizeof options;
  check(tsr_data_parallel_defaults(&options));
  check(tsr_data_parallel_new(group, net, kTrained, net + kTrained, kTensors - kTrained, &options,
                              &parallel));
  return parallel;
}

/* The loss of this rank's part of a batch. */
static double step(tsr_data_parallel parallel, tsr_optimizer optimizer, tsr_tensor* net,
                   tsr_tensor images, tsr_tensor classes, int64_t first, int64_t rows) {
  tsr_scope scope = NULL;
  tsr_tensor part = NULL, wanted = NULL, logits = NULL, loss = NULL;
  tsr_number value;
  check(tsr_scope_begin(&scope));
  check(tsr_narrow(images, 0, first, rows, &part));
  check(tsr_narrow(classes, 0, first, rows, &wanted));
  check(tsr_optimizer_zero_grad(optimizer, 1));
  check(tsr_data_parallel_forward_begin(parallel));
  logits = forward(net, part, 0);
  check(tsr_data_parallel_forward_end(parallel, &logits, 1));
  check(tsr_cross_entropy(logits, wanted, NULL, -100, "mean", -1, 0, &loss));
  check(tsr_backward(&loss, 1, NULL, 0, NULL, 0, 0));
  check(tsr_optimizer_step(optimizer));
  check(tsr_tensor_item(loss, &value));
  check(tsr_scope_end(scope, NULL, 0));
  return value.real;
}

int main(int count, char** arguments) {
  tsr_group_options options = {0};
  tsr_group_info info = {0};
  tsr_group group = NULL;
  tsr_archive data = NULL;
  tsr_tensor images = NULL, classes = NULL;
  tsr_data_parallel parallel = NULL;
  tsr_optimizer optimizer = NULL;
  network net;
  double loss = 0;
  int i;
  if (count != 4) {
    fprintf(stderr, "usage: digits_ddp DATA WEIGHTS OUT\n");
    return EXIT_FAILURE;
  }
  options.struct_size = sizeof options;
  options.rank = options.size = -1;
  options.timeout = 300;
  info.struct_size = sizeof info;
  check(tsr_group_init("mpi", -1, "", -1, &options, &group));
  check(tsr_group_describe(group, &info));
  for (i = 0; i < kTensors; ++i) {
    const int counts = kDescriptions[i].ndim == 0;
    check(tsr_zeros(kDescriptions[i].shape, kDescriptions[i].ndim, counts ? TSR_INT64 : TSR_FLOAT32,
                    -1, -1, &net[i]));
  }
  if (info.rank == 0) load_weights(net, arguments[2]);
  for (i = 0; i < kTrained; ++i) check(tsr_tensor_set_requires_grad(net[i], 1));
  data = open_archive(arguments[1]);
  images = tensor_of(data, "train_images");
  classes = tensor_of(data, "train_classes");
  parallel = new_parallel(group, net);
  optimizer = new_optimizer(net);
  for (i = 0; i < kSteps; ++i) {
    const int64_t rows = kBatch / info.size;
    loss =
        step(parallel, optimizer, net, images, classes, kBatch * (i % 5) + rows * info.rank, rows);
  }
  printf("rank %d of %d: loss %.6f\n", info.rank, info.size, loss);
  if (info.rank == 0) save_weights(net, arguments[3]);
  tsr_optimizer_release(optimizer);
  tsr_data_parallel_release(parallel);
  tsr_tensor_release_many(net, kTensors);
  tsr_tensor_release(images);
  tsr_tensor_release(classes);
  tsr_archive_release(data);
  tsr_group_release(group);
  return EXIT_SUCCESS;
}
