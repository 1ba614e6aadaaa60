#include <doctest/doctest.h>
#include <fmt/format.h>

#include <span>

#include "support/run_graph.h"

namespace nn::test::scatter_test {
namespace {

struct Row {
  const char *x, *indices, *updates, *attrs;
};

void Scatter(const char* op, const std::string& type, const std::string& index, const Row& row,
             const std::string& reduction, const std::vector<double>& values) {
  std::string attrs = row.attrs;
  if (!reduction.empty()) attrs += (attrs.empty() ? "" : ", ") + ("reduction = " + reduction);
  RunOnKernelsWithIndices(
      fmt::format("graph {{ in %x: {0}{1}  in %i: {2}{3}  in %u: {0}{4}  "
                  "%y = {5}(%x, %i, %u) {6}  out \"y\" = %y }}",
                  type, row.x, index, row.indices, row.updates, op, Braced(attrs.c_str())),
      values);
}

// Several updates meet in one element.
const std::vector<double> kSome = {2, -1, 0, 1, -3, 1};

// The last of each has several items.
const Row kNd[] = {{"[3, 40]", "[5, 1]", "[5, 40]", ""},
                   {"[3, 4, 3]", "[2, 7, 2]", "[2, 7, 3]", ""},
                   {"[3, 3]", "[50, 2]", "[50]", ""},
                   {"[4, 5]", "[3, 0]", "[3, 4, 5]", ""},
                   {"[3, 20000]", "[4, 1]", "[4, 20000]", ""}};
const Row kElements[] = {{"[3, 40]", "[5, 40]", "[5, 40]", "axis = 0"},
                         {"[7, 3]", "[6, 8]", "[6, 8]", "axis = 1"},
                         {"[4, 3, 9]", "[3, 6, 8]", "[3, 6, 8]", "axis = -2"},
                         {"[3]", "[11]", "[11]", ""},
                         {"[3, 2, 500]", "[90, 2, 400]", "[90, 2, 400]", ""}};

std::span<const Row> RowsOf(std::span<const Row> rows, bool all) {
  return all ? rows : rows.first(rows.size() - 1);
}

TEST_CASE("scatter kernels: every type") {
  for (const char* type : {"f32", "u8", "i64", "f16", "c128", "bool"})
    for (const char* index : {"i32", "i64"}) {
      const bool all = type == std::string("f32");
      for (const Row& row : RowsOf(kNd, all)) Scatter("scatter_nd", type, index, row, "", kSome);
      for (const Row& row : RowsOf(kElements, all))
        Scatter("scatter_elements", type, index, row, "", kSome);
    }
}

TEST_CASE("scatter kernels: every reduction, in the order of the updates") {
  for (const char* type : {"f32", "f64", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"})
    for (const char* reduction : {"add", "mul", "min", "max"}) {
      const bool all = type == std::string("f32") && reduction == std::string("add");
      for (const Row& row : RowsOf(kNd, all))
        Scatter("scatter_nd", type, "i64", row, reduction, kSome);
      for (const Row& row : RowsOf(kElements, all))
        Scatter("scatter_elements", type, "i32", row, reduction, kSome);
    }
}

TEST_CASE("gather_elements kernels") {
  for (const char* type : {"f32", "u8", "i64", "f16", "c128"})
    for (const char* index : {"i32", "i64"})
      for (const Row& row : RowsOf(kElements, type == std::string("f32")))
        RunOnKernelsWithIndices(
            fmt::format("graph {{ in %x: {}{}  in %i: {}{}  %y = gather_elements(%x, %i) {} "
                        " out \"y\" = %y }}",
                        type, row.x, index, row.indices, Braced(row.attrs)),
            kSome);
  RunOnKernelsWithIndices(R"(graph { in %x: f32[3, 70000]  in %i: i32[2, 70000]
                        %y = gather_elements(%x, %i) out "y" = %y })",
                          kSome);
}

// The updated tensor is computed in the memory of the result, unless it has other uses.
TEST_CASE("scatter kernels: in place, and where that is not possible") {
  for (const char* outputs :
       {R"(out "y" = %y)", R"(%z = sin(%y)  out "z" = %z)", R"(out "y" = %y  out "t" = %t)",
        R"(%z = add(%y, %t)  out "z" = %z)", R"(%z = concat(%t, %y) {axis = 0}  out "z" = %z)"})
    RunOnKernelsWithIndices(
        fmt::format(R"(graph {{ in %x: f32[3, 40]  in %i: i64[4, 1]  in %u: f32[4, 40]
                                       %t = tanh(%x)  %y = scatter_nd(%t, %i, %u)  {} }})",
                    outputs),
        kSome);
  RunOnKernelsWithIndices(R"(graph { in %x: f32[3, 40]  in %i: i64[4, 1]
                        %t = tanh(%x)  %u = gather(%t, %i)  %v = reshape(%u) {dims = [4, 40]}
                        %y = scatter_nd(%t, %i, %v) {reduction = add}  out "y" = %y })",
                          kSome);
}

TEST_CASE("scatter kernels: an index outside is an error of the run") {
  for (const char* op : {"scatter_nd", "scatter_elements"}) {
    const Graph graph = Parse(fmt::format(
        R"(graph {{ in %x: f32[3, 2]  in %i: i32[40, {0}]  in %u: f32[40, {1}]
                    %y = {2}(%x, %i, %u)  out "y" = %y }})",
        op == std::string("scatter_nd") ? 1 : 2, 2, op));
    std::vector<double> indices(op == std::string("scatter_nd") ? 40 : 80, 1);
    indices[7] = 3;
    indices[30] = -4;
    const auto inputs =
        InputsOf(graph, {{1, 2, 3, 4, 5, 6}, indices, std::vector<double>(80, 0.5)});
    CheckHasKernels(graph);
    CheckSameError(graph, inputs);
  }
}

}  // namespace
}  // namespace nn::test::scatter_test
