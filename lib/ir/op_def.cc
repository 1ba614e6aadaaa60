#include "ir/op_def.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/text/text.h"
#include "ir/verify.h"

namespace nn {
namespace {

Status CheckArity(const Node& node) {
  const OpDef& op = node.op();
  const size_t count = node.inputs().size();
  const bool variadic = !op.inputs.empty() && op.inputs.back().arity == Arity::kVariadic;
  if (count > op.inputs.size() && !variadic)
    return ModelError("{} has {} inputs; the maximum is {}", op.name, count, op.inputs.size());
  for (size_t i = 0; i < op.inputs.size(); ++i)
    if (op.inputs[i].arity == Arity::kRequired && node.input(i) == nullptr)
      return ModelError("{} is missing the required input {} ({})", op.name, i, op.inputs[i].name);
  if (variadic)
    for (size_t i = op.inputs.size() - 1; i < count; ++i)
      if (node.input(i) == nullptr) return ModelError("{} is missing input {}", op.name, i);
  const bool variadic_out = !op.outputs.empty() && op.outputs.back().arity == Arity::kVariadic;
  if (node.outputs().size() > op.outputs.size() && !variadic_out)
    return ModelError("{} has {} outputs; the maximum is {}", op.name, node.outputs().size(),
                      op.outputs.size());
  if (&node.attrs().info() != op.attrs)
    return InternalError("{} has the attributes of another operator", op.name);
  return {};
}

const OperandDef& OperandOf(const Node& node, size_t input) {
  const auto& operands = node.op().inputs;
  return operands[std::min(input, operands.size() - 1)];
}

std::string DoesNotSupport(const Node& node, size_t input, std::string_view type) {
  return fmt::format("{} is not supported as input {}", type, OperandOf(node, input).name);
}

// Strings and complex numbers cannot be read as a single number.
Status CheckElements(const Node& node) {
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    const Value* v = node.input(i);
    if (v == nullptr || (v->dtype() != DType::kString && !IsComplex(v->dtype()))) continue;
    const Elements elements = OperandOf(node, i).elements;
    if ((elements | Elements::kNumbers) == Elements::kNumbers)
      return UnsupportedError("{}", DoesNotSupport(node, i, v->type().ToString()));
  }
  return {};
}

Status CheckRank(const Node& node, const Type& type) {
  if (type.rank() <= kMaxRank) return {};
  return LimitError("{}: a tensor has rank {}; the limit is {}", node.Describe(), type.rank(),
                    kMaxRank);
}

// The type; equal dimensions of an input are stored once.
Type ShareDims(const Node& node, Type type) {
  for (const Value* v : node.inputs())
    if (v != nullptr && v->type().dims == type.dims) {
      type.dims = v->type().dims;
      break;
    }
  return type;
}

}  // namespace

const Tensor* InferContext::constant(size_t i) const {
  const Value* v = node_.input(i);
  return v != nullptr && v->is_constant() ? &v->constant() : nullptr;
}

std::optional<Dims> KnownElements(const Value* value) {
  if (value == nullptr) return std::nullopt;
  if (!value->is_constant())
    return value->elements() != nullptr ? std::optional(*value->elements()) : std::nullopt;
  const Tensor& t = value->constant();
  if (!(IsInteger(t.dtype()) || t.dtype() == DType::kBool) ||
      t.elements() > InferContext::kMaxElements)
    return std::nullopt;
  Dims out;
  out.reserve(static_cast<size_t>(t.elements()));
  for (int64_t k = 0; k < t.elements(); ++k) out.emplace_back(t.GetInt(k));
  return out;
}

Dim InferContext::NewSymbol() {
  return Dim::Symbol(fmt::format("?{}.{}", node_.output(0)->id(), symbols_++));
}

Result<TensorBuilder> EvalContext::NewOutput(size_t i) const {
  const auto dims = output_types_[i].const_dims();
  if (!dims) return UnsupportedError("the shape of output {} is unknown", i);
  return TensorBuilder::Create(output_types_[i].dtype, *dims);
}

const FormatName* OpDef::FindFormat(std::string_view format) const {
  for (const FormatName& f : formats)
    if (f.format == format) return &f;
  return nullptr;
}

