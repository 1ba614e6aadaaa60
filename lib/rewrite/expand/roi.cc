// roi_align in elementary operators.
#include <algorithm>
#include <array>
#include <vector>

#include "ir/op_def.h"
#include "ir/types/axis_map.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/nn/detect/roi.h"
#include "ops/nn/pool.h"
#include "rewrite/expand.h"
#include "rewrite/expand/index.h"

namespace nn {
namespace {

// The two elements of an axis that each sample takes, as values of the shape [regions, samples].
struct SampledAxis {
  Value* inside;                 // bool: whether the sample is inside the image
  std::array<Value*, 2> index;   // float32
  std::array<Value*, 2> weight;  // float32
};

// Computes the positions in the order of roi_align's evaluation (ops/nn/detect/roi.h).
class RegionSampler {
 public:
  RegionSampler(Graph& graph, Node& node)
      : e_(graph, node), a_(node.attrs<RoiAlignAttrs>()), rois_(node.input(1)) {}

  // x [images, height, width, channels] -> y [regions, height, width, channels].
  Result<Value*> Sample(Value* x, Value* batch) {
    const Dims& dims = *x->type().dims;
    const int64_t height = dims[1].value(), width = dims[2].value();
    NN_ASSIGN(SampledAxis rows, AxisOf(1, a_.height, height));
    NN_ASSIGN(SampledAxis columns, AxisOf(0, a_.width, width));
    NN_RETURN_IF_ERROR(InsertAxis(rows, 2));
    NN_RETURN_IF_ERROR(InsertAxis(columns, 1));
    for (Value*& row : rows.index) {
      NN_ASSIGN(row, With("mul", row, static_cast<double>(width)));
      if (dims[0] == 1) continue;
      NN_ASSIGN(Value * image, e_.Add("cast", {batch}, CastAttrs{.to = DType::kF32}));
      NN_ASSIGN(image, e_.Add("expand_dims", {image}, AxesAttrs{{1, 2}}));
      NN_ASSIGN(image, With("mul", image, static_cast<double>(height * width)));
      NN_ASSIGN(row, e_.Add("add", {row, image}));
    }
    NN_ASSIGN(Value* const all,
              e_.Add("reshape", {x}, ReshapeAttrs{{dims[0] * dims[1] * dims[2], dims[3]}, false}));
    const bool largest = a_.mode == RoiMode::kMax;
    Value* y = nullptr;
    for (const size_t i : {0, 1})
      for (const size_t k : {0, 1}) {
        NN_ASSIGN(Value * v, Gathered(all, rows.index[i], columns.index[k]));
        NN_ASSIGN(Value * weight, e_.Add("mul", {rows.weight[i], columns.weight[k]}));
        NN_ASSIGN(weight, e_.Add("expand_dims", {weight}, AxesAttrs{{3}}));
        NN_ASSIGN(v, e_.Add("mul", {v, weight}));
        if (y != nullptr) {
          NN_ASSIGN(v, e_.Add(largest ? "maximum" : "add", {y, v}));
        }
        y = v;
      }
    NN_ASSIGN(Value * inside, e_.Add("and", {rows.inside, columns.inside}));
    NN_ASSIGN(inside, e_.Add("expand_dims", {inside}, AxesAttrs{{3}}));
    NN_ASSIGN(Value* const zero, e_.Number(DType::kF32, 0));
    NN_ASSIGN(y, e_.Add("select", {inside, y, zero}));
    return a_.sampling_ratio == 1 ? Result<Value*>(y) : Pooled(y);
  }

  bool Replace(Value* y) { return e_.Replace(y); }

 private:
  Result<Value*> With(std::string_view op, Value* x, double number) {
    NN_ASSIGN(Value* const n, e_.Number(DType::kF32, number));
    return e_.Add(op, {x, n});
  }

  // A coordinate of all regions, in elements: [regions, 1].
  Result<Value*> Coordinate(int64_t at) {
    NN_ASSIGN(Value * c, e_.Add("slice", {rois_}, SliceAttrs{{1}, {at}, {at + 1}, {1}}));
    NN_ASSIGN(c, With("mul", c, a_.spatial_scale));
    return a_.half_pixel ? With("sub", c, 0.5) : Result<Value*>(c);
  }

  // Positions of the samples on an axis, in order: [regions, bins * samples].
  Result<Value*> Positions(int64_t coordinate, int64_t bins) {
    NN_ASSIGN(Value* const start, Coordinate(coordinate));
    NN_ASSIGN(Value * bin, Coordinate(coordinate + 2));
    NN_ASSIGN(bin, e_.Add("sub", {bin, start}));
    if (!a_.half_pixel) {
      NN_ASSIGN(Value* const one, e_.Number(DType::kF32, 1));
      NN_ASSIGN(Value* const enough, e_.Add("greater_equal", {bin, one}));  // false for NaN
      NN_ASSIGN(bin, e_.Add("select", {enough, bin, one}));
    }
    NN_ASSIGN(bin, With("div", bin, static_cast<double>(bins)));
    const int64_t samples = a_.sampling_ratio;
    std::vector<float> bins_before, middles;
    for (int64_t b = 0; b < bins; ++b)
      for (int64_t i = 0; i < samples; ++i) {
        bins_before.push_back(static_cast<float>(b));
        middles.push_back(static_cast<float>(i) + 0.5f);
      }
    const auto constant = [&](const std::vector<float>& v) {
      return e_.Constant(Tensor::Of({bins * samples}, v));
    };
    NN_ASSIGN(Value * p, e_.Add("mul", {bin, constant(bins_before)}));
    NN_ASSIGN(p, e_.Add("add", {start, p}));
    NN_ASSIGN(Value * within, e_.Add("mul", {bin, constant(middles)}));
    NN_ASSIGN(within, With("div", within, static_cast<double>(samples)));
    return e_.Add("add", {p, within});
  }

