// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "io/saved_files.h"

#include <unistd.h>

#include <atomic>

#include "base/error.h"
#include "base/text.h"
#include "io/safetensors.h"
#include "ops/create/copy.h"
#include "ops/pointwise/complex_parts.h"

namespace tsr::io {
namespace {

// A file that goes with its object. A forked child has copies of the objects, but not of the files.
class SavedFile {
 public:
  SavedFile(std::string path, const Tensor& tensor)
      : path_(std::move(path)), home_(tensor.device()), process_(::getpid()) {
    parts_ = tensor.dtype() == DType::kComplex128;  // which the format lacks
    const Tensor dense = ops::contiguous_memory(ops::to(tensor, Device{}, {}));
    const Tensor stored = parts_ ? ops::parts_memory(dense) : dense;
    const NamedTensor named{"saved", &stored};
    save_archive(path_, {&named, 1}, {}, false);
  }
  SavedFile(const SavedFile&) = delete;
  SavedFile& operator=(const SavedFile&) = delete;
  ~SavedFile() {
    if (process_ == ::getpid()) ::unlink(path_.c_str());
  }

  // The tensor's memory is the file's until it is gone, also when the file loses its name before.
  [[nodiscard]] Tensor load() const {
    const Tensor stored = Archive::open(path_)->tensor(0);
    return ops::to(parts_ ? ops::view_as_complex(stored) : stored, home_, {});
  }

 private:
  std::string path_;
  Device home_;
  ::pid_t process_;
  bool parts_ = false;
};

class FileHooks final : public SavedTensorHooks {
 public:
  FileHooks(std::string folder, int64_t min_bytes)
      : folder_(std::move(folder)), min_bytes_(min_bytes) {}

  // So that a folder that cannot be written to is an error of the push, not of the first function.
  void try_folder() const { NewFile(next_path()).write("", 0); }

  [[nodiscard]] bool wants(const Tensor& tensor) const override {
    return tensor.nbytes() >= min_bytes_ && tensor.numel() > 0 && !tensor.requires_grad();
  }

  std::shared_ptr<void> pack(const Tensor& tensor) override {
    return std::make_shared<SavedFile>(next_path(), tensor);
  }

  Tensor unpack(const std::shared_ptr<void>& packed) override {
    return static_cast<const SavedFile*>(packed.get())->load();
  }

 private:
  [[nodiscard]] std::string next_path() const {
    static std::atomic<uint64_t> counter{0};
    return concat(folder_, "/saved-", ::getpid(), "-", counter.fetch_add(1), ".safetensors");
  }

  std::string folder_;
  int64_t min_bytes_;
};

}  // namespace

std::shared_ptr<SavedTensorHooks> save_in_files(std::string folder, int64_t min_bytes) {
  TSR_CHECK(!folder.empty(), Code::kValue, "folder", "expected the name of a folder, got none");
  auto hooks = std::make_shared<FileHooks>(std::move(folder), min_bytes);
  hooks->try_folder();
  return hooks;
}

}  // namespace tsr::io
