#include "nnsuite/search_dtype.h"

#include <utility>
#include <vector>

#include "against/dtype_report.h"
#include "api/access.h"
#include "api/inputs.h"
#include "api/outputs.h"
#include "base/json/json.h"
#include "exec/program_options.h"

namespace nnsuite {

Result<DtypeSearch> SearchDtype(const Model& model, const InputOptions& inputs,
                                const DtypeSearchOptions& options, const InputShapes& shapes,
                                const ProgramOptions& program) {
  NN_RETURN_IF_ERROR(nn::CheckOptionValues(nn::against::DtypeSearchTable(), options));
  NN_RETURN_IF_ERROR(nn::CheckOptionValues(nn::ProgramOptionTable(), program));
  NN_ASSIGN(nn::api::GivenModel given, nn::api::GivenModelOf(model, inputs, shapes));
  const std::vector<nn::Domain> domains = nn::InputDomains(given.graph);
  NN_ASSIGN(
      const std::vector<nn::Tensor> tensors,
      nn::CompleteInputs(given.graph, domains, std::move(given.given), inputs.seed.value_or(0)));
  NN_ASSIGN(nn::against::DtypeReport report,
            nn::against::SearchByTolerance(std::move(given.graph), tensors, options, program));
  DtypeSearch out;
  for (const nn::against::DtypeSearch::Operator& o : report.found.operators)
    if (o.stays) out.stay.push_back({o.op, o.value});
  out.operators = report.found.operators.size();
  out.runs = report.found.runs;
  out.outputs = nn::api::WrapOutputs(report.expectation);
  out.text = nn::against::DtypeReportText(options, report);
  out.report = nn::JsonText(nn::against::DtypeReportJson(options, report));
  return out;
}

}  // namespace nnsuite
