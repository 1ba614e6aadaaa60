// Resizing, cropping and sampling of the last axes.
#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

#include "formats/coreml/import/crops.h"
#include "formats/coreml/program/family.h"
#include "formats/coreml/program/import/operands.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/arrange/tile.h"
#include "ops/array/shape.h"
#include "ops/array/shape_of.h"
#include "ops/nn/resize/grid_sample.h"
#include "ops/nn/resize/resize.h"
#include "ops/nn/resize/resize_alike.h"
#include "ops/support/term_ops.h"
#include "ops/support/types.h"

namespace nn::coreml::program {
namespace {

// x, whose last two axes are H and W.
Result<Value*> ImageOf(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Ranked("x"));
  if (x->type().rank() >= 3) return x;
  return ModelError("input x is {}; must have rank 3 or more", x->type().ToString());
}

// ---- Resize -------------------------------------------------------------------------------------

// The sizes of the axes of x from `start` to `end`.
Term SizesOfAxes(const Term& x, int64_t start, int64_t end = std::numeric_limits<int64_t>::max()) {
  return Apply("shape_of", {x}, ShapeOfAttrs{.start = start, .end = end});
}

// A resize of the last `axes` axes; `sizes` unless the attributes say them. The graph's operator
// has two axes before those.
Status EmitResize(ImportContext& ctx, Value* x, int64_t axes, const ResizeAttrs& a,
                  const Term& sizes = {}, const Term& roi = {}) {
  const int64_t before = x->type().rank() - axes;
  std::vector<int64_t> added;
  for (int64_t i = before; i < 2; ++i) added.push_back(i - before);
  Term in = x;
  if (!added.empty()) in = ExpandDims(x, added);
  if (before > 2)
    in = Apply("reshape", {x, Concat({Vector({-1}), SizesOfAxes(x, before - 1)}, 0)},
               ReshapeAttrs{});
  Term y = Apply("resize", {in, roi, {}, sizes}, a);
  if (!added.empty()) y = Squeeze(y, added);
  if (before > 2)
    y = Apply("reshape", {y, Concat({SizesOfAxes(x, 0, before - 1), SizesOfAxes(y, 1)}, 0)},
              ReshapeAttrs{});
  return ctx.EmitTerm(y);
}

// The region that the elements of an axis of a size are spread over, from the first to the last
// one: half a step from both ends.
float OffsetOf(int64_t size) {
  return 0.5F / static_cast<float>(size);
}

// How positions in the input follow from those in the result, for sizes that are known or not. Sets
// coordinates and roi; the result is the roi if that depends on the run.
Result<Term> Sample(ResizeAttrs& a, const std::string& mode, int64_t axes, const Term& sizes) {
  const auto known = ConstDims(a.sizes);
  const bool is_known = !a.sizes.empty();
  if (mode == "DEFAULT") {
    a.coordinates = Coordinates::kAsymmetric;
  } else if (mode == "UNALIGN_CORNERS") {
    a.coordinates = Coordinates::kHalfPixel;
  } else if (mode == "STRICT_ALIGN_CORNERS") {
    a.coordinates = Coordinates::kAlignCorners;
  } else if (mode == "ALIGN_CORNERS") {
    // A single element is taken from the center, as a crop of the whole image does.
    const bool crops = !is_known || std::ranges::count(a.sizes, Dim(1)) > 0;
    a.coordinates = crops ? Coordinates::kCrop : Coordinates::kAlignCorners;
    if (!crops) return Term();
    a.roi.assign(static_cast<size_t>(axes), 0);
    a.roi.resize(static_cast<size_t>(2 * axes), 1);
  } else if (mode == "OFFSET_CORNERS") {
    a.coordinates = Coordinates::kCrop;
    if (!is_known) {
      const Term offset = Term(Tensor::Scalar(0.5F)) / Cast(sizes, DType::kF32);
      return Concat({offset, Term(Tensor::Scalar(1.0F)) - offset}, 0);
    }
    for (const int64_t size : *known) a.roi.push_back(OffsetOf(size));
    for (const int64_t size : *known) a.roi.push_back(1 - OffsetOf(size));
  } else {
    return ModelError("sampling_mode {} is unknown", mode);
  }
  return Term();
}

Status ImportResizeNearestNeighbor(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ImageOf(ctx));
  NN_ASSIGN(const int64_t height, ctx.Int("target_size_height"));
  NN_ASSIGN(const int64_t width, ctx.Int("target_size_width"));
  return EmitResize(ctx, x, 2,
                    {.coordinates = Coordinates::kAsymmetric,
                     .rounding = NearestRounding::kFloor,
                     .sizes = {Dim(height), Dim(width)}});
}

