// dft and stft as matrix products.
#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "ir/op_def.h"
#include "ir/types/axis_map.h"
#include "numeric/doubles.h"
#include "ops/math/dft.h"
#include "ops/nn/conv.h"
#include "ops/support/term_ops.h"
#include "ops/support/types.h"
#include "rewrite/expand.h"
#include "rewrite/expand/index.h"

namespace nn {
namespace {

// A transform of n complex numbers as a matrix: a row for each part of the elements that are given,
// and a column for each part of the results. The other elements are zeros, or the conjugates of
// those in a half spectrum.
struct TransformMatrix {
  int64_t n;
  bool inverse;
  bool from_half;
  int64_t elements, element_parts;
  int64_t results, result_parts;

  int64_t rows() const { return elements * element_parts; }
  int64_t columns() const { return results * result_parts; }

  double At(int64_t row, int64_t column) const {
    const int64_t j = row / element_parts, k = column / result_parts;
    const bool from_imaginary = row % element_parts == 1, to_imaginary = column % result_parts == 1;
    double scale = inverse ? 1.0 / static_cast<double>(n) : 1.0;
    if (from_half) {
      const bool is_real = j == 0 || 2 * j == n;
      if (is_real && from_imaginary) return 0;
      if (!is_real) scale *= 2;
    }
    const UnitRoot root = UnitRootOf(j * k % n, n);
    if (from_imaginary == to_imaginary) return scale * root.cos;
    // The root's imaginary part has the sign of the exponent, and i i = -1.
    return from_imaginary == inverse ? -scale * root.sin : scale * root.sin;
  }

  // Row-major.
  std::vector<float> Elements() const {
    std::vector<float> m;
    for (int64_t r = 0; r < rows(); ++r)
      for (int64_t c = 0; c < columns(); ++c) m.push_back(static_cast<float>(At(r, c)));
    return m;
  }

