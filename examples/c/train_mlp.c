/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * Trains a network with one hidden layer to tell two interleaved half moons apart, by gradient
 * descent written out. A scope per step owns every temporary, so that the loop releases nothing by
 * hand. */
#include <math.h>
#include <stdlib.h>

#include "common.h"

enum { kPoints = 400, kHidden = 32, kSteps = 400 };

enum { kW1, kB1, kW2, kB2, kParameters };
typedef tsr_tensor network[kParameters];

/* Half moon 0 opens downwards, half moon 1 upwards; the label is -1 or 1. */
static void make_moons(float* points, float* labels) {
  int i;
  for (i = 0; i < kPoints; ++i) {
    const int moon = i % 2;
    const double angle = 3.14159265358979 * (i / 2) / (kPoints / 2 - 1);
    const double jitter = 0.1 * sin(12.9898 * i);
    points[2 * i] = (float)(moon ? 1.0 - cos(angle) : cos(angle)) + (float)jitter;
    points[2 * i + 1] =
        (float)(moon ? 0.5 - sin(angle) : sin(angle)) + (float)(0.1 * cos(78.233 * i));
    labels[i] = moon ? 1.0F : -1.0F;
  }
}

static tsr_tensor parameter(int64_t rows, int64_t columns, double scale) {
  const int64_t shape[2] = {rows, columns};
  tsr_tensor t = NULL;
  check(tsr_randn(shape, 2, TSR_FLOAT32, -1, -1, NULL, &t));
  check(tsr_multiply_scalar_inplace(t, TSR_F64(scale)));
  check(tsr_tensor_set_requires_grad(t, 1));
  return t;
}

/* tanh(tanh(x W1 + b1) W2 + b2); the handles belong to the caller's scope. */
static tsr_tensor forward(tsr_tensor* net, tsr_tensor x) {
  tsr_tensor a = NULL, b = NULL, c = NULL, d = NULL, e = NULL, y = NULL;
  check(tsr_matmul(x, net[kW1], &a));
  check(tsr_add(a, net[kB1], &b));
  check(tsr_tanh(b, &c));
  check(tsr_matmul(c, net[kW2], &d));
  check(tsr_add(d, net[kB2], &e));
  check(tsr_tanh(e, &y));
  return y;
}

static double step(tsr_tensor* net, tsr_tensor x, tsr_tensor target, double rate) {
  tsr_scope scope = NULL;
  tsr_tensor difference = NULL, squared = NULL, loss = NULL;
  int32_t previous = 0;
  tsr_number value;
  int i;
  check(tsr_scope_begin(&scope));
  check(tsr_subtract(forward(net, x), target, &difference));
  check(tsr_square(difference, &squared));
  check(tsr_mean(squared, NULL, -1, 0, -1, &loss));
  check(tsr_backward(&loss, 1, NULL, 0, NULL, 0, 0));
  check(tsr_grad_mode_set(0, &previous));
  for (i = 0; i < kParameters; ++i) {
    tsr_tensor gradient = NULL, change = NULL;
    check(tsr_tensor_grad(net[i], &gradient));
    check(tsr_multiply_scalar(gradient, TSR_F64(rate), &change));
    check(tsr_subtract_inplace(net[i], change));
    check(tsr_tensor_set_grad(net[i], NULL));
  }
  check(tsr_grad_mode_set(previous, &previous));
  check(tsr_tensor_item(loss, &value));
  check(tsr_scope_end(scope, NULL, 0));
  return value.real;
}

/* The share of points on the right side. */
static double accuracy(tsr_tensor* net, tsr_tensor x, const float* labels) {
  float outputs[kPoints];
  tsr_scope scope = NULL;
  int i, right = 0;
  check(tsr_scope_begin(&scope));
  check(tsr_tensor_read(forward(net, x), outputs, (int64_t)sizeof outputs));
  check(tsr_scope_end(scope, NULL, 0));
  for (i = 0; i < kPoints; ++i) right += outputs[i] * labels[i] > 0;
  return (double)right / kPoints;
}

int main(void) {
  static float points[2 * kPoints], labels[kPoints];
  const int64_t x_shape[2] = {kPoints, 2}, y_shape[2] = {kPoints, 1};
  tsr_generator generator = NULL;
  tsr_tensor x = NULL, y = NULL;
  network net;
  double reached;
  int i;

  check(tsr_generator_default(&generator));
  check(tsr_generator_seed(generator, 0));
  make_moons(points, labels);
  check(tsr_tensor_from_data(points, TSR_FLOAT32, TSR_DEVICE_CPU, 0, x_shape, 2, NULL, -1, 0, NULL,
                             NULL, &x));
  check(tsr_tensor_from_data(labels, TSR_FLOAT32, TSR_DEVICE_CPU, 0, y_shape, 2, NULL, -1, 0, NULL,
                             NULL, &y));
  net[kW1] = parameter(2, kHidden, 1.0);
  net[kB1] = parameter(1, kHidden, 0.1);
  net[kW2] = parameter(kHidden, 1, 0.3);
  net[kB2] = parameter(1, 1, 0.1);

  for (i = 0; i <= kSteps; ++i) {
    const double loss = step(net, x, y, 0.3);
    if (i % 100 == 0)
      printf("step %3d  loss %.4f  accuracy %.3f\n", i, loss, accuracy(net, x, labels));
  }
  reached = accuracy(net, x, labels);
  tsr_tensor_release_many(net, kParameters);
  tsr_tensor_release(x);
  tsr_tensor_release(y);
  tsr_generator_release(generator);
  return reached >= 0.97 ? 0 : 1;
}