void OpRegistry::Add(OpDef def) {
  auto owned = std::make_unique<OpDef>(std::move(def));
  const OpDef* op = owned.get();
  if (!ops_.emplace(op->name, std::move(owned)).second) {
    std::fprintf(stderr, "operator registered twice: %.*s\n", static_cast<int>(op->name.size()),
                 op->name.data());
    std::abort();
  }
  for (const FormatName& f : op->formats) encodings_[f.path].emplace_back(op, &f);
}

const OpDef* OpRegistry::Find(std::string_view name) const {
  const auto it = ops_.find(name);
  return it == ops_.end() ? nullptr : it->second.get();
}

std::pair<const OpDef*, const FormatName*> OpRegistry::FindEncoding(std::string_view format,
                                                                    std::string_view path,
                                                                    int version) const {
  std::pair<const OpDef*, const FormatName*> best = {nullptr, nullptr};
  const auto it = encodings_.find(path);
  if (it == encodings_.end()) return best;
  for (const auto& entry : it->second)
    if (entry.second->format == format && entry.second->since_version <= version &&
        (best.second == nullptr || entry.second->since_version > best.second->since_version))
      best = entry;
  return best;
}

std::vector<const OpDef*> OpRegistry::All() const {
  std::vector<const OpDef*> out;
  for (const auto& [name, op] : ops_) out.push_back(op.get());
  std::ranges::sort(out, {}, &OpDef::name);
  return out;
}

std::optional<std::string> WhyNotElements(const Node& node) {
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    const Value* v = node.input(i);
    if (v != nullptr && !v->type().quantized() && !OperandOf(node, i).elements.Has(v->dtype()))
      return DoesNotSupport(node, i, DTypeName(v->dtype()));
  }
  return std::nullopt;
}

std::optional<Selection> SelectionOf(const Node& node) {
  const OpDef& op = node.op();
  if (op.movement != Movement::kNone) return Selection();
  if (!op.selects || (op.selects->applies != nullptr && !op.selects->applies(node)))
    return std::nullopt;
  return op.selects;
}

tl::unexpected<Error> ContradictionError(const Node& node, size_t i, const Type& declared,
                                         const Type& actual) {
  const std::string_view name = node.output(i)->name();
  return ModelError("{}: output {}{} is declared {} but is {}", node.Describe(), i,
                    name.empty() ? "" : " (" + Quote(name) + ")", declared.ToString(),
                    actual.ToString());
}

Status InferNode(Node& node) {
  for (const auto check : {CheckArity, CheckElements})
    if (auto s = check(node); !s) return tl::unexpected(s.error().In(node.Describe()));
  for (const Value* v : node.inputs()) {
    if (v == nullptr) continue;
    if (v->type().ranked()) NN_RETURN_IF_ERROR(CheckRank(node, v->type()));
    if (auto s = CheckQuant(v->type()); !s) return tl::unexpected(s.error().In(node.Describe()));
  }
  std::vector<Type> declared;
  declared.reserve(node.outputs().size());
  for (Value* v : node.outputs()) {
    declared.push_back(v->type());
    v->set_type(Type());
    v->set_elements(std::nullopt);
  }
  InferContext context(node);
  if (auto s = node.op().infer(context); !s) return tl::unexpected(s.error().In(node.Describe()));
  for (size_t i = 0; i < declared.size(); ++i) {
    Value* v = node.output(i);
    if (v->type().dims)
      for (const Dim& d : *v->type().dims)
        if (!d.is_valid() || (d.is_const() && d.value() < 0))
          return ModelError("{}: output {} has an invalid dimension: {}", node.Describe(), i,
                            d.ToString());
    if (v->type().ranked()) {
      NN_RETURN_IF_ERROR(CheckRank(node, v->type()));
      if (OwnSize(*v->type().dims) > InferContext::kMaxDimsSize)
        v->set_type(v->type().WithDims(Bounded(*v->type().dims, InferContext::kMaxDimsSize)));
    }
    if (!Compatible(declared[i], v->type()))
      return ContradictionError(node, i, declared[i], v->type());
    v->set_type(declared[i] == v->type() ? std::move(declared[i])
                                         : ShareDims(node, Refine(v->type(), declared[i])));
    if (auto s = CheckQuant(v->type()); !s) return tl::unexpected(s.error().In(node.Describe()));
  }
  return {};
}

Status InferGraph(Graph& graph) {
  for (Node& node : graph.nodes()) NN_RETURN_IF_ERROR(InferNode(node));
  return {};
}

}  // namespace nn
