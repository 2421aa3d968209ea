/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * Predicts the classes of test images with a model that any language's digits program trained.
 *
 * Usage: predict DATA MODEL RESULT */
#include "digits_model.h"

int main(int count, char** arguments) {
  tsr_archive data = NULL, model = NULL;
  tsr_scope scope = NULL;
  tsr_tensor logits = NULL;
  network net;
  int32_t recorded = 0;
  int i;
  if (count != 4) {
    fprintf(stderr, "usage: predict DATA MODEL RESULT\n");
    return EXIT_FAILURE;
  }
  data = open_archive(arguments[1]);
  model = open_archive(arguments[2]);
  check(tsr_scope_begin(&scope));
  check(tsr_grad_mode_set(0, &recorded));
  for (i = 0; i < kTensors; ++i) net[i] = tensor_of(model, kDescriptions[i].name);
  logits = forward(net, tensor_of(data, "test_images"), 0);
  check(tsr_archive_save(arguments[3], -1, "[\"logits\"]", -1, &logits, 1, "{}", -1));
  printf("test accuracy %.4f\n", share_right(logits, tensor_of(data, "test_classes")));
  check(tsr_scope_end(scope, NULL, 0));
  tsr_archive_release(model);
  tsr_archive_release(data);
  return EXIT_SUCCESS;
}
