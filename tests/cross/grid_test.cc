// Every case of every row in every format, and what the suite claims of it.
#include <doctest/doctest.h>
#include <fmt/format.h>

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
#include "support/files.h"

namespace nn::test {
namespace {

struct Grid {
  std::vector<Row> rows;
  std::vector<RowCells> cells;
};

const Grid& TheGrid() {
  static const Grid grid = [] {
    Grid g;
    auto rows = ReadRows(RowsFolder());
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
      for (size_t f = 0; f < Formats().size(); ++f) {
        if (c.cells[f].kind != Cell::Kind::kBroken) continue;
        FAIL_CHECK(fmt::format("{} {} ({}) to {}: {}", r.row->place, r.row->name, c.label,
                               Formats()[f].name, c.cells[f].reason));
      }
}

// NN_CROSS_UPDATE writes the files anew (scripts/update-grid).
TEST_CASE("grid: the cells are those of the grid files") {
  std::map<std::string, std::vector<RowCells>> families;
  for (const RowCells& r : TheGrid().cells) families[r.row->family].push_back(r);
  for (const auto& [family, rows] : families) {
    const std::string path = fmt::format("{}/{}.grid", RowsFolder(), family);
    const std::string text = GridText(rows);
    if (std::getenv("NN_CROSS_UPDATE") != nullptr) WriteText(path, text);
    CAPTURE(path);
    REQUIRE(Exists(path));
    const std::string want = ReadText(path);
    CHECK_MESSAGE(text == want, LineDiff(want, text));
  }
}

// What no row proves is not claimed, and what the rows prove is.
TEST_CASE("grid: the support table claims what a row proves") {
  std::map<std::string, std::vector<bool>> proven;  // by operator: for each format
  for (const RowCells& r : TheGrid().cells) {
    auto& written = proven.try_emplace(r.row->op(), Formats().size(), false).first->second;
    for (const CaseCells& c : r.cases)
      for (size_t f = 0; f < Formats().size(); ++f)
        if (c.cells[f].written()) written[f] = true;
  }
  for (const auto& [op, written] : proven)
    for (size_t f = 0; f < Formats().size(); ++f) {
      const OpDef* def = Ops().Find(op);
      REQUIRE(def != nullptr);
      const bool claimed = !app::SupportClaim(Formats()[f], *def).empty();
      CAPTURE(op);
      CAPTURE(Formats()[f].name);
      CHECK(claimed == written[f]);
    }
}

}  // namespace
}  // namespace nn::test
