// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "dist/sharded_files.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <random>
#include <set>

#include "autograd/grad_mode.h"
#include "base/error.h"
#include "base/json.h"
#include "dist/agreement.h"
#include "dist/sharded_index.h"
#include "io/file.h"
#include "ops/create/copy.h"
#include "optim/optimizer.h"

namespace tsr::dist {
namespace {

// Smaller tensors are written by one rank.
constexpr int64_t kSplitBytes = 1 << 16;

// ---- what the ranks have, and who writes what ----

// One rank's part of a tensor, as it tells the others.
struct Held {
  int64_t rank = 0;
  Region region;
};
struct Known {
  DType dtype = DType::kFloat32;
  Dims shape;
  std::vector<Held> held;
  bool divided = false;  // each rank writes what it has
};

Region region_of(const ShardItem& item) {
  Dims offset = item.part ? item.part->offset : Dims(item.tensor.sizes().size(), 0);
  return {std::move(offset), item.tensor.sizes()};
}
const Dims& shape_of(const ShardItem& item) {
  return item.part ? item.part->whole : item.tensor.sizes();
}

std::vector<int64_t> listed(const Dims& dims) {
  return {dims.begin(), dims.end()};
}
Dims dims_of(const Json& list) {
  const auto numbers = list.get<std::vector<int64_t>>();
  return Dims(DimsView(numbers.data(), numbers.size()));
}

std::string describe(std::span<const ShardItem> items) {
  Json list = Json::array();
  for (const ShardItem& item : items) {
    const Region region = region_of(item);
    list.push_back({item.name, static_cast<int32_t>(item.tensor.dtype()), listed(shape_of(item)),
                    listed(region.offset), listed(region.sizes), item.part.has_value()});
  }
  return list.dump();
}

std::map<std::string, Known> read_descriptions(const std::vector<std::string>& texts) {
  std::map<std::string, Known> all;
  for (size_t rank = 0; rank < texts.size(); ++rank) {
    const Json entries = Json::parse(texts[rank]);
    for (const Json& entry : entries) {
      const auto name = entry[0].get<std::string>();
      const auto dtype = static_cast<DType>(entry[1].get<int32_t>());
      const Dims shape = dims_of(entry[2]);
      const bool divided = entry[5].get<bool>();
      const auto [place, fresh] = all.try_emplace(name, Known{dtype, shape, {}, divided});
      Known& known = place->second;
      TSR_CHECK(known.dtype == dtype, Code::kDType, "tensors", "expected '", name, "' of ",
                known.dtype, " on all ranks, got ", dtype, " on rank ", rank);
      TSR_CHECK(known.shape == shape, Code::kShape, "tensors", "expected '", name, "' of shape ",
                known.shape, " on all ranks, got ", shape, " on rank ", rank);
      TSR_CHECK(known.divided == divided, Code::kValue, "slices", "expected parts of '", name,
                "' on all ranks or on none, got others on rank ", rank);
      known.held.push_back({static_cast<int64_t>(rank), {dims_of(entry[3]), dims_of(entry[4])}});
    }
  }
  return all;
}

// Needs at least one row for each of them.
std::vector<Held> divided_evenly(const Known& known) {
  const auto count = static_cast<int64_t>(known.held.size());
  std::vector<Held> writers;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t first = known.shape[0] * i / count, end = known.shape[0] * (i + 1) / count;
    Held part = known.held[static_cast<size_t>(i)];
    part.region.offset[0] = first;
    part.region.sizes[0] = end - first;
    writers.push_back(std::move(part));
  }
  return writers;
}

// Which rank writes which region of each tensor; the same on all ranks.
std::map<std::string, Known> plan_writes(std::map<std::string, Known> all, int64_t size) {
  std::vector<int64_t> loads(static_cast<size_t>(size), 0);
  for (auto& [name, known] : all) {
    const int64_t item = itemsize(known.dtype);
    const int64_t bytes = checked_numel(known.shape, item) * item;
    if (!known.divided && known.held.size() > 1) {
      if (bytes >= kSplitBytes && known.shape[0] >= static_cast<int64_t>(known.held.size())) {
        known.held = divided_evenly(known);
      } else {
        known.held = {*std::min_element(
            known.held.begin(), known.held.end(), [&loads](const Held& a, const Held& b) {
              return loads[static_cast<size_t>(a.rank)] < loads[static_cast<size_t>(b.rank)];
            })};
      }
    }
    for (const Held& part : known.held) {
      loads[static_cast<size_t>(part.rank)] += numel_of(part.region.sizes) * item;
    }
  }
  return all;
}

// ---- writing ----

std::string path_in(const std::string& folder, std::string_view file) {
  return concat(folder, "/", file);
}

// Names that no earlier save used: an interrupted one must not have touched the old files.
std::string fresh_token(Group* group, Device device) {
  std::random_device random;
  std::vector<int64_t> number{static_cast<int64_t>(random()) << 16 ^ random()};
  if (group != nullptr) broadcast_numbers(*group, device, number, 0);
  constexpr const char* kDigits = "0123456789abcdef";
  std::string token;
  for (int shift = 0; shift < 48; shift += 4) {
    token += kDigits[static_cast<uint64_t>(number[0]) >> shift & 15];
  }
  return token;
}

std::string shard_name(std::string_view token, int64_t rank) {
  return concat("shard-", token, "-", rank, ".safetensors");
}

// Whether a save has made the file, or began to (io::NewFile); others belong to the user.
bool is_shard(const std::string& name) {
  char token[13] = {};
  int whole = 0, begun = 0;
  static_cast<void>(std::sscanf(name.c_str(),
                                "shard-%12[0-9a-f]-%*[0-9].safetensors%n.%*[0-9].%*[0-9].tmp%n",
                                token, &whole, &begun));
  const auto length = static_cast<int>(name.size());
  return std::strlen(token) == 12 && (whole == length || begun == length);
}

ShardIndex make_index(const std::map<std::string, Known>& plan, const std::string& token,
                      const io::Metadata& metadata) {
  ShardIndex index;
  index.metadata = metadata;
  for (const auto& [name, known] : plan) {
    IndexEntry entry{known.dtype, known.shape, {}};
    for (const Held& part : known.held) {
      entry.parts.push_back({shard_name(token, part.rank), part.region});
    }
    check_cover(name, entry);
    index.tensors.emplace(name, std::move(entry));
  }
  return index;
}

void write_own(const std::string& path, std::span<const ShardItem> items,
               const std::map<std::string, Known>& plan, int64_t rank) {
  std::vector<Tensor> parts;
  std::vector<std::string_view> names;
  for (const ShardItem& item : items) {
    const auto& writers = plan.at(item.name).held;
    for (const Held& part : writers) {
      if (part.rank != rank) continue;
      const Tensor own = window(item.tensor, part.region, region_of(item).offset);
      parts.push_back(ops::to(own, Device{}, std::nullopt));
      names.push_back(item.name);
    }
  }
  std::vector<io::NamedTensor> named;
  for (size_t i = 0; i < parts.size(); ++i) named.push_back({names[i], &parts[i]});
  io::save_archive(path, named, {});
}

void remove_old_files(const std::string& folder, std::string_view token) {
  std::error_code ignored;  // what cannot be removed does no harm
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (is_shard(name) && !name.starts_with(concat("shard-", token, "-"))) {
      std::filesystem::remove(entry.path(), ignored);
    }
  }
}

