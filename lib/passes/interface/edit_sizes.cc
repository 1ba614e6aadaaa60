#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "base/text/text.h"
#include "ops/math/random.h"
#include "passes/core/allowed_shapes.h"
#include "passes/core/passes.h"
#include "passes/core/ports.h"
#include "passes/core/symbols.h"
#include "passes/interface/edits.h"
#include "passes/interface/open_sizes.h"

namespace nn {
namespace {

// Elements [from, from + count) along an axis; beyond the end, the last one repeats.
Result<Tensor> SamplesOf(const Tensor& t, int axis, int64_t from, int64_t count) {
  const int64_t size = t.dim(axis);
  const int64_t inner = Strides(t.dims())[static_cast<size_t>(axis)];
  std::vector<int64_t> dims = t.dims();
  dims[static_cast<size_t>(axis)] = count;
  NN_ASSIGN(TensorBuilder out, TensorBuilder::Create(t.dtype(), std::move(dims)));
  const int64_t outer = inner * size == 0 ? 0 : t.elements() / (inner * size);
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < count; ++i)
      out.Copy((o * count + i) * inner, t, (o * size + std::min(from + i, size - 1)) * inner,
               inner);
  return out.Finish();
}

Result<Tensor> JoinParts(const std::vector<Tensor>& parts, int axis) {
  std::vector<int64_t> dims = parts[0].dims();
  int64_t& size = dims[static_cast<size_t>(axis)];
  size = 0;
  for (const Tensor& t : parts) size += t.dim(axis);
  const int64_t inner = Strides(parts[0].dims())[static_cast<size_t>(axis)];
  const int64_t total = size;
  NN_ASSIGN(TensorBuilder out, TensorBuilder::Create(parts[0].dtype(), std::move(dims)));
  int64_t at = 0;
  for (const Tensor& t : parts) {
    const int64_t block = t.dim(axis) * inner;
    for (int64_t o = 0; block != 0 && o < t.elements() / block; ++o)
      out.Copy((o * total + at) * inner, t, o * block, block);
    at += t.dim(axis);
  }
  return out.Finish();
}

// The axes of ports along which the samples of a batch follow each other; nullopt: none.
struct BatchAxes {
  std::vector<std::optional<int>> inputs, outputs;
  int64_t old = 1;
};

// Runs a model of a fixed batch on any number of samples: in parts, of which the last one may
// repeat samples.
ModelFunction InParts(ModelFunction run, BatchAxes axes) {
  return [run = std::move(run),
          axes = std::move(axes)](std::vector<Tensor> inputs) -> Result<std::vector<Tensor>> {
    int64_t batch = axes.old;
    for (size_t i = 0; i < inputs.size(); ++i)
      if (axes.inputs[i]) batch = inputs[i].dim(*axes.inputs[i]);
    if (batch == axes.old) return run(std::move(inputs));
    std::vector<std::vector<Tensor>> results(axes.outputs.size());
    for (int64_t from = 0; from < batch; from += axes.old) {
      std::vector<Tensor> part = inputs;
      for (size_t i = 0; i < part.size(); ++i) {
        if (!axes.inputs[i]) continue;
        NN_ASSIGN(part[i], SamplesOf(inputs[i], *axes.inputs[i], from, axes.old));
      }
      NN_ASSIGN(std::vector<Tensor> outputs, run(std::move(part)));
      for (size_t k = 0; k < outputs.size(); ++k) results[k].push_back(std::move(outputs[k]));
    }
    std::vector<Tensor> out;
    for (size_t k = 0; k < results.size(); ++k) {
      if (!axes.outputs[k]) {
        out.push_back(results[k][0]);
        continue;
      }
      const int axis = *axes.outputs[k];
      NN_ASSIGN(Tensor joined, JoinParts(results[k], axis));
      const int64_t samples = results[k][0].dim(axis) / axes.old * batch;
      if (joined.dim(axis) != samples) {
        NN_ASSIGN(joined, SamplesOf(joined, axis, 0, samples));
      }
      out.push_back(std::move(joined));
    }
    return out;
  };
}

std::optional<int> AxisWith(const Value* v, const std::string& symbol) {
  for (int i = 0; v->type().ranked() && i < v->type().rank(); ++i) {
    std::set<std::string> names;
    v->type().dim(i).CollectSymbols(names);
    if (names.contains(symbol)) return i;
  }
  return std::nullopt;
}

BatchAxes AxesOfBatch(const Graph& graph, const std::string& symbol, int64_t old) {
  BatchAxes axes;
  axes.old = old;
  for (const Port& p : graph.inputs()) axes.inputs.push_back(AxisWith(p.value, symbol));
  for (const Port& p : graph.outputs()) axes.outputs.push_back(AxisWith(p.value, symbol));
  return axes;
}

// What the shapes of inputs change.
struct SizeChanges {
  std::map<std::string, Dim> symbols;  // present ones that are replaced
  std::map<size_t, Dims> opened;       // shapes with new symbols in place of numbers
  OpenedSizes sizes;
  std::map<size_t, Dims> unranked;  // shapes of inputs whose rank is unknown
};

Status AddInput(const Graph& graph, size_t i, const Dims& wanted, SizeChanges& changes) {
  const auto& [name, value] = graph.inputs()[i];
  const Type& type = value->type();
  const auto mismatch = [&name = name, &type, &wanted](std::string_view why) {
    return UsageError("--input-shape: input {} is {}; {} does not fit: {}", Quote(name),
                      type.ToString(), ToString(wanted), why);
  };
  if (!type.ranked()) {
    changes.unranked.emplace(i, wanted);
    return {};
  }
  if (type.dims->size() != wanted.size()) return mismatch("the number of axes differs");
  bool is_opened = false;
  for (size_t k = 0; k < wanted.size(); ++k) {
    const Dim &old = (*type.dims)[k], &now = wanted[k];
    if (old == now) continue;
    if (const auto symbol = old.symbol()) {
      const auto [it, added] = changes.symbols.emplace(*symbol, now);
      if (!added && !(it->second == now))
        return mismatch(fmt::format("{} would be both {} and {}", Quote(*symbol),
                                    it->second.ToString(), now.ToString()));
      continue;
    }
    if (!old.is_const()) continue;  // checked when the symbols are replaced
    const auto symbol = now.symbol();
    if (!symbol)
      return mismatch(
          "the model fixes the size; a symbol in its place opens it, and --batch and "
          "--input-shape of the result set it");
    const auto [it, added] = changes.sizes.old.emplace(*symbol, old.value());
    if (!added && it->second != old.value())
      return mismatch(
          fmt::format("{} would be both {} and {}", Quote(*symbol), it->second, old.value()));
    is_opened = true;
  }
  if (is_opened) changes.opened.emplace(i, wanted);
  return {};
}

std::string ShapeChange(const std::string& name, const std::string& from, const Value* value) {
  return fmt::format("input {}: {} -> {}", Quote(name), from, value->type().ToString());
}

struct LikelyBatch {
  std::string symbol;  // "" if there is none
  bool is_first = false;
};

// The new symbol that is one axis of every input with axes: of several the one that is a first
// axis.
LikelyBatch FindLikelyBatch(const Graph& graph, const SizeChanges& changes) {
  std::vector<std::string> all, first;
  for (const auto& [name, old] : changes.sizes.old) {
    const Dim symbol = Dim::Symbol(name);
    bool is_everywhere = old > 0, is_first = false;
    for (size_t i = 0; i < graph.inputs().size(); ++i) {
      const Type& type = graph.inputs()[i].value->type();
      if (!type.ranked() || type.rank() == 0) continue;
      const auto opened = changes.opened.find(i);
      const Dims& dims = opened == changes.opened.end() ? *type.dims : opened->second;
      is_everywhere = is_everywhere && std::ranges::count(dims, symbol) == 1;
      is_first = is_first || dims[0] == symbol;
    }
    if (is_everywhere) all.push_back(name);
    if (is_everywhere && is_first) first.push_back(name);
  }
  if (first.size() == 1) return {first[0], true};
  return {all.size() == 1 ? all[0] : "", false};
}

// Opens the sizes; adds the runs that verify them.
Status OpenSizes(Graph& graph, const SizeChanges& changes, GraphEdit& edit) {
  if (changes.sizes.old.empty()) return {};
  const bool is_random = std::ranges::any_of(graph.nodes(), IsRandom);
  NN_ASSIGN(const int64_t rewritten, OpenInputSizes(graph, changes.opened, changes.sizes));
  if (rewritten > 0)
    edit.notes.push_back(fmt::format("{} operator{} rewritten for the new sizes", rewritten,
                                     rewritten == 1 ? "" : "s"));
  edit.sizes.push_back(changes.sizes.old);
  const bool is_stated = changes.sizes.batch.size() == 1;
  const std::string symbol =
      is_stated ? *changes.sizes.batch.begin() : FindLikelyBatch(graph, changes).symbol;
  if (symbol.empty() || is_random) return {};
  const int64_t old = changes.sizes.old.at(symbol);
  std::map<std::string, int64_t> more = changes.sizes.old;
  more[symbol] = old == 1 ? 3 : 2 * old + 1;
  if (is_stated)
    edit.sizes.push_back(std::move(more));
  else
    edit.guessed_sizes = std::move(more);
  edit.wrap = [axes = AxesOfBatch(graph, symbol, old)](ModelFunction run) {
    return InParts(std::move(run), axes);
  };
  return {};
}

// In the end, symbols of `bound` become numbers.
Result<GraphEdit> ApplySizes(Graph& graph, const SizeChanges& changes,
                             const std::map<std::string, int64_t>& bound = {}) {
  GraphEdit edit;
  const auto as_usage = [](const Status& s) -> Status {
    if (s || s.error().code() != ErrorCode::kModel) return s;
    return UsageError("the given shapes do not fit the model: {}", s.error().message());
  };
  std::vector<std::string> before;
  for (const Port& p : graph.inputs()) before.push_back(p.value->type().ToString());
  for (const auto& [i, dims] : changes.unranked) {
    Value* const input = graph.inputs()[i].value;
    input->set_type(input->type().WithDims(dims));
  }
  NN_RETURN_IF_ERROR(as_usage(SubstituteSymbols(graph, changes.symbols)));
  if (!changes.unranked.empty()) NN_RETURN_IF_ERROR(as_usage(InferGraph(graph)));
  NN_RETURN_IF_ERROR(OpenSizes(graph, changes, edit));
  if (!bound.empty()) {
    NN_RETURN_IF_ERROR(BindSymbols(graph, bound));
    edit.sizes.clear();
    edit.is_other_batch = edit.wrap != nullptr;
  }
  NN_RETURN_IF_ERROR(CheckAllowedShapes(graph));
  std::vector<std::string> notes;
  for (size_t i = 0; i < before.size(); ++i) {
    const auto& [name, value] = graph.inputs()[i];
    if (value->type().ToString() != before[i]) notes.push_back(ShapeChange(name, before[i], value));
  }
  edit.notes.insert(edit.notes.begin(), notes.begin(), notes.end());
  return edit;
}

// The first axes of inputs that are the batch.
Result<SizeChanges> BatchChanges(const Graph& graph, const Dim& batch, const Dim& opened) {
  SizeChanges changes;
  for (const std::string& name : BatchSymbols(graph)) changes.symbols.emplace(name, batch);
  if (!changes.symbols.empty()) return changes;
  std::optional<int64_t> old;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const auto& [name, value] = graph.inputs()[i];
    const Type& type = value->type();
    if (!type.ranked() || type.rank() == 0) continue;
    const Dim& first = type.dim(0);
    if (!first.is_const() || (old && *old != first.value()))
      return UsageError(
          "--set-batch: input {} is {}, so its first axis is not the batch of the other inputs; "
          "set the shapes of inputs with --input-shape NAME:N,...",
          Quote(name), type.ToString());
    old = first.value();
    Dims dims = *type.dims;
    dims[0] = opened;
    changes.opened.emplace(i, std::move(dims));
  }
  if (!old || *old == 0) return UsageError("--set-batch: no input has a batch");
  if (batch == *old) return SizeChanges();
  changes.sizes.old.emplace(*opened.symbol(), *old);
  changes.sizes.batch.emplace(*opened.symbol());
  return changes;
}

}  // namespace

