// The rows with an input whose rank is not known: each is written, and computes the same, or is
// refused.
#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "cross/grid.h"
#include "cross/rows.h"
#include "ir/text/text.h"

namespace nn::test::ranks_test {
namespace {

TEST_CASE("ranks: a case with an input of unknown rank is written or refused") {
  const auto rows = ReadSomeRows(RowsFolder());
  REQUIRE_MESSAGE(rows.has_value(), rows.error().message());
  size_t written = 0;
  for (const Row& row : *rows)
    for (const CrossCase& c : row.Cases()) {
      const auto graph = ParseGraph(c.graph);
      REQUIRE(graph.has_value());
      for (size_t input = 0; input < graph->inputs().size(); ++input)
        for (const OutputKind& kind : OutputKinds()) {
          CAPTURE(row.place);
          CAPTURE(c.label);
          CAPTURE(input);
          CAPTURE(kind.name);
          const Cell cell = ConvertUnranked(row, c, input, kind);
          CHECK_MESSAGE(cell.kind != Cell::Kind::kBroken, cell.Text());
          written += cell.written();
        }
    }
  CHECK(written > 0);
}

}  // namespace
}  // namespace nn::test::ranks_test
