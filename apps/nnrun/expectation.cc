#include "apps/nnrun/expectation.h"

#include "apps/common/port_arrays.h"
#include "apps/nnrun/options.h"
#include "base/text.h"

namespace nn::app {

void Expectation::Check(const std::string& name, const Tensor& want, const Tensor& got,
                        const Tolerance& tolerance) {
  const Comparison c = Compare(want, got, tolerance);
  passed_ = passed_ && c.agrees;
  table_.Add({Escape(name), Describe(c, want)});
  Json entry = {{"name", name}, {"agrees", c.agrees}, {"identical", c.identical}};
  if (!c.mismatch.empty()) {
    entry["mismatch"] = c.mismatch;
  } else {
    entry["elements"] = c.elements;
    entry["outside"] = c.outside;
    entry["max_absolute"] = c.max_absolute;
    entry["max_relative"] = c.max_relative;
    if (c.worst) entry["worst"] = {{"index", *c.worst}, {"got", c.got_text}, {"want", c.want_text}};
  }
  json_.push_back(std::move(entry));
}

void Expectation::Skip(const std::string& name) {
  table_.Add({Escape(name), "not compared: no expected array"});
}

Result<bool> CompareWithFile(const Graph& graph, std::span<const NamedTensor> outputs,
                             const RunOptions& options, RunReport& report) {
  NN_ASSIGN(const auto expected,
            ReadPortArrays(options.expect, graph.outputs(), "out", options.limits));
  Expectation expectation;
  bool any = false;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto& [name, tensor] = outputs[i];
    any = any || expected[i].has_value();
    if (expected[i])
      expectation.Check(name, *expected[i], tensor, options.tolerance(1e-6, 1e-5));
    else
      expectation.Skip(name);
  }
  if (!any) return UsageError("{}: contains no arrays, so nothing can be compared", options.expect);
  const bool passed = expectation.passed();
  report.text += fmt::format("{}: {}\n{}", options.expect,
                             passed ? "outputs match" : "outputs differ", expectation.Text());
  report.json["expect"] = {
      {"file", options.expect}, {"passed", passed}, {"outputs", expectation.TakeJson()}};
  return passed;
}

}  // namespace nn::app
