#include <numeric>

#include "formats/tflite/export.h"
#include "ops/reduce.h"

namespace nn::tflite {
namespace {

template <fb::BuiltinOperator op>
Status WriteReduce(ExportContext& ctx, const Node& node) {
  ReduceAttrs a = node.attrs<ReduceAttrs>();
  if (a.axes.empty()) {
    a.axes.resize(static_cast<size_t>(node.input(0)->type().rank()));
    std::iota(a.axes.begin(), a.axes.end(), 0);
  }
  NN_ASSIGN(const TensorIndex axes, ctx.AddInts(a.axes, "axes"));
  ctx.AddOperator(op, {ctx.TensorOf(node.input(0)), axes}, ctx.ResultsOf(node),
                  fb::CreateReducerOptions(ctx.builder(), a.keep_dims));
  return {};
}

std::optional<std::string> WhyNotReduce(const Node& node) {
  if (node.input(1) != nullptr) return "its axes are not constant";
  if (!node.input(0)->type().ranked()) return "unknown rank";
  const DType t = node.input(0)->dtype();
  if (t == DType::kI32 || t == DType::kI64 || t == DType::kBool) return std::nullopt;
  return WhyNotReal(node);
}

}  // namespace

void AddReduceExports(std::vector<ExportRow>& rows) {
  using Op = fb::BuiltinOperator;
  rows.push_back({"reduce_mean", WriteReduce<Op::MEAN>, WhyNotReduce});
  rows.push_back({"reduce_sum", WriteReduce<Op::SUM>, WhyNotReduce});
  rows.push_back({"reduce_prod", WriteReduce<Op::REDUCE_PROD>, WhyNotReduce});
  rows.push_back({"reduce_max", WriteReduce<Op::REDUCE_MAX>, WhyNotReduce});
  rows.push_back({"reduce_min", WriteReduce<Op::REDUCE_MIN>, WhyNotReduce});
  rows.push_back({"reduce_any", WriteReduce<Op::REDUCE_ANY>, WhyNotReduce});
  rows.push_back({"reduce_all", WriteReduce<Op::REDUCE_ALL>, WhyNotReduce});
}

}  // namespace nn::tflite
