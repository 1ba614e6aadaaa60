#include "fuzz/run_model.h"

#include <fmt/format.h>

#include <map>
#include <new>
#include <optional>
#include <string>

#include "base/checked_math.h"
#include "base/memory.h"
#include "exec/program.h"
#include "ir/op_def.h"
#include "ir/seeded.h"
#include "passes/core/passes.h"
#include "support/open_sizes.h"
#include "support/sanitizer.h"

#if !NN_ADDRESS_SANITIZER && defined(__GLIBC__)
#include <malloc.h>
#endif

namespace nn::test {
namespace {

void PoisonAll(int number) {
  PoisonMemory(static_cast<uint8_t>(number));
#if !NN_ADDRESS_SANITIZER && defined(__GLIBC__)
  mallopt(M_PERTURB, number == 0 ? 0x5A : 0xC3);
#endif
}

PoisonFn poison = PoisonAll;

Result<std::vector<Tensor>> InputsOf(const Graph& graph, std::span<const Tensor> given) {
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const Type& type = graph.inputs()[i].value->type();
    const auto dims = type.const_dims();
    if (!dims) return UsageError("an input has no shape");
    if (i < given.size() && given[i].dtype() == type.dtype && given[i].dims() == *dims) {
      inputs.push_back(given[i]);
      continue;
    }
    constexpr int64_t kMaxElements = int64_t{1} << 24;
    if (const auto n = CheckedElements(*dims); !n || *n > kMaxElements)
      return LimitError("input {} has more than {} elements", i, kMaxElements);
    NN_ASSIGN(Tensor t, SeededTensor(type.dtype, *dims, 1, i));
    inputs.push_back(std::move(t));
  }
  return inputs;
}

struct Variant {
  const char* name;
  ProgramOptions options;
};

std::vector<Variant> Variants(const RunLimits& limits) {
  ProgramOptions reference, simd, threads, unfused;
  for (ProgramOptions* o : {&reference, &simd, &threads, &unfused}) o->limits = limits;
  reference.backend = Backend::kReference;
  threads.threads = 2;
  unfused.fuse = false;
  return {{"reference", reference}, {"simd", simd}, {"two threads", threads}, {"unfused", unfused}};
}

struct Outcome {
  std::optional<ErrorCode> error;
  std::string message;
  std::vector<Tensor> outputs;
};

Outcome RunOnce(const Graph& graph, const std::vector<Tensor>& inputs,
                const ProgramOptions& options) {
  auto program = Program::Compile(graph, options);
  if (!program) return {program.error().code(), program.error().message(), {}};
  auto outputs = program->Run(inputs);
  if (!outputs) return {outputs.error().code(), outputs.error().message(), {}};
  return {std::nullopt, {}, *std::move(outputs)};
}

// The difference between the outcomes; empty if they are equal.
std::string Difference(const Outcome& a, const Outcome& b) {
  const auto text = [](const Outcome& o) {
    return o.error ? fmt::format("{}: {}", ErrorCodeName(*o.error), o.message)
                   : std::string("no error");
  };
  if (a.error != b.error) return fmt::format("({}) and ({})", text(a), text(b));
  if (a.outputs.size() != b.outputs.size()) return "another number of outputs";
  for (size_t i = 0; i < a.outputs.size(); ++i) {
    if (a.outputs[i].dims() != b.outputs[i].dims())
      return fmt::format("output {} has another shape", i);
    if (!a.outputs[i].Identical(b.outputs[i])) return fmt::format("output {} differs", i);
  }
  return {};
}

ModelRun RunVariants(const Graph& graph, const std::vector<Tensor>& inputs,
                     const RunLimits& limits) {
  ModelRun run;
  std::optional<Outcome> first;
  for (const Variant& v : Variants(limits))
    for (const int number : {0, 1}) {
      poison(number);
      Outcome outcome = RunOnce(graph, inputs, v.options);
      if (outcome.error == ErrorCode::kLimit) {
        run.skipped = true;
        return run;
      }
      if (outcome.error == ErrorCode::kInternal) {
        run.broken = fmt::format("{}: internal error: {}", v.name, outcome.message);
        return run;
      }
      if (!first) {
        first = std::move(outcome);
        continue;
      }
      if (const std::string d = Difference(*first, outcome); !d.empty()) {
        run.broken = fmt::format("reference and {}, poison {}: {}", v.name, number, d);
        return run;
      }
    }
  run.ran = !first->error;
  return run;
}

}  // namespace

void SetPoison(PoisonFn fn) {
  poison = fn;
}

ModelRun RunModelEverywhere(const Graph& graph, std::span<const Tensor> inputs,
                            const RunLimits& limits) {
  ModelRun run;
  try {
    Graph bound = graph.Clone();
    std::map<std::string, std::vector<int64_t>> shapes;
    for (size_t i = 0; i < bound.inputs().size() && i < inputs.size(); ++i)
      if (inputs[i].dtype() == bound.inputs()[i].value->dtype())
        shapes[bound.inputs()[i].name] = inputs[i].dims();
    if (!BindInputShapes(bound, shapes)) bound = graph.Clone();
    if (const Status s = BindOpenSizes(bound); !s) {
      if (s.error().code() == ErrorCode::kInternal) run.broken = s.error().message();
      return run;
    }
    const auto tensors = InputsOf(bound, inputs);
    run.skipped = !tensors && tensors.error().code() == ErrorCode::kLimit;
    if (!tensors) return run;
    run = RunVariants(bound, *tensors, limits);
  } catch (const std::bad_alloc&) {
    run.skipped = true;
  } catch (const std::exception& e) {
    run.broken = fmt::format("exception: {}", e.what());
  }
  return run;
}

}  // namespace nn::test
