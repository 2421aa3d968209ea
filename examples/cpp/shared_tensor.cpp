// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Opens a tensor that another process shares, prints its sum and adds 1 to each element.
//
// Usage: shared_tensor PLACE NBYTES COUNT, where PLACE is a name (/tessera-...) or fd:NUMBER of an
// inherited file descriptor.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <tessera/tessera.hpp>

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: shared_tensor PLACE NBYTES COUNT\n");
    return EXIT_FAILURE;
  }
  const std::string place = argv[1];
  tessera::SharedHandle handle;
  if (place.rfind("fd:", 0) == 0) {
    handle.fd = std::atoi(place.c_str() + 3);
  } else {
    handle.name = place;
  }
  handle.nbytes = std::atoll(argv[2]);
  try {
    tessera::Tensor shared = tessera::from_shared(handle, {std::atoll(argv[3])}, tessera::kFloat32);
    std::printf("sum %.1f\n", tessera::sum(shared).item<float>());
    shared += 1;
  } catch (const tessera::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
