// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// io.h: tensors in a file and back.
#include "client.h"

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "tensors.safetensors";
  tsr_tensor t = counting(4), back = NULL;
  tsr_archive archive = NULL;
  const char* name = NULL;
  int64_t count = 0, length = 0;
  float out[4];
  OK(tsr_archive_save(path, -1, "[\"weight\"]", -1, &t, 1, "{}", -1));
  OK(tsr_archive_open(path, -1, &archive));
  OK(tsr_archive_count(archive, &count));
  OK(tsr_archive_name(archive, 0, &name, &length));
  CHECK(count == 1 && length == 6 && memcmp(name, "weight", 6) == 0);
  OK(tsr_archive_tensor(archive, 0, &back));
  tsr_archive_release(archive);
  OK(tsr_tensor_read(back, out, sizeof(out)));
  CHECK(out[3] == 4.0f);
  tsr_tensor_release(back);
  tsr_tensor_release(t);
  return 0;
}
