#include "against/search_dtype.h"

#include <algorithm>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include "against/drift.h"
#include "ir/op_def.h"
#include "passes/core/passes.h"
#include "rewrite/legalize.h"
#include "rewrite/rewrite.h"

namespace nn::against {
namespace {

bool IsFloat32(const Value* v) {
  return v->dtype() == DType::kF32 && !v->type().quantized();
}

Result<bool> Change(Graph& graph, Node& node, DType dtype) {
  if (node.op().movement != Movement::kNone) return false;
  return ComputeIn(dtype, graph, node, IsFloat32, nullptr);
}

// The nodes of a graph by position, which a clone has in the same order.
std::vector<Node*> NodesOf(Graph& graph) {
  std::vector<Node*> nodes;
  for (Node& node : graph.nodes()) nodes.push_back(&node);
  return nodes;
}

class Search {
 public:
  Search(Graph graph, DType dtype, const std::vector<Tensor>& inputs, const ProgramOptions& options,
         const AcceptsOutputs& accepts, const std::function<void()>& progress)
      : graph_(std::move(graph)),
        dtype_(dtype),
        inputs_(inputs),
        options_(options),
        accepts_(accepts),
        progress_(progress) {}

  Result<DtypeSearch> Run() {
    NN_RETURN_IF_ERROR(FindUnits());
    if (out_.operators.empty())
      return UsageError("no operator of the model computes in f32, so none can compute in {}",
                        DTypeName(dtype_));
    stays_.assign(out_.operators.size(), true);
    NN_ASSIGN(out_.want, Outputs());
    stays_.assign(out_.operators.size(), false);
    std::vector<size_t> all(out_.operators.size());
    for (size_t i = 0; i < all.size(); ++i) all[i] = i;
    // Differences of several operators may cancel, so that the set found is not accepted as a
    // whole.
    while (true) {
      std::vector<size_t> open;
      std::ranges::copy_if(all, std::back_inserter(open), [&](size_t i) { return !stays_[i]; });
      NN_ASSIGN(const bool accepted, IsAccepted());
      if (accepted || open.empty()) break;
      NN_RETURN_IF_ERROR(Narrow(open));
    }
    for (size_t i = 0; i < all.size(); ++i) out_.operators[i].stays = stays_[i];
    return std::move(out_);
  }

 private:
  // The operators that can change, each alone.
  Status FindUnits() {
    Graph trial = graph_.Clone();
    const std::vector<Node*> nodes = NodesOf(graph_), copies = NodesOf(trial);
    std::map<std::pair<int64_t, std::string_view>, size_t> of_source;  // by index and place
    units_.assign(nodes.size(), kNone);
    for (size_t i = 0; i < nodes.size(); ++i) {
      NN_ASSIGN(const bool changed, Change(trial, *copies[i], dtype_));
      if (!changed) continue;
      const std::pair source(nodes[i]->source().index, nodes[i]->source().place.view());
      const Value& result = *nodes[i]->output();
      const auto known = source.first < 0 ? of_source.end() : of_source.find(source);
      if (known != of_source.end()) {
        units_[i] = known->second;
        out_.operators[known->second].value = NameOf(result);
        continue;
      }
      units_[i] = out_.operators.size();
      if (source.first >= 0) of_source[source] = units_[i];
      out_.operators.push_back({OperatorOf(result), NameOf(result)});
    }
    return {};
  }

  // Of the model with the operators in the type that do not stay.
  Result<std::vector<Tensor>> Outputs() {
    Graph graph = graph_.Clone();
    const std::vector<Node*> nodes = NodesOf(graph);
    for (size_t i = 0; i < nodes.size(); ++i)
      if (units_[i] != kNone && !stays_[units_[i]])
        NN_RETURN_IF_ERROR(Change(graph, *nodes[i], dtype_));
    NN_ASSIGN(const Program program, Program::Compile(std::move(graph), options_));
    auto outputs = program.Run(inputs_);
    ++out_.runs;
    if (progress_) progress_();
    return outputs;
  }

  Result<bool> IsAccepted() {
    NN_ASSIGN(out_.got, Outputs());
    return accepts_(out_.want, out_.got);
  }

  // Marks those of `units` that must stay, given the marks of the others; the units themselves have
  // none. The outputs are not accepted without marks among them, but with all of them marked.
  Status Narrow(std::span<const size_t> units) {
    if (units.size() == 1) {
      stays_[units[0]] = true;
      return {};
    }
    const auto left = units.first(units.size() / 2), right = units.subspan(units.size() / 2);
    const auto mark = [&](std::span<const size_t> part, bool stays) {
      for (const size_t i : part) stays_[i] = stays;
    };
    // Which of the right are needed if all of the left stay, and then the reverse.
    mark(left, true);
    NN_ASSIGN(const bool left_suffices, IsAccepted());
    if (!left_suffices) NN_RETURN_IF_ERROR(Narrow(right));
    mark(left, false);
    NN_ASSIGN(const bool right_suffices, IsAccepted());
    return right_suffices ? Status() : Narrow(left);
  }

  static constexpr size_t kNone = static_cast<size_t>(-1);

  Graph graph_;
  DType dtype_;
  const std::vector<Tensor>& inputs_;
  const ProgramOptions& options_;
  const AcceptsOutputs& accepts_;
  const std::function<void()>& progress_;
  std::vector<size_t> units_;  // by node
  std::vector<bool> stays_;    // by unit
  DtypeSearch out_;
};

}  // namespace

Result<DtypeSearch> SearchDtype(Graph graph, DType dtype, const std::vector<Tensor>& inputs,
                                const ProgramOptions& options, const AcceptsOutputs& accepts,
                                const std::function<void()>& progress) {
  NN_RETURN_IF_ERROR(RunPass("dead code", graph, RemoveDeadCode));
  NN_RETURN_IF_ERROR(RunPass("declared shapes", graph, CheckDeclaredShapes));
  NN_RETURN_IF_ERROR(RunPass("fold", graph, FoldConstants));
  return Search(std::move(graph), dtype, inputs, options, accepts, progress).Run();
}

}  // namespace nn::against
