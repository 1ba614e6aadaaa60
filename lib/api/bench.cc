#include "nnsuite/bench.h"

#include <utility>
#include <vector>

#include "api/access.h"
#include "api/convert.h"
#include "base/json/json.h"
#include "base/options.h"
#include "exec/bench.h"

namespace nnsuite {

Result<LatencyReport> MeasureLatency(const Program& program, std::span<const Tensor> inputs,
                                     const BenchOptions& options,
                                     const ProgressCallback& progress) {
  NN_RETURN_IF_ERROR(nn::CheckOptionValues(nn::BenchOptionTable(), options));
  const nn::Program& compiled = Access::Of(program);
  NN_ASSIGN(const nn::Measurement measured,
            nn::MeasureLatency(compiled, Access::Of(inputs), options,
                               nn::api::Reporting(progress, "runs", "benchmark")));
  LatencyReport out = {measured.latency,
                       {},
                       nn::MeasurementText(compiled, options, measured),
                       nn::JsonText(nn::MeasurementJson(compiled, options, measured))};
  for (size_t i = 0; i < measured.step_ms.size(); ++i) {
    const nn::StepInfo& step = compiled.steps()[i];
    out.steps.push_back({step.label, step.kind, measured.step_ms[i], step.multiply_adds, step.bytes,
                         step.reference});
  }
  return out;
}

}  // namespace nnsuite
