// Preparation of the StableHLO operators that the interpreter has kernels for.
#include <algorithm>

#include "formats/tflite/constraints/operation.h"

namespace nn::tflite::constraints {
namespace {

using Op = fb::BuiltinOperator;

using Longs = flatbuffers::Vector<int64_t>;

// Checks that a list of the options has `wanted` entries, or none if it is optional.
void CheckLength(Operation& o, const Longs* list, std::string_view name, int64_t wanted,
                 bool optional) {
  const int64_t n = SizeOf(list);
  if (!(optional && n == 0) && Differ(n, wanted))
    o.Fail(Check::kStableHlo, "{} has {} entries; expected {}", name, n, wanted);
}

void CheckAtMost(Operation& o, int64_t found, std::string_view name, int64_t most) {
  if (most >= 0 && found > most)
    o.Fail(Check::kStableHlo, "{} is {}; expected at most {}", name, found, most);
}

void StableHloGather(Operation& o) {
  const auto* options = o.at().op->builtin_options_2_as_StablehloGatherOptions();
  if (options == nullptr || !o.AllPresent(2)) return;
  CheckLength(o, options->slice_sizes(), "slice_sizes", o.in(0)->rank(), false);
  CheckAtMost(o, SizeOf(options->collapsed_slice_dims()), "the number of collapsed_slice_dims",
              SizeOf(options->slice_sizes()));
  CheckAtMost(o, options->index_vector_dim(), "index_vector_dim", o.in(1)->rank());
}

void Scatter(Operation& o) {
  const auto* options = o.at().op->builtin_options_2_as_StablehloScatterOptions();
  if (options == nullptr || !o.AllPresent(3)) return;
  CheckAtMost(o, SizeOf(options->update_window_dims()), "the number of update_window_dims",
              o.in(2)->rank());
  CheckAtMost(o, SizeOf(options->inserted_window_dims()), "the number of inserted_window_dims",
              o.in(0)->rank());
  CheckAtMost(o, SizeOf(options->scatter_dims_to_operand_dims()),
              "the number of scatter_dims_to_operand_dims", o.in(0)->rank());
  CheckAtMost(o, options->index_vector_dim(), "index_vector_dim", o.in(1)->rank());
  const int64_t graphs = SizeOf(o.model().root.subgraphs());
  const int64_t graph = options->update_computation_subgraph_index();
  if (graph < 0 || graph >= graphs)
    o.Fail(Check::kCalledGraph, "the update computation is subgraph {}, out of range [0, {})",
           graph, graphs);
}

void StableHloPad(Operation& o) {
  const auto* options = o.at().op->builtin_options_2_as_StablehloPadOptions();
  const Value* x = o.in(0);
  if (options == nullptr || x == nullptr) return;
  CheckLength(o, options->edge_padding_low(), "edge_padding_low", x->rank(), false);
  CheckLength(o, options->edge_padding_high(), "edge_padding_high", x->rank(), false);
  CheckLength(o, options->interior_padding(), "interior_padding", x->rank(), false);
  for (const int64_t n : ListOf<int64_t>(options->interior_padding()))
    if (n < 0) return o.Fail(Check::kStableHlo, "interior_padding has {}; expected at least 0", n);
}

void ReduceWindow(Operation& o) {
  const auto* options = o.at().op->builtin_options_2_as_StablehloReduceWindowOptions();
  const Value* x = o.in(0);
  if (options == nullptr || x == nullptr) return;
  if (SizeOf(options->window_dimensions()) == 0)
    return o.Fail(Check::kStableHlo, "window_dimensions is empty");
  const int64_t rank = SizeOf(options->window_dimensions());
  CheckLength(o, options->window_strides(), "window_strides", rank, true);
  CheckLength(o, options->base_dilations(), "base_dilations", rank, true);
  CheckLength(o, options->window_dilations(), "window_dilations", rank, true);
  CheckLength(o, options->padding(), "padding", 2 * rank, true);
  for (const Longs* list : {options->window_dimensions(), options->window_strides(),
                            options->base_dilations(), options->window_dilations()})
    for (const int64_t n : ListOf<int64_t>(list))
      if (n < 1)
        return o.Fail(Check::kStableHlo,
                      "a window dimension, stride or dilation is {}; expected at least 1", n);
  const int64_t graphs = SizeOf(o.model().root.subgraphs());
  if (options->body_subgraph_index() < 0 || options->body_subgraph_index() >= graphs)
    o.Fail(Check::kCalledGraph, "the body is subgraph {}, out of range [0, {})",
           options->body_subgraph_index(), graphs);
}

void RandomBits(Operation& o) {
  const Value* state = o.in(0);
  const Value* next = o.out(0);
  if (state == nullptr || next == nullptr) return;
  const auto declared = ListOf<int64_t>(next->tensor->shape());
  if (declared.size() != 1 || Differ(declared[0], state->dim(0)))
    o.Fail(Check::kSameShapes, "the input state has shape {} but the output state has shape {}",
           ShapeText(state->dims), ShapeText(declared));
}

constexpr Preparation kStableHloPreparations[] = {
    {Op::STABLEHLO_GATHER, StableHloGather},
    {Op::STABLEHLO_SCATTER, Scatter},
    {Op::STABLEHLO_PAD, StableHloPad},
    {Op::STABLEHLO_REDUCE_WINDOW, ReduceWindow},
    {Op::STABLEHLO_RNG_BIT_GENERATOR, RandomBits},
};

}  // namespace

std::span<const Preparation> StableHloPreparations() {
  return kStableHloPreparations;
}

}  // namespace nn::tflite::constraints
