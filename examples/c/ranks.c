/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * One rank of a group of processes: mpirun -n 4 ranks. Every rank brings its number, and all get
 * the sum and the largest. Ranks in other languages may be in the same group. */
#include <string.h>

#include "common.h"

static double reduced(tsr_group group, double mine, tsr_reduce_op op) {
  const int64_t shape[1] = {1};
  const tsr_number number = {TSR_NUMBER_REAL, 0, 0, mine, 0};
  float value = 0;
  tsr_tensor t = NULL;
  tsr_work work = NULL;
  check(tsr_full(shape, 1, &number, TSR_FLOAT32, -1, -1, &t));
  check(tsr_group_all_reduce(group, &t, 1, op, &work));
  check(tsr_work_wait(work, 0, 0));
  check(tsr_tensor_read(t, &value, sizeof(value)));
  tsr_work_release(work);
  tsr_tensor_release(t);
  return value;
}

int main(void) {
  tsr_group_options options;
  tsr_group_info info;
  tsr_group group = NULL;
  double sum, largest;
  memset(&options, 0, sizeof options);
  memset(&info, 0, sizeof info);
  options.struct_size = sizeof options;
  options.rank = options.size = -1; /* MPI knows */
  options.timeout = 120;
  info.struct_size = sizeof info;
  check(tsr_group_init("mpi", -1, "", -1, &options, &group));
  check(tsr_group_describe(group, &info));
  sum = reduced(group, info.rank, TSR_REDUCE_OP_SUM);
  largest = reduced(group, info.rank, TSR_REDUCE_OP_MAX);
  printf("rank %d of %d in c: sum %.0f, largest %.0f\n", info.rank, info.size, sum, largest);
  tsr_group_release(group);
  return 0;
}