  bool IsSmall() const { return ElementsWithin({rows(), columns()}, kMaxElements).has_value(); }
};

// The number in an input; nullopt if it is computed. `otherwise` if the input is absent.
std::optional<int64_t> NumberIn(const Node& node, size_t input, const Dim& otherwise) {
  if (node.input(input) == nullptr)
    return otherwise.is_const() ? std::optional(otherwise.value()) : std::nullopt;
  const Value* v = node.input(input);
  if (!v->is_constant() || v->constant().elements() != 1) return std::nullopt;
  return v->constant().GetInt(0);
}

// x [..., elements, parts] of shape `dims` -> y [..., results, parts].
Term Transformed(const Term& x, Dims dims, const TransformMatrix& m) {
  dims.pop_back();
  dims.back() = Dim(m.rows());
  const Term y = Matmul(Reshape(x, dims), Tensor::Of({m.rows(), m.columns()}, m.Elements()));
  dims.back() = Dim(m.results);
  dims.emplace_back(m.result_parts);
  return Reshape(y, dims);
}

bool IsEmptyShape(const Dims& dims) {
  return std::ranges::any_of(dims, [](const Dim& d) { return d == 0; });
}

// The number of elements in a frame of stft.
std::optional<int64_t> FrameSize(const Node& node) {
  const Value* const window = node.input(2);
  const Dim& whole = window != nullptr ? window->type().dim(0) : node.input(0)->type().dim(1);
  return NumberIn(node, 3, whole);
}

// A window that is known, or none, is a part of the filter of a convolution.
Term ByConvolution(const Node& node, const TransformMatrix& m, int64_t step) {
  const Value* const window = node.input(2);
  const int64_t parts = m.element_parts;
  std::vector<float> filter;
  for (int64_t c = 0; c < m.columns(); ++c)
    for (int64_t part = 0; part < parts; ++part)
      for (int64_t i = 0; i < m.n; ++i) {
        const double factor = window != nullptr ? window->constant().GetDouble(i) : 1;
        filter.push_back(static_cast<float>(m.At(i * parts + part, c) * factor));
      }
  ConvAttrs a;
  a.layout = Layout::kNxc;
  a.filter_layout = FilterLayout::kOix;
  a.strides = {step};
  const Term y =
      Apply("conv", {node.input(0), Tensor::Of({m.columns(), parts, m.n}, filter)}, std::move(a));
  const Dims &signal = *node.input(0)->type().dims, &result = *node.output()->type().dims;
  return Reshape(y, {signal[0], result[1], Dim(m.results), Dim(m.result_parts)});
}

// The frames, gathered, are multiplied by a window that is computed.
Term ByFrames(const Node& node, const TransformMatrix& m, int64_t step, int64_t frames) {
  std::vector<int32_t> index;
  for (int64_t f = 0; f < frames; ++f)
    for (int64_t i = 0; i < m.n; ++i) index.push_back(static_cast<int32_t>(f * step + i));
  const Term x = Gather(node.input(0), Tensor::Of({frames, m.n}, index), 1);
  const Term window = Reshape(node.input(2), {Dim(m.n), Dim(1)});
  const Dims& signal = *node.input(0)->type().dims;
  return Transformed(x * window, {signal[0], Dim(frames), Dim(m.n), signal[2]}, m);
}

}  // namespace

Result<bool> ExpandDft(Graph& graph, Node& node) {
  const auto& a = node.attrs<DftAttrs>();
  const Dims& dims = *node.input(0)->type().dims;
  const int rank = node.input(0)->type().rank();
  if (!IsPlainF32(node) || node.input(2) != nullptr || IsEmptyShape(dims)) return false;
  NN_ASSIGN(const int axis, NormalizeAxis(a.axis, rank));
  const Dim &size = dims[static_cast<size_t>(axis)], &parts = dims.back();
  const Dim& results = node.output()->type().dim(axis);
  const bool from_half = a.inverse && a.onesided;
  const auto n = NumberIn(node, 1, from_half ? (size - 1) * 2 : size);
  if (!n || *n < 1 || !size.is_const() || !parts.is_const() || !results.is_const()) return false;
  const int64_t given = std::min(size.value(), from_half ? *n / 2 + 1 : *n);
  const TransformMatrix m{
      *n, a.inverse, from_half, given, parts.value(), results.value(), from_half ? 1 : 2};
  if (!m.IsSmall()) return false;
  Term x = node.input(0);
  if (given < size.value()) x = Slice(x, axis, 0, given);
  // The axis comes before that of the parts.
  std::vector<int64_t> perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  std::rotate(perm.begin() + axis, perm.begin() + axis + 1, perm.end() - 1);
  const AxisMap map = AxisMap::Permutation(perm);
  const auto transposed = [](const Term& v, const AxisMap& by) {
    return by.IsIdentity() ? v : Transpose(v, {by.from().begin(), by.from().end()});
  };
  Dims moved;
  for (const int64_t k : perm) moved.push_back(dims[static_cast<size_t>(k)]);
  const Term y = Transformed(transposed(x, map), std::move(moved), m);
  return Expansion(graph, node).Replace(transposed(y, map.Inverse()));
}

Result<bool> ExpandStft(Graph& graph, Node& node) {
  const Value *const signal = node.input(0), *const window = node.input(2);
  const Dims& dims = *signal->type().dims;
  const auto step = NumberIn(node, 1, Dim(1)), n = FrameSize(node);
  const auto y = *node.output()->type().dims;
  if (!IsPlainF32(node) || !step || !n || *step < 1 || *n < 1 || !dims[2].is_const() ||
      !y[1].is_const() || !y[2].is_const() || IsEmptyShape(dims) || IsEmptyShape(y) ||
      (window != nullptr && window->type().dim(0) != *n))
    return false;
  const TransformMatrix m{*n, false, false, *n, dims[2].value(), y[2].value(), 2};
  if (!m.IsSmall()) return false;
  Expansion e(graph, node);
  if (window == nullptr || window->is_constant()) return e.Replace(ByConvolution(node, m, *step));
  if (!ElementsWithin({y[1].value(), *n}, kMaxElements)) return false;
  return e.Replace(ByFrames(node, m, *step, y[1].value()));
}

}  // namespace nn
