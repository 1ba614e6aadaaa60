#include "support/run_graph.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "ir/op_def.h"
#include "ir/seeded.h"
#include "ir/text/text.h"

namespace nn::test {

Graph Parse(std::string_view text) {
  auto g = ParseGraph(text);
  REQUIRE_MESSAGE(g.has_value(), (g ? "" : g.error().message()));
  return *std::move(g);
}

std::vector<Tensor> InputsOf(const Graph& graph, const std::vector<std::vector<double>>& values) {
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const Type& type = graph.inputs()[i].value->type();
    const auto dims = type.const_dims();
    REQUIRE(dims.has_value());
    if (values.empty()) {
      auto t = SeededTensor(type.dtype, *dims, 1, i);
      REQUIRE_MESSAGE(t.has_value(), t.error().message());
      inputs.push_back(*std::move(t));
      continue;
    }
    auto b = TensorBuilder::Create(type.dtype, *dims);
    REQUIRE(b.has_value());
    REQUIRE(values[i].size() == static_cast<size_t>(b->elements()));
    for (size_t k = 0; k < values[i].size(); ++k)
      b->SetDouble(static_cast<int64_t>(k), values[i][k]);
    inputs.push_back(b->Finish());
  }
  return inputs;
}

namespace {

std::vector<Tensor> RunWith(const Graph& graph, const std::vector<Tensor>& inputs,
                            const ProgramOptions& options) {
  auto program = Program::Compile(graph, options);
  REQUIRE_MESSAGE(program.has_value(), program.error().message());
  auto outputs = program->Run(inputs);
  REQUIRE_MESSAGE(outputs.has_value(), outputs.error().message());
  return *std::move(outputs);
}

void CheckIdentical(const std::vector<Tensor>& want, const std::vector<Tensor>& got) {
  REQUIRE(want.size() == got.size());
  for (size_t i = 0; i < want.size(); ++i) {
    CAPTURE(i);
    CHECK(want[i].dims() == got[i].dims());
    CHECK(want[i].Identical(got[i]));
  }
}

}  // namespace

std::vector<Tensor> RunEverywhere(const Graph& graph, const std::vector<Tensor>& inputs) {
  ProgramOptions reference;
  reference.backend = Backend::kReference;
  auto want = RunWith(graph, inputs, reference);
  for (const std::string& target : SimdTargets()) {
    REQUIRE(UseSimdTarget(target).has_value());
    for (const size_t threads : {1, 2, 7}) {
      for (const bool fuse : {true, false}) {
        CAPTURE(target);
        CAPTURE(threads);
        CAPTURE(fuse);
        ProgramOptions options;
        options.threads = threads;
        options.fuse = fuse;
        CheckIdentical(want, RunWith(graph, inputs, options));
      }
    }
  }
  REQUIRE(UseSimdTarget("").has_value());
  return want;
}

double LargestDifference(const Graph& a, const Graph& b) {
  const auto inputs = InputsOf(a, {});
  const Tensor y = RunEverywhere(a, inputs)[0];
  const Tensor expected = RunEverywhere(b, inputs)[0];
  REQUIRE(y.dims() == expected.dims());
  double largest = 0;
  for (int64_t i = 0; i < y.elements(); ++i)
    largest = std::max(largest, std::abs(y.GetDouble(i) - expected.GetDouble(i)));
  return largest;
}

std::string BitDifference(const Graph& graph, const std::vector<Tensor>& inputs,
                          const RunLimits& limits) {
  const auto run = [&](Backend backend) -> Result<std::vector<Tensor>> {
    ProgramOptions options;
    options.backend = backend;
    options.threads = 2;
    options.limits = limits;
    NN_ASSIGN(Program program, Program::Compile(graph, options));
    return program.Run(inputs);
  };
  const auto text = [](const Error& e) {
    return fmt::format("{}: {}", ErrorCodeName(e.code()), e.message());
  };
  const auto want = run(Backend::kReference);
  if (!want && want.error().code() == ErrorCode::kInternal) return text(want.error());
  if (!want && want.error().code() == ErrorCode::kLimit) return {};
  std::string difference;
  for (const std::string& target : SimdTargets()) {
    if (!UseSimdTarget(target)) return "no target " + target;
    const auto got = run(Backend::kSimd);
    // The texts may name shapes, which have the plan's order of axes.
    if (want.has_value() != got.has_value() ||
        (!want && want.error().code() != got.error().code())) {
      difference =
          fmt::format("{}, the reference evaluation: {}", got ? "no error" : text(got.error()),
                      want ? "no error" : text(want.error()));
    } else if (want) {
      for (size_t i = 0; i < want->size() && difference.empty(); ++i)
        if (!(*want)[i].Identical((*got)[i]))
          difference = fmt::format("output {} is not that of the reference evaluation", i);
    }
    if (difference.empty()) continue;
    difference = fmt::format("{}: {}", target, difference);
    break;
  }
  (void)UseSimdTarget("");
  return difference;
}

