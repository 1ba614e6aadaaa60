#include "rewrite/expand.h"

#include <algorithm>
#include <cmath>

#include "ir/op_def.h"
#include "ir/text/number.h"

namespace nn {

Result<Value*> Expansion::Add(std::string_view op, std::vector<Value*> inputs, Attrs attrs) {
  NN_ASSIGN(Node* const n, AddNode(op, std::move(inputs), std::move(attrs), 1));
  return n->output();
}

Result<Node*> Expansion::AddNode(std::string_view op, std::vector<Value*> inputs, Attrs attrs,
                                 size_t outputs) {
  NN_ASSIGN(Node* const n, graph_.Append(op, std::move(inputs), std::move(attrs), outputs, &node_));
  n->set_source(node_.source());
  return n;
}

Result<Value*> Expansion::Number(DType dtype, double v) {
  NN_ASSIGN(Tensor number, nn::Number(dtype, v));
  return Constant(std::move(number));
}

bool Expansion::Replace(Value* y) {
  if (y->def() != nullptr && y->def()->name().empty()) y->def()->set_name(node_.name());
  if (node_.outputs().size() == 1) {
    graph_.Replace(&node_, y);
    return true;
  }
  if (y->name().empty()) y->set_name(node_.output()->name());
  graph_.ReplaceUses(node_.output(), y);
  graph_.Erase(&node_);
  return true;
}

void Expansion::ReplaceOutput(size_t i, Value* v) {
  if (v->name().empty()) v->set_name(node_.output(i)->name());
  graph_.ReplaceUses(node_.output(i), v);
}

std::optional<std::string_view> WhyNotExpanded(const Node& node) {
  struct Conditions {
    std::string_view op, reason;
  };
  constexpr std::string_view kProduct =
      "the number of products in a sum is not known, or too large for exact sums in float32";
  constexpr std::string_view kTransform =
      "x must be f32 and have elements, its axis, the length and the shape along the axis "
      "constant, and the matrix "
      "of "
      "the transform must have at most 2^24 elements";
  constexpr std::string_view kFrames =
      "the signal must be f32 and have elements and a constant length, the step and the size of "
      "the frames must "
      "be constant, and the matrix of the transform must have at most 2^24 elements";
  constexpr std::string_view kMatrices =
      "the matrices must be of f32 and have a constant size from 1 to 32";
  constexpr Conditions kConditions[] = {
      {"matmul_integer", kProduct},
      {"conv_integer", kProduct},
      {"det", kMatrices},
      {"inverse", kMatrices},
      {"dft", kTransform},
      {"stft", kFrames},
      {"roi_align",
       "the operands must be of f32, sampling_ratio positive, since 0 lets the regions determine "
       "the number of samples, and the images of constant shape; set input shapes with "
       "--input-shape"},
  };
  if (node.Is("resize") && node.inputs().size() > 1) return "its scales or sizes must be constant";
  for (const Conditions& c : kConditions)
    if (node.Is(c.op)) return c.reason;
  return std::nullopt;
}

bool IsFinite(const Tensor& tensor) {
  const Tensor aligned = tensor.Aligned();
  return std::ranges::all_of(aligned.As<float>(), [](float v) { return std::isfinite(v); });
}

bool IsPlainF32(const Node& node) {
  return node.input(0)->dtype() == DType::kF32 && !node.input(0)->type().quantized();
}

}  // namespace nn
