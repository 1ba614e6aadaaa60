// States of fixed size: buffers of caches that grow with each run.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/text.h"
#include "ir/op_def.h"
#include "ir/term.h"
#include "ops/array/arrange/concat.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/arrange/slice_update.h"
#include "ops/array/shape_of.h"
#include "ops/support/movement.h"
#include "ops/support/term_ops.h"
#include "ops/support/types.h"
#include "passes/core/passes.h"
#include "passes/core/ports.h"
#include "passes/core/symbols.h"
#include "passes/interface/edits.h"

namespace nn {
namespace {

// Runs that verify the edit, at most.
constexpr size_t kMaxRunSteps = 16;

// An axis of an input.
struct InputAxis {
  size_t input = 0;
  int axis = 0;
};

struct OpenState {
  Connection ports;
  int axis = 0;
};

class NodesAt final : public NodeInserter {
 public:
  // At the end of the graph if `before` is null.
  NodesAt(Graph& graph, Node* before) : graph_(graph), before_(before) {}

 protected:
  Graph& graph_of_terms() override { return graph_; }
  Result<Node*> InsertNode(std::string_view op, std::vector<Value*> inputs, Attrs attrs,
                           size_t results) override {
    return graph_.Append(op, std::move(inputs), std::move(attrs), results, before_);
  }

 private:
  Graph& graph_;
  Node* before_;
};

Term OneInteger(int64_t number) {
  return Tensor::Ints({number});
}

// Copies `count` elements of an axis, from `first` on, to an axis of `size` elements, from `begin`
// on.
void CopyElements(const Tensor& from, int64_t first, int64_t count, int axis, int64_t size,
                  int64_t begin, TensorBuilder& to) {
  const auto at = from.dims().begin() + axis;
  const int64_t outer = std::accumulate(from.dims().begin(), at, int64_t{1}, std::multiplies<>());
  const int64_t inner = std::accumulate(at + 1, from.dims().end(), int64_t{1}, std::multiplies<>());
  for (int64_t i = 0; i < outer; ++i)
    to.Copy((i * size + begin) * inner, from, (i * *at + first) * inner, count * inner);
}

Result<Tensor> FirstElements(const Tensor& t, int axis, int64_t count) {
  std::vector<int64_t> dims = t.dims();
  if (count < 0 || count > dims[static_cast<size_t>(axis)])
    return ModelError("a state of {} elements has no {} elements", t.dim(axis), count);
  dims[static_cast<size_t>(axis)] = count;
  NN_ASSIGN(TensorBuilder out, TensorBuilder::Create(t.dtype(), std::move(dims)));
  CopyElements(t, 0, count, axis, count, 0, out);
  return out.Finish();
}

// The buffer, with the elements of a value from `past` on.
Result<Tensor> Updated(const Tensor& buffer, const Tensor& value, int axis, int64_t past) {
  if (value.dim(axis) > buffer.dim(axis))
    return ModelError("a state of {} elements has no room for {}", buffer.dim(axis),
                      value.dim(axis));
  NN_ASSIGN(TensorBuilder out, TensorBuilder::Create(buffer.dtype(), buffer.dims()));
  out.Copy(0, buffer, 0, buffer.elements());
  CopyElements(value, past, value.dim(axis) - past, axis, buffer.dim(axis), past, out);
  return out.Finish();
}

class StateSizes {
 public:
  StateSizes(Graph& graph, const std::vector<Connection>& states, int64_t length)
      : graph_(graph), length_(length) {
    for (const Connection& ports : states) open_.push_back({ports});
  }

  Result<GraphEdit> Run() {
    NN_RETURN_IF_ERROR(FindOpenAxes());
    if (open_.empty()) return GraphEdit();
    for (const OpenState& s : open_)
      edit_.notes.push_back(fmt::format("state {} has {} elements along axis {}",
                                        Quote(graph_.inputs()[s.ports.input].name), length_,
                                        s.axis));
    NN_ASSIGN(const std::optional<Dim> more, NewElements());
    NN_RETURN_IF_ERROR(more ? Buffer(*more) : BindSymbols(graph_, {{past_, length_}}));
    return std::move(edit_);
  }

 private:
  const Type& InputType(const OpenState& s) const {
    return graph_.inputs()[s.ports.input].value->type();
  }
  const Type& OutputType(const OpenState& s) const {
    return graph_.outputs()[s.ports.output].value->type();
  }
  tl::unexpected<Error> Refuse(const OpenState& s, std::string_view why) const {
    return UnsupportedError("state {}: {}", Quote(graph_.inputs()[s.ports.input].name), why);
  }

