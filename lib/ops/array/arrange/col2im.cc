#include "ops/array/arrange/col2im.h"

#include <algorithm>
#include <optional>

#include "base/checked_math.h"
#include "ir/graph.h"
#include "ir/op_def.h"
#include "ops/array/shape.h"
#include "ops/families.h"
#include "ops/nn/conv_transpose.h"
#include "ops/support/domain.h"
#include "ops/support/index.h"
#include "ops/support/movement.h"
#include "ops/support/reals.h"
#include "ops/support/types.h"
#include "ops/support/window.h"

namespace nn {

std::span<const AttrField> Col2ImAttrs::Fields() {
  static const AttrField fields[] = {Field<&Col2ImAttrs::strides>("strides"),
                                     Field<&Col2ImAttrs::dilations>("dilations"),
                                     Field<&Col2ImAttrs::pads>("pads")};
  return fields;
}

namespace {

enum Col2ImInput : size_t { kColumns, kImage, kBlock };

// The blocks as windows over the image.
Result<std::vector<Window>> BlockWindows(const Col2ImAttrs& a, const Dims& image,
                                         std::vector<int64_t> block) {
  WindowSpec spec;
  spec.kernel = std::move(block);
  spec.strides = a.strides;
  spec.dilations = a.dilations;
  spec.pads = a.pads;
  return ResolveWindows(spec, image);
}

// kModel if a product of two numbers is not the size.
Status CheckColumns(const Type& x, const std::vector<Window>& windows, Dim& channels) {
  Dim taps = 1, blocks = 1;
  for (const Window& w : windows) {
    taps = taps * Dim(w.kernel);
    blocks = blocks * w.output;
  }
  if (!taps.is_const() || taps.value() < 1) return ModelError("a block has no elements");
  const Dim &rows = x.dim(1), &length = x.dim(2);
  if (rows.is_const() && rows.value() % taps.value() != 0)
    return ModelError("{} rows are not divisible by the {} elements of a block", rows.ToString(),
                      taps.ToString());
  if (length.is_const() && blocks.is_const() && length != blocks)
    return ModelError("there are {} columns; the image has {} blocks", length.ToString(),
                      blocks.ToString());
  channels = Dim::FloorDiv(rows, taps);
  return {};
}

Status InferCol2Im(InferContext& ctx) {
  const DType dtype = ctx.in(kColumns).dtype;
  const bool adds = IsInteger(dtype) || IsFloat(dtype) || dtype == DType::kUnknown;
  if (!adds || ctx.in(kColumns).quantized())
    return UnsupportedError("{} is not supported", ctx.in(kColumns).ToString());
  NN_RETURN_IF_ERROR(RequireRank(ctx, kColumns, 3, 3));
  const auto image = Contents(ctx, kImage), block = Contents(ctx, kBlock);
  NN_RETURN_IF_ERROR(RequireIntegers(ctx, kImage, "sizes"));
  NN_RETURN_IF_ERROR(RequireIntegers(ctx, kBlock, "sizes"));
  std::optional<int64_t> axes;
  for (const size_t i : {kImage, kBlock}) {
    const auto length = KnownLength(ctx.in(i));
    if (ctx.in(i).ranked() && ctx.in(i).rank() != 1)
      return ModelError("input {} is {}; must be a vector", i, ctx.in(i).ToString());
    if (length && axes && *length != *axes)
      return ModelError("image has {} entries, but block {}", *axes, *length);
    if (length) axes = length;
  }
  if (!axes) return UnsupportedError("the number of axes of the images is not known");
  if (*axes < 1 || *axes > kMaxRank - 2) return ModelError("images with {} axes", *axes);
  const Type& x = ctx.in(kColumns);
  Dims dims = {x.dim(0), Dim()};
  for (size_t i = 0; i < static_cast<size_t>(*axes); ++i)
    dims.push_back(image ? (*image)[i] : ctx.NewSymbol());
  const auto sizes = block ? ConstDims(*block) : std::nullopt;
  if (sizes) {
    const Dims spatial(dims.begin() + 2, dims.end());
    NN_ASSIGN(const auto windows, BlockWindows(ctx.attrs<Col2ImAttrs>(), spatial, *sizes));
    NN_RETURN_IF_ERROR(CheckColumns(x, windows, dims[1]));
  } else {
    dims[1] = ctx.NewSymbol();
  }
  ctx.set_out(0, x.WithDims(std::move(dims)));
  return {};
}

// Calls fn(from, to) for the elements of x that are in an image, in order of k for each element of
// y.
template <typename Fn>
void ForEachBlockElement(const std::vector<ConstWindow>& windows, int64_t images, int64_t pixels,
                         int64_t columns, Fn fn) {
  std::vector<int64_t> kernel, blocks, size;
  int64_t taps = 1;
  for (const ConstWindow& w : windows) {
    kernel.push_back(w.kernel);
    blocks.push_back(w.output);
    size.push_back(w.input);
    taps *= w.kernel;
  }
  if (columns == 0 || pixels == 0) return;
  const std::vector<int64_t> steps = Strides(size);
  for (int64_t image = 0; image < images; ++image) {
    std::vector<int64_t> k(kernel.size(), 0);
    int64_t from = image * taps * columns;
    do {
      std::vector<int64_t> p(blocks.size(), 0);
      do {
        int64_t to = image * pixels;
        bool inside = true;
        for (size_t axis = 0; axis < p.size(); ++axis) {
          const ConstWindow& w = windows[axis];
          const int64_t at = p[axis] * w.stride + k[axis] * w.dilation - w.pad_begin;
          inside = inside && at >= 0 && at < w.input;
          to += at * steps[axis];
        }
        if (inside) fn(from, to);
        ++from;
      } while (NextIndex(p, blocks));
    } while (NextIndex(k, kernel));
  }
}

Status EvalCol2Im(EvalContext& ctx) {
  const Tensor& x = ctx.in(kColumns);
  const auto dims = ctx.out_type().const_dims();
  if (!dims) return InternalError("output shape not inferred");
  const std::vector<int64_t> size(dims->begin() + 2, dims->end());
  NN_ASSIGN(const auto windows,
            BlockWindows(ctx.attrs<Col2ImAttrs>(), ToDims(size), ctx.in(kBlock).ToInts()));
  NN_ASSIGN(const auto blocks, ConstWindows(windows));
  const auto pixels = CheckedElements(size);
  if (!pixels) return LimitError("the images are too large");
  const int64_t images = (*dims)[0] * (*dims)[1];
  const auto add_all = [&](auto add) {
    ForEachBlockElement(blocks, images, *pixels, x.dim(2), add);
  };
  if (IsInteger(x.dtype())) {
    NN_ASSIGN(TensorBuilder y, ctx.NewOutput());
    std::vector<uint64_t> sums(static_cast<size_t>(y.elements()), 0);
    add_all([&](int64_t from, int64_t to) {
      sums[static_cast<size_t>(to)] += static_cast<uint64_t>(x.GetInt(from));
    });
    for (int64_t i = 0; i < y.elements(); ++i)
      y.SetInt(i, static_cast<int64_t>(sums[static_cast<size_t>(i)]));
    ctx.set_out(0, y.Finish());
    return {};
  }
  return WithReals(x.dtype(), [&](auto zero) -> Status {
    using T = decltype(zero);
    NN_ASSIGN(auto y, RealOutput<T>::Create(ctx));
    const Reals<T> values(x);
    std::fill_n(y.data(), y.size(), T(0));
    add_all([&](int64_t from, int64_t to) { y[to] = y[to] + values[from]; });
    y.Finish();
    return {};
  });
}

// Filters [taps, 1, block...] of which each has a 1 at its tap.
Result<Tensor> TapFilters(const std::vector<int64_t>& block, int64_t taps) {
  std::vector<int64_t> dims = {taps, 1};
  dims.insert(dims.end(), block.begin(), block.end());
  NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(DType::kF32, dims));
  const std::span<float> all = b.As<float>();
  std::ranges::fill(all, 0.0f);
  for (int64_t k = 0; k < taps; ++k) all[static_cast<size_t>(k * taps + k)] = 1;
  return b.Finish();
}

// col2im of float32 with known blocks and images -> a transposed convolution of each channel by
// itself, whose inputs are the taps. An infinity reaches the whole block as NaN.
Result<bool> DecomposeCol2Im(Graph& graph, Node& node) {
  // Limit of expansions: elements of a block of Col2Im.
  constexpr int64_t kMaxTaps = 1024;
  // Limit of expansions: axes of a block of Col2Im.
  constexpr size_t kMaxAxes = 3;
  const auto& a = node.attrs<Col2ImAttrs>();
  const Type &x = node.input(kColumns)->type(), &y = node.output()->type();
  if (x.dtype != DType::kF32 || !node.input(kBlock)->is_constant() || !y.ranked()) return false;
  const std::vector<int64_t> block = node.input(kBlock)->constant().ToInts();
  const Dims image(y.dims->begin() + 2, y.dims->end());
  const auto taps = CheckedElements(block);
  if (!taps || *taps > kMaxTaps || block.size() > kMaxAxes || !ConstDims(image)) return false;
  NN_ASSIGN(const std::vector<Window> windows, BlockWindows(a, image, block));
  ConvTransposeAttrs conv;
  conv.strides = a.strides;
  conv.dilations = a.dilations;
  conv.pads = a.pads;
  Dims columns = {y.dim(0) * y.dim(1), Dim(*taps)}, sums = {columns[0], Dim(1)};
  for (const Window& w : windows) {
    if (!w.output.is_const() || w.output.value() < 1) return false;
    columns.push_back(w.output);
    const int64_t reach = (w.output.value() - 1) * w.stride + w.extent();
    conv.output_padding.push_back(w.input.value() + w.pad_begin.value() + w.pad_end.value() -
                                  reach);
  }
  sums.insert(sums.end(), image.begin(), image.end());
  NN_ASSIGN(Tensor filters, TapFilters(block, *taps));
  NN_ASSIGN(Node* const split, graph.Append("reshape", {node.input(kColumns)},
                                            ReshapeAttrs{std::move(columns)}, 1, &node));
  NN_ASSIGN(Node* const sum,
            graph.Append("conv_transpose", {split->output(), graph.AddConstant(std::move(filters))},
                         std::move(conv), 1, &node));
  NN_ASSIGN(Node* const merged,
            graph.Append("reshape", {sum->output()}, ReshapeAttrs{*y.dims}, 1, &node));
  graph.Replace(&node, merged->output());
  return true;
}

// Blocks of one element, in images of one row.
Domain Col2ImDomain(const Node& node, size_t input, std::span<const Domain>) {
  const auto x = DimsOf(node.input(kColumns));
  const auto& a = node.attrs<Col2ImAttrs>();
  if (input == kColumns || !x || x->size() != 3) return {};
  if (!a.strides.empty() || !a.pads.empty()) return Between(1, 4);
  const auto axes = LengthOf(node.input(input));
  if (!axes || *axes < 1) return {};
  std::vector<int64_t> contents(static_cast<size_t>(*axes), 1);
  if (input == kImage) contents.back() = (*x)[2];
  return Exactly(contents);
}

}  // namespace

void RegisterCol2ImOps(OpRegistry& ops) {
  OpDef op;
  op.name = "col2im";
  op.summary = "the sums of overlapping blocks of images";
  op.category = Category::kMovement;
  op.attrs = AttrsInfoOf<Col2ImAttrs>();
  op.inputs = {{"x"}, {"image"}, {"block"}};
  op.infer = InferCol2Im;
  op.eval = EvalCol2Im;
  op.decompose = DecomposeCol2Im;
  ops.Add(std::move(op));
}

void AddCol2ImDomains(DomainTable& domains) {
  domains["col2im"] = Col2ImDomain;
}

}  // namespace nn
