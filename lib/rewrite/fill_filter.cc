#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/checked_math.h"
#include "ir/eval.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/nn/conv.h"
#include "ops/nn/conv_transpose.h"
#include "ops/support/index.h"
#include "rewrite/weights.h"

namespace nn {
namespace {

// The element that represents the number 0; nullopt if it depends on the channel.
Result<std::optional<Tensor>> ZeroOf(const Type& type) {
  int64_t zero = 0;
  if (type.quantized() && !type.quant->zero_points.empty()) {
    const auto& zeros = type.quant->zero_points;
    zero = zeros[0];
    if (std::any_of(zeros.begin(), zeros.end(), [&](int64_t z) { return z != zero; }))
      return std::optional<Tensor>();
  }
  NN_ASSIGN(TensorBuilder element, TensorBuilder::Create(type.dtype, {1}));
  element.SetInt(0, zero);
  return std::optional<Tensor>(element.Finish());
}

// Whether a filter of this size may be made.
bool IsSmall(const std::vector<int64_t>& dims) {
  int64_t n = 1;
  for (const int64_t d : dims) {
    const auto product = CheckedMul(n, d);
    if (!product || *product > kMaxFilledFilter) return false;
    n = *product;
  }
  return true;
}

// Replaces the filter by one of the size `dims`, in which element `index` of the old one is at
// `place(index)`, and zeros are elsewhere.
template <typename A, typename Place>
Result<bool> Fill(Graph& graph, Node& conv, std::vector<int64_t> dims, A attrs, Place place) {
  const Value* filter = conv.input(1);
  if (!IsSmall(dims)) return false;
  NN_ASSIGN(const std::optional<Tensor> zero, ZeroOf(filter->type()));
  if (!zero) return false;
  const Tensor old = filter->constant();
  NN_ASSIGN(TensorBuilder filled, TensorBuilder::Create(old.dtype(), dims));
  filled.Fill(0, filled.elements(), *zero);
  if (old.elements() > 0) {
    const std::vector<int64_t> strides = Strides(dims);
    std::vector<int64_t> index(dims.size(), 0);
    int64_t from = 0;
    do {
      const std::vector<int64_t> at = place(index);
      const int64_t to = std::inner_product(at.begin(), at.end(), strides.begin(), int64_t{0});
      filled.Copy(to, old, from++);
    } while (NextIndex(index, old.dims()));
  }
  graph.SetInput(&conv, 1,
                 graph.AddConstant(filled.Finish(), filter->name(), filter->type().quant));
  conv.set_attrs(std::move(attrs));
  return true;
}

Result<bool> FillConvGroups(Graph& graph, Node& conv) {
  ConvAttrs a = conv.attrs<ConvAttrs>();
  if (a.groups == 1 || !conv.input(1)->is_constant()) return false;
  std::vector<int64_t> dims = conv.input(1)->constant().dims();
  const FilterAxes axes = AxesOf(a.filter_layout, static_cast<int>(dims.size()));
  const auto in = static_cast<size_t>(axes.input), out = static_cast<size_t>(axes.output);
  const int64_t inputs = dims[in], outputs = dims[out] / a.groups;
  if (inputs == 0 || outputs == 0) return false;
  const auto all = CheckedMul(inputs, a.groups);
  if (!all) return false;
  dims[in] = *all;
  a.groups = 1;
  return Fill(graph, conv, std::move(dims), std::move(a), [=](std::vector<int64_t> index) {
    index[in] += index[out] / outputs * inputs;
    return index;
  });
}

// Makes the numbers of a constant filter that is dequantized a constant of their own.
Status TakeDequantized(Graph& graph, Node& conv) {
  const Node* def = conv.input(1)->def();
  if (def == nullptr || !def->Is<DequantizeAttrs>() || !def->input(0)->is_constant()) return {};
  NN_ASSIGN(auto floats, EvalNode(*def, {&def->input(0)->constant()}));
  graph.SetInput(&conv, 1, graph.AddConstant(std::move(floats[0]), conv.input(1)->name()));
  return {};
}

// The filter of a transposed convolution has all inputs and the outputs of one group.
Result<bool> FillTransposedGroups(Graph& graph, Node& conv) {
  ConvTransposeAttrs a = conv.attrs<ConvTransposeAttrs>();
  if (a.groups == 1) return false;
  NN_RETURN_IF_ERROR(TakeDequantized(graph, conv));
  const Value* filter = conv.input(1);
  if (!filter->is_constant() || filter->type().quantized()) return false;
  std::vector<int64_t> dims = filter->constant().dims();
  const FilterAxes axes = AxesOf(a.filter_layout, static_cast<int>(dims.size()));
  const auto in = static_cast<size_t>(axes.input), out = static_cast<size_t>(axes.output);
  const int64_t inputs = dims[in] / a.groups, outputs = dims[out];
  const auto all = CheckedMul(outputs, a.groups);
  if (inputs == 0 || outputs == 0 || !all) return false;
  dims[out] = *all;
  a.groups = 1;
  return Fill(graph, conv, std::move(dims), std::move(a), [=](std::vector<int64_t> index) {
    index[out] += index[in] / inputs * outputs;
    return index;
  });
}

template <typename A>
Result<bool> FillDilationsOf(Graph& graph, Node& conv) {
  A a = conv.attrs<A>();
  const auto is_one = [](int64_t d) { return d == 1; };
  if (std::all_of(a.dilations.begin(), a.dilations.end(), is_one) || !conv.input(1)->is_constant())
    return false;
  std::vector<int64_t> dims = conv.input(1)->constant().dims();
  const auto first =
      static_cast<size_t>(AxesOf(a.filter_layout, static_cast<int>(dims.size())).spatial);
  const std::vector<int64_t> dilations = std::exchange(a.dilations, {});
  for (size_t i = 0; i < dilations.size(); ++i) {
    int64_t& size = dims[first + i];
    if (size == 0 || dilations[i] > kMaxFilledFilter / size) return false;
    size = (size - 1) * dilations[i] + 1;
  }
  return Fill(graph, conv, std::move(dims), std::move(a), [=](std::vector<int64_t> index) {
    for (size_t i = 0; i < dilations.size(); ++i) index[first + i] *= dilations[i];
    return index;
  });
}

}  // namespace

Result<bool> FillGroups(Graph& graph, Node& conv) {
  if (conv.Is<ConvTransposeAttrs>()) return FillTransposedGroups(graph, conv);
  return FillConvGroups(graph, conv);
}

Result<bool> FillDilations(Graph& graph, Node& conv) {
  return conv.Is<ConvTransposeAttrs>() ? FillDilationsOf<ConvTransposeAttrs>(graph, conv)
                                       : FillDilationsOf<ConvAttrs>(graph, conv);
}

}  // namespace nn
