#include "passes/interface/open_sizes.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/text/text.h"
#include "ir/copy.h"
#include "ir/op_def.h"
#include "ops/array/arrange/tile.h"
#include "ops/array/shape.h"
#include "passes/core/passes.h"
#include "passes/facts/known_values.h"
#include "passes/interface/edits.h"
#include "passes/interface/refit_dims.h"
#include "passes/simplify/simplify.h"

namespace nn {
namespace {

class SizeOpener {
 public:
  SizeOpener(Graph& graph, const OpenedSizes& sizes) : graph_(graph), sizes_(sizes) {}

  Result<int64_t> Open(const std::map<size_t, Dims>& shapes) {
    NN_RETURN_IF_ERROR(ForgetDeclaredShapes(graph_));
    for (Node& node : graph_.nodes())
      AbsorbInputs(node, [](const Value* v) { return v->is_constant(); });
    for (const Value& v : graph_.values()) old_.emplace(&v, v.type());
    for (const Node& node : graph_.nodes())
      if (node.op().category == Category::kMovement && IdentityOf(node) != nullptr)
        identities_.insert(&node);
    for (const auto& [i, dims] : shapes) {
      Value* const input = graph_.inputs()[i].value;
      input->set_type(input->type().WithDims(dims));
    }
    for (auto it = graph_.nodes().begin(); it != graph_.nodes().end();) {
      Node& node = *it++;
      NN_RETURN_IF_ERROR(OpenNode(node));
    }
    NN_RETURN_IF_ERROR(InferGraph(graph_));
    NN_RETURN_IF_ERROR(TryOtherSizes());
    return rewritten_;
  }

 private:
  using Symbols = std::set<std::string>;

  // Inputs that `is_fixed` become attributes, which can be rewritten.
  template <typename F>
  void AbsorbInputs(Node& node, const F& is_fixed) {
    if (node.op().absorb_inputs == nullptr) return;
    for (size_t i = 1; i < node.inputs().size(); ++i)
      if (node.input(i) != nullptr && !is_fixed(node.input(i))) return;
    // An input that cannot be absorbed stays, and inference says why.
    (void)node.op().absorb_inputs(graph_, node);
  }

  Symbols MentionedIn(const Dims& dims) const {
    Symbols all, known;
    for (const Dim& d : dims) d.CollectSymbols(all);
    for (const auto& [name, size] : sizes_.old)
      if (all.contains(name)) known.insert(name);
    return known;
  }
  Symbols MentionedIn(const Value* v) const {
    return v == nullptr || !v->type().ranked() ? Symbols() : MentionedIn(*v->type().dims);
  }

  // The new symbols in the shapes of the inputs.
  Symbols OfInputs(const Node& node) const {
    Symbols out;
    for (const Value* v : node.inputs()) out.merge(MentionedIn(v));
    return out;
  }

  bool DependsOnElements(const Node& node) const {
    return std::ranges::any_of(node.inputs(), [&](const Value* v) {
      return v != nullptr && v->elements() != nullptr && !MentionedIn(*v->elements()).empty();
    });
  }

  const Type& OldType(const Value* v) const { return old_.at(v); }

  Dim AtOldSizes(const Dim& d) const {
    return d.Substitute([&](std::string_view name) -> std::optional<Dim> {
      const auto it = sizes_.old.find(std::string(name));
      return it == sizes_.old.end() ? std::nullopt : std::optional(Dim(it->second));
    });
  }

  // Why the result is not that of the old sizes; empty if it is.
  std::string Mismatch(const Value* v) const {
    const Type& old = OldType(v);
    const Type& now = v->type();
    if (!old.ranked()) return "";
    bool fits = now.ranked() && now.rank() == old.rank();
    for (int i = 0; fits && i < old.rank(); ++i)
      fits = !old.dim(i).is_const() || AtOldSizes(now.dim(i)) == old.dim(i);
    return fits ? ""
                : fmt::format("its result was {} and would become {}", old.ToString(),
                              now.ToString());
  }

  // Infers the results of a node; says why they do not follow the sizes.
  std::optional<std::string> WhyFixed(Node& node) const {
    for (Value* v : node.outputs()) {
      Type open;
      open.dtype = OldType(v).dtype;
      open.quant = OldType(v).quant;
      v->set_type(std::move(open));
    }
    if (const Status done = InferNode(node); !done) return done.error().message();
    for (const Value* v : node.outputs())
      if (std::string why = Mismatch(v); !why.empty()) return why;
    const Symbols lost = LostBatch(node);
    if (lost.empty()) return WhyFailsAtOtherSizes(node);
    return fmt::format("its result does not depend on {}", Quote(*lost.begin()));
  }