Status ImportResizeBilinear(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ImageOf(ctx));
  NN_ASSIGN(const int64_t height, ctx.Int("target_size_height"));
  NN_ASSIGN(const int64_t width, ctx.Int("target_size_width"));
  NN_ASSIGN(const std::string mode, ctx.String("sampling_mode"));
  ResizeAttrs a{.mode = ResizeMode::kLinear, .sizes = {Dim(height), Dim(width)}};
  NN_RETURN_IF_ERROR(Sample(a, mode, 2, {}));
  return EmitResize(ctx, x, 2, a);
}

// Sizes 0 are those of x. Unlike in resize_nearest_neighbor, positions are rounded to the nearest
// element.
Status ImportResize(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Ranked("x"));
  NN_ASSIGN(Value* const shape, ctx.In("shape"));
  NN_ASSIGN(const int64_t axes, ctx.Int("resized_dims"));
  NN_ASSIGN(const std::string interpolation, ctx.String("interpolation_mode"));
  NN_ASSIGN(const std::string mode, ctx.String("sampling_mode"));
  const int64_t rank = x->type().rank();
  const auto count = KnownLength(shape->type());
  if (!count) return UnsupportedError("the length of input shape is unknown");
  if (axes < 0 || axes > *count || *count > rank)
    return ModelError("input shape has {} elements for {} of {} axes", *count, axes, rank);
  if (interpolation != "LINEAR" && interpolation != "NEAREST_NEIGHBOR")
    return ModelError("interpolation_mode {} is unknown", interpolation);
  if (axes == 0) return ctx.EmitTerm(x);
  const Term given = Slice(Cast(shape, DType::kI64), 0, *count - axes, *count);
  NN_ASSIGN(Value* const sizes,
            ctx.Build(Select(Equal(given, 0), SizesOfAxes(x, rank - axes), given)));
  ResizeAttrs a;
  if (interpolation == "LINEAR") a.mode = ResizeMode::kLinear;
  const auto elements = KnownElements(sizes);
  const bool is_known = elements && ConstDims(*elements);
  if (is_known) a.sizes = *elements;
  NN_ASSIGN(const Term roi, Sample(a, mode, axes, sizes));
  return EmitResize(ctx, x, axes, a, is_known ? Term() : Term(sizes), roi);
}

// By factors; sizes are rounded down, and positions follow from the sizes.
Status EmitUpsample(ImportContext& ctx, ResizeAttrs a) {
  NN_ASSIGN(Value* const x, ImageOf(ctx));
  NN_ASSIGN(const float height, ctx.Float("scale_factor_height"));
  NN_ASSIGN(const float width, ctx.Float("scale_factor_width"));
  if (!(height > 0) || !(width > 0))
    return ModelError("the scale factors are {} and {}; must be above 0", height, width);
  const int rank = x->type().rank();
  if (height == std::floor(height) && width == std::floor(width)) {
    a.scales = {height, width};
    return EmitResize(ctx, x, 2, a);
  }
  const Dim &h = x->type().dim(rank - 2), &w = x->type().dim(rank - 1);
  if (h.is_const() && w.is_const()) {
    for (const auto& [size, factor] : {std::pair(h, height), std::pair(w, width)}) {
      const float scaled = std::floor(static_cast<float>(size.value()) * factor);
      if (!(scaled < 0x1p31F))
        return ModelError("the scale factor {} of an axis of size {} is out of range", factor,
                          size.value());
      a.sizes.emplace_back(static_cast<int64_t>(scaled));
    }
    return EmitResize(ctx, x, 2, a);
  }
  const Term exact =
      Cast(SizesOfAxes(x, rank - 2), DType::kF32) * Term(Tensor::Of<float>({2}, {height, width}));
  return EmitResize(ctx, x, 2, a, Cast(Apply("floor", {exact}), DType::kI64));
}

