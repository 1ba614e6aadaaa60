#include "nnsuite/outputs.h"

#include <optional>
#include <utility>
#include <vector>

#include "api/access.h"
#include "api/outputs.h"
#include "convert/outputs/expect_options.h"
#include "convert/outputs/expectation.h"

namespace nn::api {

std::vector<nnsuite::OutputCheck> WrapOutputs(const Expectation& expectation) {
  std::vector<nnsuite::OutputCheck> out;
  for (const Expectation::Output& o : expectation.outputs())
    out.push_back({o.name, o.comparison ? std::optional(WrapComparison(*o.comparison, o.text))
                                        : std::nullopt});
  return out;
}

}  // namespace nn::api

namespace nnsuite {

Result<OutputChecks> CompareOutputs(const Program& program, std::span<const Tensor> outputs,
                                    const ExpectOptions& options) {
  NN_RETURN_IF_ERROR(nn::CheckOptionValues(nn::ExpectOptionTable(), options));
  const std::vector<PortType>& ports = program.outputs();
  if (outputs.size() != ports.size())
    return nn::UsageError("the program has {} outputs; {} are given", ports.size(), outputs.size());
  std::vector<nn::PortType> types;
  std::vector<nn::NamedTensor> actual;
  std::vector<std::string> names;
  for (size_t i = 0; i < ports.size(); ++i) {
    NN_ASSIGN(nn::Type type, nn::api::TypeOf(ports[i].type));
    types.push_back({ports[i].name, std::move(type), {}});
    actual.push_back({ports[i].name, Access::Of(outputs[i])});
    names.push_back(ports[i].name);
  }
  NN_ASSIGN(nn::Expectation expectation,
            nn::CompareWithExpected(types, nn::PortFinder(names, {"out"}), actual, options,
                                    Access::Of(options.arrays)));
  OutputChecks out;
  out.outputs = nn::api::WrapOutputs(expectation);
  out.passed = expectation.passed();
  out.text = expectation.Text();
  out.report = nn::JsonText(nn::ExpectationJson(options.file, expectation));
  return out;
}

}  // namespace nnsuite