Result<GraphEdit> SetInputShapes(Graph& graph, const std::map<std::string, Dims>& shapes) {
  SizeChanges changes;
  for (const auto& [name, dims] : shapes) {
    const auto it = std::ranges::find(graph.inputs(), name, &Port::name);
    if (it == graph.inputs().end())
      return UsageError("--input-shape: the model has no input named {}, only {}", Quote(name),
                        NameList(graph.inputs()));
    NN_RETURN_IF_ERROR(
        AddInput(graph, static_cast<size_t>(it - graph.inputs().begin()), dims, changes));
  }
  // A new symbol whose size the model knows by another name.
  for (auto& [i, dims] : changes.opened)
    for (Dim& d : dims)
      d = d.Substitute([&](std::string_view name) -> std::optional<Dim> {
        const auto other = changes.symbols.find(std::string(name));
        return other == changes.symbols.end() ? std::nullopt : std::optional(other->second);
      });
  // A first axis of size 1 of all inputs is a batch of one sample.
  const LikelyBatch batch = FindLikelyBatch(graph, changes);
  if (batch.is_first && changes.sizes.old.at(batch.symbol) == 1)
    changes.sizes.batch.insert(batch.symbol);
  return ApplySizes(graph, changes);
}

Result<GraphEdit> SetBatch(Graph& graph, const Dim& batch) {
  if (batch.is_const() && batch.value() < 0)
    return UsageError("--set-batch: the batch size cannot be negative");
  // A number takes the place of a symbol in the end.
  const Dim opened = batch.is_const() ? Dim::Symbol("batch size") : batch;
  NN_ASSIGN(const SizeChanges changes, BatchChanges(graph, batch, opened));
  return ApplySizes(
      graph, changes,
      batch.is_const() && !changes.opened.empty()
          ? std::map<std::string, int64_t>{{std::string(*opened.symbol()), batch.value()}}
          : std::map<std::string, int64_t>());
}

}  // namespace nn
