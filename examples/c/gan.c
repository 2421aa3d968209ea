/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * The generative adversarial network of Listing 2 in "PyTorch: An Imperative Style,
 * High-Performance Deep Learning Library" (NeurIPS 2019), corrected as in examples/python/gan.py:
 * two models, two optimizers, and losses that flow through both. Writes a picture of generated
 * samples (PGM, which every viewer opens).
 *
 * Usage: gan DATA OUT [EPOCHS]      DATA as for digits; default: 300 epochs */
#include <errno.h>
#include <math.h>
#include <sys/stat.h>

#include "common.h"

enum { kLayers = 3, kParameters = 2 * kLayers, kNoise = 32, kPixels = 64, kBatch = 64 };
enum { kColumns = 8, kSide = 8, kFrame = kSide + 2 };

/* Three dense layers with leaky rectifiers between them, and their optimizer. */
typedef struct {
  tsr_tensor parameters[kParameters]; /* weight and bias of each layer in turn */
  tsr_optimizer optimizer;
  double dropout;
} model;

/* ---- models ---- */

static tsr_tensor uniform(const int64_t* shape, int32_t ndim, double bound) {
  tsr_tensor tensor = NULL;
  check(tsr_empty(shape, ndim, TSR_FLOAT32, -1, -1, &tensor));
  check(tsr_uniform_inplace(tensor, -bound, bound, NULL));
  check(tsr_tensor_set_requires_grad(tensor, 1));
  return tensor;
}

static void begin_model(model* m, const int64_t sizes[kLayers + 1], double dropout) {
  tsr_optimizer_options options = {0};
  int i;
  for (i = 0; i < kLayers; ++i) {
    const int64_t shape[2] = {sizes[i + 1], sizes[i]};
    const double bound = 1 / sqrt((double)sizes[i]);
    m->parameters[2 * i] = uniform(shape, 2, bound);
    m->parameters[2 * i + 1] = uniform(shape, 1, bound);
  }
  options.struct_size = sizeof options;
  check(tsr_optimizer_defaults(TSR_OPTIMIZER_ADAM, &options));
  options.lr = 2e-4;
  options.beta1 = 0.5;
  check(tsr_optimizer_new(&options, m->parameters, kParameters, &m->optimizer));
  m->dropout = dropout;
}

static void end_model(model* m) {
  tsr_optimizer_release(m->optimizer);
  tsr_tensor_release_many(m->parameters, kParameters);
}

/* Returns the output of the last layer. The caller's scope owns it and the intermediate tensors. */
static tsr_tensor forward(const model* m, tsr_tensor x) {
  int i;
  for (i = 0; i < kLayers; ++i) {
    check(tsr_linear(x, m->parameters[2 * i], m->parameters[2 * i + 1], &x));
    if (i + 1 == kLayers) break;
    check(tsr_leaky_relu(x, 0.2, &x));
    if (m->dropout > 0) check(tsr_dropout(x, m->dropout, 1, NULL, &x));
  }
  return x;
}

static tsr_tensor generate(const model* generator, tsr_tensor noise) {
  tsr_tensor images = NULL;
  check(tsr_tanh(forward(generator, noise), &images));
  return images;
}

/* ---- training ---- */

static tsr_tensor noise_of(int64_t count) {
  const int64_t shape[2] = {count, kNoise};
  tsr_tensor noise = NULL;
  check(tsr_randn(shape, 2, TSR_FLOAT32, -1, -1, NULL, &noise));
  return noise;
}

/* The loss of the discriminator's answers against `label`. */
static tsr_tensor loss_of(const model* discriminator, tsr_tensor images, double label) {
  const int64_t shape[2] = {info_of(images).sizes[0], 1};
  tsr_tensor labels = NULL, loss = NULL;
  check(tsr_full(shape, 2, TSR_F64(label), TSR_FLOAT32, -1, -1, &labels));
  check(tsr_binary_cross_entropy_with_logits(forward(discriminator, images), labels, NULL, NULL,
                                             "mean", -1, &loss));
  return loss;
}

static double backward(tsr_tensor loss) {
  tsr_number value;
  check(tsr_backward(&loss, 1, NULL, 0, NULL, 0, 0));
  check(tsr_tensor_item(loss, &value));
  return value.real;
}

/* One step of both models on the images `real`; adds to losses[0] (discriminator) and losses[1]. */
static void train_batch(model* discriminator, model* generator, tsr_tensor real, double losses[2]) {
  tsr_scope scope = NULL;
  tsr_tensor fake = NULL, still = NULL, loss = NULL;
  check(tsr_scope_begin(&scope));

  /* The discriminator learns to tell real images from fake ones; detach stops the gradient at the
   * generator's output. */
  check(tsr_optimizer_zero_grad(discriminator->optimizer, 1));
  fake = generate(generator, noise_of(info_of(real).sizes[0]));
  check(tsr_detach(fake, &still));
  check(tsr_add(loss_of(discriminator, real, 0.9), loss_of(discriminator, still, 0), &loss));
  losses[0] += backward(loss);
  check(tsr_optimizer_step(discriminator->optimizer));

  /* The generator learns to make the discriminator answer "real"; its gradient flows through the
   * discriminator. */
  check(tsr_optimizer_zero_grad(generator->optimizer, 1));
  losses[1] += backward(loss_of(discriminator, fake, 1));
  check(tsr_optimizer_step(generator->optimizer));
  check(tsr_scope_end(scope, NULL, 0));
}