  // A node that takes one size only may show it only when symbols have numbers.
  std::optional<std::string> WhyFailsAtOtherSizes(const Node& node) const {
    Graph trial;
    std::vector<Value*> inputs;
    for (const Value* v : node.inputs()) {
      if (v == nullptr) {
        inputs.push_back(nullptr);
      } else if (v->is_constant()) {
        inputs.push_back(trial.AddConstant(v->constant(), {}, v->type().quant));
      } else {
        inputs.push_back(trial.AddInput("", v->type()));
        if (v->elements() != nullptr) inputs.back()->set_elements(*v->elements());
      }
    }
    AddOpenCopy(trial, node, std::move(inputs));
    const Status done = BindSymbols(trial, OtherSizes());
    return done ? std::nullopt : std::optional(done.error().message());
  }

  std::map<std::string, int64_t> OtherSizes() const {
    std::map<std::string, int64_t> sizes;
    for (const auto& [name, old] : sizes_.old) sizes[name] = 2 * old;
    return sizes;
  }

  // The batches of the inputs that no result has.
  Symbols LostBatch(const Node& node) const {
    Symbols lost;
    for (const std::string& name : OfInputs(node))
      if (sizes_.batch.contains(name)) lost.insert(name);
    for (const Value* v : node.outputs()) {
      if (v->elements() != nullptr) return {};  // computed from shapes
      for (const std::string& name : MentionedIn(v)) {
        const auto follows = [&](const Dim& d) {
          return Dim::ExactDiv(d, Dim::Symbol(name)).has_value();
        };
        if (std::ranges::any_of(*v->type().dims, follows)) lost.erase(name);
      }
    }
    return lost;
  }

  Status OpenNode(Node& node) {
    const Symbols symbols = OfInputs(node);
    if (symbols.empty() && !DependsOnElements(node)) return {};
    if (!node.regions().empty())
      return Refuse(node, symbols, "it has subgraphs, which are not rewritten");
    if (identities_.contains(&node)) {
      Value* const x = node.input(0);
      if (!graph_.IsOutput(node.output()) || x->def() != nullptr) {
        graph_.Replace(&node, x);
        ++rewritten_;
        return {};
      }
    }
    AbsorbInputs(node, [&](const Value* v) {
      return v->is_constant() || (v->elements() != nullptr && MentionedIn(*v->elements()).empty());
    });
    if (RefitShape(node)) ++rewritten_;
    const auto why = WhyFixed(node);
    if (!why) return {};
    if (RewriteAttrs(node, symbols) || SpreadOperands(node, symbols)) {
      ++rewritten_;
      return {};
    }
    // Sums over a batch, and products that contract it, are defined for all sizes.
    const bool joins =
        WhyFixed(node) && InferNode(node) && !LostBatch(node).empty() &&
        std::ranges::all_of(node.outputs(), [&](const Value* v) { return Mismatch(v).empty(); }) &&
        node.op().category != Category::kMovement && node.op().category != Category::kArithmetic;
    if (joins)
      return UnsupportedError(
          "{} joins the samples of a batch, so results for several samples are not those of each; "
          "run the model once for each sample, or export it without the operator",
          node.Describe());
    return Refuse(node, symbols, *why);
  }

  tl::unexpected<Error> Refuse(const Node& node, const Symbols& symbols,
                               const std::string& why) const {
    std::string names;
    for (const std::string& name : symbols)
      names += fmt::format("{}{}", names.empty() ? "" : ", ", Quote(name));
    const auto operand = FixedOperand(node, symbols);
    return UnsupportedError(
        "{} fixes the size {}: {}; export the model with this size open, or open only those of "
        "inputs that do not reach the operator (--input-shape)",
        node.Describe(), names.empty() ? "of an input" : names, operand.value_or(why));
  }

  // An operand that has the old size and other elements in each part.
  std::optional<std::string> FixedOperand(const Node& node, const Symbols& symbols) const {
    for (size_t i = 0; i < node.inputs().size(); ++i) {
      const Value* const v = node.input(i);
      if (v == nullptr || !v->type().ranked() || !MentionedIn(v).empty()) continue;
      for (const std::string& name : symbols)
        for (const Dim& d : *v->type().dims)
          if (const int64_t old = sizes_.old.at(name);
              old != 1 && d == old && sizes_.batch.contains(name))
            return fmt::format("operand {} is {}, with {} parts that differ", i,
                               v->type().ToString(), old);
    }
    return std::nullopt;
  }

