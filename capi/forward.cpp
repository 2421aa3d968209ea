// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Forward mode: levels, dual tensors, and what the jvp of a custom function reads.
#include "autograd/forward.h"

#include "autograd/custom_function.h"
#include "capi/custom_node.h"
#include "capi/generated/infos.h"
#include "capi/lend.h"

using namespace tsr;
using namespace tsr::capi;

extern "C" {

tsr_status tsr_forward_enter(int64_t* level) {
  return guard(kInfo_forward_enter, [&] {
    out_arg(level, "level");
    *level = enter_forward_level();
  });
}

tsr_status tsr_forward_exit(int64_t level) {
  return guard(Call(kInfo_forward_exit, level), [&] { exit_forward_level(level); });
}

int64_t tsr_forward_level(void) {
  return current_forward_level();
}

tsr_status tsr_make_dual(tsr_tensor primal, tsr_tensor tangent, int64_t level, tsr_tensor* dual) {
  clear(dual);
  return guard(Call(kInfo_make_dual, primal, tangent, level), [&] {
    out_arg(dual, "dual");
    give(make_dual(TensorArg(primal, "primal").get(), TensorArg(tangent, "tangent").get(), level),
         dual);
  });
}

tsr_status tsr_unpack_dual(tsr_tensor dual, int64_t level, tsr_tensor* primal,
                           tsr_tensor* tangent) {
  clear(primal);
  clear(tangent);
  return guard(Call(kInfo_unpack_dual, dual, level), [&] {
    out_arg(primal, "primal");
    out_arg(tangent, "tangent");
    Unpacked parts = unpack_dual(TensorArg(dual, "dual").get(), level);
    give(std::move(parts.primal), primal);
    give(std::move(parts.tangent), tangent);
  });
}

int32_t tsr_forward_mode(void) {
  return t_forward_mode.off ? 0 : 1;
}

tsr_status tsr_forward_mode_set(int32_t enabled, int32_t* previous) {
  return guard(Call(kInfo_forward_mode_set, enabled), [&] {
    const bool value = bool_arg(enabled, "enabled");
    *out_arg(previous, "previous") = t_forward_mode.off ? 0 : 1;
    t_forward_mode.off = !value;
    update_record_mask();
  });
}

tsr_status tsr_node_save_for_forward(tsr_node node, const tsr_tensor* tensors, int32_t n_tensors) {
  return guard(Call(kInfo_node_save_for_forward, node, ListOf{tensors, n_tensors}), [&] {
    custom_arg(node).save_for_forward(sparse_tensors_arg(tensors, n_tensors, "tensors"));
  });
}

tsr_status tsr_node_saved_for_forward(tsr_node node, int64_t index, tsr_tensor* tensor) {
  clear(tensor);
  return guard(Call(kInfo_node_saved_for_forward, node, index), [&] {
    const CustomNode& custom = custom_arg(node);
    TSR_CHECK(index >= 0, Code::kIndex, "index", "expected an index from 0, got ", index);
    out_arg(tensor, "tensor");
    give(Tensor(custom.saved_for_forward(static_cast<size_t>(index))), tensor);
  });
}

}  // extern "C"