static void train(model* discriminator, model* generator, tsr_tensor images, long epochs) {
  const int64_t count = info_of(images).sizes[0], batches = count / kBatch;
  long epoch;
  for (epoch = 0; epoch < epochs; ++epoch) {
    double losses[2] = {0, 0};
    tsr_scope scope = NULL;
    tsr_tensor order = NULL;
    int64_t i;
    check(tsr_scope_begin(&scope));
    check(tsr_randperm(count, -1, -1, -1, NULL, &order));
    for (i = 0; i < batches; ++i) {
      tsr_tensor rows = NULL, real = NULL;
      check(tsr_narrow(order, 0, i * kBatch, kBatch, &rows));
      check(tsr_index_select(images, 0, rows, &real));
      train_batch(discriminator, generator, real, losses);
    }
    check(tsr_scope_end(scope, NULL, 0));
    fprintf(stderr, "\repoch %ld of %ld, discriminator %.3f, generator %.3f", epoch + 1, epochs,
            losses[0] / (double)batches, losses[1] / (double)batches);
  }
  fprintf(stderr, "\n");
}

/* ---- data and picture ---- */

/* The training images of the digits file as rows of 64 numbers in [-1, 1]. */
static tsr_tensor load_images(const char* path) {
  const int64_t rows[2] = {-1, kPixels};
  tsr_archive archive = open_archive(path);
  tsr_scope scope = NULL;
  tsr_tensor images = NULL;
  check(tsr_scope_begin(&scope));
  check(tsr_reshape(tensor_of(archive, "train_images"), rows, 2, -1, &images));
  check(tsr_multiply_scalar(images, TSR_F64(2), &images));
  check(tsr_subtract_scalar(images, TSR_F64(1), &images));
  check(tsr_scope_end(scope, &images, 1));
  tsr_archive_release(archive);
  return images;
}

/* Samples side by side, dark on light, with a frame of one pixel around each. */
static void draw(const model* generator, const char* path) {
  enum { kCount = kColumns * kColumns, kWidth = kColumns * kFrame };
  static float pixels[kCount][kSide][kSide];
  static unsigned char picture[kWidth][kWidth];
  tsr_scope scope = NULL;
  FILE* file = NULL;
  int i, row, column;
  check(tsr_scope_begin(&scope));
  check(tsr_tensor_read(generate(generator, noise_of(kCount)), pixels, sizeof pixels));
  check(tsr_scope_end(scope, NULL, 0));
  memset(picture, 255, sizeof picture);
  for (i = 0; i < kCount; ++i) {
    for (row = 0; row < kSide; ++row) {
      for (column = 0; column < kSide; ++column) {
        const double ink = (pixels[i][row][column] + 1) / 2;
        picture[i / kColumns * kFrame + row + 1][i % kColumns * kFrame + column + 1] =
            (unsigned char)(255 * (1 - ink) + 0.5);
      }
    }
  }
  file = fopen(path, "wb");
  if (file == NULL || fprintf(file, "P5 %d %d 255\n", kWidth, kWidth) < 0 ||
      fwrite(picture, sizeof picture, 1, file) != 1 || fclose(file) != 0) {
    perror(path);
    exit(EXIT_FAILURE);
  }
}

int main(int count, char** arguments) {
  static const int64_t kGenerator[kLayers + 1] = {kNoise, 128, 256, kPixels};
  static const int64_t kDiscriminator[kLayers + 1] = {kPixels, 256, 128, 1};
  const long epochs = count > 3 ? strtol(arguments[3], NULL, 10) : 300;
  char picture[1024];
  model generator, discriminator;
  tsr_generator numbers = NULL;
  tsr_tensor images = NULL;
  if (count < 3 || count > 4 || epochs < 1) {
    fprintf(stderr, "usage: gan DATA OUT [EPOCHS]\n");
    return EXIT_FAILURE;
  }
  if (mkdir(arguments[2], 0777) != 0 && errno != EEXIST) {
    perror(arguments[2]);
    return EXIT_FAILURE;
  }
  check(tsr_generator_default(&numbers));
  check(tsr_generator_seed(numbers, 0));
  tsr_generator_release(numbers);
  images = load_images(arguments[1]);
  begin_model(&generator, kGenerator, 0);
  begin_model(&discriminator, kDiscriminator, 0.3);
  train(&discriminator, &generator, images, epochs);
  snprintf(picture, sizeof picture, "%s/gan.pgm", arguments[2]);
  draw(&generator, picture);
  printf("samples: %s\n", picture);
  end_model(&generator);
  end_model(&discriminator);
  tsr_tensor_release(images);
  return EXIT_SUCCESS;
}
