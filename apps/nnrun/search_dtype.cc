#include "apps/nnrun/search_dtype.h"

#include "against/search_dtype.h"

#include <algorithm>

#include "apps/nnrun/inputs.h"
#include "apps/nnrun/options.h"
#include "base/text/table.h"
#include "base/text/text.h"
#include "convert/outputs/expectation.h"
#include "passes/facts/input_domains.h"

namespace nn::app {

Status ReportDtypeSearch(Graph graph, const ReadModel& read, const RunOptions& options,
                         RunReport& report) {
  NN_ASSIGN(const PortArrays given, GivenInputs(graph, read, options));
  NN_ASSIGN(const std::vector<Tensor> inputs,
            CompleteInputs(graph, InputDomains(graph), given, options));
  const auto tolerance = [&](const Tensor& want) {
    return ScaledTolerance(options.expected.atol.value_or(1e-6), *options.expected.rtol, want);
  };
  const auto accepts = [&](const std::vector<Tensor>& want, const std::vector<Tensor>& got) {
    for (size_t i = 0; i < want.size(); ++i)
      if (!Compare(want[i], got[i], tolerance(want[i])).agrees) return false;
    return true;
  };
  std::vector<std::string> names;
  for (const Port& p : graph.outputs()) names.push_back(p.name);
  const DType dtype = *ParseDType(options.search_dtype);
  NN_ASSIGN(const against::DtypeSearch found,
            against::SearchDtype(std::move(graph), dtype, inputs, options.program(), accepts));

  Expectation expectation;
  for (size_t i = 0; i < names.size(); ++i)
    expectation.Check(names[i], found.want[i], found.got[i], tolerance(found.want[i]));
  Table table({{"operator"}, {"value"}});
  Json list = Json::array();
  for (const auto& o : found.operators) {
    if (!o.stays) continue;
    table.Add({Escape(o.op), Escape(o.value)});
    list.push_back({{"operator", o.op}, {"value", o.value}});
  }
  report.text += fmt::format("{} of {} operators must stay f32 if the others are {} ({} runs)\n",
                             list.size(), found.operators.size(), options.search_dtype, found.runs);
  if (!table.empty()) report.text += table.Text(2);
  report.text +=
      fmt::format("outputs with the others in {}\n{}", options.search_dtype, expectation.Text());
  report.json["search_dtype"] = {{"type", options.search_dtype},
                                 {"operators", found.operators.size()},
                                 {"stay", std::move(list)},
                                 {"runs", found.runs},
                                 {"outputs", expectation.TakeJson()}};
  return {};
}

}  // namespace nn::app