  Result<SampledAxis> AxisOf(int64_t coordinate, int64_t bins, int64_t size) {
    NN_ASSIGN(Value * p, Positions(coordinate, bins));
    NN_ASSIGN(Value* const low, e_.Number(DType::kF32, -1));
    NN_ASSIGN(Value* const high, e_.Number(DType::kF32, static_cast<double>(size)));
    NN_ASSIGN(Value* const zero, e_.Number(DType::kF32, 0));
    NN_ASSIGN(Value* const above, e_.Add("greater_equal", {p, low}));
    NN_ASSIGN(Value* const below, e_.Add("less_equal", {p, high}));
    SampledAxis axis{};
    NN_ASSIGN(axis.inside, e_.Add("and", {above, below}));
    NN_ASSIGN(p, e_.Add("select", {axis.inside, p, zero}));
    const auto last = static_cast<float>(size - 1);
    NN_ASSIGN(p, e_.Add("clip", {p}, ClipAttrs{0, last}));
    NN_ASSIGN(axis.index[0], e_.Add("floor", {p}));
    NN_ASSIGN(axis.index[1], With("add", axis.index[0], 1));
    NN_ASSIGN(axis.index[1], With("minimum", axis.index[1], last));
    NN_ASSIGN(axis.weight[1], e_.Add("sub", {p, axis.index[0]}));
    NN_ASSIGN(Value* const one, e_.Number(DType::kF32, 1));
    NN_ASSIGN(axis.weight[0], e_.Add("sub", {one, axis.weight[1]}));
    return axis;
  }

  Status InsertAxis(SampledAxis& axis, int64_t at) {
    for (Value** v :
         {&axis.inside, &axis.index[0], &axis.index[1], &axis.weight[0], &axis.weight[1]}) {
      NN_ASSIGN(*v, e_.Add("expand_dims", {*v}, AxesAttrs{{at}}));
    }
    return {};
  }

  Result<Value*> Gathered(Value* all, Value* row, Value* column) {
    NN_ASSIGN(Value * index, e_.Add("add", {row, column}));
    NN_ASSIGN(index, e_.Add("cast", {index}, CastAttrs{.to = DType::kI32}));
    return e_.Add("gather", {all, index}, GatherAttrs{0, 0});
  }

  // The samples of each bin in one.
  Result<Value*> Pooled(Value* y) {
    const auto pool = [&](auto attrs, std::string_view op) {
      attrs.layout = Layout::kNxc;
      attrs.kernel = attrs.strides = {a_.sampling_ratio, a_.sampling_ratio};
      return e_.Add(op, {y}, attrs);
    };
    return a_.mode == RoiMode::kMax ? pool(MaxPoolAttrs(), "max_pool")
                                    : pool(AveragePoolAttrs(), "average_pool");
  }

  Expansion e_;
  const RoiAlignAttrs& a_;
  Value* rois_;
};

}  // namespace

Result<bool> ExpandRoiAlign(Graph& graph, Node& node) {
  const auto& a = node.attrs<RoiAlignAttrs>();
  Value* x = node.input(0);
  if (!IsPlainF32(node) || node.input(1)->dtype() != DType::kF32 || a.sampling_ratio < 1)
    return false;
  const Dims& dims = *x->type().dims;
  const auto sizes = ConstDims(SpatialDims(dims, a.layout));
  // Positions are computed in float32.
  constexpr int64_t kMaxPositions = int64_t{1} << 24;
  if (!sizes || !dims[0].is_const() ||
      !ElementsWithin({dims[0].value(), (*sizes)[0], (*sizes)[1]}, kMaxPositions) ||
      !ElementsWithin({std::max(a.height, a.width), a.sampling_ratio}, kMaxElements))
    return false;
  for (const Value* v : node.inputs())
    if (std::ranges::any_of(*v->type().dims, [](const Dim& d) { return d == 0; })) return false;
  if (a.layout == Layout::kNcx) {
    NN_ASSIGN(x, Rearrange(graph, x, AxisMap::ChannelsLast(4)));
  }
  RegionSampler sampler(graph, node);
  NN_ASSIGN(Value * y, sampler.Sample(x, node.input(2)));
  if (a.layout == Layout::kNcx) {
    NN_ASSIGN(y, Rearrange(graph, y, AxisMap::ChannelsFirst(4)));
  }
  return sampler.Replace(y);
}

}  // namespace nn