  // Drops the states of fixed size, and gives the open sizes of the others one symbol.
  Status FindOpenAxes() {
    std::map<std::string, Dim> others;
    std::vector<OpenState> open;
    for (OpenState s : open_) {
      const Type& type = InputType(s);
      if (!type.ranked()) return Refuse(s, "its rank is unknown");
      std::vector<int> axes;
      for (int d = 0; d < type.rank(); ++d)
        if (!type.dim(d).is_const()) axes.push_back(d);
      if (axes.empty()) continue;
      s.axis = axes[0];
      const auto symbol = type.dim(s.axis).symbol();
      if (axes.size() > 1 || !symbol)
        return Refuse(s, fmt::format("it is {}, but only one of its sizes can be open; set the "
                                     "others",
                                     type.ToString()));
      if (past_.empty()) past_ = *symbol;
      if (*symbol != past_) others.emplace(*symbol, Dim::Symbol(past_));
      open.push_back(s);
    }
    open_ = std::move(open);
    return SubstituteSymbols(graph_, others);
  }

  bool HasPast(const Dim& d) const {
    std::set<std::string> symbols;
    d.CollectSymbols(symbols);
    return symbols.contains(past_);
  }

  // The number of elements by which each run extends the states; nullopt if they do not grow.
  Result<std::optional<Dim>> NewElements() const {
    std::optional<Dim> more;
    size_t growing = 0;
    for (const OpenState& s : open_) {
      const Type& before = InputType(s);
      const Type& after = OutputType(s);
      if (!after.ranked() || after.rank() != before.rank())
        return Refuse(s, fmt::format("it is {} before a run and {} after it", before.ToString(),
                                     after.ToString()));
      const Dim grown = after.dim(s.axis) - before.dim(s.axis);
      if (HasPast(grown) || grown == 0 || HasNewSymbol(grown)) continue;
      ++growing;
      if (more && *more != grown)
        return Refuse(s, fmt::format("a run adds {} elements to it, and {} to another state",
                                     grown.ToString(), more->ToString()));
      more = grown;
    }
    if (growing != 0 && growing != open_.size())
      return UnsupportedError("model: some of its states grow, and others do not");
    return more;
  }

  static bool HasNewSymbol(const Dim& d) {
    std::set<std::string> symbols;
    d.CollectSymbols(symbols);
    return std::ranges::any_of(symbols, InferContext::IsNewSymbol);
  }

  // The first input that has the symbol as a size.
  std::optional<InputAxis> AxisOf(std::string_view symbol) const {
    for (size_t i = 0; i < graph_.inputs().size(); ++i) {
      const Type& type = graph_.inputs()[i].value->type();
      for (int d = 0; type.ranked() && d < type.rank(); ++d)
        if (type.dim(d).symbol() == symbol) return InputAxis{i, d};
    }
    return std::nullopt;
  }

  // The symbol of a size of an input that types require to be that of the old and new elements.
  std::optional<std::string> FindTotal(const Dim& more) const {
    constexpr int64_t kPast = 11, kMore = 5;
    const int64_t count = more.is_const() ? more.value() : kMore;
    const std::set<std::string> symbols = InputSymbols(graph_);
    for (const std::string& total : symbols) {
      if (total == past_ || more.symbol() == total) continue;
      const auto accepts = [&](int64_t size) {
        std::map<std::string, int64_t> sizes;
        for (const std::string& s : symbols) sizes[s] = 1;
        sizes[past_] = kPast;
        if (const auto s = more.symbol()) sizes[std::string(*s)] = count;
        sizes[total] = size;
        Graph copy = graph_.Clone();
        return BindSymbols(copy, sizes).has_value();
      };
      if (accepts(kPast + count) && !accepts(kPast + count + 1)) return total;
    }
    return std::nullopt;
  }

  // The number of old elements, from the contents or shapes of the inputs of a run.
  using PastOf = std::function<int64_t(const std::vector<Tensor>&)>;

  // By the size of an input.
  PastOf TakeFromSizes(const std::string& total, const Dim& more, Term& past) {
    const InputAxis all = *AxisOf(total);
    const auto size = [this](const InputAxis& at) {
      return SizeOfAxis(graph_.inputs()[at.input].value, at.axis);
    };
    const auto title = [this](const InputAxis& at) {
      return fmt::format("axis {} of {}", at.axis, Quote(graph_.inputs()[at.input].name));
    };
    const auto in_run = [](const InputAxis& at, const std::vector<Tensor>& inputs) {
      return inputs[at.input].dim(at.axis);
    };
    std::string less = more.ToString();
    PastOf past_of;
    if (more.is_const()) {
      past = size(all) - OneInteger(more.value());
      past_of = [=, n = more.value()](const auto& inputs) { return in_run(all, inputs) - n; };
    } else {
      const InputAxis added = *AxisOf(*more.symbol());
      less = "that of " + title(added);
      past = size(all) - size(added);
      past_of = [=](const auto& inputs) { return in_run(all, inputs) - in_run(added, inputs); };
    }
    edit_.notes.push_back(fmt::format(
        "the number of elements before a run is the size of {} less {}", title(all), less));
    return past_of;
  }

