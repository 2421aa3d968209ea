// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Programs as files: safetensors with the calls as JSON in the metadata.
//
// Note [The file of a program]
// The metadata has one text, kMetadataKey, whose JSON is described in docs/guide/programs.md. Calls
// name functions by their numbers in the schema, which never change; beside each number stands the
// name of the function and the version that has it since, so that an older library can say what it
// lacks. `format` rises when an old library could not read a new file at all.
#include <algorithm>
#include <cmath>
#include <set>

#include "base/json.h"
#include "capi/handle.h"
#include "capi/program/json.h"
#include "capi/program/program.h"
#include "capi/wrap_memory.h"
#include "io/safetensors.h"
#include "ops/create/copy.h"
#include "optim/optimizer.h"

namespace tsr::capi::program {
namespace {

constexpr int kFormat = 2;
constexpr int kFormatOfOneSize = 1;  // what a program without products of sizes is written as
constexpr const char* kMetadataKey = "tessera.program";

template <class... Pieces>
[[noreturn]] void refuse(const Pieces&... pieces) {
  throw_error(Code::kIo, "path", __FILE__, __LINE__, concat("not a program: ", pieces...));
}

// ---- Writing ----

bool needs_products(const Program& program) {
  const auto is_new = [](const Integer& number) {
    return number.is_dynamic() && !number.is_simple();
  };
  const auto any_new = [&](const Integers& list) {
    return std::any_of(list.begin(), list.end(), is_new);
  };
  return program.sizes.size() > 1 ||
         std::any_of(program.values.begin(), program.values.end(),
                     [&](const Value& value) { return any_new(value.sizes); }) ||
         std::any_of(program.steps.begin(), program.steps.end(), [&](const Step& step) {
           return std::any_of(step.args.begin(), step.args.end(), [&](const Argument& arg) {
             return is_new(arg.integer) || any_new(arg.integers);
           });
         });
}

// Stored tensors whose memory is part of another one's.
struct Alias {
  int32_t of;
  int64_t offset;
};

class Writer {
 public:
  explicit Writer(Program& program) : program_(program) {
    for (size_t i = 0; i < program.values.size(); ++i) {
      if (program.values[i].stored.defined()) add_stored(static_cast<int32_t>(i));
    }
    for (Json& row : shared_) stored_.push_back(std::move(row));
    Json tree = to_json(program);
    tree["format"] = needs_products(program) ? kFormat : kFormatOfOneSize;
    tree["library"] = tsr_version_string();
    tree["functions"] = functions();
    tree["tensors"] = std::move(stored_);
    for (size_t i = 0; i < program.optimizers.size(); ++i)
      tree["optimizers"].push_back(optimizer(i));
    for (const auto& generator : program.generators) {
      const GeneratorState state = generator->state();
      tree["generators"].push_back({{"seed", state.seed}, {"offset", state.offset}});
    }
    metadata_.emplace_back(kMetadataKey, tree.dump());
    for (size_t i = 0; i < names_.size(); ++i) named_.push_back({names_[i], &tensors_[i]});
  }

  [[nodiscard]] std::span<const io::NamedTensor> tensors() const { return named_; }
  [[nodiscard]] const io::Metadata& metadata() const { return metadata_; }

 private:
  void add_tensor(std::string name, const Tensor& tensor) {
    Tensor host = tensor.detached();
    if (!host.device().is_cpu()) {
      host = empty(tensor.sizes(), tensor.dtype(), Device{});
      ops::copy_memory(host, tensor);
    }
    names_.push_back(std::move(name));
    tensors_.push_back(std::move(host));
  }

  void add_stored(int32_t number) {
    const Value& value = program_.values[static_cast<size_t>(number)];
    const Tensor& tensor = value.stored;
    const bool is_parameter = value.source == Source::kParameter;
    Json row = {{"value", number},
                {"name", value.name},
                {"kind", is_parameter ? "parameter" : "constant"},
                {"requires_grad", tensor.requires_grad()}};
    if (!tensor.is_contiguous())
      row["strides"] = std::vector<int64_t>(tensor.strides().begin(), tensor.strides().end());
    const Alias alias = alias_of(number);
    if (alias.of != kAbsent) {
      row["alias"] = {{"of", alias.of}, {"offset", alias.offset}};
      row["strides"] = std::vector<int64_t>(tensor.strides().begin(), tensor.strides().end());
      row["shape"] = std::vector<int64_t>(tensor.sizes().begin(), tensor.sizes().end());
    } else {
      add_tensor(concat("tensor.", value.name), tensor);
    }
    (alias.of == kAbsent ? stored_ : shared_).push_back(std::move(row));
  }

