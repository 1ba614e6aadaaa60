#include "convert/edits/edits.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/text/text.h"
#include "base/thread_pool.h"
#include "exec/program.h"
#include "passes/core/passes.h"

namespace nn {
namespace {

// A graph, compiled for the shapes of the last run.
struct CompiledModel {
  Graph graph;
  ProgramOptions options;
  std::map<std::string, std::vector<int64_t>> shapes;
  std::optional<Program> program;

  Status Fit(const std::vector<Tensor>& inputs) {
    std::map<std::string, std::vector<int64_t>> wanted;
    for (size_t i = 0; i < inputs.size(); ++i) wanted[graph.inputs()[i].name] = inputs[i].dims();
    if (program && wanted == shapes) return {};
    program.reset();
    Graph bound = graph.Clone();
    NN_RETURN_IF_ERROR(BindInputShapes(bound, wanted));
    NN_ASSIGN(program, Program::Compile(std::move(bound), options));
    shapes = std::move(wanted);
    return {};
  }
};

// The sizes of new symbols for the runs, each with all that the edits introduce.
std::vector<std::map<std::string, int64_t>> SizesOf(const std::vector<GraphEdit>& edits) {
  std::vector<std::map<std::string, int64_t>> all(1);
  for (const GraphEdit& edit : edits) {
    if (edit.sizes.empty()) continue;
    std::vector<std::map<std::string, int64_t>> next;
    for (const auto& sizes : edit.sizes)
      for (auto more : all) {
        more.insert(sizes.begin(), sizes.end());
        next.push_back(std::move(more));
      }
    all = std::move(next);
  }
  return all;
}

tl::unexpected<Error> SamplesAffectEachOther(const Verification& v) {
  const auto drifts = [](const OutputDrift& d) { return !d.worst.identical; };
  const auto it = std::ranges::find_if(v.outputs, drifts);
  return UnsupportedError(
      "the samples of a batch affect each other: output {} for several samples is not that of each "
      "sample alone; run the model once for each sample, or export it without the operator that "
      "joins them",
      Quote(it == v.outputs.end() ? "" : it->name));
}

}  // namespace

ModelFunction FunctionOf(Graph graph, const VerifyOptions& options) {
  auto model = std::make_shared<CompiledModel>();
  model->graph = std::move(graph);
  model->options.limits = options.limits;
  model->options.threads = options.threads == 0 ? AvailableProcessors() : options.threads;
  return [model](const std::vector<Tensor>& inputs) -> Result<std::vector<Tensor>> {
    NN_RETURN_IF_ERROR(model->Fit(inputs));
    return model->program->Run(inputs);
  };
}

Result<Verification> VerifyEdits(const std::vector<GraphEdit>& edits, const Graph& before,
                                 const Graph& edited, const VerifyOptions& options) {
  // Given inputs have the sizes.
  const auto all_sizes =
      options.data ? std::vector<std::map<std::string, int64_t>>(1) : SizesOf(edits);
  Verification out;
  VerifyOptions run = options;
  run.progress = nullptr;
  for (const GraphEdit& edit : edits)
    if (!edit.steps.empty()) run.steps = edit.steps;
  const auto run_at = [&](const std::map<std::string, int64_t>& sizes,
                          Verification& result) -> Status {
    run.prepare = [&](Graph& graph) -> Status {
      NN_RETURN_IF_ERROR(BindSymbols(graph, sizes));
      return options.prepare ? options.prepare(graph) : Status();
    };
    ModelFunction function = FunctionOf(before.Clone(), options);
    for (const GraphEdit& edit : edits)
      if (edit.wrap) function = edit.wrap(std::move(function));
    NN_RETURN_IF_ERROR(VerifyFunction(edited.Clone(), function, run, result));
    for (const auto& [name, size] : sizes) {
      const auto it =
          std::ranges::find(result.symbols, name, [](const auto& s) { return s.first; });
      if (it == result.symbols.end())
        result.symbols.push_back({name, {size}});
      else if (std::ranges::find(it->second, size) == it->second.end())
        it->second.push_back(size);
    }
    run.runs = 1;
    if (std::ranges::all_of(edits, &GraphEdit::is_exact))
      result.passed = result.passed &&
                      std::ranges::all_of(result.outputs,
                                          [](const OutputDrift& d) { return d.worst.identical; });
    return {};
  };
  // The first sizes are the old ones. More are those of a batch, which the model before the edit
  // computes in parts.
  for (const auto& sizes : all_sizes) {
    NN_RETURN_IF_ERROR(run_at(sizes, out));
    const bool is_other =
        &sizes != &all_sizes.front() || std::ranges::any_of(edits, &GraphEdit::is_other_batch);
    if (!out.passed && is_other) return SamplesAffectEachOther(out);
    if (!out.passed) return out;
  }
  // A guess that is wrong says nothing about the edit.
  for (const GraphEdit& edit : edits) {
    if (options.data || edit.guessed_sizes.empty()) continue;
    std::map<std::string, int64_t> sizes = edit.guessed_sizes;
    sizes.insert(all_sizes[0].begin(), all_sizes[0].end());
    Verification more = out;
    if (run_at(sizes, more) && more.passed) out = std::move(more);
  }
  return out;
}

}  // namespace nn