Status ImportUpsampleNearestNeighbor(ImportContext& ctx) {
  return EmitUpsample(
      ctx, {.coordinates = Coordinates::kAsymmetric, .rounding = NearestRounding::kFloor});
}

Status ImportUpsampleBilinear(ImportContext& ctx) {
  NN_ASSIGN(const bool aligns, ctx.Bool("align_corners"));
  bool half = !aligns;
  if (ctx.Has("half_pixel_centers")) {
    NN_ASSIGN(half, ctx.Bool("half_pixel_centers"));
  }
  if (aligns && half)
    return UnsupportedError("align_corners with half_pixel_centers is unsupported");
  return EmitUpsample(ctx, {.mode = ResizeMode::kLinear,
                            .coordinates = aligns ? Coordinates::kAlignCorners
                                           : half ? Coordinates::kHalfPixel
                                                  : Coordinates::kAsymmetric});
}

// ---- Crops --------------------------------------------------------------------------------------

Status ImportCrop(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ImageOf(ctx));
  SliceAttrs a;
  a.axes = {-2, -1};
  for (const std::string_view name : {"crop_height", "crop_width"}) {
    NN_ASSIGN(const auto amounts, ctx.Ints(name));
    if (amounts.size() != 2)
      return ModelError("input {} has {} elements; expected 2", name, amounts.size());
    a.starts.push_back(amounts[0]);
    a.ends.push_back(amounts[1] == 0 ? std::numeric_limits<int64_t>::max() : -amounts[1]);
  }
  return ctx.Emit("slice", {x}, std::move(a));
}

Result<CropOptions> CropOptionsOf(const ImportContext& ctx) {
  CropOptions o;
  NN_ASSIGN(o.target.emplace_back(), ctx.Int("target_height"));
  NN_ASSIGN(o.target.emplace_back(), ctx.Int("target_width"));
  NN_ASSIGN(o.is_normalized, ctx.Bool("normalized_coordinates"));
  NN_ASSIGN(o.scale, ctx.Float("spatial_scale"));
  NN_ASSIGN(const std::string boxes, ctx.String("box_coordinate_mode"));
  NN_ASSIGN(const std::string sampling, ctx.String("sampling_mode"));
  o.is_centered = boxes.starts_with("CENTER_SIZE_");
  o.is_width_first = boxes.ends_with("_WIDTH_FIRST");
  if (boxes != fmt::format("{}_{}_FIRST", o.is_centered ? "CENTER_SIZE" : "CORNERS",
                           o.is_width_first ? "WIDTH" : "HEIGHT"))
    return ModelError("box_coordinate_mode {} is unknown", boxes);
  if (sampling == "ALIGN_CORNERS")
    o.sampling = CropSampling::kAlign;
  else if (sampling == "STRICT_ALIGN_CORNERS")
    o.sampling = CropSampling::kStrictAlign;
  else if (sampling == "OFFSET_CORNERS")
    o.sampling = CropSampling::kOffset;
  else if (sampling == "UNALIGN_CORNERS")
    o.sampling = CropSampling::kUnalign;
  else if (sampling != "DEFAULT")
    return ModelError("sampling_mode {} is unknown", sampling);
  if (ctx.definition().Input("pad_value") != nullptr) {
    NN_ASSIGN(o.pad, ctx.Float("pad_value"));
  }
  return o;
}

// The numbers of images [N, 1]: those that are given, or 0, 1, ...
Result<Term> ImagesOfBoxes(ImportContext& ctx, const Dim& count) {
  NN_ASSIGN(Value* const given, ctx.Optional("box_indices"));
  if (given != nullptr) return Reshape(Wide(given), {count, Dim(1)});
  if (!count.is_const())
    return UnsupportedError("a dynamic number of boxes needs input box_indices");
  const Term numbers = Apply("range", {0, Tensor::Scalar(count.value()), 1});
  return Cast(Reshape(numbers, {count, Dim(1)}), DType::kF32);
}

