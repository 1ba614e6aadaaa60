#include "cross/grid.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <thread>

#include "convert/verify.h"
#include "convert/written.h"
#include "exec/program.h"
#include "ir/text.h"
#include "passes/passes.h"
#include "passes/ports.h"
#include "support/open_sizes.h"

namespace nn::test {
namespace {

constexpr RunLimits kLimits{.max_memory = uint64_t{1} << 28, .max_work = uint64_t{1} << 32};

std::string OneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

Cell Broken(std::string reason) {
  return {.kind = Cell::Kind::kBroken, .reason = std::move(reason)};
}

// An error before the file exists: a refusal, unless no sound model may cause it.
Cell RefusedBy(const Error& error) {
  const bool named = error.code() == ErrorCode::kUnsupported || error.code() == ErrorCode::kLimit ||
                     error.code() == ErrorCode::kUsage;
  if (!named) return Broken(fmt::format("{}: {}", ErrorCodeName(error.code()), error.message()));
  return {.kind = Cell::Kind::kRefused, .reason = error.message()};
}

std::string Reasons(const std::vector<UnsupportedNode>& unsupported) {
  std::vector<std::string> texts;
  for (const UnsupportedNode& o : unsupported) {
    std::string text = fmt::format("{}: {}", o.op, o.reason);
    if (std::find(texts.begin(), texts.end(), text) == texts.end())
      texts.push_back(std::move(text));
  }
  return fmt::to_string(fmt::join(texts, "; "));
}

std::map<std::string_view, int> CountOperators(const Graph& graph) {
  std::map<std::string_view, int> counts;
  for (const Node& node : graph.nodes()) ++counts[node.op_name()];
  return counts;
}

// Whether the graph itself cannot be run on the row's inputs, regardless of the format.
bool DoesNotRun(const Row& row, const CrossCase& c) {
  auto graph = ParseGraph(c.graph);
  if (!graph || !BindOpenSizes(*graph)) return false;
  std::vector<Tensor> inputs;
  for (const Port& p : graph->inputs()) {
    auto t = CaseInput(row, p.name, p.value->type(), inputs.size(), 1);
    if (!t) return false;
    inputs.push_back(*std::move(t));
  }
  ProgramOptions options;
  options.backend = Backend::kReference;
  auto program = Program::Compile(*graph, options);
  return !program || !program->Run(inputs);
}

}  // namespace

std::string Cell::Text() const {
  const std::string rounding = rounds ? ", rounds differently" : "";
  switch (kind) {
    case Kind::kOneToOne:
      return "one-to-one" + rounding;
    case Kind::kRewritten:
      return "rewritten" + rounding;
    case Kind::kDrift:
      return "DRIFTS: " + OneLine(reason);
    case Kind::kRefused:
      return "refused: " + OneLine(reason);
    case Kind::kBroken:
      break;
  }
  return "BROKEN: " + OneLine(reason);
}

Cell Convert(const Row& row, const CrossCase& c, const Format& format) {
  auto source = ParseGraph(c.graph);
  if (!source) return Broken("the graph: " + source.error().message());
  NamePorts(*source);
  Graph fitted = source->Clone();
  if (const Status s = ForgetDeclaredShapes(fitted); !s) return Broken(s.error().message());
  InterfaceAxes axes;
  std::vector<UnsupportedNode> unsupported;
  const Status fit = FitTo(*format.target, fitted, axes, unsupported);
  if (!unsupported.empty()) return {.kind = Cell::Kind::kRefused, .reason = Reasons(unsupported)};
  if (!fit) return RefusedBy(fit.error());
  const std::string path = "m" + std::string(format.extensions[0]);
  const auto image = format.write(fitted, ExportOptions{path});
  if (!image) return RefusedBy(image.error());

  auto converted = ImportImage(*image, path, format);
  if (!converted) return Broken(converted.error().message());
  VerifyOptions options;
  options.runs = 1;
  options.seed = 1;
  options.limits = kLimits;
  options.threads = 1;
  options.input = [&](std::string_view name, const Type& type, size_t i, uint64_t seed) {
    return CaseInput(row, name, type, i, seed);
  };
  options.prepare = BindOpenSizes;
  const bool same_operators = CountOperators(*source) == CountOperators(fitted);
  const auto verified = VerifyConversion(
      *std::move(source), [&] { return Result<Graph>(*std::move(converted)); }, axes, options);
  if (!verified) {
    if (!DoesNotRun(row, c)) return Broken(verified.error().message());
    return {.kind = Cell::Kind::kRefused,
            .rounds = false,
            .reason = "written, but not verified: " + verified.error().message()};
  }
  if (!verified->passed) {
    for (const OutputDrift& o : verified->outputs)
      if (!o.worst.agrees)
        return {.kind = Cell::Kind::kDrift,
                .rounds = true,
                .reason = fmt::format("output {}: {}", o.name, o.where)};
  }
  const bool identical = std::all_of(
      verified->outputs.begin(), verified->outputs.end(),
      [](const OutputDrift& o) { return o.worst.identical || o.worst.max_absolute == 0; });
  return {.kind = same_operators ? Cell::Kind::kOneToOne : Cell::Kind::kRewritten,
          .rounds = !identical,
          .reason = {}};
}

std::vector<RowCells> ConvertAll(std::span<const Row> rows) {
  struct Item {
    const Row* row;
    CrossCase c;
    CaseCells* out;
  };
  std::vector<RowCells> all;
  for (const Row& row : rows) {
    all.push_back({&row, {}});
    for (const CrossCase& c : row.Cases())
      all.back().cases.push_back({c.label, std::vector<Cell>(Formats().size())});
  }
  std::vector<Item> items;
  for (RowCells& r : all) {
    std::vector<CrossCase> cases = r.row->Cases();
    for (size_t i = 0; i < cases.size(); ++i)
      items.push_back({r.row, std::move(cases[i]), &r.cases[i]});
  }
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i; (i = next++) < items.size();)
      for (size_t f = 0; f < Formats().size(); ++f)
        items[i].out->cells[f] = Convert(*items[i].row, items[i].c, Formats()[f]);
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < std::thread::hardware_concurrency(); ++i) threads.emplace_back(work);
  work();
  for (std::thread& t : threads) t.join();
  return all;
}

std::string GridText(std::span<const RowCells> rows) {
  std::string out;
  for (const RowCells& r : rows) {
    out += fmt::format("{} ({})\n", r.row->name, r.cases.size());
    for (size_t f = 0; f < Formats().size(); ++f) {
      // In order of first appearance.
      std::vector<std::pair<std::string, std::vector<std::string>>> groups;
      for (const CaseCells& c : r.cases) {
        const std::string text = c.cells[f].Text();
        auto it = std::find_if(groups.begin(), groups.end(),
                               [&](const auto& g) { return g.first == text; });
        if (it == groups.end()) it = groups.insert(groups.end(), {text, {}});
        it->second.push_back(c.label);
      }
      for (const auto& [text, labels] : groups)
        out += fmt::format("  {:7}{}{}\n", Formats()[f].name, text,
                           labels.size() == r.cases.size()
                               ? std::string()
                               : fmt::format(" [{}]", fmt::join(labels, " | ")));
    }
  }
  return out;
}

}  // namespace nn::test
