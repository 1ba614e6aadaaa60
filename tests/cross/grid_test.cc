// Every case of every row in every format, and the claims of the suite.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "apps/nnconvert/support.h"
#include "cross/grid.h"
#include "cross/rows.h"
#include "ir/op_def.h"
#include "ir/text/text.h"
#include "support/files.h"
#include "support/paths.h"

namespace nn::test::grid_test {
namespace {

struct Grid {
  std::vector<Row> rows;
  std::vector<RowCells> cells;
};

const Grid& TheGrid() {
  static const Grid grid = [] {
    Grid g;
    auto rows = ReadSomeRows(RowsFolder());
    REQUIRE_MESSAGE(rows.has_value(), rows.error().message());
    g.rows = *std::move(rows);
    g.cells = ConvertAll(g.rows);
    return g;
  }();
  return grid;
}

// The lines that only one of the texts has.
std::string LineDiff(const std::string& want, const std::string& got) {
  const auto lines = [](const std::string& text) {
    std::vector<std::string> out;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) out.push_back(line);
    return out;
  };
  std::string out;
  const auto a = lines(want), b = lines(got);
  const std::set<std::string> in_a(a.begin(), a.end()), in_b(b.begin(), b.end());
  for (const std::string& line : a)
    if (!in_b.contains(line)) out += "- " + line + "\n";
  for (const std::string& line : b)
    if (!in_a.contains(line)) out += "+ " + line + "\n";
  return out.empty() && want != got ? "the order of the lines" : out;
}

TEST_CASE("grid: no cell is a defect") {
  for (const RowCells& r : TheGrid().cells)
    for (const CaseCells& c : r.cases)
      for (size_t f = 0; f < OutputKinds().size(); ++f) {
        if (c.cells[f].kind != Cell::Kind::kBroken) continue;
        FAIL_CHECK(fmt::format("{} {} ({}) to {}: {}", r.row->place, r.row->name, c.label,
                               OutputKinds()[f].name, c.cells[f].reason));
      }
}

// The text of a file that scripts/update-grid writes; NN_CROSS_UPDATE rewrites it.
void CheckWritten(const std::string& path, const std::string& text) {
  if (std::getenv("NN_CROSS_UPDATE") != nullptr) WriteText(path, text);
  CAPTURE(path);
  REQUIRE(Exists(path));
  const std::string want = ReadText(path);
  CHECK_MESSAGE(text == want, LineDiff(want, text));
}

// Then the files are not checked as wholes.
constexpr bool kSomeRows = kRowStep > 1;

std::string GridFile(const std::string& family) {
  return fmt::format("{}/{}.grid", RowsFolder(), family);
}

TEST_CASE("grid: the cells of some rows are in the grid files" * doctest::skip(!kSomeRows)) {
  for (const RowCells& r : TheGrid().cells) {
    const std::string file = ReadText(GridFile(r.row->family));
    const std::string cells = GridText({&r, 1});
    CHECK_MESSAGE(file.find(cells) != std::string::npos, r.row->place, "\n", cells);
  }
}

TEST_CASE("grid: the cells are those of the grid files" * doctest::skip(kSomeRows)) {
  std::map<std::string, std::vector<RowCells>> families;
  for (const RowCells& r : TheGrid().cells) families[r.row->family].push_back(r);
  for (const auto& entry : families) CheckWritten(GridFile(entry.first), GridText(entry.second));
}

TEST_CASE("grid: the differences of rewrites are those of the list" * doctest::skip(kSomeRows)) {
  CheckWritten(SourcePath("tests/cross/REWRITES.md"), RewritesText(TheGrid().cells));
}

// Whether the row's operator is in the graph with an input that is not constant; otherwise it is
// folded, which proves nothing.
bool IsComputed(const std::string& text, std::string_view op) {
  const auto graph = ParseGraph(text);
  if (!graph) return false;
  return std::any_of(graph->nodes().begin(), graph->nodes().end(), [&](const Node& node) {
    if (!node.Is(op)) return false;
    const auto inputs = node.inputs();
    return inputs.empty() || std::any_of(inputs.begin(), inputs.end(), [](const Value* v) {
             return v != nullptr && !v->is_constant();
           });
  });
}

// What the rows prove about each operator in each format.
std::vector<app::SupportCell> ProvenCells() {
  std::map<std::string_view, std::map<size_t, app::SupportCell>> cells;  // by operator and format
  for (const RowCells& r : TheGrid().cells) {
    const std::vector<CrossCase> cases = r.row->Cases();
    for (size_t i = 0; i < r.cases.size(); ++i) {
      if (!IsComputed(cases[i].graph, r.row->op())) continue;
      for (size_t f = 0; f < OutputKinds().size(); ++f) {
        app::SupportCell& cell = cells[r.row->op()][f];
        const Cell::Kind kind = r.cases[i].cells[f].kind;
        cell.op = r.row->op();
        cell.format = OutputKinds()[f].name;
        cell.one_to_one += kind == Cell::Kind::kOneToOne ? 1 : 0;
        cell.rewritten += kind == Cell::Kind::kRewritten ? 1 : 0;
        cell.refused += kind == Cell::Kind::kRefused || kind == Cell::Kind::kDrift ? 1 : 0;
      }
    }
  }
  std::vector<app::SupportCell> out;
  for (const auto& [op, formats] : cells)
    for (const auto& [f, cell] : formats) out.push_back(cell);
  return out;
}

std::string SupportSource(std::span<const app::SupportCell> cells) {
  std::string out =
      "// Written by scripts/update-grid; do not edit.\n#include \"apps/nnconvert/support.h\"\n\n"
      "namespace nn::app {\n\nstd::span<const SupportCell> SupportCells() {\n"
      "  static constexpr SupportCell kCells[] = {\n";
  for (const app::SupportCell& cell : cells)
    out += fmt::format("      {{\"{}\", \"{}\", {}, {}, {}}},\n", cell.op, cell.format,
                       cell.one_to_one, cell.rewritten, cell.refused);
  return out + "  };\n  return kCells;\n}\n\n}  // namespace nn::app\n";
}

// A claim needs a row that proves it, and everything that the rows prove is claimed.
TEST_CASE("grid: the support table has the counts of the cells" * doctest::skip(kSomeRows)) {
  const std::vector<app::SupportCell> cells = ProvenCells();
  CheckWritten(SourcePath("apps/nnconvert/support_cells.cc"), SupportSource(cells));
  CheckWritten(SourcePath("SUPPORT.md"), app::SupportMarkdown(cells));
}

}  // namespace
}  // namespace nn::test::grid_test