// Boxes are rois [N, 1, 4 or 5, 1, 1], and since iOS17 [N, 4].
Status ImportCropResize(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Ranked("x"));
  NN_ASSIGN(const CropOptions options, CropOptionsOf(ctx));
  const bool has_rois = ctx.definition().Input("roi") != nullptr;
  NN_ASSIGN(Value* const given, ctx.Ranked(has_rois ? "roi" : "boxes"));
  if (x->type().rank() != 4 || given->type().rank() != (has_rois ? 5 : 2))
    return ModelError("x is {}, and the boxes are {}", x->type().ToString(),
                      given->type().ToString());
  const Dim count = given->type().dim(0);
  Term boxes = Reshape(Wide(given), {count, given->type().dim(has_rois ? 2 : 1)});
  if (!has_rois) {
    NN_ASSIGN(const Term images, ImagesOfBoxes(ctx, count));
    boxes = Concat({images, boxes}, 1);
  }
  NN_ASSIGN(Value* const built, ctx.Build(boxes));
  NN_ASSIGN(const Term y, ResizedCrops(ctx, x, built, options));
  return ctx.EmitTerm(has_rois ? y : Squeeze(y, {1}));
}

// ---- Samples ------------------------------------------------------------------------------------

// Reflection is at the centers of the outer elements, which align_corners means, or at their edges.
Result<GridSampleAttrs> SamplingOf(const ImportContext& ctx) {
  NN_ASSIGN(const std::string sampling, ctx.String("sampling_mode"));
  NN_ASSIGN(const std::string padding, ctx.String("padding_mode"));
  GridSampleAttrs a;
  if (sampling == "nearest")
    a.mode = ResizeMode::kNearest;
  else if (sampling != "bilinear")
    return ModelError("sampling_mode {} is unknown", sampling);
  if (padding == "border")
    a.padding = GridPadding::kBorder;
  else if (padding == "reflection" || padding == "symmetric")
    a.padding = GridPadding::kReflection;
  else if (padding != "constant")
    return ModelError("padding_mode {} is unknown", padding);
  a.align_corners = padding == "reflection";
  return a;
}

// The positions of the coordinates of samples of x, in elements from 0 on.
Result<Term> PositionsIn(ImportContext& ctx, const Term& sizes) {
  NN_ASSIGN(Value* const coordinates, ctx.In("coordinates"));
  NN_ASSIGN(const std::string mode, ctx.String("coordinates_mode"));
  NN_ASSIGN(const bool aligns, ctx.Bool("align_corners"));
  Term c = Wide(coordinates);
  if (mode == "unnormalized") return c;
  if (mode == "normalized_minus_one_to_one")
    c = (c + 1) * 0.5;
  else if (mode != "normalized_zero_to_one")
    return ModelError("coordinates_mode {} is unknown", mode);
  return aligns ? c * (sizes - 1) : c * sizes - 0.5;
}

// Coordinates for grid_sample. Positions halfway between two elements belong to the second one.
Result<Term> GridOf(ImportContext& ctx, Value* x, const GridSampleAttrs& a) {
  const Term sizes = Cast(Gather(SizesOfAxes(x, 0), Vector({3, 2}), 0), DType::kF32);
  NN_ASSIGN(Term p, PositionsIn(ctx, sizes));
  if (a.mode == ResizeMode::kNearest) p = Apply("floor", {p + 0.5});
  return a.align_corners ? p * 2 / Maximum(sizes - 1, 1) - 1 : (p * 2 + 1) / sizes - 1;
}

Status ImportResample(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Ranked("x"));
  NN_ASSIGN(const GridSampleAttrs a, SamplingOf(ctx));
  NN_ASSIGN(const float value, ctx.Float("padding_value"));
  if (x->type().rank() != 4)
    return ModelError("input x is {}; must have rank 4", x->type().ToString());
  NN_ASSIGN(const Term grid, GridOf(ctx, x, a));
  if (a.padding != GridPadding::kZeros || value == 0) return ctx.Emit("grid_sample", {x, grid}, a);
  // The value has the weights that the elements of x have not.
  const Term shape = Concat({SizeOfAxis(x, 0), Vector({1}), SizesOfAxes(x, 2)}, 0);
  const Term ones = Apply("expand", {Tensor::Scalar(1.0F), shape}, ExpandAttrs{});
  const Term weights = Apply("grid_sample", {ones, grid}, a);
  const Term sampled = Apply("grid_sample", {Wide(x), grid}, a);
  return ctx.EmitCast(sampled + (1 - weights) * Term(Tensor::Scalar(value)));
}

