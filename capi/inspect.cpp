// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// What a node tells about itself besides its place in the graph, and drawings of graphs.

#include "autograd/metadata.h"
#include "capi/callback.h"
#include "capi/generated/infos.h"
#include "capi/give_text.h"
#include "capi/json_args.h"
#include "capi/node_args.h"
#include "capi/structs.h"
#include "inspect/graph_dot.h"
#include "inspect/graph_svg.h"
#include "inspect/graph_table.h"
#include "inspect/saved_names.h"

using namespace tsr;
using namespace tsr::capi;

extern "C" {

tsr_status tsr_node_saved_name(tsr_node node, int64_t index, const char** name, int64_t* name_len) {
  return guard(Call(kInfo_node_saved_name, node, index), [&] {
    const Node& of = node_arg(node);
    out_arg(name, "name");
    out_arg(name_len, "name");
    const char* text = inspect::saved_name(of, index_arg(index, of.saved_count()));
    *name = text;
    *name_len = static_cast<int64_t>(std::string_view(text).size());
  });
}

tsr_status tsr_node_output_count(tsr_node node, int64_t* count) {
  return guard(Call(kInfo_node_output_count, node), [&] {
    *out_arg(count, "count") = static_cast<int64_t>(node_arg(node).outputs().size());
  });
}

tsr_status tsr_node_output_info(tsr_node node, int64_t index, tsr_node_output* info) {
  return guard(Call(kInfo_node_output_info, node, index, info), [&] {
    const auto& outputs = node_arg(node).outputs();
    check_struct_size(info, "info");
    const OutputMeta& meta = outputs[index_arg(index, outputs.size())];
    fill_struct(info, "info", [&meta](tsr_node_output& value) {
      value.flags = (meta.exists ? TSR_NODE_OUTPUT_EXISTS : 0) |
                    (meta.differentiable ? TSR_NODE_OUTPUT_DIFFERENTIABLE : 0);
      value.dtype = meta.exists ? dtype_to_abi(meta.dtype) : 0;
      value.device_type = meta.exists ? static_cast<int32_t>(meta.device.type) : 0;
      value.device_index = meta.exists ? meta.device.index : 0;
      value.ndim = static_cast<int32_t>(meta.sizes.size());
      value.sizes = meta.sizes.data();
    });
  });
}

tsr_status tsr_node_metadata_set(tsr_node node, const char* key, int64_t key_len, const char* text,
                                 int64_t text_len) {
  const Call call(kInfo_node_metadata_set, node, TextOf{key, key_len}, TextOf{text, text_len});
  return guard(call, [&] {
    MetadataValue value;
    value.text = text_arg(text, text_len, "text");
    set_metadata(node_arg(node), text_arg(key, key_len, "key"), std::move(value));
  });
}

tsr_status tsr_node_metadata_set_object(tsr_node node, const char* key, int64_t key_len,
                                        void* object, tsr_drop_fn drop) {
  UserData data(object, drop);
  const Call call(kInfo_node_metadata_set_object, node, TextOf{key, key_len}, object, drop);
  return guard(call, [&] {
    Node& of = node_arg(node);
    const std::string_view name = text_arg(key, key_len, "key");
    TSR_CHECK(object != nullptr, Code::kInvalidArgument, "object", "expected an object, got NULL");
    MetadataValue value;
    value.host = {object, drop};
    value.object = payload_owner(std::move(data));
    set_metadata(of, name, std::move(value));
  });
}

tsr_status tsr_node_metadata_text(tsr_node node, const char* key, int64_t key_len,
                                  tsr_buffer* text) {
  clear(text);
  return guard(Call(kInfo_node_metadata_text, node, TextOf{key, key_len}), [&] {
    out_arg(text, "text");
    auto found = find_metadata(node_arg(node), text_arg(key, key_len, "key"));
    if (found.has_value() && found->object == nullptr) give_text(std::move(found->text), text);
  });
}

tsr_status tsr_node_metadata_object(tsr_node node, const char* key, int64_t key_len, void** object,
                                    tsr_drop_fn* drop) {
  return guard(Call(kInfo_node_metadata_object, node, TextOf{key, key_len}), [&] {
    out_arg(object, "object");
    out_arg(drop, "drop");
    const auto found = find_metadata(node_arg(node), text_arg(key, key_len, "key"));
    *object = found.has_value() ? found->object.get() : nullptr;
    *drop = found.has_value() ? found->host.drop : nullptr;
  });
}

tsr_status tsr_node_metadata_keys(tsr_node node, tsr_buffer* json) {
  clear(json);
  return guard(Call(kInfo_node_metadata_keys, node), [&] {
    out_arg(json, "json");
    std::string list;
    for (const std::string& key : metadata_keys(node_arg(node))) {
      list += concat(list.empty() ? "[" : ",", json_quoted(key, true));
    }
    give_text(list.empty() ? "[]" : list + "]", json);
  });
}

tsr_status tsr_node_metadata_remove(tsr_node node, const char* key, int64_t key_len) {
  return guard(Call(kInfo_node_metadata_remove, node, TextOf{key, key_len}), [&] {
    const std::string_view name = text_arg(key, key_len, "key");
    TSR_CHECK(remove_metadata(node_arg(node), name), Code::kValue, "key",
              "expected a key of the node's metadata, got '", name, "'");
  });
}

tsr_status tsr_graph_draw(const tsr_tensor* roots, int32_t n_roots, const tsr_tensor* named,
                          int32_t n_named, const char* names, int64_t names_len,
                          tsr_graph_format format, int32_t flags, tsr_buffer* picture) {
  clear(picture);
  const Call call(kInfo_graph_draw, ListOf{roots, n_roots}, ListOf{named, n_named},
                  TextOf{names, names_len}, format, flags);
  return guard(call, [&] {
    out_arg(picture, "picture");
    const auto shown = tensors_arg(roots, n_roots, "roots");
    const auto tensors = tensors_arg(named, n_named, "named");
    const std::string_view text = text_arg(names, names_len, "names");
    check_flags(flags, TSR_GRAPH_SHOW_SAVED, "flags");
    TSR_CHECK(format == TSR_GRAPH_DOT || format == TSR_GRAPH_SVG || format == TSR_GRAPH_TABLE,
              Code::kInvalidArgument, "format", "expected DOT, SVG or TABLE, got ",
              static_cast<int32_t>(format));
    const std::vector<std::string> texts = names_arg(text, tensors.size());
    if (format == TSR_GRAPH_TABLE) {
      return give_text(inspect::table_of(shown, {tensors, texts}), picture);
    }
    inspect::GraphView view =
        inspect::view_of(shown, {tensors, texts}, (flags & TSR_GRAPH_SHOW_SAVED) != 0);
    give_text(format == TSR_GRAPH_SVG ? inspect::svg_of(std::move(view)) : inspect::dot_of(view),
              picture);
  });
}

}  // extern "C"
