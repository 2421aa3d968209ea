// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// One rank of a group of processes: mpirun -n 4 ranks. Every rank brings its number, and all get
// the sum and the largest. Ranks in other languages may be in the same group.
#include <cstdio>
#include <tessera/tessera.hpp>

using tessera::distributed::Group;
using tessera::distributed::GroupOptions;
using tessera::distributed::ReduceOp;

namespace {

double reduced(const Group& group, ReduceOp op) {
  const tessera::Tensor t =
      tessera::full({1}, static_cast<double>(group.rank()), tessera::kFloat32);
  group.all_reduce(t, op).wait();
  return t.to_vector<double>()[0];
}

}  // namespace

int main() {
  GroupOptions options;
  options.timeout = 120;
  const Group group("mpi", options);
  const double sum = reduced(group, ReduceOp::Sum), largest = reduced(group, ReduceOp::Max);
  std::printf("rank %d of %d in cpp: sum %.0f, largest %.0f\n", group.rank(), group.size(), sum,
              largest);
  return 0;
}
