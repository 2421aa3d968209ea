// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Groups of ranks, their collectives, and operations under way.
#include "capi/dist.h"

#include "capi/generated/infos.h"
#include "capi/structs.h"

using namespace tsr;
using namespace tsr::capi;

namespace {

using dist::Group;
using dist::ReduceOp;
using dist::Work;
using dist::WorkPtr;

dist::GroupOptions options_arg(const tsr_group_options* from) {
  const auto given = read_struct(from, "options");
  dist::GroupOptions options;
  options.rank = given.rank;
  options.size = given.size;
  options.check = !bool_arg(given.unchecked, "options");
  if (given.timeout != 0) options.timeout = given.timeout;
  if (given.device_type != 0) {
    options.device = device_arg(given.device_type, given.device_index, "options");
  }
  return options;
}

void give_work(WorkPtr made, tsr_work* work) {
  give_object(made.detach(), work);
}

}  // namespace

extern "C" {

tsr_status tsr_group_init(const char* backend, int64_t backend_len, const char* address,
                          int64_t address_len, const tsr_group_options* options, tsr_group* group) {
  clear(group);
  const Call call(kInfo_group_init, TextOf{backend, backend_len}, TextOf{address, address_len},
                  options);
  return guard(call, [&] {
    out_arg(group, "group");
    dist::GroupOptions given = options_arg(options);
    given.address = text_arg(address, address_len, "address");
    give_object(Group::init(text_arg(backend, backend_len, "backend"), given).detach(), group);
  });
}

void tsr_group_retain(tsr_group group) {
  retain_handle(group, dist::kGroupTag);
}

void tsr_group_release(tsr_group group) {
  release_handle<Group>(group, dist::kGroupTag);
}

tsr_status tsr_group_describe(tsr_group group, tsr_group_info* info) {
  return guard(Call(kInfo_group_describe, group, info), [&] {
    const Group& about = group_arg(group);
    fill_struct(info, "info", [&about](tsr_group_info& filled) {
      filled.rank = about.rank();
      filled.size = about.size();
      filled.aborted = about.aborted() ? 1 : 0;
      filled.timeout = about.timeout();
    });
  });
}

tsr_status tsr_group_backend(tsr_group group, const char** backend, int64_t* backend_len) {
  return guard(Call(kInfo_group_backend, group), [&] {
    out_arg(backend_len, "backend");
    *out_arg(backend, "backend") = group_arg(group).backend();
    *backend_len = static_cast<int64_t>(std::string_view(*backend).size());
  });
}

tsr_status tsr_group_first_rank(tsr_group group, int64_t rank, int64_t* first_rank) {
  return guard(Call(kInfo_group_first_rank, group, rank), [&] {
    const auto ranks = group_arg(group).ranks();
    TSR_CHECK(rank >= 0 && rank < static_cast<int64_t>(ranks.size()), Code::kIndex, "rank",
              "expected a rank from 0 to ", ranks.size() - 1, ", got ", rank);
    *out_arg(first_rank, "first_rank") = ranks[static_cast<size_t>(rank)];
  });
}

tsr_status tsr_group_split(tsr_group group, int64_t color, int64_t key, tsr_group* part) {
  clear(part);
  return guard(Call(kInfo_group_split, group, color, key), [&] {
    out_arg(part, "part");
    give_object(group_arg(group).split(small_arg(color, "color"), small_arg(key, "key")).detach(),
                part);
  });
}

tsr_status tsr_group_abort(tsr_group group, const char* reason, int64_t reason_len) {
  return guard(Call(kInfo_group_abort, group, TextOf{reason, reason_len}),
               [&] { group_arg(group).abort(text_arg(reason, reason_len, "reason")); });
}

// ---- collectives ----

tsr_status tsr_group_all_reduce(tsr_group group, const tsr_tensor* tensors, int32_t n_tensors,
                                tsr_reduce_op op, tsr_work* work) {
  clear(work);
  return guard(Call(kInfo_group_all_reduce, group, ListOf{tensors, n_tensors}, op), [&] {
    out_arg(work, "work");
    const auto list = tensors_arg(tensors, n_tensors, "tensors");
    give_work(group_arg(group).all_reduce(list, reduce_arg(op)), work);
  });
}

tsr_status tsr_group_reduce(tsr_group group, tsr_tensor tensor, tsr_reduce_op op, int64_t root,
                            tsr_work* work) {
  clear(work);
  return guard(Call(kInfo_group_reduce, group, tensor, op, root), [&] {
    out_arg(work, "work");
    const TensorArg data(tensor, "tensor");
    give_work(group_arg(group).reduce(data.get(), reduce_arg(op), rank_arg(root)), work);
  });
}

tsr_status tsr_group_broadcast(tsr_group group, const tsr_tensor* tensors, int32_t n_tensors,
                               int64_t root, tsr_work* work) {
  clear(work);
  return guard(Call(kInfo_group_broadcast, group, ListOf{tensors, n_tensors}, root), [&] {
    out_arg(work, "work");
    const auto list = tensors_arg(tensors, n_tensors, "tensors");
    give_work(group_arg(group).broadcast(list, rank_arg(root)), work);
  });
}

tsr_status tsr_group_all_gather(tsr_group group, const tsr_tensor* outputs, int32_t n_outputs,
                                tsr_tensor input, tsr_work* work) {
  clear(work);
  return guard(Call(kInfo_group_all_gather, group, ListOf{outputs, n_outputs}, input), [&] {
    out_arg(work, "work");
    Group& members = group_arg(group);
    const auto list = tensors_arg(outputs, n_outputs, "outputs");
    const TensorArg data(input, "input");
    give_work(list.size() == 1 ? members.all_gather(list[0], data.get())
                               : members.all_gather(list, data.get()),
              work);
  });
}

tsr_status tsr_group_reduce_scatter(tsr_group group, tsr_tensor output, const tsr_tensor* inputs,
                                    int32_t n_inputs, tsr_reduce_op op, tsr_work* work) {
  clear(work);
  const Call call(kInfo_group_reduce_scatter, group, output, ListOf{inputs, n_inputs}, op);
  return guard(call, [&] {
    out_arg(work, "work");
    Group& members = group_arg(group);
    const TensorArg result(output, "output");
    const auto list = tensors_arg(inputs, n_inputs, "inputs");
    give_work(list.size() == 1 ? members.reduce_scatter(result.get(), list[0], reduce_arg(op))
                               : members.reduce_scatter(result.get(), list, reduce_arg(op)),
              work);
  });
}

tsr_status tsr_group_gather(tsr_group group, const tsr_tensor* outputs, int32_t n_outputs,
                            tsr_tensor input, int64_t root, tsr_work* work) {
  clear(work);
  return guard(Call(kInfo_group_gather, group, ListOf{outputs, n_outputs}, input, root), [&] {
    out_arg(work, "work");
    const auto list = tensors_arg(outputs, n_outputs, "outputs");
    const TensorArg data(input, "input");
    give_work(group_arg(group).gather(list, data.get(), rank_arg(root)), work);
  });
}

tsr_status tsr_group_scatter(tsr_group group, tsr_tensor output, const tsr_tensor* inputs,
                             int32_t n_inputs, int64_t root, tsr_work* work) {
  clear(work);
  return guard(Call(kInfo_group_scatter, group, output, ListOf{inputs, n_inputs}, root), [&] {
    out_arg(work, "work");
    const TensorArg result(output, "output");
    const auto list = tensors_arg(inputs, n_inputs, "inputs");
    give_work(group_arg(group).scatter(result.get(), list, rank_arg(root)), work);
  });
}

tsr_status tsr_group_all_to_all(tsr_group group, const tsr_tensor* outputs, int32_t n_outputs,
                                const tsr_tensor* inputs, int32_t n_inputs, tsr_work* work) {
  clear(work);
  const Call call(kInfo_group_all_to_all, group, ListOf{outputs, n_outputs},
                  ListOf{inputs, n_inputs});
  return guard(call, [&] {
    out_arg(work, "work");
    const auto results = tensors_arg(outputs, n_outputs, "outputs");
    const auto list = tensors_arg(inputs, n_inputs, "inputs");
    give_work(group_arg(group).all_to_all(results, list), work);
  });
}

tsr_status tsr_group_all_to_all_single(tsr_group group, tsr_tensor output, tsr_tensor input,
                                       const int64_t* output_splits, int32_t n_output_splits,
                                       const int64_t* input_splits, int32_t n_input_splits,
                                       tsr_work* work) {
  clear(work);
  const Call call(kInfo_group_all_to_all_single, group, output, input,
                  ListOf{output_splits, n_output_splits}, ListOf{input_splits, n_input_splits});
  return guard(call, [&] {
    out_arg(work, "work");
    const TensorArg result(output, "output"), data(input, "input");
    const auto got = optional_list_arg(output_splits, n_output_splits, "output_splits");
    const auto sent = optional_list_arg(input_splits, n_input_splits, "input_splits");
    give_work(group_arg(group).all_to_all(result.get(), data.get(), got, sent), work);
  });
}

tsr_status tsr_group_barrier(tsr_group group, tsr_work* work) {
  clear(work);
  return guard(Call(kInfo_group_barrier, group), [&] {
    out_arg(work, "work");
    give_work(group_arg(group).barrier(), work);
  });
}

tsr_status tsr_group_send(tsr_group group, tsr_tensor tensor, int64_t peer, int64_t tag,
                          tsr_work* work) {
  clear(work);
  return guard(Call(kInfo_group_send, group, tensor, peer, tag), [&] {
    out_arg(work, "work");
    const TensorArg data(tensor, "tensor");
    give_work(group_arg(group).send(data.get(), rank_arg(peer), tag_arg(tag)), work);
  });
}

tsr_status tsr_group_recv(tsr_group group, tsr_tensor tensor, int64_t peer, int64_t tag,
                          tsr_work* work) {
  clear(work);
  return guard(Call(kInfo_group_recv, group, tensor, peer, tag), [&] {
    out_arg(work, "work");
    const TensorArg data(tensor, "tensor");
    std::optional<int32_t> from;
    if (const auto given = optional_int(peer)) from = rank_arg(*given);
    give_work(group_arg(group).recv(data.get(), from, tag_arg(tag)), work);
  });
}

// ---- operations under way ----

tsr_status tsr_work_wait(tsr_work work, double seconds, int32_t has_seconds) {
  return guard(Call(kInfo_work_wait, work, MaybeOf{seconds, has_seconds}),
               [&] { work_arg(work).wait(optional_double(seconds, has_seconds, "seconds")); });
}

tsr_status tsr_work_done(tsr_work work, int32_t* done) {
  return guard(Call(kInfo_work_done, work),
               [&] { *out_arg(done, "done") = work_arg(work).done() ? 1 : 0; });
}

tsr_status tsr_work_source(tsr_work work, int64_t* source) {
  return guard(Call(kInfo_work_source, work),
               [&] { *out_arg(source, "source") = work_arg(work).source(); });
}

void tsr_work_retain(tsr_work work) {
  retain_handle(work, dist::kWorkTag);
}

void tsr_work_release(tsr_work work) {
  release_handle<Work>(work, dist::kWorkTag);
}

}  // extern "C"