  // A reshape that moves an axis of size 1 is a transpose for other sizes.
  void MoveUnitAxis(Node& node) {
    const auto move = UnitMove(*OldType(node.input(0)).dims, *OldType(node.output()).dims,
                               *node.input(0)->type().dims);
    if (!move) return;
    const Type before = RearrangeType(OldType(node.input(0)), *move);
    TransposeAttrs attrs;
    attrs.perm.assign(move->from().begin(), move->from().end());
    const auto moved = graph_.Append("transpose", {node.input(0)}, std::move(attrs), 1, &node);
    if (!moved) return;
    old_.insert_or_assign((*moved)->output(), before);
    graph_.SetInput(&node, 0, (*moved)->output());
  }

  // A reshape to numbers gets the shape that treats the axes as before.
  bool RefitShape(Node& node) {
    if (node.op().movement != Movement::kInOrder || node.inputs().size() != 1) return false;
    const Type& old_out = OldType(node.output());
    if (!OldType(node.input(0)).ranked() || !old_out.ranked() || !node.input(0)->type().ranked())
      return false;
    for (const AttrField& field : node.attrs().info().fields) {
      const AttrValue value = node.attrs().Get(field);
      const auto* dims = std::get_if<Dims>(&value);
      if (dims == nullptr || !MentionedIn(*dims).empty()) continue;
      MoveUnitAxis(node);
      const Type& old_in = OldType(node.input(0));
      const auto fitted =
          RefitDims(*old_in.dims, *old_out.dims, *node.input(0)->type().dims, inner_);
      if (!fitted || *fitted == *old_out.dims) return false;
      auto attrs = node.attrs().With(field.name, *fitted);
      if (!attrs) return false;
      node.set_attrs(*std::move(attrs));
      return true;
    }
    return false;
  }

  // Tries symbols in place of their old sizes in shapes, and the end of the axis in place of its
  // old size in lists, one at a time.
  bool RewriteAttrs(Node& node, const Symbols& symbols) const {
    const Attrs before = node.attrs();
    const auto fits = [&](const AttrField& field, const AttrValue& value) {
      auto attrs = before.With(field.name, value);
      if (!attrs) return false;
      node.set_attrs(*std::move(attrs));
      if (!WhyFixed(node)) return true;
      node.set_attrs(before);
      return false;
    };
    for (const AttrField& field : before.info().fields) {
      const AttrValue value = before.Get(field);
      for (const std::string& name : symbols) {
        const int64_t old = sizes_.old.at(name);
        if (const auto* dims = std::get_if<Dims>(&value)) {
          for (size_t i = 0; i < dims->size(); ++i) {
            const Dim& size = (*dims)[i];
            if (!size.is_const() || old == 0 || size.value() % old != 0) continue;
            Dims changed = *dims;
            changed[i] = Dim(size.value() / old) * Dim::Symbol(name);
            if (size.value() > 0 && fits(field, changed)) return true;
          }
        } else if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) {
          for (size_t i = 0; i < list->size(); ++i) {
            std::vector<int64_t> changed = *list;
            changed[i] = std::numeric_limits<int64_t>::max();
            if ((*list)[i] == old && fits(field, changed)) return true;
          }
        }
      }
    }
    return false;
  }

  // The value with a new size along an axis where it has one part, or equal parts; null if it has
  // not. Adds a node before `node`.
  Value* Spread(Value* v, int axis, const std::string& name, Node& node) {
    const int64_t old = sizes_.old.at(name);
    const auto dims = v->type().const_dims();
    if (!dims) return nullptr;
    const int64_t size = (*dims)[static_cast<size_t>(axis)];
    if (size != old) return old == 1 && size > 1 ? Repeat(v, axis, name, node) : nullptr;
    Value* part = v;
    if (old != 1) {
      const Tensor* const contents = v->is_constant() ? &v->constant() : known_.Of(v);
      if (contents == nullptr) return nullptr;
      auto first = FirstOfEqualParts(*contents, axis);
      if (!first) return nullptr;
      part = graph_.AddConstant(*std::move(first), SharedString(v->name()), v->type().quant);
    }
    Dims wanted = *v->type().dims;
    wanted[static_cast<size_t>(axis)] = Dim::Symbol(name);
    const auto spread = graph_.Append("expand", {part}, ExpandAttrs{wanted}, 1, &node);
    return spread ? (*spread)->output() : nullptr;
  }