  // By a new input.
  PastOf TakeFromNewInput(Term& past) {
    std::string name = "position";
    const auto is_taken = [&](const Port& p) { return p.name == name; };
    while (std::ranges::any_of(graph_.inputs(), is_taken) ||
           std::ranges::any_of(graph_.outputs(), is_taken))
      name += '_';
    position_ = graph_.inputs().size();
    edit_.notes.push_back(
        fmt::format("the number of elements before a run is a new input, {}", Quote(name)));
    past = Cast(graph_.AddInput(std::move(name), Type(DType::kI32, {Dim(1)})), DType::kI64);
    return [at = *position_](const auto& inputs) { return inputs[at].GetInt(0); };
  }

  // The first elements of a buffer; their number is `size` in types, unless it is only known in a
  // run.
  static Term First(const OpenState& s, Value* buffer, Term count, const std::optional<Dim>& size) {
    Term y =
        Apply("slice", {buffer, OneInteger(0), std::move(count), OneInteger(s.axis), OneInteger(1)},
              SliceAttrs{});
    if (!size) return y;
    Dims dims = *buffer->type().dims;
    dims[static_cast<size_t>(s.axis)] = *size;
    return Reshape(std::move(y), std::move(dims));
  }

  Status Buffer(const Dim& more) {
    const bool has_port = more.is_const() || (more.symbol() && AxisOf(*more.symbol()));
    const std::optional<std::string> total = has_port ? FindTotal(more) : std::nullopt;
    Term past_term;
    PastOf past_of = total ? TakeFromSizes(*total, more, past_term) : TakeFromNewInput(past_term);
    std::optional<Dim> old_size, new_size;
    if (total) {
      new_size = Dim::Symbol(*total);
      old_size = *new_size - more;
    }
    NodesAt start(graph_, graph_.nodes().empty() ? nullptr : &graph_.nodes().front());
    NN_ASSIGN(Value* const past, start.Build(past_term));
    std::vector<const Value*> olds;
    std::vector<std::pair<const OpenState*, Node*>> shapes;
    for (const OpenState& s : open_) {
      Value* const buffer = graph_.inputs()[s.ports.input].value;
      const std::vector<Use> uses(buffer->uses().begin(), buffer->uses().end());
      Dims dims = *buffer->type().dims;
      dims[static_cast<size_t>(s.axis)] = Dim(length_);
      buffer->set_type(buffer->type().WithDims(std::move(dims)));
      NN_ASSIGN(Value* const old, start.Build(First(s, buffer, past, old_size)));
      for (const Use& u : uses) {
        if (u.node->Is<ShapeOfAttrs>())
          shapes.emplace_back(&s, u.node);
        else
          graph_.SetInput(u.node, static_cast<size_t>(u.index), old);
      }
      olds.push_back(old);
    }
    for (const auto& [state, node] : shapes) NN_RETURN_IF_ERROR(ReplaceShape(*state, *node, past));
    for (size_t i = 0; i < open_.size(); ++i)
      NN_RETURN_IF_ERROR(Update(open_[i], olds[i], past, more, new_size));
    if (old_size) {
      NN_RETURN_IF_ERROR(SubstituteSymbols(graph_, {{past_, *old_size}}));
    } else {
      ForgetPast(graph_);
      NN_RETURN_IF_ERROR(InferGraph(graph_));
    }
    Describe(std::move(past_of), total, more);
    return {};
  }

  // The shape of the old elements, without them: there are none before the first run, and Core ML
  // has no empty arrays.
  Status ReplaceShape(const OpenState& s, Node& node, Value* past) {
    const auto& a = node.attrs<ShapeOfAttrs>();
    std::vector<Term> sizes;
    for (int d = 0; d < InputType(s).rank(); ++d)
      sizes.push_back(d == s.axis ? Term(past) : OneInteger(InputType(s).dim(d).value()));
    NodesAt here(graph_, &node);
    NN_ASSIGN(Value* const shape,
              here.Build(Cast(Slice(Concat(std::move(sizes), 0), 0, a.start, a.end), a.dtype)));
    graph_.Replace(&node, shape);
    return {};
  }

