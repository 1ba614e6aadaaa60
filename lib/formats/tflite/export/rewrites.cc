#include "formats/tflite/export/rewrites.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "formats/tflite/export/export.h"
#include "ir/op_def.h"
#include "ops/array/arrange/blocks.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/arrange/pad.h"
#include "ops/array/arrange/scatter.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/arrange/tile.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/math/matmul.h"
#include "ops/nn/conv.h"
#include "ops/reduce/reduce.h"
#include "ops/support/term_ops.h"
#include "ops/support/types.h"
#include "rewrite/expand.h"

namespace nn::tflite {
Result<bool> ClipAsBounds(Graph& graph, Node& node) {
  const auto a = node.attrs<ClipAttrs>();
  const DType dtype = node.input(0)->dtype();
  if (node.input(0)->type().quantized()) return false;
  const auto bound = [&](float v) -> Result<Tensor> {
    NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(dtype, {}));
    if (IsInteger(dtype))
      b.SetInt(0, ClipBound(dtype, v));
    else
      b.SetDouble(0, v);
    return b.Finish();
  };
  Term y = node.input(0);
  if (a.min == 0 && IsFloat(dtype)) {
    y = Apply("relu", {y});
  } else if (a.min > -std::numeric_limits<float>::infinity()) {
    NN_ASSIGN(Tensor least, bound(a.min));
    y = Maximum(y, std::move(least));
  }
  if (a.max < std::numeric_limits<float>::infinity()) {
    NN_ASSIGN(Tensor most, bound(a.max));
    y = Minimum(y, std::move(most));
  }
  return ExpansionLike(graph, node).Replace(y);
}

// Expands the operands of an operator that does not broadcast.
Result<bool> BroadcastOperands(Graph& graph, Node& node) {
  const auto& dims = node.output()->type().dims;
  bool changed = false;
  std::vector<Value*> operands;
  for (Value* v : node.inputs()) {
    if (v->type().dims != dims) {
      NN_ASSIGN(Node* const wide, graph.Append("expand", {v}, ExpandAttrs{*dims}, 1, &node));
      v = wide->output();
      if (v->type().dims != dims) return false;
      changed = true;
    }
    operands.push_back(v);
  }
  if (changed) graph.SetInputs(&node, std::move(operands));
  return changed;
}

// A cast to an 8-bit float that saturates, of a type whose values are exact in float32.
Result<bool> ClippedCast(Graph& graph, Node& node) {
  const auto bound = SaturatingBound(node);
  const DType from = node.input(0)->dtype();
  const bool exact = IsFloat(from) ? from != DType::kF64 : DTypeBits(from) <= 16;
  if (!bound || !exact || node.input(0)->type().quantized()) return false;
  CastAttrs a = node.attrs<CastAttrs>();
  a.saturate = false;
  const Term x = from == DType::kF32 ? Term(node.input(0)) : Cast(node.input(0), DType::kF32);
  return ExpansionLike(graph, node).Replace(Apply("cast", {Clip(x, -*bound, *bound)}, a));
}

bool CanGather(DType dtype) {
  const DType types[] = {DType::kF32, DType::kF16, DType::kBF16, DType::kI32, DType::kI64,
                         DType::kI16, DType::kI8,  DType::kU8,   DType::kI4,  DType::kBool};
  return std::find(std::begin(types), std::end(types), dtype) != std::end(types);
}

// ---- Matrix products ----------------------------------------------------------------------------

// Transposes the weights for FULLY_CONNECTED, and the input if needed.
Result<bool> TransposedWeights(Graph& graph, Node& node) {
  auto a = node.attrs<MatmulAttrs>();
  Value* w = node.input(1);
  if (w->type().rank() != 2 || !w->is_constant() || node.input(0)->type().rank() < 2) return false;
  if (a.transpose_b && !a.transpose_a) return false;
  if (!a.transpose_b) {
    NN_ASSIGN(w, Rearrange(graph, w, AxisMap::Permutation({1, 0})));
    a.transpose_b = true;
  }
  Value* x = node.input(0);
  if (a.transpose_a) {
    std::vector<int64_t> perm(static_cast<size_t>(x->type().rank()));
    std::iota(perm.begin(), perm.end(), 0);
    std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    NN_ASSIGN(x, Rearrange(graph, x, AxisMap::Permutation(perm)));
    a.transpose_a = false;
  }
  graph.SetInput(&node, 0, x);
  graph.SetInput(&node, 1, w);
  node.set_attrs(a);
  NN_RETURN_IF_ERROR(InferNode(node));
  return true;
}

// ---- Axes ---------------------------------------------------------------------------------------

