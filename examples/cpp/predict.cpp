// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Predicts the classes of test images with a model that any language's digits program trained.
//
// Usage: predict DATA MODEL RESULT
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "digits_model.hpp"

int main(int count, char** arguments) {
  if (count != 4) {
    std::fprintf(stderr, "usage: predict DATA MODEL RESULT\n");
    return EXIT_FAILURE;
  }
  try {
    const tessera::TensorMap data = tessera::load_file(arguments[1]);
    digits::Net model;
    model.load_state_dict(tessera::load_file(arguments[2]));
    const tessera::Tensor logits = logits_of(model, data.at("test_images"));
    tessera::save_file({{"logits", logits}}, arguments[3]);
    std::printf("test accuracy %.4f\n", digits::share_right(logits, data.at("test_classes")));
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "predict: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
