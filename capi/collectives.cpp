// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Collectives with derivatives, and the division of a data set among ranks.
#include "capi/dist.h"
#include "capi/generated/infos.h"
#include "dist/functional.h"
#include "dist/sampler.h"

using namespace tsr;
using namespace tsr::capi;

namespace functional = tsr::dist::functional;

extern "C" {

tsr_status tsr_collective_all_reduce(tsr_group group, tsr_tensor input, tsr_reduce_op op,
                                     tsr_tensor* out) {
  clear(out);
  return guard(Call(kInfo_collective_all_reduce, group, input, op), [&] {
    out_arg(out, "out");
    const TensorArg data(input, "input");
    give(functional::all_reduce(shared_group_arg(group), data.get(), reduce_arg(op)), out);
  });
}

tsr_status tsr_collective_reduce(tsr_group group, tsr_tensor input, tsr_reduce_op op, int64_t root,
                                 tsr_tensor* out) {
  clear(out);
  return guard(Call(kInfo_collective_reduce, group, input, op, root), [&] {
    out_arg(out, "out");
    const TensorArg data(input, "input");
    give(functional::reduce(shared_group_arg(group), data.get(), reduce_arg(op), rank_arg(root)),
         out);
  });
}

tsr_status tsr_collective_broadcast(tsr_group group, tsr_tensor input, int64_t root,
                                    tsr_tensor* out) {
  clear(out);
  return guard(Call(kInfo_collective_broadcast, group, input, root), [&] {
    out_arg(out, "out");
    const TensorArg data(input, "input");
    give(functional::broadcast(shared_group_arg(group), data.get(), rank_arg(root)), out);
  });
}

tsr_status tsr_collective_all_gather(tsr_group group, tsr_tensor input, tsr_tensor* out) {
  clear(out);
  return guard(Call(kInfo_collective_all_gather, group, input), [&] {
    out_arg(out, "out");
    const TensorArg data(input, "input");
    give(functional::all_gather(shared_group_arg(group), data.get()), out);
  });
}

tsr_status tsr_collective_reduce_scatter(tsr_group group, tsr_tensor input, tsr_reduce_op op,
                                         tsr_tensor* out) {
  clear(out);
  return guard(Call(kInfo_collective_reduce_scatter, group, input, op), [&] {
    out_arg(out, "out");
    const TensorArg data(input, "input");
    give(functional::reduce_scatter(shared_group_arg(group), data.get(), reduce_arg(op)), out);
  });
}

tsr_status tsr_collective_all_to_all(tsr_group group, tsr_tensor input,
                                     const int64_t* output_splits, int32_t n_output_splits,
                                     const int64_t* input_splits, int32_t n_input_splits,
                                     tsr_tensor* out) {
  clear(out);
  const Call call(kInfo_collective_all_to_all, group, input, ListOf{output_splits, n_output_splits},
                  ListOf{input_splits, n_input_splits});
  return guard(call, [&] {
    out_arg(out, "out");
    const TensorArg data(input, "input");
    const auto got = optional_list_arg(output_splits, n_output_splits, "output_splits");
    const auto sent = optional_list_arg(input_splits, n_input_splits, "input_splits");
    give(functional::all_to_all(shared_group_arg(group), data.get(), got, sent), out);
  });
}

tsr_status tsr_collective_send(tsr_group group, tsr_tensor input, int64_t peer, int64_t tag,
                               tsr_tensor* token) {
  clear(token);
  return guard(Call(kInfo_collective_send, group, input, peer, tag), [&] {
    out_arg(token, "token");
    const TensorArg data(input, "input");
    give(functional::send(shared_group_arg(group), data.get(), rank_arg(peer), tag_arg(tag)),
         token);
  });
}

tsr_status tsr_collective_recv(tsr_group group, tsr_tensor like, int64_t peer, int64_t tag,
                               int32_t requires_grad, tsr_tensor* out) {
  clear(out);
  return guard(Call(kInfo_collective_recv, group, like, peer, tag, requires_grad), [&] {
    out_arg(out, "out");
    const TensorArg data(like, "like");
    give(functional::recv(shared_group_arg(group), data.get(), rank_arg(peer), tag_arg(tag),
                          bool_arg(requires_grad, "requires_grad")),
         out);
  });
}

tsr_status tsr_rank_positions(int64_t count, int64_t ranks, int64_t rank, int64_t seed,
                              int32_t drop_last, tsr_tensor* positions) {
  clear(positions);
  return guard(Call(kInfo_rank_positions, count, ranks, rank, seed, drop_last), [&] {
    out_arg(positions, "positions");
    give(dist::positions_of_rank(count, ranks, rank, optional_int(seed),
                                 bool_arg(drop_last, "drop_last")),
         positions);
  });
}

}  // extern "C"
