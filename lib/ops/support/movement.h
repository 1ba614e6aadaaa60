// Shared by the operators that only move elements: tables of the source positions along each axis,
// and how axis attributes follow a permutation.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/status.h"
#include "ir/op_def.h"
#include "ir/tensor.h"
#include "ir/types/axis_map.h"
#include "ir/types/type.h"

namespace nn {

// The source positions of the elements along one axis of a result. Element (i, j, ...) of the
// result is the element at position table0[i] + table1[j] + ... of the source, or the fill value if
// one of the entries is kFillEntry. Covers most operators that move elements, whatever their
// element type: slices, padding, tiles, transpositions, blocks moved between space and depth.
using AxisTable = std::vector<int64_t>;
inline constexpr int64_t kFillEntry = -1;

// The table of an unchanged axis: 0, step, 2 * step, ...
AxisTable WholeAxis(int64_t size, int64_t step);

// Tables that leave every axis unchanged; operators replace the tables of the axes that they
// change.
std::vector<AxisTable> WholeAxes(const std::vector<int64_t>& dims);

// Calls fn(to, from, count) for runs of elements that are adjacent in result and source, or that
// are all filled (from == kFillEntry), in order of `to`.
template <typename Fn>
void ForEachRun(std::span<const AxisTable> tables, Fn fn);

// The tensor that the tables describe. `fill` holds one element of the same type; it may be null if
// no table has a kFillEntry.
Result<Tensor> MoveElements(const Tensor& source, std::span<const AxisTable> tables,
                            const Tensor* fill = nullptr);

// The same for contents known as expressions.
Dims MoveElements(const Dims& source, std::span<const AxisTable> tables, const Dim& fill = 0);

using TablesFn = std::function<std::vector<AxisTable>()>;

// For evaluation: output 0 from input 0. The tables are built only if the output has elements: the
// axes of an empty tensor may have any length.
Status MoveInput(EvalContext& ctx, const TablesFn& tables, const Tensor* fill = nullptr);

// For inference, after set_out: sets the contents of output 0 from those of input 0 if they are
// known and not too many.
void MoveKnownElements(InferContext& ctx, const TablesFn& tables, const Dim& fill = 0);

// One zero element: the zero point of a quantized type, false, "".
Result<Tensor> ZeroElement(const Type& type);

// Whether a value is a constant whose elements are all zero, as in ZeroElement().
bool IsZeros(const Value& v);

// The contents of an integer operand: the expressions known to inference, or the elements of a
// tensor.
std::optional<Dims> Contents(const InferContext& ctx, size_t input);
std::optional<Dims> Contents(const EvalContext& ctx, size_t input);

// A shape or a list of counts: the attribute, or the contents of an input in its place; nullopt if
// those are not known (their number may be: see KnownLength). kModel if there are both, or for a
// negative entry; kLimit above kMaxRank.
Result<std::optional<Dims>> SizesOf(const InferContext& ctx, const Dims& attr, size_t input);

// kUnsupported for inputs with per-axis quantization, whose scales would have to be moved too.
Status RequirePerTensor(const InferContext& ctx, size_t input);

// The element type only: the result of an operator on a tensor of unknown rank.
Type Unranked(const Type& like);

// kUnsupported unless the shape of an input is known; the message names the input.
Result<std::vector<int64_t>> KnownDims(const InferContext& ctx, size_t input);

// Axes after a permutation, normalized; nullopt if it drops one of them.
std::optional<std::vector<int64_t>> MapAxes(std::span<const int64_t> axes, const AxisMap& map);
std::optional<int64_t> MapAxis(int64_t axis, const AxisMap& map);

// A list with one entry per axis, after a permutation; added axes get `neutral`, and dropped axes
// must hold it (nullopt otherwise).
template <typename T>
std::optional<std::vector<T>> MapPerAxis(const std::vector<T>& values, const AxisMap& map,
                                         const T& neutral) {
  for (int axis = 0; axis < map.source_rank(); ++axis)
    if (!map.ResultAxis(axis) && !(values[static_cast<size_t>(axis)] == neutral))
      return std::nullopt;
  std::vector<T> out;
  out.reserve(map.from().size());
  for (const int f : map.from())
    out.push_back(f == AxisMap::kNew ? neutral : values[static_cast<size_t>(f)]);
  return out;
}

// The change of a node whose tensors, inputs [0, tensors) and all outputs, all have the same axes.
AxesChange SameAxesChange(const Node& node, Operand changed, const AxisMap& map, Attrs attrs,
                          size_t tensors = 1);

// The change of a node with an attribute `layout`; its first input and its outputs have those axes.
std::optional<AxesChange> LayoutChange(const Node& node, Operand changed, const AxisMap& map);

// ---- Implementation -----------------------------------------------------------------------------

namespace internal {

struct Run {
  int64_t to, from, count;
};

// Runs of one axis whose source positions are consecutive, or filled.
std::vector<Run> RunsOf(const AxisTable& table);

}  // namespace internal

template <typename Fn>
void ForEachRun(std::span<const AxisTable> tables, Fn fn) {
  if (tables.empty()) return fn(int64_t{0}, int64_t{0}, int64_t{1});
  for (const AxisTable& t : tables)
    if (t.empty()) return;
  const auto outer = tables.first(tables.size() - 1);
  const auto row = static_cast<int64_t>(tables.back().size());
  const auto runs = internal::RunsOf(tables.back());
  std::vector<size_t> index(outer.size(), 0);
  int64_t to = 0;
  while (true) {
    int64_t base = 0;
    bool filled = false;
    for (size_t d = 0; d < outer.size(); ++d) {
      const int64_t entry = outer[d][index[d]];
      filled |= entry == kFillEntry;
      base += entry;
    }
    if (filled) {
      fn(to, kFillEntry, row);
    } else {
      for (const internal::Run& r : runs)
        fn(to + r.to, r.from == kFillEntry ? kFillEntry : base + r.from, r.count);
    }
    to += row;
    size_t d = outer.size();
    while (d > 0 && ++index[d - 1] == outer[d - 1].size()) index[--d] = 0;
    if (d == 0) return;
  }
}

}  // namespace nn
