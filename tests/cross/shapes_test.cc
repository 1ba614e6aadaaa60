// The rows with other shapes and attributes: random variations of their cases, on the reference
// evaluation and every SIMD target, and in the formats. RC_PARAMS="seed=2 max_success=10000" tests
// other variations, and more of each family.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "cross/grid.h"
#include "cross/rows.h"
#include "cross/vary.h"
#include "ir/text/text.h"
#include "support/open_sizes.h"
#include "support/run_graph.h"

namespace nn::test::shapes_test {
namespace {

constexpr RunLimits kLimits{.max_memory = uint64_t{1} << 26,
                            .max_work = RunLimits::kReferenceWork << 21};

// A case that is run.
struct Trial {
  Graph graph;  // of known shapes
  std::vector<Tensor> inputs;
};

Result<Trial> TrialOf(const Row& row, const std::string& text) {
  NN_ASSIGN(Graph graph, ParseGraph(text));
  NN_RETURN_IF_ERROR(BindOpenSizes(graph));
  std::vector<Tensor> inputs;
  for (const Port& p : graph.inputs()) {
    NN_ASSIGN(Tensor t, CaseInput(row, p.name, p.value->type(), inputs.size(), 1));
    inputs.push_back(std::move(t));
  }
  return Trial{std::move(graph), std::move(inputs)};
}

// A model that cannot be run, or takes too long, is not converted.
bool Runs(const Trial& trial) {
  ProgramOptions options;
  options.backend = Backend::kReference;
  options.limits = kLimits;
  auto program = Program::Compile(trial.graph, options);
  return program && program->Run(trial.inputs);
}

// Drift belongs to the row if one of its unmodified cases drifts as well, because a variation can
// turn a case into another one.
std::string FormatProblem(const Row& row, const std::string& text, const OutputKind& kind) {
  const Cell cell = Convert(row, {"", text}, kind);
  if (cell.written() || cell.kind == Cell::Kind::kRefused) return {};
  const auto drifts = [&](const CrossCase& c) {
    return Convert(row, c, kind).kind == Cell::Kind::kDrift;
  };
  if (cell.kind == Cell::Kind::kDrift && std::ranges::any_of(row.Cases(), drifts)) return {};
  return fmt::format("{}: {}", kind.name, cell.Text());
}

// A number below n, independent of RapidCheck's size parameter, which limits generated numbers.
rc::Gen<size_t> Below(size_t n) {
  return rc::gen::resize(rc::kNominalSize, rc::gen::inRange<size_t>(0, n));
}

// A random variation of a random case of the rows, and a random format.
void TryOne(const std::vector<const Row*>& rows, const Variations& variations) {
  const Row& row = *rows[*rc::gen::noShrink(Below(rows.size()))];
  const std::vector<CrossCase> cases = row.Cases();
  const CrossCase& c = cases[*Below(cases.size())];
  const auto graph = ParseGraph(c.graph);
  RC_ASSERT(graph.has_value());
  const Graph varied = variations.Vary(*graph, [](size_t n) { return *Below(n); });
  const std::string text = PrintGraph(varied, {.complete = true});
  auto trial = TrialOf(row, text);
  std::string problem;
  if (!trial)
    problem = trial.error().message();
  else
    problem = BitDifference(trial->graph, trial->inputs, kLimits);
  if (problem.empty() && Runs(*trial))
    problem = FormatProblem(row, text, OutputKinds()[*Below(OutputKinds().size())]);
  const std::string message =
      fmt::format("{} {} ({}): {}\n{}", row.place, row.name, c.label, problem, text);
  if (!problem.empty()) RC_FAIL(message);
}

TEST_CASE("shapes: variations of the rows compute the same bits everywhere") {
  const auto rows = ReadRows(RowsFolder());
  REQUIRE_MESSAGE(rows.has_value(), rows.error().message());
  const Variations variations(*rows);
  std::map<std::string, std::vector<const Row*>> families;
  for (const Row& row : *rows) families[row.family].push_back(&row);
  for (const auto& entry : families) {
    const std::vector<const Row*>& family = entry.second;
    const bool passed = rc::check(entry.first, [&] { TryOne(family, variations); });
    CHECK(passed);
  }
}

}  // namespace
}  // namespace nn::test::shapes_test
