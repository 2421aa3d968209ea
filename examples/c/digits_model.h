/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * The network of the digits programs: its tensors by name, its forward, its accuracy. */
#ifndef TESSERA_EXAMPLES_DIGITS_MODEL_H
#define TESSERA_EXAMPLES_DIGITS_MODEL_H

#include "common.h"

/* Two convolutions, one pooling, two dense layers. Trained tensors come first. */
enum {
  kConv1Weight,
  kConv1Bias,
  kNorm1Weight,
  kNorm1Bias,
  kConv2Weight,
  kConv2Bias,
  kNorm2Weight,
  kNorm2Bias,
  kDense1Weight,
  kDense1Bias,
  kDense2Weight,
  kDense2Bias,
  kTrained,
  kNorm1Mean = kTrained,
  kNorm1Var,
  kNorm1Batches,
  kNorm2Mean,
  kNorm2Var,
  kNorm2Batches,
  kTensors
};

typedef tsr_tensor network[kTensors];

/* The initial values of a tensor. */
typedef enum { kUniform, kOnes, kZeros } beginning;

typedef struct {
  const char* name;
  beginning begins;
  double inputs; /* of kUniform: how many inputs feed one output */
  int32_t ndim;
  int64_t shape[4];
} description;

static const description kDescriptions[kTensors] = {
    {"conv1.weight", kUniform, 9, 4, {32, 1, 3, 3}},
    {"conv1.bias", kUniform, 9, 1, {32}},
    {"norm1.weight", kOnes, 0, 1, {32}},
    {"norm1.bias", kZeros, 0, 1, {32}},
    {"conv2.weight", kUniform, 288, 4, {64, 32, 3, 3}},
    {"conv2.bias", kUniform, 288, 1, {64}},
    {"norm2.weight", kOnes, 0, 1, {64}},
    {"norm2.bias", kZeros, 0, 1, {64}},
    {"dense1.weight", kUniform, 1024, 2, {128, 1024}},
    {"dense1.bias", kUniform, 1024, 1, {128}},
    {"dense2.weight", kUniform, 128, 2, {10, 128}},
    {"dense2.bias", kUniform, 128, 1, {10}},
    {"norm1.running_mean", kZeros, 0, 1, {32}},
    {"norm1.running_var", kOnes, 0, 1, {32}},
    {"norm1.num_batches_tracked", kZeros, 0, 0, {0}},
    {"norm2.running_mean", kZeros, 0, 1, {64}},
    {"norm2.running_var", kOnes, 0, 1, {64}},
    {"norm2.num_batches_tracked", kZeros, 0, 0, {0}},
};

static inline tsr_tensor relu(tsr_tensor x) {
  tsr_tensor y = NULL;
  check(tsr_relu(x, &y));
  return y;
}

static inline tsr_tensor conv(tsr_tensor x, tsr_tensor weight, tsr_tensor bias) {
  const int64_t padding = 1;
  tsr_tensor y = NULL;
  check(tsr_conv2d(x, weight, bias, NULL, -1, &padding, 1, NULL, -1, 1, 0, &y));
  return y;
}

static inline tsr_tensor linear(tsr_tensor x, tsr_tensor weight, tsr_tensor bias) {
  tsr_tensor y = NULL;
  check(tsr_linear(x, weight, bias, &y));
  return y;
}

static inline tsr_tensor norm(tsr_tensor x, tsr_tensor weight, tsr_tensor bias, tsr_tensor mean,
                              tsr_tensor var, tsr_tensor batches, int32_t training) {
  tsr_tensor y = NULL;
  if (training) check(tsr_add_scalar_inplace(batches, TSR_I64(1)));
  check(tsr_batch_norm(x, mean, var, weight, bias, training, 0.1, 1e-5, &y));
  return y;
}

/* Returns the logits. Intermediate tensors belong to the caller's scope. */
static inline tsr_tensor forward(tsr_tensor* net, tsr_tensor images, int32_t training) {
  const int64_t two = 2;
  tsr_tensor x = images, pooled = NULL, flat = NULL, dropped = NULL;
  x = conv(x, net[kConv1Weight], net[kConv1Bias]);
  x = relu(norm(x, net[kNorm1Weight], net[kNorm1Bias], net[kNorm1Mean], net[kNorm1Var],
                net[kNorm1Batches], training));
  x = conv(x, net[kConv2Weight], net[kConv2Bias]);
  x = relu(norm(x, net[kNorm2Weight], net[kNorm2Bias], net[kNorm2Mean], net[kNorm2Var],
                net[kNorm2Batches], training));
  check(tsr_max_pool2d(x, &two, 1, NULL, -1, NULL, -1, NULL, -1, 0, &pooled));
  check(tsr_flatten(pooled, 1, -1, &flat));
  x = relu(linear(flat, net[kDense1Weight], net[kDense1Bias]));
  check(tsr_dropout(x, 0.3, training, NULL, &dropped));
  return linear(dropped, net[kDense2Weight], net[kDense2Bias]);
}

/* The accuracy: the share of images whose largest logit is that of their class. */
static inline double share_right(tsr_tensor logits, tsr_tensor classes) {
  tsr_scope scope = NULL;
  tsr_tensor guesses = NULL, right = NULL, numbers = NULL, mean = NULL;
  tsr_number share;
  check(tsr_scope_begin(&scope));
  check(tsr_argmax(logits, 1, 0, &guesses));
  check(tsr_equal(guesses, classes, &right));
  check(tsr_astype(right, TSR_FLOAT32, 1, &numbers));
  check(tsr_mean(numbers, NULL, -1, 0, -1, &mean));
  check(tsr_tensor_item(mean, &share));
  check(tsr_scope_end(scope, NULL, 0));
  return share.real;
}

#endif