void CheckSameBits(const Graph& graph, const std::vector<Tensor>& inputs) {
  const std::string difference = BitDifference(graph, inputs);
  CHECK_MESSAGE(difference.empty(), difference);
}

void CheckHasKernels(const Graph& graph) {
  auto program = Program::Compile(graph, {});
  REQUIRE_MESSAGE(program.has_value(), program.error().message());
  for (const StepInfo& step : program->steps()) {
    CAPTURE(step.label);
    CHECK_FALSE(step.reference);
  }
}

size_t RunOnKernels(const std::string& text) {
  CAPTURE(text);
  const Graph graph = Parse(text);
  CheckHasKernels(graph);
  RunEverywhere(graph, InputsOf(graph, {}));
  return Program::Compile(graph, {})->steps().size();
}

void RunOnKernelsWithIndices(const std::string& text, const std::vector<double>& indices) {
  CAPTURE(text);
  const Graph graph = Parse(text);
  CheckHasKernels(graph);
  auto inputs = InputsOf(graph, {});
  const Type& type = graph.inputs()[1].value->type();
  auto b = TensorBuilder::Create(type.dtype, *type.const_dims());
  REQUIRE(b.has_value());
  for (int64_t i = 0; i < b->elements(); ++i)
    b->SetDouble(i, indices[static_cast<size_t>(i) % indices.size()]);
  inputs[1] = b->Finish();
  RunEverywhere(graph, inputs);
}

Program CheckSameError(const Graph& graph, const std::vector<Tensor>& inputs) {
  ProgramOptions options;
  options.backend = Backend::kReference;
  auto reference = Program::Compile(graph, options);
  options.backend = Backend::kSimd;
  options.threads = 2;
  auto planned = Program::Compile(graph, options);
  REQUIRE(reference.has_value());
  REQUIRE(planned.has_value());
  const auto want = reference->Run(inputs);
  const auto got = planned->Run(inputs);
  REQUIRE_FALSE(want.has_value());
  REQUIRE_FALSE(got.has_value());
  CHECK(got.error().message() == want.error().message());
  CHECK(got.error().code() == want.error().code());
  return *std::move(planned);
}

void CheckCase(const OpCase& c) {
  CAPTURE(c.name);
  const Graph graph = Parse(c.graph);
  const auto outputs = RunEverywhere(graph, InputsOf(graph, c.inputs));
  if (c.outputs.empty()) return;
  REQUIRE(outputs.size() == c.outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    REQUIRE(outputs[i].elements() == static_cast<int64_t>(c.outputs[i].size()));
    for (size_t k = 0; k < c.outputs[i].size(); ++k) {
      CAPTURE(i);
      CAPTURE(k);
      const double want = c.outputs[i][k];
      const double got = outputs[i].GetDouble(static_cast<int64_t>(k));
      if (std::isnan(want)) {
        CHECK(std::isnan(got));
      } else if (std::isinf(want) || c.tolerance == 0) {
        CHECK(got == want);
      } else {
        CHECK(std::fabs(got - want) <= c.tolerance * std::max(1.0, std::fabs(want)));
      }
    }
  }
}

std::string OneOp(std::string_view type, std::string_view op) {
  return fmt::format("graph {{ in %x: {}  %y = {}  out \"y\" = %y }}", type, op);
}

std::string Braced(std::string_view attrs) {
  return attrs.empty() ? std::string() : fmt::format("{{{}}}", attrs);
}

std::string ErrorOf(std::string_view graph) {
  const auto g = ParseGraph(graph);
  return g ? std::string() : g.error().message();
}

bool Fails(std::string_view graph, std::string_view part) {
  const std::string error = ErrorOf(graph);
  const bool fails = error.find(part) != std::string::npos;
  if (!fails) MESSAGE("the error is: " << error);
  return fails;
}

std::string WhyOpen(const Graph& graph) {
  std::string out;
  for (const Node& node : graph.nodes())
    if (node.op().decided_by_runs)
      out += fmt::format("{}: {}\n", node.source_op(),
                         std::get<std::string>(*node.attrs().Get("why")));
  return out;
}

}  // namespace nn::test