// Runs `work` and tells all ranks whether it succeeded everywhere; also the barrier after it.
template <class Work>
void all_succeed(Group* group, Device device, const Work& work) {
  std::optional<Error> own;
  std::string message;
  try {
    work();
  } catch (const Error& error) {
    own = error;
    message = error.message();
  } catch (const std::exception& error) {
    message = error.what();
    own = Error(Code::kIo, "path", message, __FILE__, __LINE__);
  }
  if (group != nullptr) {
    const auto messages = gather_texts(*group, device, message);
    for (size_t rank = 0; rank < messages.size() && !own; ++rank) {
      TSR_CHECK(messages[rank].empty(), Code::kIo, "path",
                "expected all ranks to write their files, got on rank ", rank, ": ",
                messages[rank]);
    }
  }
  if (own) throw *own;
}

// Before the ranks begin to tell each other what they have, because then all must come so far.
void check_text(std::string_view text) {
  try {
    static_cast<void>(Json(text).dump());
  } catch (const JsonError& error) {
    fail(Code::kValue, "names", __FILE__, __LINE__, "texts must be UTF-8: ", error.what());
  }
}

void check_items(std::span<const ShardItem> items) {
  std::set<std::string_view> names;
  for (const ShardItem& item : items) {
    TSR_CHECK(names.insert(item.name).second, Code::kValue, "names",
              "expected names that differ, got '", item.name, "' again");
    check_text(item.name);
    TSR_CHECK(!item.part || (item.part->offset.size() == item.tensor.sizes().size() &&
                             item.part->whole.size() == item.tensor.sizes().size()),
              Code::kShape, "slices", "expected an offset and a shape of ", item.tensor.ndim(),
              " dims for '", item.name, "', got ", item.part->offset, " and ", item.part->whole);
  }
}