// Permutes the channels before depth_to_space, or after space_to_depth, to DCR order.
Result<bool> BlocksBeforeChannels(Graph& graph, Node& node) {
  auto a = node.attrs<DepthToSpaceAttrs>();
  const bool to_space = node.Is("depth_to_space");
  const Type& deep = to_space ? node.input(0)->type() : node.output()->type();
  const int rank = deep.rank();
  const Dim& size = deep.dim(ChannelAxis(a.layout, rank));
  if (a.mode == DepthOrder::kDcr || rank != 4 || !size.is_const() || deep.quantized()) return false;
  const int64_t block = a.block * a.block;
  const int64_t channels = size.value() / block;
  std::vector<int32_t> order(static_cast<size_t>(size.value()));
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t p = 0; p < block; ++p)
      order[static_cast<size_t>(to_space ? p * channels + c : c * block + p)] =
          static_cast<int32_t>(to_space ? c * block + p : p * channels + c);
  Value* indices = graph.AddConstant(Tensor::Of({size.value()}, order), "order");
  const GatherAttrs along{ChannelAxis(a.layout, rank), 0};
  a.mode = DepthOrder::kDcr;
  if (to_space) {
    Value* x = node.input(0);
    Node* conv = x->def();
    const auto constant = [](const Value* v) { return v == nullptr || v->is_constant(); };
    if (conv != nullptr && conv->Is<ConvAttrs>() && conv->attrs<ConvAttrs>().groups == 1 &&
        x->uses().size() == 1 && !graph.IsOutput(x) && constant(conv->input(1)) &&
        constant(conv->input(2))) {
      // Constants are permuted at no cost.
      const FilterAxes axes = AxesOf(conv->attrs<ConvAttrs>().filter_layout, 4);
      for (const size_t i : {size_t{1}, size_t{2}}) {
        if (conv->input(i) == nullptr) continue;
        NN_ASSIGN(Node* const g, graph.Append("gather", {conv->input(i), indices},
                                              GatherAttrs{i == 1 ? axes.output : 0, 0}, 1, conv));
        graph.SetInput(conv, i, g->output());
      }
    } else {
      NN_ASSIGN(Node* const g, graph.Append("gather", {x, indices}, along, 1, &node));
      graph.SetInput(&node, 0, g->output());
    }
    node.set_attrs(a);
    NN_RETURN_IF_ERROR(InferNode(node));
    return true;
  }
  const Term blocks = Apply(node.op_name(), {node.input(0)}, a);
  return ExpansionLike(graph, node).Replace(Gather(blocks, indices, along.axis));
}

// Negative pads: a slice, then the remaining pads.
Result<bool> JoinUnpaddedAxes(Graph& graph, Node& node) {
  const auto& a = node.attrs<PadAttrs>();
  const Type &x = node.input(0)->type(), &y = node.output()->type();
  if (a.pads.empty() || !y.ranked() || (x.quantized() && x.quant->per_axis())) return false;
  const size_t rank = a.pads.size() / 2;
  if (rank <= kMaxPaddedAxes) return false;
  PadAttrs joined{{}, a.mode};
  std::vector<int64_t> ends;
  Dims dims;
  bool open = false;  // whether the last axis has no padding
  for (size_t i = 0; i < rank; ++i) {
    const bool unpadded = a.pads[i] == 0 && a.pads[rank + i] == 0;
    if (unpadded && open) {
      dims.back() = dims.back() * (*x.dims)[i];
      continue;
    }
    open = unpadded;
    dims.push_back((*x.dims)[i]);
    joined.pads.push_back(a.pads[i]);
    ends.push_back(a.pads[rank + i]);
  }
  if (dims.size() == rank) return false;
  joined.pads.insert(joined.pads.end(), ends.begin(), ends.end());
  std::vector<Term> operands(node.inputs().begin(), node.inputs().end());
  operands[0] = Reshape(node.input(0), std::move(dims));
  const Term pad = Apply("pad", std::move(operands), std::move(joined));
  return ExpansionLike(graph, node).Replace(Reshape(pad, *y.dims));
}

Result<bool> CropAsSlice(Graph& graph, Node& node) {
  auto a = node.attrs<PadAttrs>();
  const Type& x = node.input(0)->type();
  if (node.input(2) != nullptr || a.pads.empty()) return false;
  const size_t rank = a.pads.size() / 2;
  SliceAttrs cut;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t begin = std::min<int64_t>(0, a.pads[i]);
    const int64_t end = std::min<int64_t>(0, a.pads[rank + i]);
    if (begin == 0 && end == 0) continue;
    cut.axes.push_back(static_cast<int64_t>(i));
    cut.starts.push_back(-begin);
    cut.ends.push_back(end == 0 ? std::numeric_limits<int64_t>::max() : end);
    a.pads[i] -= begin;
    a.pads[rank + i] -= end;
  }
  if (cut.axes.empty()) return false;
  ExpansionLike e(graph, node);
  NN_ASSIGN(Value* const slice, e.Add("slice", {node.input(0)}, std::move(cut)));
  Type type = slice->type();
  type.quant = x.quant;
  slice->set_type(std::move(type));
  if (std::ranges::all_of(a.pads, [](int64_t p) { return p == 0; })) return e.Replace(slice);
  std::vector<Term> operands(node.inputs().begin(), node.inputs().end());
  operands[0] = slice;
  return e.Replace(Apply("pad", std::move(operands), std::move(a)));
}

}  // namespace nn::tflite