  // Writes the new elements of a run into the buffer. A concatenation of the old and new ones reads
  // both from there.
  Status Update(const OpenState& s, const Value* old, Value* past, const Dim& more,
                const std::optional<Dim>& new_size) {
    Value* const buffer = graph_.inputs()[s.ports.input].value;
    Value* const value = graph_.outputs()[s.ports.output].value;
    const SliceUpdateAttrs attrs{.axes = {s.axis}, .steps = {}};
    Node* const concat = value->def();
    const bool is_concat =
        concat != nullptr && concat->Is<ConcatAttrs>() && concat->inputs().size() == 2 &&
        concat->input(0) == old &&
        NormalizeAxis(concat->attrs<ConcatAttrs>().axis, value->type().rank()) == s.axis;
    NodesAt here(graph_, is_concat ? concat : nullptr);
    if (!is_concat) {
      constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();
      Dims dims = *InputType(s).dims;
      dims[static_cast<size_t>(s.axis)] = more;
      const Term added =
          Reshape(Apply("slice", {value, past, OneInteger(kEnd), OneInteger(s.axis), OneInteger(1)},
                        SliceAttrs{}),
                  std::move(dims));
      NN_ASSIGN(Value* const updated, here.Add("slice_update", {buffer, past, added}, attrs));
      graph_.set_output(s.ports.output, updated);
      return {};
    }
    Value* const added = concat->input(1);
    NN_ASSIGN(Value* const updated, here.Add("slice_update", {buffer, past, added}, attrs));
    graph_.set_output(s.ports.output, updated);
    NN_ASSIGN(Value* const all,
              here.Build(First(s, updated, Term(past) + SizeOfAxis(added, s.axis), new_size)));
    graph_.Replace(concat, all);
    return {};
  }

  // Types with the size of the inputs before the edit are those of no input any more.
  void ForgetPast(Graph& graph) const {
    const auto has_past = [this](const Dims* dims) {
      return dims != nullptr &&
             std::ranges::any_of(*dims, [this](const Dim& d) { return HasPast(d); });
    };
    for (Value& v : graph.values()) {
      if (v.type().dims && has_past(&*v.type().dims)) v.set_type(Unranked(v.type()));
      if (has_past(v.elements())) v.set_elements(std::nullopt);
    }
    for (Node& node : graph.nodes())
      for (const auto& region : node.regions()) ForgetPast(*region);
  }

  // How the runs of the model before the edit compute those of the edited one.
  void Describe(PastOf past_of, const std::optional<std::string>& total, const Dim& more) {
    edit_.wrap = [states = open_, past_of = std::move(past_of),
                  has_position = position_.has_value()](ModelFunction before) -> ModelFunction {
      return [=](std::vector<Tensor> inputs) -> Result<std::vector<Tensor>> {
        const int64_t past = past_of(inputs);
        std::vector<Tensor> buffers;
        for (const OpenState& s : states) {
          Tensor& input = inputs[s.ports.input];
          buffers.push_back(input);
          NN_ASSIGN(input, FirstElements(input, s.axis, past));
        }
        if (has_position) inputs.pop_back();
        NN_ASSIGN(std::vector<Tensor> outputs, before(std::move(inputs)));
        for (size_t i = 0; i < states.size(); ++i) {
          Tensor& output = outputs[states[i].ports.output];
          NN_ASSIGN(output, Updated(buffers[i], output, states[i].axis, past));
        }
        return outputs;
      };
    };
    int64_t past = 0;
    while (edit_.steps.size() < kMaxRunSteps) {
      RunStep step;
      // Several new elements in the first run, as for a prompt.
      const int64_t first = std::min<int64_t>(3, length_);
      const int64_t count = more.is_const() ? more.value() : edit_.steps.empty() ? first : 1;
      if (past + count > length_) break;
      if (const auto symbol = more.symbol()) step.sizes[std::string(*symbol)] = count;
      if (total) step.sizes[*total] = past + count;
      if (position_)
        step.contents.emplace(*position_, Tensor::Of({1}, std::vector{static_cast<int32_t>(past)}));
      edit_.steps.push_back(std::move(step));
      past += count;
    }
  }

  Graph& graph_;
  const int64_t length_;
  std::vector<OpenState> open_;
  std::string past_;                // the symbol of the open size
  std::optional<size_t> position_;  // the new input
  GraphEdit edit_;
};

}  // namespace

Result<GraphEdit> FixStateSizes(Graph& graph, const std::vector<Connection>& states,
                                int64_t length) {
  return StateSizes(graph, states, length).Run();
}

}  // namespace nn
