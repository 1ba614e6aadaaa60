// The rows of tests/cross: graphs of one operator, in the forms that the suite claims to support.
//
// A file in tests/cross/rows holds the rows of one family:
//
//   # Comments begin with '#'.
//   row cum_sum/types
//   for T in f32 | i32
//   for A in 0 | -1
//   range x -2 2
//   graph {
//     in %x: $T[2, 3]
//     %y = cum_sum(%x) {axis = $A}
//     out "y" = %y
//   }
//
// A row is named after its operator; "/" and a detail follow if the operator has several. Every
// combination of the values of "for" is a case: $T is replaced by the value. "range" gives the
// smallest and the largest element of an input, by name; other inputs are SeededTensor's.
//
// Design: docs/design/059-support-claims.md.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/graph.h"
#include "ir/tensor.h"
#include "support/sanitizer.h"

namespace nn::test {

// Every how many rows the tests that convert them all take one: with a sanitizer, a row takes
// twenty times as long, and builds without one take each. An operator has ten rows on average.
inline constexpr size_t kRowStep = NN_ADDRESS_SANITIZER ? 6 : 1;

struct CrossCase {
  std::string label;  // the values: "f32, -1"; empty if the row has no "for"
  std::string graph;  // text
};

struct Row {
  std::string name;
  std::string family;  // the file's name without ".rows"
  std::string place;   // "cum_sum.rows:12"
  std::vector<std::pair<std::string, std::vector<std::string>>> variables;
  std::map<std::string, std::pair<double, double>, std::less<>> ranges;
  std::string graph;

  // "cum_sum" for "cum_sum/types".
  std::string_view op() const { return std::string_view(name).substr(0, name.find('/')); }
  // The first variable changes slowest.
  std::vector<CrossCase> Cases() const;
};

// All rows of a folder, by family, in file order. kParse, with the location, for a line that is not
// one of those above and for a name that two rows have; kIo for a folder without rows.
Result<std::vector<Row>> ReadRows(const std::string& folder);
// One of kRowStep of them.
Result<std::vector<Row>> ReadSomeRows(const std::string& folder);
// The rows of one file's text.
Result<std::vector<Row>> ParseRows(std::string_view text, const std::string& family);

// The folder of the project's own rows, or the one in NN_CROSS_ROWS.
std::string RowsFolder();

// The inputs of a case: drawn from the row's ranges, or seeded. Requires known shapes.
Result<Tensor> CaseInput(const Row& row, std::string_view name, const Type& type, size_t i,
                         uint64_t seed);

}  // namespace nn::test
