// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "inspect/saved_names.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/text.h"
#include "base/trace.h"

namespace tsr::inspect {
namespace {

// The names of what an op saves, in the order of its saves and in the words of the schema's
// arguments; '*' after the last one stands for any number of tensors of that name. Ops that always
// save the same list have a row. The others save some of "input", "other" and their result, and the
// kinds of the saved tensors tell which.
struct Row {
  std::string_view node;
  std::string_view names;
};
constexpr Row kRows[] = {
    {"AddbmmBackward", "batch1 batch2"},
    {"AddcdivBackward", "tensor1 tensor2"},
    {"AddcmulBackward", "tensor1 tensor2"},
    {"AddmmBackward", "mat1 mat2"},
    {"AddmvBackward", "mat vec"},
    {"AddrBackward", "vec1 vec2"},
    {"AttentionBackward", "query key value attn_mask result logsumexp"},
    {"BaddbmmBackward", "batch1 batch2"},
    {"BatchNormBackward", "input weight mean rstd"},
    {"BinaryCrossEntropyBackward", "input target"},
    {"BinaryCrossEntropyWithLogitsBackward", "input target pos_weight"},
    {"BincountBackward", "input"},
    {"CdistBackward", "x1 x2 result"},
    {"ConvBackward", "input weight"},
    {"ConvInputBackward", "grad_output weight"},
    {"ConvWeightBackward", "input grad_output"},
    {"CrossEntropyBackward", "input target weight logsumexp total_weight"},
    {"CtcLossBackward",
     "log_probs log_alpha neg_log_likelihood targets starts target_lengths input_lengths"},
    {"CummaxBackward", "indices"},
    {"CumminBackward", "indices"},
    {"EigBackward", "eigenvalues eigenvectors"},
    {"EighBackward", "eigenvalues eigenvectors"},
    {"EmbeddingBackward", "indices"},
    {"EmbeddingBagBackward", "weight per_sample_weights input offsets frequencies"},
    {"EmbeddingBagFactorsBackward", "weight grad_output input offsets frequencies"},
    {"EmbeddingBagTableBackward", "per_sample_weights grad_output input offsets frequencies"},
    {"GatherBackward", "index"},
    {"GridTapsBackward", "positions"},
    {"GroupNormBackward", "input weight mean rstd"},
    {"IndexBackward", "indices*"},
    {"IndexBackwardBackward", "indices*"},
    {"IndexPutBackward", "indices*"},
    {"InstanceNormBackward", "input weight mean rstd"},
    {"LayerNormBackward", "input weight mean rstd"},
    {"LerpBackward", "weight input other"},
    {"LinearBackward", "input weight"},
    {"LstsqBackward", "input other"},
    {"LuFactorBackward", "lu pivots"},
    {"MaskedFillBackward", "mask"},
    {"MatmulBackward", "input other"},
    {"MaxPoolBackward", "indices"},
    {"NllLossBackward", "target weight total_weight"},
    {"NllLossTransposedBackward", "target weight"},
    {"OrthogonalPolynomialBackward", "input n"},
    {"PoolBackward", "indices"},
    {"PoolTransposedBackward", "indices"},
    {"QrBackward", "q r"},
    {"RecurrenceBackward",
     "input h_0 c_0 weight_ih weight_hh bias_ih bias_hh weight_hr gates h c raw"},
    {"RmsNormBackward", "input weight mean rstd"},
    {"ScatterAddBackward", "index"},
    {"ScatterBackward", "index"},
    {"ScatterExtremeBackward", "index input source result"},
    {"ScatterMeanBackward", "index"},
    {"ScatterProdBackward", "index input source"},
    {"ScatterSumBackward", "index"},
    {"SlogdetBackward", "input sign"},
    {"SolveBackward", "input result lu pivots"},
    {"SortBackward", "indices"},
    {"SvdBackward", "u s vh"},
    {"WeightedGatherBackward", "input weight index"},
    {"WeightedGatherInputBackward", "weight grad_output index"},
    {"WeightedGatherWeightBackward", "input grad_output index"},
    {"WhereBackward", "condition"},
};

// Word `index` of `names`; empty beyond the last.
std::string_view word(std::string_view names, size_t index) {
  for (;;) {
    const size_t end = std::min(names.find(' '), names.size());
    const std::string_view first = names.substr(0, end);
    if (first.ends_with('*')) return first.substr(0, first.size() - 1);
    if (index == 0 || end == names.size()) return index == 0 ? first : std::string_view();
    names.remove_prefix(end + 1);
    --index;
  }
}

std::string name_by_kind(const Node& node, size_t index) {
  using Kind = SavedTensor::Kind;
  const SavedTensor::Origin origin = node.saved_origin(index);
  if (origin.kind == Kind::kOutput) {
    return node.outputs().size() == 1 ? "result" : concat("result", origin.index);
  }
  if (origin.kind == Kind::kNone) return "";
  if (origin.kind != Kind::kInput) {
    // What the in-place form overwrites, or a copy of it.
    return index == 0 ? "input" : concat("saved", index);
  }
  if (origin.index > 1) return concat("input", origin.index);
  if (origin.index == 1) return "other";
  // f(x, x) saves its first input twice.
  const bool again =
      index == 1 && node.saved_origin(0).kind == Kind::kInput && node.saved_origin(0).index == 0;
  return again ? "other" : "input";
}

}  // namespace

const char* saved_name(const Node& node, size_t index) {
  const std::string by_kind = name_by_kind(node, index);
  const std::string_view name = node.name();
  const Row* row = std::lower_bound(std::begin(kRows), std::end(kRows), name,
                                    [](const Row& a, std::string_view b) { return a.node < b; });
  if (row == std::end(kRows) || row->node != name) return lasting_name(by_kind.c_str());
  const std::string_view found = word(row->names, index);
  return lasting_name(found.empty() ? by_kind.c_str() : std::string(found).c_str());
}

}  // namespace tsr::inspect