  // The largest contiguous tensor of the program that all elements belong to, which thus has memory
  // of its own in the file.
  Alias alias_of(int32_t number) const {
    const Tensor& tensor = program_.values[static_cast<size_t>(number)].stored;
    Alias found{kAbsent, 0};
    int64_t most = 0;
    for (int32_t i = 0; i < static_cast<int32_t>(program_.values.size()); ++i) {
      const Tensor& other = program_.values[static_cast<size_t>(i)].stored;
      if (i == number || !other.defined() || other.storage() != tensor.storage() ||
          other.dtype() != tensor.dtype() || !other.is_contiguous() || tensor.numel() == 0)
        continue;
      if (other.numel() == tensor.numel() && tensor.is_contiguous() && i > number) continue;
      const Extent extent = extent_of(tensor.sizes(), tensor.strides());
      const int64_t offset = tensor.offset() - other.offset();
      const bool inside = offset + extent.low >= 0 && offset + extent.high <= other.numel();
      if (!inside || other.numel() <= most) continue;
      most = other.numel();
      found = {i, offset};
    }
    return found;
  }

  Json functions() const {
    std::set<int32_t> used;
    for (const Step& step : program_.steps) used.insert(step.symbol->id);
    Json found = Json::object();
    const Json schema = Json::parse(schema_json());
    for (const Json& row : schema["functions"]) {
      const auto id = row["id"].get<int32_t>();
      if (used.count(id) != 0)
        found[std::to_string(id)] = {{"name", row["name"]}, {"since", row["since"]}};
    }
    return found;
  }

  Json optimizer(size_t number) {
    const optim::Optimizer& of = *program_.optimizers[number];
    Json groups = Json::array();
    for (const optim::Group& group : of.groups()) {
      Json params = Json::array();
      for (const Tensor& param : group.params) params.push_back(value_of(param));
      groups.push_back(std::move(params));
    }
    const optim::NamedState state = of.state();
    for (size_t i = 0; i < state.names.size(); ++i)
      add_tensor(concat("optimizer.", number, ".", state.names[i]), state.tensors[i]);
    return {{"groups", std::move(groups)}, {"state", state.description}};
  }

  int32_t value_of(const Tensor& param) const {
    for (size_t i = 0; i < program_.values.size(); ++i) {
      if (program_.values[i].stored.is_same(param)) return static_cast<int32_t>(i);
    }
    throw_error(Code::kNotImplemented, "program", __FILE__, __LINE__,
                "a parameter was added to an optimizer after the recording");
  }

  Program& program_;
  Json stored_ = Json::array();
  Json shared_ = Json::array();  // read after the tensors whose memory they share
  std::vector<std::string> names_;
  std::vector<Tensor> tensors_;
  std::vector<io::NamedTensor> named_;
  io::Metadata metadata_;
};

// ---- Reading ----

class Reader {
 public:
  explicit Reader(IntrusivePtr<io::Archive> archive) : archive_(std::move(archive)) {}

  ProgramPtr read() {
    const Json tree = description();
    const Json& format = tree.at("format");
    if (!format.is_number_integer() || format.get<int64_t>() < 1) refuse("it has no format");
    TSR_CHECK(format.get<int64_t>() <= kFormat, Code::kAbi, "path", "expected a program of format ",
              kFormat, " at most, got ", format.get<int64_t>(), ", written by version ",
              tree.contains("library") ? tree["library"].get<std::string>() : "?");
    check_functions(tree.at("functions"));
    from_json(tree, *program_);
    for (const Json& row : tree.at("tensors")) read_stored(row);
    if (tree.contains("generators")) {
      for (const Json& row : tree["generators"]) {
        auto generator =
            IntrusivePtr<Generator>::adopt(new Generator(row.at("seed").get<uint64_t>()));
        generator->set_state({row.at("seed").get<uint64_t>(), row.at("offset").get<uint64_t>()});
        program_->generators.push_back(std::move(generator));
      }
    }
    if (tree.contains("optimizers")) {
      for (const Json& row : tree["optimizers"]) read_optimizer(row);
    }
    program_->check();
    return std::move(program_);
  }

