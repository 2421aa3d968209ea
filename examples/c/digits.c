/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * Trains a convolutional network on handwritten digits and writes its weights. Every step runs in a
 * scope that owns its temporaries, so that nothing is released by hand in the loop.
 *
 * Usage: digits DATA OUT [--epochs N] [--seed S] */
#include <errno.h>
#include <math.h>
#include <sys/stat.h>

#include "digits_model.h"

static const double kLearningRate = 2e-3, kWeightDecay = 1e-3, kPi = 3.14159265358979323846;
static const int64_t kBatchSize = 64;

typedef struct {
  const char *data, *out;
  long epochs;
  uint64_t seed;
} options;

typedef struct {
  network net;
  tsr_optimizer optimizer;
} trainer;

static options read_options(int count, char** arguments) {
  options given = {NULL, NULL, 30, 0};
  int i, extra = 0;
  for (i = 1; i < count; ++i) {
    if (strcmp(arguments[i], "--epochs") == 0 && i + 1 < count) {
      given.epochs = strtol(arguments[++i], NULL, 10);
    } else if (strcmp(arguments[i], "--seed") == 0 && i + 1 < count) {
      given.seed = strtoull(arguments[++i], NULL, 10);
    } else if (given.data == NULL) {
      given.data = arguments[i];
    } else if (given.out == NULL) {
      given.out = arguments[i];
    } else {
      extra = 1;
    }
  }
  if (given.out == NULL || given.epochs < 1 || extra) {
    fprintf(stderr, "usage: digits DATA OUT [--epochs N] [--seed S]\n");
    exit(EXIT_FAILURE);
  }
  return given;
}

/* ---- the network and its optimizer ---- */

static tsr_tensor begin_tensor(const description* what) {
  const int counts = what->ndim == 0; /* the batches seen so far, an integer */
  tsr_tensor tensor = NULL;
  check(tsr_zeros(what->shape, what->ndim, counts ? TSR_INT64 : TSR_FLOAT32, -1, -1, &tensor));
  if (what->begins == kOnes) check(tsr_fill_inplace(tensor, TSR_F64(1)));
  if (what->begins == kUniform) {
    const double bound = 1 / sqrt(what->inputs);
    check(tsr_uniform_inplace(tensor, -bound, bound, NULL));
  }
  return tensor;
}

static void begin_training(trainer* t) {
  tsr_optimizer_options settings = {0};
  int i;
  for (i = 0; i < kTensors; ++i) t->net[i] = begin_tensor(&kDescriptions[i]);
  for (i = 0; i < kTrained; ++i) check(tsr_tensor_set_requires_grad(t->net[i], 1));
  settings.struct_size = sizeof settings;
  check(tsr_optimizer_defaults(TSR_OPTIMIZER_ADAMW, &settings));
  settings.weight_decay = kWeightDecay;
  check(tsr_optimizer_new(&settings, t->net, kTrained, &t->optimizer));
}

static void end_training(trainer* t) {
  tsr_optimizer_release(t->optimizer);
  tsr_tensor_release_many(t->net, kTensors);
}

static void set_rate(trainer* t, double rate) {
  tsr_optimizer_options settings = {0};
  settings.struct_size = sizeof settings;
  check(tsr_optimizer_options_get(t->optimizer, 0, &settings));
  settings.lr = rate;
  check(tsr_optimizer_options_set(t->optimizer, 0, &settings));
}

/* ---- training ---- */

