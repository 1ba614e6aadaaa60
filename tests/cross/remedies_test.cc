// The remedies that refusals name, followed literally: each case of each row as a model file, to
// each format.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/common/model/model.h"
#include "apps/nnconvert/one_model.h"
#include "base/file/file.h"
#include "convert/edits/shape_choice.h"
#include "cross/grid.h"
#include "cross/rows.h"
#include "exec/program.h"
#include "formats/format.h"
#include "ir/text/text.h"
#include "passes/core/passes.h"
#include "passes/core/ports.h"
#include "passes/facts/input_domains.h"
#include "rewrite/legalize.h"
#include "support/files.h"
#include "support/open_sizes.h"
#include "support/sanitizer.h"

namespace nn::test::remedies_test {
namespace {

// What a refusal says at its end: "..., every operator can be converted: --batch 1".
struct Promise {
  bool all = false;                  // every operator
  std::vector<std::string> options;  // words
};

// The words of a shell command without expansions.
std::vector<std::string> WordsOf(std::string_view text) {
  std::vector<std::string> words(1);
  bool quoted = false;
  for (const char c : text) {
    if (c == '\'')
      quoted = !quoted;
    else if (c == ' ' && !quoted)
      words.emplace_back();
    else
      words.back() += c;
  }
  return words;
}

Promise PromiseOf(std::string_view remedy) {
  const size_t at = remedy.find(": --");
  REQUIRE(at != std::string_view::npos);
  return {remedy.substr(0, at).ends_with("every operator can be converted"),
          WordsOf(remedy.substr(at + 2))};
}

// Adds the options as the program reads them.
void AddOptions(const std::vector<std::string>& words, app::ConvertArguments& a) {
  OptionValues values;
  for (size_t i = 0; i < words.size(); ++i) {
    const OptionField* const field = FindOption(app::ArgumentTable(), words[i].substr(2));
    REQUIRE_MESSAGE(field != nullptr, "unknown option ", words[i]);
    const std::string name(field->name);
    if (field->kind == OptionKind::kFlag) {
      values[name] = true;
      continue;
    }
    REQUIRE(++i < words.size());
    if (field->kind == OptionKind::kInteger) {
      values[name] = int64_t{std::stoll(words[i])};
      continue;
    }
    REQUIRE(field->kind == OptionKind::kTexts);
    OptionValue& texts = values.try_emplace(name, std::vector<std::string>()).first->second;
    std::get<std::vector<std::string>>(texts).push_back(words[i]);
  }
  const Status set = SetOptions(app::ArgumentTable(), values, kOnCommandLine, &a);
  REQUIRE_MESSAGE(set.has_value(), set.error().message());
}

constexpr std::string_view kNotVerified = "not verified";
// Its sums are infinite or not a number, by the order of their terms.
constexpr std::string_view kOverflows = "dft/infinities";
// A row has up to this many cases here.
constexpr size_t kMaxCases = NN_ADDRESS_SANITIZER ? 1 : 2;

// What became of a conversion.
struct Outcome {
  std::string error = {};  // of the program
  size_t refused = 0;      // operators
  std::string remedy = {};
  bool written = false;
  std::string Text() const {
    return !error.empty() ? error
           : refused > 0  ? fmt::format("{} operators are refused; {}", refused, remedy)
           : written      ? "written"
                          : std::string(kNotVerified);
  }
};

Outcome Run(const app::ConvertArguments& a, const Format& format) {
  ConvertReport report;
  const Status done = app::ConvertOne(a, &format, report);
  if (!done) return {.error = done.error().message()};
  const Conversion& c = report.conversion;
  return {.refused = c.unsupported.size(), .remedy = c.remedy, .written = report.written};
}

// Whether results of the row differ in the format whatever the options are.
bool Drifts(const Row& row, const OutputKind& kind) {
  return std::ranges::any_of(row.Cases(), [&](const CrossCase& c) {
    return Convert(row, c, kind).kind == Cell::Kind::kDrift;
  });
}

// Writes the case's model in the first format that holds it; its name.
std::optional<std::string> WriteSource(const CrossCase& c, const TempDir& dir) {
  for (const Format& format : Formats()) {
    auto graph = ParseGraph(c.graph);
    if (!graph) return std::nullopt;
    NamePorts(*graph);
    InterfaceAxes axes;
    std::vector<UnsupportedNode> unsupported;
    if (!ForgetDeclaredShapes(*graph) || !FitTo(*format.target, *graph, axes, unsupported) ||
        !unsupported.empty())
      continue;
    const std::string path = dir / ("source" + std::string(format.extensions[0]));
    const auto image = format.writer.Write(*graph, ExportOptions{path});
    if (!image || !image->side_files.empty()) continue;
    REQUIRE(WriteFile(path, image->parts).has_value());
    return path;
  }
  return std::nullopt;
}

// Options that set the open sizes of the inputs, for refusals that leave the sizes to the user.
std::vector<std::string> OpenSizesOf(const CrossCase& c) {
  auto graph = ParseGraph(c.graph);
  REQUIRE(graph.has_value());
  NamePorts(*graph);
  std::vector<bool> open;
  for (const Port& p : graph->inputs()) open.push_back(!p.value->type().const_dims());
  REQUIRE(BindOpenSizes(*graph).has_value());
  std::vector<std::string> words;
  for (size_t i = 0; i < open.size(); ++i) {
    if (!open[i]) continue;
    const Port& p = graph->inputs()[i];
    words.insert(words.end(),
                 {"--input-shape",
                  fmt::format("{}:{}", p.name, fmt::join(*p.value->type().const_dims(), ","))});
  }
  return words;
}

// What is wrong with the remedies of a conversion; "" if nothing is. Counts them.
std::string Follow(const std::string& source, const CrossCase& c, const TempDir& dir,
                   const OutputKind& kind, size_t& remedies) {
  const Format& format = *kind.format;
  app::ConvertArguments a;
  a.input = source;
  a.output = dir / ("out" + std::string(format.extensions[0]));
  a.core_ml = kind.options.core_ml;
  a.messages = false;
  a.verification.threads = 1;
  a.verification.runs = 1;
  a.dry_run = true;
  Outcome outcome = Run(a, format);
  std::string trail;
  if (outcome.error.find("; use --batch or --input-shape") != std::string::npos) {
    ++remedies;
    trail += "\n  " + outcome.error;
    const bool is_literal = outcome.error.find(": --") != std::string::npos;
    AddOptions(is_literal ? PromiseOf(outcome.error).options : OpenSizesOf(c), a);
    a.dry_run = false;
    outcome = Run(a, format);
    // The model may have no other remedy, as if it is empty.
    const bool is_refused =
        !is_literal && (outcome.refused > 0 ||
                        (!outcome.error.empty() && outcome.error.find("--") == std::string::npos));
    if (!outcome.written && !is_refused)
      return fmt::format("{}\n  ends with: {}", trail, outcome.Text());
  }
  // Each step leaves fewer operators.
  for (size_t before = outcome.refused; !outcome.remedy.empty(); before = outcome.refused) {
    ++remedies;
    trail += "\n  " + outcome.remedy;
    const Promise promise = PromiseOf(outcome.remedy);
    AddOptions(promise.options, a);
    a.dry_run = !promise.all;
    outcome = Run(a, format);
    const bool kept =
        outcome.error.empty() && outcome.refused < before && (!promise.all || outcome.written);
    if (!kept) return fmt::format("{}\n  ends with: {}", trail, outcome.Text());
  }
  return {};
}

TEST_CASE("remedies: those that refusals name work when they are followed") {
  const auto rows = ReadSomeRows(RowsFolder());
  REQUIRE_MESSAGE(rows.has_value(), rows.error().message());
  const TempDir dir;
  size_t remedies = 0;
  for (const Row& row : *rows) {
    const std::vector<CrossCase> cases = row.Cases();
    const size_t step = (cases.size() + kMaxCases - 1) / kMaxCases;
    for (size_t i = 0; i < cases.size(); i += step) {
      const CrossCase& c = cases[i];
      const auto source = WriteSource(c, dir);
      if (!source) continue;
      for (const OutputKind& kind : OutputKinds()) {
        if (FormatOfPath(*source) == kind.format) continue;
        const std::string problem = Follow(*source, c, dir, kind, remedies);
        const bool drifts =
            problem.ends_with(kNotVerified) && (Drifts(row, kind) || row.name == kOverflows);
        if (!problem.empty() && !drifts)
          FAIL_CHECK(
              fmt::format("{} {} ({}) to {}:{}", row.place, row.name, c.label, kind.name, problem));
      }
    }
  }
  CHECK(remedies > 500 / kRowStep);
}

// Runs the graph on seeded inputs with the shapes that nnrun proposes for it.
Status RunAsProposed(Graph graph, const std::string& options) {
  app::ConvertArguments a;
  AddOptions(WordsOf(options), a);
  NN_RETURN_IF_ERROR(BindShapes(graph, a.input_shapes, a.batch));
  const std::vector<Domain> domains = InputDomains(graph);
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const Port& p = graph.inputs()[i];
    NN_ASSIGN(Tensor input, SeededInput(p.name, p.value->type(), i, 0, domains[i]));
    inputs.push_back(std::move(input));
  }
  NN_ASSIGN(Program program, Program::Compile(std::move(graph), ProgramOptions()));
  return program.Run(inputs).map([](const auto&) {});
}

TEST_CASE("remedies: the shapes that nnrun proposes") {
  const auto rows = ReadSomeRows(RowsFolder());
  REQUIRE_MESSAGE(rows.has_value(), rows.error().message());
  size_t proposed = 0;
  for (const Row& row : *rows) {
    for (const CrossCase& c : row.Cases()) {
      auto graph = ParseGraph(c.graph);
      if (!graph) continue;
      NamePorts(*graph);
      if (!BindOpenBatch(*graph)) continue;
      const std::string options = WorkingShapes(*graph);
      if (options.empty()) continue;
      ++proposed;
      const Status done = RunAsProposed(*std::move(graph), options);
      CHECK_MESSAGE(done.has_value(), row.place, " ", row.name, " (", c.label, "), ", options, ": ",
                    done.error().message());
      break;
    }
  }
  CHECK(proposed > 20 / kRowStep);
}

}  // namespace
}  // namespace nn::test::remedies_test