// All that a copy into the tensor could refuse, so that it is refused before the first copy.
void check_target(const ShardItem& item, DType saved) {
  const Tensor& to = item.tensor;
  TSR_CHECK(!to.storage()->read_only, Code::kBuffer, "tensors",
            "expected memory that may be written for '", item.name, "', got a read-only tensor");
  TSR_CHECK(!may_overlap_itself(to.sizes(), to.strides()), Code::kValue, "tensors",
            "expected a tensor without overlapping elements for '", item.name, "', got shape ",
            to.sizes(), " with strides ", to.strides());
  TSR_CHECK(!to.has(kInferenceFlag) || inference_enabled(), Code::kAutograd, "tensors",
            "expected a tensor that may be written outside inference mode for '", item.name,
            "', got one made inside it");
  TSR_CHECK(!is_complex(saved) || is_complex(to.dtype()), Code::kDType, "tensors",
            "expected a complex tensor for '", item.name, "' of ", saved, ", got ", to.dtype());
}

std::string text_of(const std::string& path) {
  const auto mapping = io::Mapping::open(path);
  return {mapping->data(), mapping->size()};
}

}  // namespace

void save_shards(const std::string& folder, std::span<const ShardItem> items,
                 const io::Metadata& metadata, Group* group) {
  const optim::Quiet quiet;
  const Device device = items.empty() ? Device{} : items[0].tensor.device();
  const int64_t rank = group == nullptr ? 0 : group->rank();
  all_succeed(group, device, [&] {
    check_items(items);
    for (const auto& [key, value] : metadata) {
      check_text(key);
      check_text(value);
    }
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    TSR_CHECK(!error, Code::kIo, "path", "cannot create ", folder, ": ", error.message());
  });
  const std::string mine = describe(items);
  const auto texts = group == nullptr ? std::vector{mine} : gather_texts(*group, device, mine);
  const auto plan = plan_writes(read_descriptions(texts), static_cast<int64_t>(texts.size()));
  const std::string token = fresh_token(group, device);
  const std::string index = write_index(make_index(plan, token, metadata));
  all_succeed(group, device,
              [&] { write_own(path_in(folder, shard_name(token, rank)), items, plan, rank); });
  all_succeed(group, device, [&] {
    if (rank != 0) return;
    io::NewFile file(path_in(folder, kIndexFile));
    file.write(index.data(), index.size());
    file.commit();
    remove_old_files(folder, token);
  });
}

void load_shards(const std::string& folder, std::span<const ShardItem> items) {
  const optim::Quiet quiet;
  check_items(items);
  const ShardIndex index = read_index(text_of(path_in(folder, kIndexFile)));
  std::map<std::string, std::map<std::string, Tensor>> files;
  std::vector<std::pair<Tensor, Tensor>> copies;  // to, from
  const auto open = [&](const std::string& file) -> const std::map<std::string, Tensor>& {
    const auto [place, fresh] = files.try_emplace(file);
    if (!fresh) return place->second;
    const auto archive = io::Archive::open(path_in(folder, file));
    for (size_t i = 0; i < archive->header.entries.size(); ++i) {
      place->second.emplace(archive->header.entries[i].name, archive->tensor(i));
    }
    return place->second;
  };
  for (const ShardItem& item : items) {
    const auto found = index.tensors.find(item.name);
    TSR_CHECK(found != index.tensors.end(), Code::kValue, "names",
              "expected the name of a saved tensor, got '", item.name, "'");
    const IndexEntry& entry = found->second;
    TSR_CHECK(shape_of(item) == entry.shape, Code::kShape, "tensors", "expected shape ",
              entry.shape, " for '", item.name, "', got ", shape_of(item));
    check_target(item, entry.dtype);
    const Region wanted = region_of(item);
    check_inside(item.name, entry.shape, wanted);
    for (const IndexPart& part : entry.parts) {
      const auto common = intersection(wanted, part.region);
      if (!common || numel_of(common->sizes) == 0) continue;
      const auto& file = open(part.file);
      const auto saved = file.find(item.name);
      TSR_CHECK(saved != file.end() && saved->second.sizes() == part.region.sizes &&
                    saved->second.dtype() == entry.dtype,
                Code::kIo, "path", "expected the part of '", item.name,
                "' that the index names in ", part.file, ", got none or another");
      copies.emplace_back(window(item.tensor, *common, wanted.offset),
                          window(saved->second, *common, part.region.offset));
    }
  }
  for (const auto& [to, from] : copies) ops::copy_(to, ops::to(from, to.device(), std::nullopt));
}

std::string shards_index(const std::string& folder) {
  std::string text = text_of(path_in(folder, kIndexFile));
  static_cast<void>(read_index(text));
  return text;
}

}  // namespace tsr::dist