// An operand that has one value only, in any case.
Status RequireWord(const ImportContext& ctx, std::string_view name, std::string_view word) {
  NN_ASSIGN(const std::string given, ctx.String(name));
  const auto same = [](unsigned char a, unsigned char b) { return std::tolower(a) == b; };
  if (std::ranges::equal(given, word, same)) return {};
  return UnsupportedError("{} {} is unsupported; expected {}", name, given, word);
}

Status ImportAffine(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Ranked("x"));
  NN_ASSIGN(Value* const matrix, ctx.Ranked("transform_matrix"));
  NN_ASSIGN(const int64_t height, ctx.Int("output_height"));
  NN_ASSIGN(const int64_t width, ctx.Int("output_width"));
  NN_ASSIGN(const float value, ctx.Float("padding_value"));
  NN_ASSIGN(const bool aligns, ctx.Bool("align_corners"));
  NN_RETURN_IF_ERROR(RequireWord(ctx, "sampling_mode", "bilinear"));
  NN_RETURN_IF_ERROR(RequireWord(ctx, "padding_mode", "constant"));
  NN_RETURN_IF_ERROR(RequireWord(ctx, "coordinates_mode", "normalized_minus_one_to_one"));
  if (value != 0) return UnsupportedError("padding_value {} is unsupported; expected 0", value);
  if (x->type().rank() != 4 || matrix->type().rank() != 2 || height < 1 || width < 1)
    return ModelError("x is {}, transform_matrix is {}, and the result is {} x {}",
                      x->type().ToString(), matrix->type().ToString(), height, width);
  const Term images = SizeOfAxis(x, 0);
  const Term each =
      Apply("expand",
            {Reshape(Wide(matrix), {Dim(-1), Dim(2), Dim(3)}), Concat({images, Vector({1, 1})}, 0)},
            ExpandAttrs{});
  const Term grid = Apply("affine_grid", {each, Concat({images, Vector({1, height, width})}, 0)},
                          AffineGridAttrs{aligns});
  return ctx.Emit("grid_sample", {x, grid}, GridSampleAttrs{.align_corners = aligns});
}

// ---- Export of resizes --------------------------------------------------------------------------

// How an operation says what the size of the result is.
enum class SizeForm : uint8_t {
  kTarget,   // the sizes of the last two axes
  kFactors,  // integer factors of the last two axes
  kShape,    // the sizes of the last axes, which a run may compute
};

// What an operation with a sampling mode is as a resize.
struct ResizeOperation {
  std::string_view op;
  SizeForm form;
  ResizeMode mode;
  Coordinates coordinates;
  NearestRounding rounding = NearestRounding::kFloor;
  std::string_view sampling = {};
};