 private:
  Json description() const {
    for (const auto& [key, value] : archive_->header.metadata) {
      if (key != kMetadataKey) continue;
      std::optional<Json> tree = Json::try_parse(value);
      if (!tree || !tree->is_object()) refuse("its description is no JSON");
      return std::move(*tree);
    }
    refuse("the file has no description of calls");
  }

  static void check_functions(const Json& functions) {
    if (!functions.is_object()) refuse("it does not list its functions");
    for (const auto& [number, row] : functions.items()) {
      const auto name = row.at("name").get<std::string>();
      const Symbol* found = find_symbol(name);
      TSR_CHECK(found != nullptr && std::to_string(found->id) == number, Code::kAbi, "path",
                "the program calls ", name, " (number ", number, "), which version ",
                row.at("since").get<std::string>(), " has; this is ", tsr_version_string());
    }
  }

  [[nodiscard]] Tensor find(const std::string& name) const {
    const auto& entries = archive_->header.entries;
    for (size_t i = 0; i < entries.size(); ++i) {
      if (entries[i].name == name) return archive_->tensor(i);
    }
    refuse("it lacks the tensor '", name, "'");
  }

  // Where the elements of a stored tensor lie, relative to its first one. A file may say anything.
  static Extent extent_in(const Json& row, DimsView sizes, DimsView strides, DType dtype) {
    const auto name = row.at("name").get<std::string>();
    if (strides.size() != sizes.size())
      refuse("'", name, "' has the shape ", sizes, " and the strides ", strides);
    try {
      if (checked_numel(sizes, itemsize(dtype)) == 0) return {0, 0};
      return checked_extent(sizes, strides, itemsize(dtype));
    } catch (const Error& error) {
      if (error.code() != Code::kShape) throw;
      refuse("'", name, "': ", error.message());
    }
  }

  // Strides may be negative, so the first element need not be the lowest.
  static Tensor uninitialised(DimsView sizes, DimsView strides, const Extent& extent, DType dtype,
                              Device device) {
    const auto nbytes = static_cast<uint64_t>((extent.high - extent.low) * itemsize(dtype));
    return make_fresh(allocate_storage(device, nbytes), dtype, sizes, strides, -extent.low);
  }

  void read_stored(const Json& row) {
    const auto number = row.at("value").get<int64_t>();
    if (number < 0 || number >= static_cast<int64_t>(program_->values.size()))
      refuse("there is no value ", number);
    Value& value = program_->values[static_cast<size_t>(number)];
    if (value.stored.defined()) refuse("value ", number, " is stored twice");
    if (value.source == Source::kInput) refuse("value ", number, " is stored and an input");
    value.source =
        row.at("kind").get<std::string>() == "parameter" ? Source::kParameter : Source::kConstant;
    value.name = row.at("name").get<std::string>();
    value.stored = row.contains("alias") ? read_alias(row) : read_own(row, value);
    if (value.stored.dtype() != value.dtype) refuse("'", value.name, "' has another dtype");
    const auto& sizes = value.stored.sizes();
    const bool same = sizes.size() == value.sizes.size() &&
                      std::equal(sizes.begin(), sizes.end(), value.sizes.begin(),
                                 [](int64_t size, const Integer& declared) {
                                   return !declared.is_dynamic() && declared.base == size;
                                 });
    if (!same) refuse("'", value.name, "' has another shape");
    if (row.at("requires_grad").get<bool>())
      check(tsr_tensor_set_requires_grad(reinterpret_cast<tsr_tensor>(value.stored.impl()), 1));
  }

  Tensor read_own(const Json& row, const Value& value) const {
    const Tensor tensor = find(concat("tensor.", value.name));
    if (value.device.is_cpu() && !row.contains("strides")) return tensor;
    if (!value.device.is_cpu())
      static_cast<void>(
          device_arg(static_cast<int32_t>(value.device.type), value.device.index, "path"));
    const auto given = row.contains("strides")
                           ? row.at("strides").get<std::vector<int64_t>>()
                           : std::vector<int64_t>(tensor.strides().begin(), tensor.strides().end());
    const DimsView strides(given.data(), given.size());
    const Extent extent = extent_in(row, tensor.sizes(), strides, tensor.dtype());
    const Tensor laid_out =
        uninitialised(tensor.sizes(), strides, extent, tensor.dtype(), value.device);
    ops::copy_memory(laid_out, tensor);
    return laid_out;
  }

