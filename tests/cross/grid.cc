#include "cross/grid.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <thread>

#include "convert/place/written.h"
#include "convert/verify/verify.h"
#include "exec/program.h"
#include "ir/text/text.h"
#include "ops/array/shape.h"
#include "passes/core/passes.h"
#include "passes/core/ports.h"
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

// An input whose rank its users do not know: it is reshaped to its shape, which is another input,
// of unknown length.
struct Unranked {
  std::string shape_input;
  std::string length;  // the symbol
  Tensor shape;
};

// What a case is run with.
struct Run {
  const Row& row;
  std::optional<Unranked> unranked;

  Status Prepare(Graph& graph) const {
    if (unranked)
      NN_RETURN_IF_ERROR(BindSymbols(graph, {{unranked->length, unranked->shape.elements()}}));
    return BindOpenSizes(graph);
  }
  Result<Tensor> Input(std::string_view name, const Type& type, size_t i, uint64_t seed) const {
    if (unranked && name == unranked->shape_input) return unranked->shape;
    return CaseInput(row, name, type, i, seed);
  }
};

// kUnsupported if the input has scales per axis, which require a rank.
Result<Unranked> HideRank(Graph& graph, size_t input) {
  const Port port = graph.inputs()[input];
  const Type& type = port.value->type();
  if (type.quant != nullptr && type.quant->per_axis())
    return UnsupportedError("scales per axis require a rank");
  Graph bound = graph.Clone();
  NN_RETURN_IF_ERROR(BindOpenSizes(bound));
  const auto dims = bound.inputs()[input].value->type().const_dims();
  if (!dims) return InternalError("input {} has no shape", port.name);
  Unranked hidden{port.name + "/shape", "rank of " + port.name, Tensor::Ints(*dims)};

  Value* const s =
      graph.AddInput(hidden.shape_input, Type(DType::kI64, {Dim::Symbol(hidden.length)}));
  NN_ASSIGN(Node* const reshape,
            graph.Append("reshape", {port.value, s}, ReshapeAttrs{}, 1, graph.After(port.value)));
  graph.ReplaceUses(port.value, reshape->output());
  graph.SetInput(reshape, 0, port.value);
  NN_RETURN_IF_ERROR(ForgetDeclaredShapes(graph));
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    Value* const y = graph.outputs()[i].value;
    if (y->type().ranked()) continue;
    if (y->type().quant != nullptr && y->type().quant->per_axis())
      return UnsupportedError("scales per axis require a rank");
    NN_ASSIGN(Node* const flat, graph.Append("reshape", {y}, ReshapeAttrs{{Dim(-1)}}));
    graph.set_output(i, flat->output());
  }
  return hidden;
}

// Whether the graph itself cannot be run on the inputs, regardless of the format.
bool DoesNotRun(const Run& run, Graph graph) {
  if (!run.Prepare(graph)) return false;
  std::vector<Tensor> inputs;
  for (const Port& p : graph.inputs()) {
    auto t = run.Input(p.name, p.value->type(), inputs.size(), 1);
    if (!t) return false;
    inputs.push_back(*std::move(t));
  }
  ProgramOptions options;
  options.backend = Backend::kReference;
  auto program = Program::Compile(graph, options);
  return !program || !program->Run(inputs);
}