constexpr auto kNearer = NearestRounding::kRoundPreferFloor;
constexpr ResizeOperation kResizeOperations[] = {
    {"resize_nearest_neighbor", SizeForm::kTarget, ResizeMode::kNearest, Coordinates::kAsymmetric},
    {"resize_bilinear",
     SizeForm::kTarget,
     ResizeMode::kLinear,
     Coordinates::kAsymmetric,
     {},
     "DEFAULT"},
    {"resize_bilinear",
     SizeForm::kTarget,
     ResizeMode::kLinear,
     Coordinates::kHalfPixel,
     {},
     "UNALIGN_CORNERS"},
    {"resize_bilinear",
     SizeForm::kTarget,
     ResizeMode::kLinear,
     Coordinates::kAlignCorners,
     {},
     "STRICT_ALIGN_CORNERS"},
    {"resize_bilinear",
     SizeForm::kTarget,
     ResizeMode::kLinear,
     Coordinates::kCrop,
     {},
     "ALIGN_CORNERS"},
    {"resize_bilinear",
     SizeForm::kTarget,
     ResizeMode::kLinear,
     Coordinates::kCrop,
     {},
     "OFFSET_CORNERS"},
    {"upsample_nearest_neighbor", SizeForm::kFactors, ResizeMode::kNearest,
     Coordinates::kAsymmetric},
    {"upsample_bilinear", SizeForm::kFactors, ResizeMode::kLinear, Coordinates::kHalfPixel},
    {"upsample_bilinear", SizeForm::kFactors, ResizeMode::kLinear, Coordinates::kAlignCorners},
    {"upsample_bilinear", SizeForm::kFactors, ResizeMode::kLinear, Coordinates::kAsymmetric},
    {"resize", SizeForm::kShape, ResizeMode::kNearest, Coordinates::kAsymmetric, kNearer,
     "DEFAULT"},
    {"resize", SizeForm::kShape, ResizeMode::kNearest, Coordinates::kHalfPixel, kNearer,
     "UNALIGN_CORNERS"},
    {"resize", SizeForm::kShape, ResizeMode::kNearest, Coordinates::kAlignCorners, kNearer,
     "STRICT_ALIGN_CORNERS"},
    {"resize", SizeForm::kShape, ResizeMode::kNearest, Coordinates::kCrop, kNearer,
     "ALIGN_CORNERS"},
    {"resize", SizeForm::kShape, ResizeMode::kNearest, Coordinates::kCrop, kNearer,
     "OFFSET_CORNERS"},
    {"resize", SizeForm::kShape, ResizeMode::kLinear, Coordinates::kAsymmetric, {}, "DEFAULT"},
    {"resize",
     SizeForm::kShape,
     ResizeMode::kLinear,
     Coordinates::kHalfPixel,
     {},
     "UNALIGN_CORNERS"},
    {"resize",
     SizeForm::kShape,
     ResizeMode::kLinear,
     Coordinates::kAlignCorners,
     {},
     "STRICT_ALIGN_CORNERS"},
};

// A resize of two axes or more by the sizes, scales and coordinates of a node.
class ResizeExport {
 public:
  explicit ResizeExport(const Node& node)
      : node_(node),
        a_(node.attrs<ResizeAttrs>()),
        from_(ConstDims(SpatialDims(*node.input(0)->type().dims, a_.layout))),
        to_(ConstDims(SpatialDims(*node.output()->type().dims, a_.layout))) {}

  // Whether the operation computes what the node does.
  bool Is(const ResizeOperation& row) const {
    if (row.form == SizeForm::kFactors ? !Factors() : !SizesFit(row)) return false;
    if (row.form != SizeForm::kShape && axes() != 2) return false;
    // An element with the weight 0 counts if it is infinite.
    if (a_.mode == ResizeMode::kNearest && row.mode != ResizeMode::kNearest) return false;
    // What operations make of interpolated integers is not known.
    if (row.mode == ResizeMode::kLinear && !IsFloat(node_.output()->dtype())) return false;
    return from_ && to_ ? HasWeights(row) : HasPositions(row);
  }

  Status Write(ExportContext& ctx, const ResizeOperation& row) const {
    OperationWriter op = ctx.Add(row.op);
    op.In("x", node_.input(0));
    if (row.form == SizeForm::kTarget) {
      op.Int("target_size_height", (*to_)[0]).Int("target_size_width", (*to_)[1]);
    } else if (row.form == SizeForm::kFactors) {
      const std::vector<int64_t> factors = *Factors();
      op.Int("scale_factor_height", factors[0]).Int("scale_factor_width", factors[1]);
    } else if (op.Takes("shape")) {
      NN_ASSIGN(const std::string shape, SizesFor(ctx));
      op.In("shape", shape).Number("resized_dims", static_cast<double>(axes()));
      op.Text("interpolation_mode",
              row.mode == ResizeMode::kLinear ? "LINEAR" : "NEAREST_NEIGHBOR");
    }
    if (!row.sampling.empty()) op.Text("sampling_mode", row.sampling);
    if (row.op == "upsample_bilinear") SetCorners(op, row.coordinates);
    return op.To(node_);
  }