  Tensor read_alias(const Json& row) const {
    const Json& alias = row.at("alias");
    const auto of = alias.at("of").get<int64_t>();
    const bool exists = of >= 0 && of < static_cast<int64_t>(program_->values.size()) &&
                        program_->values[static_cast<size_t>(of)].stored.defined();
    if (!exists) refuse("value ", of, " has no memory to share");
    const Tensor& base = program_->values[static_cast<size_t>(of)].stored;
    // Others may have less memory than elements.
    if (!base.is_contiguous())
      refuse("a tensor shares the memory of value ", of, ", which has gaps");
    const auto shape = row.at("shape").get<std::vector<int64_t>>();
    const auto given = row.at("strides").get<std::vector<int64_t>>();
    const DimsView sizes(shape.data(), shape.size()), strides(given.data(), given.size());
    const auto offset = alias.at("offset").get<int64_t>();
    const Extent extent = extent_in(row, sizes, strides, base.dtype());
    // The first element lies in the memory, so the sums below cannot overflow.
    const bool inside = offset >= 0 && offset <= base.numel() && offset + extent.low >= 0 &&
                        extent.high <= base.numel() - offset;
    if (!inside)
      refuse("'", row.at("name").get<std::string>(), "', with offset ", offset, ", shape ", sizes,
             " and strides ", strides, ", leaves the ", base.numel(), " elements that it shares");
    return Tensor::adopt(
        new TensorImpl(base.storage(), base.dtype(), sizes, strides, base.offset() + offset));
  }

  static optim::Kind kind_of(const std::string& description) {
    const Json tree = Json::parse(description);
    const auto name = tree.at("kind").get<std::string>();
    for (int32_t kind = 1; kind <= TSR_OPTIMIZER_ASGD; ++kind) {
      if (optim::row_of(static_cast<optim::Kind>(kind)).name == name)
        return static_cast<optim::Kind>(kind);
    }
    refuse("there is no optimizer '", name, "'");
  }

  void read_optimizer(const Json& row) {
    const auto description = row.at("state").get<std::string>();
    std::vector<std::vector<Tensor>> groups;
    for (const Json& list : row.at("groups")) {
      auto& group = groups.emplace_back();
      for (const Json& number : list) {
        const auto at = number.get<int64_t>();
        const bool exists = at >= 0 && at < static_cast<int64_t>(program_->values.size()) &&
                            program_->values[static_cast<size_t>(at)].stored.defined();
        if (!exists) refuse("an optimizer has no parameter ", at);
        group.push_back(program_->values[static_cast<size_t>(at)].stored);
      }
    }
    if (groups.empty()) refuse("an optimizer has no parameters");
    const optim::Options options(kind_of(description));
    auto made = IntrusivePtr<optim::Optimizer>::adopt(new optim::Optimizer(options, groups[0]));
    for (size_t i = 1; i < groups.size(); ++i) made->add_group(options, groups[i]);
    const std::string prefix = concat("optimizer.", program_->optimizers.size(), ".");
    std::vector<std::string> names;
    std::vector<Tensor> tensors;
    for (size_t i = 0; i < archive_->header.entries.size(); ++i) {
      const std::string& name = archive_->header.entries[i].name;
      if (name.rfind(prefix, 0) != 0) continue;
      names.push_back(name.substr(prefix.size()));
      tensors.push_back(archive_->tensor(i));
    }
    made->load(description, names, tensors);
    program_->optimizers.push_back(std::move(made));
  }

  static void check(tsr_status status) {
    if (status != TSR_OK) refuse("a stored tensor cannot require grad");
  }

  IntrusivePtr<io::Archive> archive_;
  ProgramPtr program_ = ProgramPtr::adopt(new Program);
};

ProgramPtr read(IntrusivePtr<io::Archive> archive) {
  try {
    return Reader(std::move(archive)).read();
  } catch (const JsonError& error) {
    refuse(error.what());
  }
}

}  // namespace

void save(Program& program, const std::string& path) {
  const auto lock = program.lock();
  const Writer writer(program);
  io::save_archive(path, writer.tensors(), writer.metadata());
}

std::string to_bytes(Program& program) {
  const auto lock = program.lock();
  const Writer writer(program);
  return io::archive_bytes(writer.tensors(), writer.metadata());
}

ProgramPtr load(const std::string& path) {
  return read(io::Archive::open(path));
}

ProgramPtr from_bytes(std::string_view bytes) {
  return read(io::Archive::from_bytes(bytes));
}

}  // namespace tsr::capi::program
