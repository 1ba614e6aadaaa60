#include "formats/coreml/export.h"
#include "ops/order.h"
#include "ops/reduce.h"

namespace nn::coreml {
namespace {

template <const char* kKind>
Status WriteReduce(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<ReduceAttrs>();
  Writer p = ctx.AddLayer(node, kKind);
  p.Bool("keepDims", a.keep_dims);
  if (a.axes.empty())
    p.Bool("reduceAll", true);
  else
    p.Ints("axes", a.axes);
  return {};
}

std::optional<std::string> WhyNotReduce(const Node& node) {
  if (node.input(1) != nullptr) return "axes that are only known in a run";
  return std::nullopt;
}

template <const char* kKind>
Status WriteArg(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<ArgAttrs>();
  Writer p = ctx.AddLayer(node, kKind);
  p.Int("axis", a.axis);
  p.Bool("removeDim", !a.keep_dims);
  return {};
}
std::optional<std::string> WhyNotArg(const Node& node) {
  if (node.attrs<ArgAttrs>().select_last_index) return "the last of equal elements";
  if (node.input(0)->dtype() != DType::kF32) return "a search among integers";
  return std::nullopt;
}

Status WriteTopK(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<TopKAttrs>();
  const Tensor* k = ConstantOf(node, 1);
  Writer p = ctx.AddLayer(node, "topK", k == nullptr ? 2 : 1);
  p.Int("axis", a.axis);
  if (k != nullptr) p.Int("K", k->GetInt(0));
  p.Bool("useBottomK", !a.largest);
  return {};
}
std::optional<std::string> WhyNotTopK(const Node& node) {
  if (node.input(0)->dtype() != DType::kF32) return "a search among integers";
  return std::nullopt;
}

Status WriteCumSum(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<CumSumAttrs>();
  Writer p = ctx.AddLayer(node, "cumSum");
  p.Int("axis", a.axis);
  p.Bool("excludeFinalSum", a.exclusive);
  p.Bool("reverse", a.reverse);
  return {};
}
std::optional<std::string> WhyNotCumSum(const Node& node) {
  if (node.input(1) != nullptr) return "an axis that is only known in a run";
  return std::nullopt;
}

constexpr char kSum[] = "reduceSum", kMean[] = "reduceMean", kMax[] = "reduceMax",
               kMin[] = "reduceMin", kProd[] = "reduceProd", kL1[] = "reduceL1", kL2[] = "reduceL2",
               kLogSum[] = "reduceLogSum", kLogSumExp[] = "reduceLogSumExp",
               kSumSquare[] = "reduceSumSquare", kArgMax[] = "argMax", kArgMin[] = "argMin";

}  // namespace

void AddReduceExports(std::vector<ExportRow>& rows) {
  rows.push_back({"reduce_sum", WriteReduce<kSum>, WhyNotReduce});
  rows.push_back({"reduce_mean", WriteReduce<kMean>, WhyNotReduce});
  rows.push_back({"reduce_max", WriteReduce<kMax>, WhyNotReduce});
  rows.push_back({"reduce_min", WriteReduce<kMin>, WhyNotReduce});
  rows.push_back({"reduce_prod", WriteReduce<kProd>, WhyNotReduce});
  rows.push_back({"reduce_l1", WriteReduce<kL1>, WhyNotReduce});
  rows.push_back({"reduce_l2", WriteReduce<kL2>, WhyNotReduce});
  rows.push_back({"reduce_log_sum", WriteReduce<kLogSum>, WhyNotReduce});
  rows.push_back({"reduce_log_sum_exp", WriteReduce<kLogSumExp>, WhyNotReduce});
  rows.push_back({"reduce_sum_square", WriteReduce<kSumSquare>, WhyNotReduce});
  rows.push_back({"arg_max", WriteArg<kArgMax>, WhyNotArg, Types::kAny});
  rows.push_back({"arg_min", WriteArg<kArgMin>, WhyNotArg, Types::kAny});
  rows.push_back({"top_k", WriteTopK, WhyNotTopK, Types::kAny});
  rows.push_back({"cum_sum", WriteCumSum, WhyNotCumSum});
}

}  // namespace nn::coreml