 private:
  size_t axes() const { return static_cast<size_t>(node_.input(0)->type().rank()) - 2; }
  const Value* sizes() const { return node_.inputs().size() > 3 ? node_.input(3) : nullptr; }

  Result<std::string> SizesFor(ExportContext& ctx) const {
    if (sizes() != nullptr) return ctx.NameFor(sizes());
    return ctx.AddSizes(SpatialDims(*node_.output()->type().dims, a_.layout));
  }

  // The first operation set has half_pixel_centers as the opposite of align_corners.
  static void SetCorners(OperationWriter& op, Coordinates coordinates) {
    const bool aligns = coordinates == Coordinates::kAlignCorners;
    const bool half = coordinates == Coordinates::kHalfPixel;
    op.Bool("align_corners", aligns);
    if (half == aligns || op.Takes("half_pixel_centers")) op.Bool("half_pixel_centers", half);
  }

  bool SizesFit(const ResizeOperation& row) const { return to_ || row.form == SizeForm::kShape; }

  // Integer factors: those of the sizes if they are known, or else the stated ones.
  std::optional<std::vector<int64_t>> Factors() const {
    std::vector<int64_t> out;
    for (size_t i = 0; i < axes(); ++i) {
      const bool is_known = from_ && to_;
      if (!is_known && a_.scales.empty()) return std::nullopt;
      const double factor = is_known
                                ? static_cast<double>((*to_)[i]) / static_cast<double>((*from_)[i])
                                : static_cast<double>(a_.scales[i]);
      if (!(factor >= 1 && factor <= 0x1p20) || factor != std::floor(factor)) return std::nullopt;
      out.push_back(static_cast<int64_t>(factor));
    }
    return out;
  }

  // Compares the elements, whose sizes are known.
  bool HasWeights(const ResizeOperation& row) const {
    ResizeAttrs other{.layout = a_.layout,
                      .mode = row.mode,
                      .coordinates = row.coordinates,
                      .rounding = row.rounding};
    if (row.coordinates == Coordinates::kCrop) {
      const bool has_offset = row.sampling == "OFFSET_CORNERS";
      for (const int64_t size : *to_) other.roi.push_back(has_offset ? OffsetOf(size) : 0);
      for (const int64_t size : *to_) other.roi.push_back(has_offset ? 1 - OffsetOf(size) : 1);
    }
    return ResizesAs(node_, other);
  }

  // Compares the rules for any sizes.
  bool HasPositions(const ResizeOperation& row) const {
    if (a_.mode != row.mode || a_.antialias || a_.exclude_outside ||
        a_.aspect != AspectPolicy::kStretch || node_.arithmetic() != Arithmetic::kDefault ||
        row.coordinates == Coordinates::kCrop)
      return false;
    const bool by_factors = row.form == SizeForm::kFactors;
    if (by_factors && row.mode == ResizeMode::kNearest) return Repeats();
    if (!by_factors && !a_.scales.empty() && !Factors()) return false;
    if (row.mode == ResizeMode::kNearest && a_.rounding != row.rounding) return false;
    return (by_factors ? CoordinatesOfFactors() : a_.coordinates) == row.coordinates;
  }

  // With integer factors, these differ in nothing.
  Coordinates CoordinatesOfFactors() const {
    return a_.coordinates == Coordinates::kPytorchHalfPixel ||
                   a_.coordinates == Coordinates::kHalfPixelSymmetric
               ? Coordinates::kHalfPixel
               : a_.coordinates;
  }

  // Whether integer factors repeat each element.
  bool Repeats() const {
    const bool floors =
        a_.rounding == NearestRounding::kFloor || a_.rounding == NearestRounding::kSimple;
    const bool rounds = a_.rounding == NearestRounding::kRoundPreferFloor ||
                        a_.rounding == NearestRounding::kRoundPreferCeil;
    if (a_.coordinates == Coordinates::kAsymmetric ||
        a_.coordinates == Coordinates::kTfHalfPixelForNn)
      return floors;
    return rounds && CoordinatesOfFactors() == Coordinates::kHalfPixel;
  }

