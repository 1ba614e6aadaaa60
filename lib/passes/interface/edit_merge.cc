#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/text/text.h"
#include "ir/copy.h"
#include "ir/op_def.h"
#include "ops/array/shape.h"
#include "passes/core/passes.h"
#include "passes/core/ports.h"
#include "passes/core/symbols.h"
#include "passes/interface/edits.h"

namespace nn {
namespace {

// How a connected value gets to its input.
struct Feed {
  Connection at;
  AxisMap axes;  // identity, or a transpose between layouts
};

std::set<std::string> SymbolsOf(const Graph& graph) {
  std::set<std::string> symbols;
  for (const Value& v : graph.values())
    if (v.type().ranked())
      for (const Dim& d : *v.type().dims) d.CollectSymbols(symbols);
  return symbols;
}

// Gives symbols of `other` that mean something else names that `graph` does not have.
Status SeparateSymbols(const Graph& graph, Graph& other) {
  const std::set<std::string> taken = SymbolsOf(graph);
  const std::set<std::string> present = SymbolsOf(other);
  std::map<std::string, Dim> renamed;
  for (const std::string& name : present) {
    if (!taken.contains(name)) continue;
    std::string fresh = name + "_2";
    while (taken.contains(fresh) || present.contains(fresh)) fresh += "_";
    renamed.emplace(name, Dim::Symbol(fresh));
  }
  return SubstituteSymbols(other, renamed);
}

class Merge {
 public:
  Merge(Graph& graph, Graph other, const std::string& prefix)
      : graph_(graph), other_(std::move(other)), prefix_(prefix) {}

  Result<GraphEdit> Run(const std::vector<Connection>& connections, ModelFunction run_other) {
    NN_RETURN_IF_ERROR(SeparateSymbols(graph_, other_));
    for (const Connection& c : connections) NN_RETURN_IF_ERROR(Connect(c));
    const size_t own_inputs = graph_.inputs().size();
    std::vector<size_t> kept;  // outputs of the graph
    for (size_t i = 0; i < graph_.outputs().size(); ++i)
      if (std::ranges::none_of(feeds_, [&](const Feed& f) { return f.at.output == i; }))
        kept.push_back(i);
    NN_RETURN_IF_ERROR(Join(kept));
    NN_RETURN_IF_ERROR(InferGraph(graph_));
    edit_.wrap = [feeds = feeds_, kept, own_inputs, other_inputs = other_.inputs().size(),
                  run_other = std::move(run_other)](ModelFunction run) -> ModelFunction {
      return [=](std::vector<Tensor> inputs) -> Result<std::vector<Tensor>> {
        const auto end = inputs.begin() + static_cast<std::ptrdiff_t>(own_inputs);
        NN_ASSIGN(const std::vector<Tensor> first, run(std::vector<Tensor>(inputs.begin(), end)));
        std::vector<Tensor> second;
        size_t next = own_inputs;
        for (size_t i = 0; i < other_inputs; ++i) {
          const auto feed =
              std::ranges::find_if(feeds, [&](const Feed& f) { return f.at.input == i; });
          if (feed == feeds.end()) {
            second.push_back(inputs[next++]);
            continue;
          }
          const Tensor& from = first[feed->at.output];
          NN_ASSIGN(Tensor t, feed->axes.IsIdentity() ? Result<Tensor>(from)
                                                      : RearrangeTensor(from, feed->axes));
          second.push_back(std::move(t));
        }
        NN_ASSIGN(const std::vector<Tensor> results, run_other(std::move(second)));
        std::vector<Tensor> out;
        for (const size_t i : kept) out.push_back(first[i]);
        out.insert(out.end(), results.begin(), results.end());
        return out;
      };
    };
    return std::move(edit_);
  }

 private:
  // Checks the types and unites the sizes.
  Status Connect(const Connection& c) {
    const Port& from = graph_.outputs()[c.output];
    const Port& to = other_.inputs()[c.input];
    const Type &have = from.value->type(), &want = to.value->type();
    const auto differ = [&](std::string_view what, std::string_view help) {
      return UsageError("--connect {}={}: output {} is {}, but input {} is {}: {}{}", from.name,
                        to.name, Quote(from.name), have.ToString(), Quote(to.name), want.ToString(),
                        what, help);
    };
    if (have.dtype != want.dtype)
      return differ("different element types",
                    have.dtype == DType::kU8 || have.dtype == DType::kI8 ||
                            want.dtype == DType::kU8 || want.dtype == DType::kI8
                        ? "; dequantize the quantized model first (--dequantize)"
                        : "");
    if (have.quantized() != want.quantized() ||
        (have.quantized() && !have.quant->SameMapping(*want.quant)))
      return differ("different quantization", "; dequantize the models first (--dequantize)");
    Feed feed{c, have.ranked() ? AxisMap::Identity(have.rank()) : AxisMap()};
    if (have.ranked() && want.ranked()) {
      if (have.rank() != want.rank()) return differ("different numbers of axes", "");
      NN_RETURN_IF_ERROR(MatchLayouts(c, feed));
      const Dims moved = feed.axes.Apply(*have.dims);
      for (size_t k = 0; k < moved.size(); ++k)
        if (moved[k].is_const() && (*want.dims)[k].is_const() && !(moved[k] == (*want.dims)[k]))
          return differ("different sizes", "; --layout gives a port another order of axes");
      for (size_t k = 0; k < moved.size(); ++k)
        if (!moved[k].is_const() && !moved[k].symbol() && (*want.dims)[k].is_const())
          return differ(fmt::format("the sizes differ unless {} is {}", moved[k].ToString(),
                                    (*want.dims)[k].ToString()),
                        "; set the shapes of the inputs with --input-shape");
      NN_RETURN_IF_ERROR(UniteSizes(moved, *want.dims));
    }
    feeds_.push_back(std::move(feed));
    return {};
  }

