/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * Runs a program that any language has recorded on the tensor x of a safetensors file, and prints
 * the largest difference between its output and the file's tensor y.
 *
 * Usage: run_program PROGRAM TENSORS */
#include <math.h>

#include "common.h"

int main(int count, char** arguments) {
  tsr_program program = NULL;
  tsr_archive archive;
  tsr_tensor x, expected, y = NULL, difference = NULL, size = NULL, largest = NULL;
  tsr_number number;
  int32_t outputs = 0;
  if (count != 3) {
    fprintf(stderr, "usage: %s PROGRAM TENSORS\n", arguments[0]);
    return EXIT_FAILURE;
  }
  archive = open_archive(arguments[2]);
  x = tensor_of(archive, "x");
  expected = tensor_of(archive, "y");
  check(tsr_program_load(arguments[1], -1, &program));
  check(tsr_program_run(program, &x, 1, &y, 1, &outputs));
  check(tsr_subtract(y, expected, &difference));
  check(tsr_abs(difference, &size));
  check(tsr_max(size, NULL, -1, 0, &largest));
  check(tsr_tensor_item(largest, &number));
  printf("largest difference %g\n", number.real);
  tsr_tensor_release_many((tsr_tensor[]){x, expected, y, difference, size, largest}, 6);
  tsr_program_release(program);
  tsr_archive_release(archive);
  return number.real <= 1e-6 ? EXIT_SUCCESS : EXIT_FAILURE;
}