  const Node& node_;
  const ResizeAttrs& a_;
  std::optional<std::vector<int64_t>> from_, to_;  // sizes, if they are constant
};

bool IsResizeOperation(const ResizeOperation& row, const Node& node) {
  return ResizeExport(node).Is(row);
}

std::string WhyNoResize(const Node& node) {
  const auto& a = node.attrs<ResizeAttrs>();
  if (a.mode == ResizeMode::kCubic) return "ML Programs have no cubic interpolation of images";
  if (a.antialias || a.exclude_outside || a.aspect != AspectPolicy::kStretch)
    return "antialias, exclude_outside and keep_aspect_ratio_policy are unsupported";
  if (a.mode == ResizeMode::kNearest)
    return fmt::format(
        "ML Programs have no nearest resize with {} coordinates and rounding {} for these sizes",
        EnumName(a.coordinates), EnumName(a.rounding));
  return fmt::format("ML Programs have no linear resize with {} coordinates for these sizes",
                     EnumName(a.coordinates));
}

std::optional<std::string> WhyNotResize(const Node& node) {
  for (const size_t i : {1, 2})
    if (i < node.inputs().size() && node.input(i) != nullptr)
      return "its scales and regions must be constant";
  if (std::ranges::none_of(kResizeOperations, [&](const ResizeOperation& row) {
        return IsResizeOperation(row, node);
      }))
    return WhyNoResize(node);
  // The layout can be changed, so it is the reason only if nothing else is.
  if (node.attrs<ResizeAttrs>().layout != Layout::kNcx) return "the channels must be axis 1";
  return std::nullopt;
}

// By the first operation that the operation set has.
Status WriteResize(ExportContext& ctx, const Node& node) {
  std::optional<Error> error;
  for (const ResizeOperation& row : kResizeOperations) {
    if (!IsResizeOperation(row, node)) continue;
    const Status status = ResizeExport(node).Write(ctx, row);
    if (status || status.error().code() != ErrorCode::kUnsupported) return status;
    if (!error) error = status.error();
  }
  return tl::unexpected(*error);
}

// ---- Export of samples --------------------------------------------------------------------------

std::optional<std::string> WhyNotGridSample(const Node& node) {
  const auto& a = node.attrs<GridSampleAttrs>();
  if (node.input(0)->type().rank() != 4) return "ML Programs sample two axes only";
  if (a.mode == ResizeMode::kCubic)
    return "ML Programs have a resample without cubic interpolation";
  if (a.mode == ResizeMode::kNearest)
    return "the resample of ML Programs rounds positions halfway between two elements up, not to "
           "even ones";
  if (a.layout != Layout::kNcx) return "the channels must be axis 1";
  return std::nullopt;
}

Status WriteGridSample(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<GridSampleAttrs>();
  std::string_view padding = "constant";
  if (a.padding == GridPadding::kBorder) padding = "border";
  if (a.padding == GridPadding::kReflection) padding = a.align_corners ? "reflection" : "symmetric";
  return ctx.AddFor("resample", node)
      .Text("sampling_mode", "bilinear")
      .Text("padding_mode", padding)
      .Number("padding_value", 0)
      .Text("coordinates_mode", "normalized_minus_one_to_one")
      .Bool("align_corners", a.align_corners)
      .To(node);
}

}  // namespace

Family ImageFamily() {
  static constexpr ImportRow kImports[] = {
      {"affine", ImportAffine},
      {"crop", ImportCrop},
      {"crop_resize", ImportCropResize},
      {"resample", ImportResample},
      {"resize", ImportResize},
      {"resize_bilinear", ImportResizeBilinear},
      {"resize_nearest_neighbor", ImportResizeNearestNeighbor},
      {"upsample_bilinear", ImportUpsampleBilinear},
      {"upsample_nearest_neighbor", ImportUpsampleNearestNeighbor},
  };
  static constexpr ExportRow kExports[] = {
      {"grid_sample", WriteGridSample, WhyNotGridSample},
      {"resize", WriteResize, WhyNotResize},
  };
  return {kImports, kExports};
}

}  // namespace nn::coreml::program