  // A transpose if the layouts are known to differ.
  Status MatchLayouts(const Connection& c, Feed& feed) {
    const auto& [from, value] = graph_.outputs()[c.output];
    const auto& [to, input] = other_.inputs()[c.input];
    const auto have = LayoutOf(*value), want = LayoutOf(*input);
    if (!have || !want || *have == *want) return {};
    feed.axes = *want == Layout::kNxc ? AxisMap::ChannelsLast(value->type().rank())
                                      : AxisMap::ChannelsFirst(value->type().rank());
    edit_.notes.push_back(fmt::format(
        "output {} is transposed for input {}: {} has channels {}, {} has channels {}", Quote(from),
        Quote(to), value->type().ToString(), *have == Layout::kNcx ? "first" : "last",
        input->type().ToString(), *want == Layout::kNcx ? "first" : "last"));
    return {};
  }

  // Sizes that a connection makes equal: symbols of either model become those of the other. The
  // types change, so the sizes are copies.
  Status UniteSizes(Dims have, Dims want) {
    for (size_t k = 0; k < have.size(); ++k) {
      // Earlier sizes may have changed this one.
      if (have[k] == want[k]) continue;
      if (const auto symbol = want[k].symbol())
        NN_RETURN_IF_ERROR(SubstituteSymbols(other_, {{std::string(*symbol), have[k]}}));
      else if (const auto own = have[k].symbol(); own && want[k].is_const())
        NN_RETURN_IF_ERROR(SubstituteSymbols(graph_, {{std::string(*own), want[k]}}));
    }
    return {};
  }

  std::string FreeName(const std::string& name, std::string_view kind,
                       std::set<std::string>& taken) {
    std::string free = name;
    if (taken.contains(free)) free = prefix_ + name;
    while (taken.contains(free)) free += "_";
    if (free != name)
      edit_.notes.push_back(
          fmt::format("{} {} of the second model is named {}", kind, Quote(name), Quote(free)));
    taken.insert(free);
    return free;
  }

  // A graph of both: a graph cannot lose outputs.
  Status Join(const std::vector<size_t>& kept) {
    merged_.name = graph_.name;
    merged_.metadata = graph_.metadata;
    // Transposes between the models belong to the first one.
    std::vector<Value*> fed;
    for (const Feed& f : feeds_) {
      NN_ASSIGN(Value* const v, Rearrange(graph_, graph_.outputs()[f.at.output].value, f.axes));
      fed.push_back(v);
    }
    std::set<std::string> inputs, outputs;
    for (const auto& [name, value] : graph_.inputs()) AddInput(name, *value, inputs);
    CopyNodes(graph_);
    for (size_t i = 0; i < other_.inputs().size(); ++i) {
      const auto& [name, value] = other_.inputs()[i];
      const auto feed = std::find_if(feeds_.begin(), feeds_.end(),
                                     [&](const Feed& f) { return f.at.input == i; });
      if (feed == feeds_.end())
        AddInput(FreeName(name, "input", inputs), *value, inputs);
      else
        values_[value] = ValueFor(fed[static_cast<size_t>(feed - feeds_.begin())]);
    }
    CopyNodes(other_);
    for (const size_t i : kept) {
      const auto& [name, value] = graph_.outputs()[i];
      outputs.insert(name);
      merged_.AddOutput(name, ValueFor(value));
    }
    for (const auto& [name, value] : other_.outputs()) {
      const std::string free = FreeName(name, "output", outputs);
      outputs.insert(free);
      merged_.AddOutput(free, ValueFor(value));
    }
    graph_ = std::move(merged_);
    return RemoveDeadCode(graph_);
  }

  void AddInput(const std::string& name, const Value& value, std::set<std::string>& taken) {
    taken.insert(name);
    Value* const copy = merged_.AddInput(name, value.type());
    copy->set_name(SharedString(value.name()));
    values_[&value] = copy;
  }

  std::string FreeName(const std::string& name, std::string_view kind,
                       const std::set<std::string>& taken) {
    std::string free = name;
    if (taken.contains(free)) free = prefix_ + name;
    while (taken.contains(free)) free += "_";
    if (free != name)
      edit_.notes.push_back(
          fmt::format("{} {} of the second model is named {}", kind, Quote(name), Quote(free)));
    return free;
  }

  void CopyNodes(const Graph& from) {
    for (const Node& node : from.nodes()) {
      std::vector<Value*> inputs;
      for (const Value* const v : node.inputs())
        inputs.push_back(v == nullptr ? nullptr : ValueFor(v));
      const Node* const copy = AddCopy(merged_, node, std::move(inputs));
      for (size_t i = 0; i < node.outputs().size(); ++i) values_[node.output(i)] = copy->output(i);
    }
  }

  Value* ValueFor(const Value* v) {
    const auto [it, added] = values_.emplace(v, nullptr);
    if (added)
      it->second = merged_.AddConstant(v->constant(), SharedString(v->name()), v->type().quant);
    return it->second;
  }

  Graph& graph_;
  Graph other_;
  std::string prefix_;
  std::vector<Feed> feeds_;
  Graph merged_;
  std::unordered_map<const Value*, Value*> values_;  // in merged_, by those of both
  GraphEdit edit_;
};

}  // namespace

Result<GraphEdit> MergeGraph(Graph& graph, const Graph& other,
                             const std::vector<Connection>& connections, const std::string& prefix,
                             ModelFunction run_other) {
  return Merge(graph, other.Clone(), prefix).Run(connections, std::move(run_other));
}

}  // namespace nn
