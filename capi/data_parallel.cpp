// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Data-parallel training, sharded optimizers, sharded checkpoints.
#include "dist/data_parallel.h"

#include <memory>

#include "base/json.h"
#include "capi/dist.h"
#include "capi/generated/infos.h"
#include "capi/give_text.h"
#include "capi/handle.h"
#include "capi/json_args.h"
#include "capi/optimizer_args.h"
#include "capi/structs.h"
#include "dist/sharded_files.h"
#include "dist/sharded_optimizer.h"

using namespace tsr;
using namespace tsr::capi;

namespace {

using dist::DataParallel;
using dist::DataParallelOptions;
using dist::ShardedOptimizer;
using optim::Optimizer;

// What a handle holds. A backward on another thread may still be in the training when it is gone.
struct ParallelObject final : Object {
  explicit ParallelObject(std::shared_ptr<DataParallel> one)
      : Object(dist::kDataParallelTag), parallel(std::move(one)) {}
  static void destroy(ParallelObject* object) noexcept {
    object->tag = ObjectTag::kDead;
    delete object;
  }
  std::shared_ptr<DataParallel> parallel;
};

DataParallel& parallel_arg(tsr_data_parallel handle) {
  const auto* object =
      object_arg<ParallelObject>(handle, dist::kDataParallelTag, "data-parallel", "parallel");
  return *object->parallel;
}
ShardedOptimizer& sharded_arg(tsr_sharded_optimizer handle) {
  return *object_arg<ShardedOptimizer>(handle, dist::kShardedOptimizerTag, "sharded optimizer",
                                       "sharded");
}

DataParallelOptions options_arg(const tsr_data_parallel_options* from) {
  const auto given = read_struct(from, "options");
  DataParallelOptions options;
  options.find_unused = bool_arg(given.find_unused, "options");
  options.bucket_bytes = given.bucket_bytes;
  options.first_bucket_bytes = given.first_bucket_bytes;
  options.broadcast_buffers = bool_arg(given.broadcast_buffers, "options");
  options.gradient_as_bucket_view = bool_arg(given.gradient_as_bucket_view, "options");
  options.reduce_dtype = optional_dtype_arg(given.reduce_dtype, "options");
  return options;
}

// ---- shards ----

Dims dims_in(const Json& tree, const char* key) {
  const Json* list = tree.find(key);
  TSR_CHECK(list != nullptr && list->is_array(), Code::kValue, "slices",
            "expected objects with the arrays offset and shape, got ", short_text(tree));
  Dims dims;
  for (const Json& number : *list) {
    TSR_CHECK(number.is_int64(), Code::kValue, "slices",
              "expected whole numbers below 2^63 in the array ", key, ", got ", short_text(number));
    dims.push_back(number.get<int64_t>());
  }
  return dims;
}

std::vector<dist::ShardItem> items_arg(std::string_view names, std::span<const Tensor> tensors,
                                       std::string_view slices) {
  const auto spelled = names_arg(names, tensors.size());
  const Json parts = json_arg(slices, "slices");
  TSR_CHECK(parts.is_object(), Code::kValue, "slices", "expected a JSON object");
  std::unordered_map<std::string_view, const Json*> by_name;
  for (const auto& [name, part] : parts.items()) by_name.emplace(name, &part);
  std::vector<dist::ShardItem> items;
  for (size_t i = 0; i < spelled.size(); ++i) {
    dist::ShardItem item{spelled[i], tensors[i], {}};
    if (const auto part = by_name.find(spelled[i]); part != by_name.end()) {
      item.part = {dims_in(*part->second, "offset"), dims_in(*part->second, "shape")};
      by_name.erase(part);
    }
    items.push_back(std::move(item));
  }
  // Without its slice a part of a tensor would count as all of it.
  TSR_CHECK(by_name.empty(), Code::kValue, "slices", "expected names of the given tensors, got '",
            by_name.begin()->first, "'");
  return items;
}

}  // namespace

