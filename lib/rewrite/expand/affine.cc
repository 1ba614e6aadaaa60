#include "rewrite/expand/affine.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "base/checked_math.h"
#include "ir/tensor.h"
#include "ops/nn/resize/grid_sample.h"
#include "ops/support/term_ops.h"
#include "rewrite/expand.h"

namespace nn {
namespace {

// Limit of expansions: positions of the grid of AffineGrid.
constexpr int64_t kMaxGridPositions = int64_t{1} << 22;

// The vectors of all positions of the axes as columns: the coordinates, last axis first, and 1.
template <typename T>
Result<Tensor> AffinePositions(DType dtype, const std::vector<int64_t>& axes, bool align_corners) {
  int64_t count = 1;
  for (const int64_t n : axes) count *= n;
  const auto rows = std::ssize(axes) + 1;
  NN_ASSIGN(TensorBuilder out, TensorBuilder::Create(dtype, {rows, count}));
  for (int64_t at = 0; at < count; ++at) {
    int64_t rest = at;
    for (int64_t k = 0; k + 1 < rows; ++k) {
      const int64_t n = axes[axes.size() - 1 - static_cast<size_t>(k)];
      out.SetDouble(k * count + at, AffineCoordinate<T>(rest % n, n, align_corners));
      rest /= n;
    }
    out.SetDouble((rows - 1) * count + at, 1);
  }
  return out.Finish();
}

}  // namespace

Result<bool> ExpandAffineGrid(Graph& graph, Node& node) {
  const Type& theta = node.input(0)->type();
  const auto dims = node.output()->type().const_dims();
  const bool single = theta.dtype == DType::kF32;
  if (!dims || !theta.ranked() || (!single && theta.dtype != DType::kF64)) return false;
  const int64_t batch = dims->front(), axes = dims->back();
  const std::vector<int64_t> spatial(dims->begin() + 1, dims->end() - 1);
  const auto count = CheckedElements(spatial);
  if (!count || *count == 0 || *count > kMaxGridPositions || batch == 0) return false;
  const bool align = node.attrs<AffineGridAttrs>().align_corners;
  NN_ASSIGN(Tensor positions, single ? AffinePositions<float>(theta.dtype, spatial, align)
                                     : AffinePositions<double>(theta.dtype, spatial, align));
  const Term rows = Reshape(node.input(0), {Dim(batch * axes), Dim(axes + 1)});
  const Term y = Matmul(rows, std::move(positions));
  const Term columns = Transpose(Reshape(y, {Dim(batch), Dim(axes), Dim(*count)}), {0, 2, 1});
  return Expansion(graph, node).Replace(Reshape(columns, ToDims(*dims)));
}

}  // namespace nn