Cell ConvertGraph(const Run& run, Graph source, const OutputKind& kind) {
  Graph fitted = source.Clone();
  if (const Status s = ForgetDeclaredShapes(fitted); !s) return Broken(s.error().message());
  InterfaceAxes axes;
  std::vector<UnsupportedNode> unsupported;
  RewriteCounts rewrites;
  const Status fit = FitTo(kind.target(), fitted, axes, unsupported, &rewrites);
  if (!unsupported.empty()) return {.kind = Cell::Kind::kRefused, .reason = Reasons(unsupported)};
  if (!fit) return RefusedBy(fit.error());
  const auto image = kind.format->writer.Write(fitted, kind.options);
  if (!image) return RefusedBy(image.error());

  auto converted = ImportImage(*image, kind.options.path, *kind.format);
  if (!converted) return Broken(converted.error().message());
  VerifyOptions options;
  options.runs = 1;
  options.seed = 1;
  options.limits = kLimits;
  options.threads = 1;
  options.input = [&](std::string_view name, const Type& type, size_t i, uint64_t seed) {
    return run.Input(name, type, i, seed);
  };
  options.prepare = [&](Graph& graph) { return run.Prepare(graph); };
  const bool same_operators = CountOperators(source) == CountOperators(fitted);
  const auto verified = VerifyConversion(
      source.Clone(), [&] { return Result<Graph>(*std::move(converted)); }, axes, options);
  if (!verified) {
    if (!DoesNotRun(run, std::move(source))) return Broken(verified.error().message());
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
  Cell cell{.kind = same_operators ? Cell::Kind::kOneToOne : Cell::Kind::kRewritten,
            .rounds = !identical,
            .reason = {},
            .rewrites = std::move(rewrites)};
  for (const OutputDrift& o : verified->outputs) {
    if (o.type.starts_with("f") || o.type.starts_with("bf"))
      cell.relative = std::max(cell.relative, o.relative);
    else
      cell.steps = std::max(cell.steps, o.worst.max_absolute);
  }
  return cell;
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

Cell Convert(const Row& row, const CrossCase& c, const OutputKind& kind) {
  auto source = ParseGraph(c.graph);
  if (!source) return Broken("the graph: " + source.error().message());
  NamePorts(*source);
  return ConvertGraph({row, std::nullopt}, *std::move(source), kind);
}

Cell ConvertUnranked(const Row& row, const CrossCase& c, size_t input, const OutputKind& kind) {
  auto source = ParseGraph(c.graph);
  if (!source) return Broken("the graph: " + source.error().message());
  NamePorts(*source);
  auto unranked = HideRank(*source, input);
  if (!unranked) return RefusedBy(unranked.error());
  return ConvertGraph({row, *std::move(unranked)}, *std::move(source), kind);
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
      all.back().cases.push_back({c.label, std::vector<Cell>(OutputKinds().size())});
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
      for (size_t f = 0; f < OutputKinds().size(); ++f)
        items[i].out->cells[f] = Convert(*items[i].row, items[i].c, OutputKinds()[f]);
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
    for (size_t f = 0; f < OutputKinds().size(); ++f) {
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
        out += fmt::format("  {:7}{}{}\n", OutputKinds()[f].name, text,
                           labels.size() == r.cases.size()
                               ? std::string()
                               : fmt::format(" [{}]", fmt::join(labels, " | ")));
    }
  }
  return out;
}

std::string RewritesText(std::span<const RowCells> rows) {
  struct Use {
    size_t cells = 0;
    size_t same_bits = 0;
    double relative = 0;
    double steps = 0;
  };
  const auto number = [](double n, const char* format) {
    return n == 0 ? std::string() : fmt::format(fmt::runtime(format), n);
  };
  std::string out =
      "<!-- Written by scripts/update-grid; do not edit. -->\n"
      "# The rewrites that the rows of tests/cross prove\n\n"
      "Of each rewrite: the cells (a row's case in a format) in which it takes part, those whose\n"
      "results keep every bit, and the largest difference of the others: of floats over the\n"
      "largest magnitude of the output, of integers in steps. A cell can have several rewrites.\n\n"
      "| Format | Operator | Rewrite | Cells | Same bits | Floats | Integers |\n"
      "| --- | --- | --- | ---: | ---: | ---: | ---: |\n";
  for (size_t f = 0; f < OutputKinds().size(); ++f) {
    std::map<std::pair<std::string_view, std::string_view>, Use> uses;
    for (const RowCells& r : rows)
      for (const CaseCells& c : r.cases) {
        const Cell& cell = c.cells[f];
        if (!cell.written()) continue;
        for (const auto& entry : cell.rewrites) {
          Use& use = uses[entry.first];
          ++use.cells;
          use.same_bits += cell.rounds ? 0 : 1;
          use.relative = std::max(use.relative, cell.relative);
          use.steps = std::max(use.steps, cell.steps);
        }
      }
    for (const auto& [rewrite, use] : uses)
      out += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", OutputKinds()[f].name,
                         rewrite.first, rewrite.second, use.cells, use.same_bits,
                         number(use.relative, "{:.1e}"), number(use.steps, "{}"));
  }
  return out;
}

}  // namespace nn::test
