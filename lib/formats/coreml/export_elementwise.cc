#include <fmt/core.h>

#include <algorithm>

#include "formats/coreml/export.h"
#include "formats/coreml/weights.h"
#include "ops/elementwise.h"

namespace nn::coreml {
namespace {

Status WriteNeg(ExportContext& ctx, const Node& node) {
  ctx.AddLayer(node, "multiply").Float("alpha", -1);
  return {};
}

Status WriteGelu(ExportContext& ctx, const Node& node) {
  Writer p = ctx.AddLayer(node, "gelu");
  switch (node.attrs<GeluAttrs>().approximate) {
    case GeluApproximation::kNone:
      p.Enum("mode", "EXACT");
      break;
    case GeluApproximation::kTanh:
      p.Enum("mode", "TANH_APPROXIMATION");
      break;
    case GeluApproximation::kSigmoid:
      p.Enum("mode", "SIGMOID_APPROXIMATION");
      break;
  }
  return {};
}

// ---- prelu: a constant with one slope, or one a channel -----------------------------------------

bool IsChannelWise(const Node& node) {
  const Tensor* slope = ConstantOf(node, 1);
  const int rank = node.input(0)->type().rank();
  if (slope == nullptr || rank < 3) return false;
  if (slope->elements() == 1) return true;
  const int axis = slope->rank() - 3;  // the channels
  return axis >= 0 && slope->dim(axis) == slope->elements();
}

Status WritePrelu(ExportContext& ctx, const Node& node) {
  WriteWeights(ctx.AddLayer(node, "activation", 1).Sub("PReLU").Sub("alpha"), *ConstantOf(node, 1));
  return {};
}

std::optional<std::string> WhyNotPrelu(const Node& node) {
  if (IsChannelWise(node)) return std::nullopt;
  return "slopes that are not one a channel";
}

// ---- Types --------------------------------------------------------------------------------------

// All are numbers; only what becomes a condition has to be computed.
Status WriteCast(ExportContext& ctx, const Node& node) {
  if (node.output()->dtype() == DType::kBool && node.input(0)->dtype() != DType::kBool)
    ctx.AddLayer(node, "notEqual").Float("alpha", 0);
  else
    ctx.Alias(node, node.output(), node.input(0));
  return {};
}

std::optional<std::string> WhyNotCast(const Node& node) {
  const DType from = node.input(0)->dtype(), to = node.output()->dtype();
  if (from == DType::kF32 && (to == DType::kI32 || to == DType::kI64))
    return fmt::format("a cast of f32 to {}", DTypeName(to));
  return std::nullopt;
}

std::optional<std::string> WhyNotClip(const Node& node) {
  const auto& a = node.attrs<ClipAttrs>();
  if (!(a.min <= a.max)) return fmt::format("a lower bound of {} above {}", a.min, a.max);
  return std::nullopt;
}

// ---- Comparisons and logic ----------------------------------------------------------------------

template <const char* kKind>
Status WriteAs(ExportContext& ctx, const Node& node) {
  ctx.AddLayer(node, kKind);
  return {};
}

constexpr char kEqual[] = "equal", kNotEqual[] = "notEqual", kLess[] = "lessThan",
               kLessEqual[] = "lessEqual", kGreater[] = "greaterThan",
               kGreaterEqual[] = "greaterEqual", kAnd[] = "logicalAnd", kOr[] = "logicalOr",
               kXor[] = "logicalXor", kNot[] = "logicalNot", kWhere[] = "whereBroadcastable";

}  // namespace

void AddElementwiseExports(std::vector<ExportRow>& rows) {
  rows.push_back({"neg", WriteNeg});
  rows.push_back({"gelu", WriteGelu});
  rows.push_back({"clip", nullptr, WhyNotClip});
  rows.push_back({"prelu", WritePrelu, WhyNotPrelu});
  rows.push_back({"cast", WriteCast, WhyNotCast, Types::kAny});
  rows.push_back({"equal", WriteAs<kEqual>, nullptr, Types::kAny});
  rows.push_back({"not_equal", WriteAs<kNotEqual>, nullptr, Types::kAny});
  rows.push_back({"less", WriteAs<kLess>, nullptr, Types::kAny});
  rows.push_back({"less_equal", WriteAs<kLessEqual>, nullptr, Types::kAny});
  rows.push_back({"greater", WriteAs<kGreater>, nullptr, Types::kAny});
  rows.push_back({"greater_equal", WriteAs<kGreaterEqual>, nullptr, Types::kAny});
  rows.push_back({"and", WriteAs<kAnd>, nullptr, Types::kAny});
  rows.push_back({"or", WriteAs<kOr>, nullptr, Types::kAny});
  rows.push_back({"xor", WriteAs<kXor>, nullptr, Types::kAny});
  rows.push_back({"not", WriteAs<kNot>, nullptr, Types::kAny});
  rows.push_back({"select", WriteAs<kWhere>, nullptr, Types::kAny});
}

}  // namespace nn::coreml
