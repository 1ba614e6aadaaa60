// Import of ONNX. One-to-one operators (OpDef::formats) need no code here; every other operator has
// a function in ops/<family>.cc, listed with the operator set version from which it applies.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/text/text.h"
#include "formats/common/operator_import.h"
#include "formats/format.h"
#include "formats/onnx/file/native.h"
#include "ir/graph.h"
#include "ir/op_def.h"
#include "ir/term.h"

namespace nn::onnx {

// The attributes of a function call by name; null for those that the call omits. They replace the
// references in attributes of the function's nodes.
using AttrBindings = std::map<std::string, const pb::AttributeProto*, std::less<>>;

// A node to import and its target graph.
class ImportContext final : public OperatorImport {
 public:
  ImportContext(const Model& model, const pb::NodeProto& node, int64_t opset, int64_t index,
                Graph& graph, std::vector<Value*> inputs)
      : OperatorImport({.kind = node.op_type(), .index = index, .name = node.name()}, graph,
                       std::move(inputs), static_cast<size_t>(node.output_size())),
        model_(model),
        node_(node),
        opset_(opset) {}

  // The bindings must outlive this object.
  void set_bindings(const AttrBindings* bindings) { bindings_ = bindings; }

  const pb::NodeProto& node() const { return node_; }
  int64_t opset() const { return opset_; }

  // The first inputs, which are required.
  std::span<Value* const> Inputs(size_t count) const { return std::span(inputs()).first(count); }
  // The constant input; null if it is absent or not constant.
  const Tensor* Constant(size_t i) const;
  using OperatorImport::Constant;
  // Whether the model uses output i.
  bool WantsOutput(size_t i) const {
    return i < output_count() && !node_.output(static_cast<int>(i)).empty();
  }

  // Attributes; the second argument is the operator's default.
  bool HasAttr(std::string_view name) const { return FindAttr(name) != nullptr; }
  const pb::AttributeProto* FindAttr(std::string_view name) const;
  // Resolves an attribute of the node: itself, or the attribute of the function call that it refers
  // to (null if the call omits it).
  const pb::AttributeProto* Resolve(const pb::AttributeProto& a) const;
  int64_t Int(std::string_view name, int64_t fallback) const;
  // The attribute, or kModel if it is absent.
  Result<int64_t> RequiredInt(std::string_view name) const;
  float Float(std::string_view name, float fallback) const;
  std::string String(std::string_view name, std::string_view fallback) const;
  // A string that names a constant of E. kModel for another one.
  template <typename E>
  Result<E> Enum(std::string_view name, E fallback) const {
    const std::string text = String(name, EnumName(fallback));
    const auto value = ParseEnum<E>(text);
    if (!value) return ModelError("{} is {}, which is unknown", name, Quote(text));
    return *value;
  }
  std::vector<int64_t> Ints(std::string_view name) const;  // empty if absent
  std::vector<float> Floats(std::string_view name) const;
  Result<Tensor> TensorAttr(std::string_view name) const;
  // The dense form of a sparse tensor.
  Result<Tensor> SparseTensorAttr(std::string_view name) const;

  // A scalar of a type of numbers or bool.
  Result<Value*> Number(DType dtype, double v);

 private:
  // Operands with scales and zero points: the operators of ONNX are defined on plain integers.
  Result<Node*> Insert(const OpDef& op, std::vector<Value*> inputs, Attrs attrs,
                       std::span<const Type> types, std::span<Graph> regions) override;
  Result<std::optional<AttrValue>> ReadAttr(std::string_view name,
                                            const AttrValue& initial) const override;

  const Model& model_;
  const pb::NodeProto& node_;
  int64_t opset_;
  const AttrBindings* bindings_ = nullptr;
};

// A value in an element type; itself if it has this one. The same for a term of type `from`.
Term As(Value* v, DType to);
Term As(Term x, DType from, DType to);

using ImportFn = Status (*)(ImportContext&);

// Functions of operators by domain, name and version.
template <typename Fn>
class VersionTable {
 public:
  // Registers an import from version `since` on.
  void Add(std::string_view domain, std::string_view op, int64_t since, Fn fn) {
    table_[{std::string(domain), std::string(op)}][since] = fn;
  }
  // The function with the highest `since` not above `opset`; null if there is none.
  Fn Find(std::string_view domain, std::string_view op, int64_t opset) const {
    const auto it = table_.find(std::pair(domain, op));
    if (it == table_.end()) return nullptr;
    const auto version = it->second.upper_bound(opset);
    return version == it->second.begin() ? nullptr : std::prev(version)->second;
  }
  // All of them, "domain.Op" outside ai.onnx.
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& [key, versions] : table_)
      names.push_back(key.first.empty() ? key.second : key.first + "." + key.second);
    return names;
  }

 private:
  struct ByName {
    using is_transparent = void;
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      const std::string_view ops[] = {a.second, b.second};
      return ops[0] != ops[1] ? ops[0] < ops[1]
                              : std::string_view(a.first) < std::string_view(b.first);
    }
  };
  std::map<std::pair<std::string, std::string>, std::map<int64_t, Fn>, ByName> table_;
};

// Instead of a function: the operator is one-to-one from a version on.
inline constexpr ImportFn kOneToOne = nullptr;

struct ImportRow {
  std::string_view op;
  int64_t since = 1;  // the version of the domain's operator set
  ImportFn import = kOneToOne;
  size_t inputs = 0;  // how many first inputs are required; the function is called with all of them
  std::string_view domain = "";  // NormalDomain()
  // Instead of a function: why no version of the operator is imported.
  std::string_view why_not = "";
};

// Whether this version of the node's operator is imported at all.
bool IsImported(const ImportContext& ctx, std::string_view domain);

// Imports an operator of a domain (NormalDomain) into the context's graph. kUnsupported if no
// function applies.
Status ImportOp(ImportContext& ctx, std::string_view domain);

// Format::operators.
std::vector<OperatorSupport> Operators();

}  // namespace nn::onnx
