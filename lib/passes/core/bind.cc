#include <functional>
#include <string_view>
#include <unordered_map>

#include "base/text/text.h"
#include "ir/op_def.h"
#include "ir/verify.h"
#include "passes/core/passes.h"
#include "passes/core/symbols.h"

namespace nn {

Status RunPass(std::string_view name, Graph& graph, const std::function<Status(Graph&)>& pass) {
  if (auto s = pass(graph); !s) {
    if (s.error().code() != ErrorCode::kInternal) return s;
    return tl::unexpected(s.error().In(name));
  }
#ifndef NDEBUG
  if (auto s = Verify(graph); !s) return tl::unexpected(s.error().In(name));
#endif
  return {};
}

Status SubstituteSymbols(Graph& graph, const std::map<std::string, Dim>& symbols) {
  if (symbols.empty()) return {};
  const auto lookup = [&](std::string_view name) -> std::optional<Dim> {
    const auto it = symbols.find(std::string(name));
    if (it == symbols.end()) return std::nullopt;
    return it->second;
  };
  const auto substitute = [&](const Dims& dims) {
    Dims out;
    for (const Dim& d : dims) out.push_back(d.Substitute(lookup));
    return out;
  };
  for (Value& v : graph.values()) {
    if (v.type().dims) v.set_type(v.type().WithDims(substitute(*v.type().dims)));
    if (v.elements()) v.set_elements(substitute(*v.elements()));
  }
  for (Node& node : graph.nodes()) {
    Attrs attrs = node.attrs();
    for (const AttrField& field : attrs.info().fields) {
      const AttrValue value = attrs.Get(field);
      if (const auto* dims = std::get_if<Dims>(&value)) {
        NN_ASSIGN(attrs, attrs.With(field.name, substitute(*dims)));
      }
    }
    node.set_attrs(attrs);
    for (const auto& region : node.regions())
      NN_RETURN_IF_ERROR(SubstituteSymbols(*region, symbols));
  }
  return InferGraph(graph);
}

Status BindSymbols(Graph& graph, const std::map<std::string, int64_t>& symbols) {
  return SubstituteSymbols(graph, {symbols.begin(), symbols.end()});
}

Status BindInputShapes(Graph& graph, const std::map<std::string, std::vector<int64_t>>& shapes) {
  std::map<std::string, int64_t> symbols;
  std::unordered_map<std::string_view, Value*> inputs;
  for (const Port& p : graph.inputs()) inputs.insert_or_assign(p.name, p.value);
  for (const auto& [name, shape] : shapes) {
    const auto found = inputs.find(name);
    if (found == inputs.end()) return UsageError("the model has no input named {}", Quote(name));
    Value* input = found->second;
    const Type& type = input->type();
    if (!type.ranked()) {
      input->set_type(type.WithDims(ToDims(shape)));
      continue;
    }
    const auto mismatch = [&type, &name = name, &shape = shape] {
      return UsageError("input {} is {}; a tensor of shape {} does not fit", Quote(name),
                        type.ToString(), ToString(ToDims(shape)));
    };
    if (type.dims->size() != shape.size()) return mismatch();
    for (size_t i = 0; i < shape.size(); ++i) {
      const Dim& d = (*type.dims)[i];
      if (d.is_const() ? d.value() != shape[i] : shape[i] < 0) return mismatch();
      const auto symbol = d.symbol();
      if (!symbol) continue;
      const auto [it, added] = symbols.emplace(*symbol, shape[i]);
      if (!added && it->second != shape[i])
        return UsageError("dimension {} of the model is bound to both {} and {}", Quote(*symbol),
                          it->second, shape[i]);
    }
  }
  NN_RETURN_IF_ERROR(BindSymbols(graph, symbols));
  for (const Port& p : graph.inputs())
    if (const auto it = shapes.find(p.name);
        it != shapes.end() && p.value->type().const_dims() != it->second)
      return UsageError("input {} is {}; a tensor of shape {} does not fit", Quote(p.name),
                        p.value->type().ToString(), ToString(ToDims(it->second)));
  return InferGraph(graph);
}

}  // namespace nn