  // For an axis that others have merged with the new one, which comes first in it.
  Value* Repeat(Value* v, int axis, const std::string& name, Node& node) {
    const Dim merged = v->type().dim(axis) * Dim::Symbol(name);
    const auto has_merged = [&](const Value* other) {
      return other != nullptr && other->type().ranked() &&
             std::ranges::count(*other->type().dims, merged) != 0;
    };
    if (std::ranges::find(inner_, merged) != inner_.end() ||
        std::ranges::none_of(node.inputs(), has_merged))
      return nullptr;
    TileAttrs attrs;
    attrs.repeats.assign(static_cast<size_t>(v->type().rank()), Dim(1));
    attrs.repeats[static_cast<size_t>(axis)] = Dim::Symbol(name);
    const auto repeated = graph_.Append("tile", {v}, std::move(attrs), 1, &node);
    return repeated ? (*repeated)->output() : nullptr;
  }

  static std::optional<Tensor> FirstOfEqualParts(const Tensor& t, int axis) {
    const std::vector<int64_t> strides = Strides(t.dims());
    const int64_t inner = strides[static_cast<size_t>(axis)];
    const int64_t size = t.dim(axis);
    if (size == 0 || DTypeBits(t.dtype()) % 8 != 0 || t.dtype() == DType::kString)
      return std::nullopt;
    const int64_t bytes = inner * DTypeBits(t.dtype()) / 8;
    std::vector<int64_t> dims = t.dims();
    dims[static_cast<size_t>(axis)] = 1;
    auto out = TensorBuilder::Create(t.dtype(), std::move(dims));
    if (!out) return std::nullopt;
    const std::byte* const data = t.blob().data();
    for (int64_t outer = 0; outer < t.elements() / (inner * size); ++outer) {
      const std::byte* const first = data + outer * size * bytes;
      for (int64_t i = 1; i < size; ++i)
        if (!std::equal(first, first + bytes, first + i * bytes)) return std::nullopt;
      out->Copy(outer * inner, t, outer * size * inner, inner);
    }
    return out->Finish();
  }

  // Tries operands that do not have the size with it, along one axis: each alone, then all.
  bool SpreadOperands(Node& node, const Symbols& symbols) {
    const std::vector<Value*> before(node.inputs().begin(), node.inputs().end());
    const auto fits = [&](const std::vector<size_t>& operands, int axis, const std::string& name) {
      std::vector<Value*> inputs = before;
      bool any = false;
      for (const size_t i : operands) {
        Value* const v = before[i];
        if (v == nullptr || !MentionedIn(v).empty() || !v->type().ranked() ||
            v->type().rank() <= axis)
          continue;
        Value* const spread = Spread(v, axis, name, node);
        if (spread == nullptr) continue;
        old_.insert_or_assign(spread, v->type());
        inputs[i] = spread;
        any = true;
      }
      if (!any) return false;
      graph_.SetInputs(&node, inputs);
      if (!WhyFixed(node)) return true;
      graph_.SetInputs(&node, before);
      for (size_t i = 0; i < inputs.size(); ++i) {
        if (inputs[i] == before[i]) continue;
        old_.erase(inputs[i]);
        graph_.Erase(inputs[i]->def());
      }
      return false;
    };
    std::vector<size_t> all;
    int rank = 0;
    for (size_t i = 0; i < before.size(); ++i) {
      all.push_back(i);
      if (before[i] != nullptr && before[i]->type().ranked())
        rank = std::max(rank, before[i]->type().rank());
    }
    for (const std::string& name : symbols)
      for (int axis = 0; axis < rank; ++axis) {
        for (const size_t i : all)
          if (fits({i}, axis, name)) return true;
        if (fits(all, axis, name)) return true;
      }
    return false;
  }

  // What several nodes fix together.
  Status TryOtherSizes() const {
    Graph other = graph_.Clone();
    if (const Status done = BindSymbols(other, OtherSizes()); !done)
      return UnsupportedError("the model takes only its present sizes: {}", done.error().message());
    return {};
  }

  Graph& graph_;
  const OpenedSizes& sizes_;
  std::unordered_map<const Value*, Type> old_;
  std::set<const Node*> identities_;
  std::vector<Dim> inner_;  // as for RefitDims()
  KnownValues known_;
  int64_t rewritten_ = 0;
};

}  // namespace

Result<int64_t> OpenInputSizes(Graph& graph, const std::map<size_t, Dims>& shapes,
                               const OpenedSizes& sizes) {
  return SizeOpener(graph, sizes).Open(shapes);
}

}  // namespace nn
