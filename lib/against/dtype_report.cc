#include "against/dtype_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/text/table.h"
#include "base/text/text.h"
#include "ir/types/dtype.h"
#include "tensorio/compare.h"

namespace nn::against {
namespace {

DType TypeOf(nnsuite::NarrowFloat dtype) {
  return dtype == nnsuite::NarrowFloat::kF16 ? DType::kF16 : DType::kBF16;
}

size_t CountStaying(const DtypeSearch& found) {
  return static_cast<size_t>(std::ranges::count_if(found.operators, &DtypeSearch::Operator::stays));
}

}  // namespace

OptionTable DtypeSearchTable() {
  static const std::vector<OptionField> fields = {
      Option<&DtypeSearchOptions::dtype>("dtype", {.help = "The type of the other operators",
                                                   .surfaces = kInBindings,
                                                   .choices = {"f16", "bf16"}}),
      Option<&DtypeSearchOptions::atol>("atol",
                                        {.help = "Largest absolute difference (default 1e-6)",
                                         .surfaces = kInBindings,
                                         .least = 0}),
      Option<&DtypeSearchOptions::rtol>(
          "rtol", {.help = "Largest difference relative to the largest magnitude of the output",
                   .surfaces = kInBindings,
                   .least = 0}),
  };
  return fields;
}

Result<DtypeReport> SearchByTolerance(Graph graph, const std::vector<Tensor>& inputs,
                                      const DtypeSearchOptions& options,
                                      const ProgramOptions& program) {
  if (!options.rtol) return UsageError("rtol is not set, the tolerance that the outputs must hold");
  const auto tolerance = [&](const Tensor& want) {
    return ScaledTolerance(options.atol.value_or(1e-6), *options.rtol, want);
  };
  const auto accepts = [&](const std::vector<Tensor>& want, const std::vector<Tensor>& got) {
    for (size_t i = 0; i < want.size(); ++i)
      if (!Compare(want[i], got[i], tolerance(want[i])).agrees) return false;
    return true;
  };
  std::vector<std::string> names;
  for (const Port& p : graph.outputs()) names.push_back(p.name);
  DtypeReport out;
  NN_ASSIGN(out.found,
            SearchDtype(std::move(graph), TypeOf(options.dtype), inputs, program, accepts));
  for (size_t i = 0; i < names.size(); ++i)
    out.expectation.Check(names[i], out.found.want[i], out.found.got[i],
                          tolerance(out.found.want[i]));
  return out;
}

std::string DtypeReportText(const DtypeSearchOptions& options, const DtypeReport& report) {
  const std::string_view type = DTypeName(TypeOf(options.dtype));
  Table table({{"operator"}, {"value"}});
  for (const DtypeSearch::Operator& o : report.found.operators)
    if (o.stays) table.Add({Escape(o.op), Escape(o.value)});
  return fmt::format(
      "{} of {} operators must stay f32 if the others are {} ({} runs)\n{}outputs with the others "
      "in {}\n{}",
      CountStaying(report.found), report.found.operators.size(), type, report.found.runs,
      table.empty() ? "" : table.Text(2), type, report.expectation.Text());
}

Json DtypeReportJson(const DtypeSearchOptions& options, DtypeReport& report) {
  Json stay = Json::array();
  for (const DtypeSearch::Operator& o : report.found.operators)
    if (o.stays) stay.push_back({{"operator", o.op}, {"value", o.value}});
  return {{"search_dtype",
           {{"type", DTypeName(TypeOf(options.dtype))},
            {"operators", report.found.operators.size()},
            {"stay", std::move(stay)},
            {"runs", report.found.runs},
            {"outputs", report.expectation.TakeJson()}}}};
}

}  // namespace nn::against