extern "C" {

tsr_status tsr_data_parallel_defaults(tsr_data_parallel_options* options) {
  return guard(Call(kInfo_data_parallel_defaults, options), [&] {
    fill_struct(options, "options", [](tsr_data_parallel_options& filled) {
      const DataParallelOptions defaults;
      filled.find_unused = defaults.find_unused ? 1 : 0;
      filled.bucket_bytes = defaults.bucket_bytes;
      filled.first_bucket_bytes = defaults.first_bucket_bytes;
      filled.broadcast_buffers = defaults.broadcast_buffers ? 1 : 0;
      filled.gradient_as_bucket_view = defaults.gradient_as_bucket_view ? 1 : 0;
      filled.reduce_dtype = -1;
      filled.pad0 = 0;
    });
  });
}

tsr_status tsr_data_parallel_new(tsr_group group, const tsr_tensor* params, int32_t n_params,
                                 const tsr_tensor* buffers, int32_t n_buffers,
                                 const tsr_data_parallel_options* options,
                                 tsr_data_parallel* parallel) {
  clear(parallel);
  const Call call(kInfo_data_parallel_new, group, ListOf{params, n_params},
                  ListOf{buffers, n_buffers}, options);
  return guard(call, [&] {
    out_arg(parallel, "parallel");
    const auto trained = tensors_arg(params, n_params, "params");
    const auto others = tensors_arg(buffers, n_buffers, "buffers");
    auto one = DataParallel::create(shared_group_arg(group), trained, others, options_arg(options));
    give_object(new ParallelObject(std::move(one)), parallel);
  });
}

void tsr_data_parallel_retain(tsr_data_parallel parallel) {
  retain_handle(parallel, dist::kDataParallelTag);
}

void tsr_data_parallel_release(tsr_data_parallel parallel) {
  release_handle<ParallelObject>(parallel, dist::kDataParallelTag);
}

tsr_status tsr_data_parallel_forward_begin(tsr_data_parallel parallel) {
  return guard(Call(kInfo_data_parallel_forward_begin, parallel),
               [&] { parallel_arg(parallel).begin_forward(); });
}

tsr_status tsr_data_parallel_forward_end(tsr_data_parallel parallel, const tsr_tensor* outputs,
                                         int32_t n_outputs) {
  const Call call(kInfo_data_parallel_forward_end, parallel, ListOf{outputs, n_outputs});
  return guard(call, [&] {
    const auto list = tensors_arg(outputs, n_outputs, "outputs");
    parallel_arg(parallel).end_forward(list);
  });
}

tsr_status tsr_data_parallel_sync_set(tsr_data_parallel parallel, int32_t sync, int32_t* previous) {
  return guard(Call(kInfo_data_parallel_sync_set, parallel, sync), [&] {
    DataParallel& target = parallel_arg(parallel);
    const bool wanted = bool_arg(sync, "sync");
    out_arg(previous, "previous");
    *previous = target.set_sync(wanted) ? 1 : 0;
  });
}

tsr_status tsr_data_parallel_join_begin(tsr_data_parallel parallel, int32_t divide_by_initial_size,
                                        int32_t fail_when_uneven) {
  const Call call(kInfo_data_parallel_join_begin, parallel, divide_by_initial_size,
                  fail_when_uneven);
  return guard(call, [&] {
    parallel_arg(parallel).begin_join({bool_arg(divide_by_initial_size, "divide_by_initial_size"),
                                       bool_arg(fail_when_uneven, "fail_when_uneven")});
  });
}

tsr_status tsr_data_parallel_join_end(tsr_data_parallel parallel) {
  return guard(Call(kInfo_data_parallel_join_end, parallel),
               [&] { parallel_arg(parallel).end_join(); });
}

tsr_status tsr_data_parallel_report(tsr_data_parallel parallel, tsr_buffer* json) {
  clear(json);
  return guard(Call(kInfo_data_parallel_report, parallel), [&] {
    out_arg(json, "json");
    give_text(parallel_arg(parallel).report(), json);
  });
}

tsr_status tsr_optimizer_shard(tsr_optimizer optimizer, tsr_group group,
                               tsr_sharded_optimizer* sharded) {
  clear(sharded);
  return guard(Call(kInfo_optimizer_shard, optimizer, group), [&] {
    out_arg(sharded, "sharded");
    auto shared = IntrusivePtr<Optimizer>::share(&optimizer_arg(optimizer));
    give_object(new ShardedOptimizer(std::move(shared), shared_group_arg(group)), sharded);
  });
}

void tsr_sharded_optimizer_retain(tsr_sharded_optimizer sharded) {
  retain_handle(sharded, dist::kShardedOptimizerTag);
}

void tsr_sharded_optimizer_release(tsr_sharded_optimizer sharded) {
  release_handle<ShardedOptimizer>(sharded, dist::kShardedOptimizerTag);
}

tsr_status tsr_sharded_optimizer_step(tsr_sharded_optimizer sharded) {
  return guard(Call(kInfo_sharded_optimizer_step, sharded), [&] { sharded_arg(sharded).step(); });
}

tsr_status tsr_sharded_optimizer_gather(tsr_sharded_optimizer sharded, int64_t to,
                                        tsr_optimizer* optimizer) {
  clear(optimizer);
  return guard(Call(kInfo_sharded_optimizer_gather, sharded, to), [&] {
    out_arg(optimizer, "optimizer");
    give_object(sharded_arg(sharded).gather(to).detach(), optimizer);
  });
}

tsr_status tsr_sharded_optimizer_report(tsr_sharded_optimizer sharded, tsr_buffer* json) {
  clear(json);
  return guard(Call(kInfo_sharded_optimizer_report, sharded), [&] {
    out_arg(json, "json");
    give_text(sharded_arg(sharded).report(), json);
  });
}

tsr_status tsr_shards_save(const char* path, int64_t path_len, const char* names, int64_t names_len,
                           const tsr_tensor* tensors, int32_t n_tensors, const char* slices,
                           int64_t slices_len, const char* metadata, int64_t metadata_len,
                           tsr_group group) {
  const Call call(kInfo_shards_save, TextOf{path, path_len}, TextOf{names, names_len},
                  ListOf{tensors, n_tensors}, TextOf{slices, slices_len},
                  TextOf{metadata, metadata_len}, group);
  return guard(call, [&] {
    dist::Group* ranks = group == nullptr ? nullptr : &group_arg(group);
    const std::string folder = path_arg(path, path_len);
    const auto list = tensors_arg(tensors, n_tensors, "tensors");
    // All arguments are looked at before one of them is read as JSON.
    const std::string_view names_text = text_arg(names, names_len, "names");
    const std::string_view slices_text = text_arg(slices, slices_len, "slices");
    const std::string_view metadata_text = text_arg(metadata, metadata_len, "metadata");
    dist::save_shards(folder, items_arg(names_text, list, slices_text), metadata_arg(metadata_text),
                      ranks);
  });
}

tsr_status tsr_shards_load(const char* path, int64_t path_len, const char* names, int64_t names_len,
                           const tsr_tensor* tensors, int32_t n_tensors, const char* slices,
                           int64_t slices_len) {
  const Call call(kInfo_shards_load, TextOf{path, path_len}, TextOf{names, names_len},
                  ListOf{tensors, n_tensors}, TextOf{slices, slices_len});
  return guard(call, [&] {
    const std::string folder = path_arg(path, path_len);
    const auto list = tensors_arg(tensors, n_tensors, "tensors");
    const std::string_view names_text = text_arg(names, names_len, "names");
    dist::load_shards(folder, items_arg(names_text, list, text_arg(slices, slices_len, "slices")));
  });
}

tsr_status tsr_shards_index(const char* path, int64_t path_len, tsr_buffer* json) {
  clear(json);
  return guard(Call(kInfo_shards_index, TextOf{path, path_len}), [&] {
    out_arg(json, "json");
    give_text(dist::shards_index(path_arg(path, path_len)), json);
  });
}

}  // extern "C"