/* The loss of one batch: the images at `rows`. */
static double train_batch(trainer* t, tsr_tensor images, tsr_tensor classes, tsr_tensor rows) {
  tsr_scope scope = NULL;
  tsr_tensor some_images = NULL, some_classes = NULL, loss = NULL;
  tsr_number value;
  check(tsr_scope_begin(&scope));
  check(tsr_index_select(images, 0, rows, &some_images));
  check(tsr_index_select(classes, 0, rows, &some_classes));
  check(tsr_cross_entropy(forward(t->net, some_images, 1), some_classes, NULL, -100, "mean", -1, 0,
                          &loss));
  check(tsr_optimizer_zero_grad(t->optimizer, 1));
  check(tsr_backward(&loss, 1, NULL, 0, NULL, 0, 0));
  check(tsr_optimizer_step(t->optimizer));
  check(tsr_tensor_item(loss, &value));
  check(tsr_scope_end(scope, NULL, 0));
  return value.real;
}

/* The mean loss over the batches of one pass, in the order that the generator gives. */
static double train_epoch(trainer* t, tsr_tensor images, tsr_tensor classes,
                          tsr_generator generator) {
  const int64_t count = info_of(classes).numel;
  tsr_scope scope = NULL;
  tsr_tensor order = NULL;
  double total = 0;
  int64_t start;
  check(tsr_scope_begin(&scope));
  check(tsr_randperm(count, -1, -1, -1, generator, &order));
  for (start = 0; start < count; start += kBatchSize) {
    const int64_t size = count - start < kBatchSize ? count - start : kBatchSize;
    tsr_tensor rows = NULL;
    check(tsr_narrow(order, 0, start, size, &rows));
    total += (double)size * train_batch(t, images, classes, rows);
  }
  check(tsr_scope_end(scope, NULL, 0));
  return total / (double)count;
}

static void train(trainer* t, const options* given, tsr_tensor images, tsr_tensor classes) {
  tsr_generator generator = NULL;
  long epoch;
  check(tsr_generator_new(given->seed, &generator));
  for (epoch = 0; epoch < given->epochs; ++epoch) {
    const double turn = kPi * (double)epoch / (double)given->epochs;
    double loss = 0;
    set_rate(t, kLearningRate * 0.5 * (1 + cos(turn)));
    loss = train_epoch(t, images, classes, generator);
    fprintf(stderr, "\repoch %ld of %ld, loss %.4f", epoch + 1, given->epochs, loss);
  }
  fprintf(stderr, "\n");
  tsr_generator_release(generator);
}

static void save(tsr_tensor* net, const char* folder) {
  char names[1024] = "[", path[1024];
  int i;
  for (i = 0; i < kTensors; ++i) {
    sprintf(names + strlen(names), "%s\"%s\"", i == 0 ? "" : ",", kDescriptions[i].name);
  }
  strcat(names, "]");
  if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
    perror(folder);
    exit(EXIT_FAILURE);
  }
  snprintf(path, sizeof path, "%s/digits.safetensors", folder);
  check(tsr_archive_save(path, -1, names, -1, net, kTensors, "{}", -1));
}

static double test(tsr_tensor* net, tsr_archive data) {
  tsr_scope scope = NULL;
  int32_t recorded = 0;
  double share = 0;
  check(tsr_scope_begin(&scope));
  check(tsr_grad_mode_set(0, &recorded));
  share =
      share_right(forward(net, tensor_of(data, "test_images"), 0), tensor_of(data, "test_classes"));
  check(tsr_grad_mode_set(recorded, &recorded));
  check(tsr_scope_end(scope, NULL, 0));
  return share;
}

int main(int count, char** arguments) {
  const options given = read_options(count, arguments);
  tsr_archive data = open_archive(given.data);
  tsr_tensor images = tensor_of(data, "train_images"), classes = tensor_of(data, "train_classes");
  tsr_generator generator = NULL;
  trainer t;

  check(tsr_generator_default(&generator));
  check(tsr_generator_seed(generator, given.seed));
  begin_training(&t);
  train(&t, &given, images, classes);
  save(t.net, given.out);
  printf("test accuracy %.4f\n", test(t.net, data));

  end_training(&t);
  tsr_generator_release(generator);
  tsr_tensor_release(images);
  tsr_tensor_release(classes);
  tsr_archive_release(data);
  return EXIT_SUCCESS;
}
