#include "apps/nnrun/expectation.h"

#include <fmt/format.h>

#include <cmath>

#include "apps/common/tolerance.h"
#include "apps/nnrun/options.h"
#include "base/text/text.h"
#include "convert/inputs/port_arrays.h"
#include "passes/core/ports.h"

namespace nn::app {
namespace {

PortFinder FinderOf(const Graph& graph, std::span<const NamedTensor> outputs) {
  if (outputs.size() == graph.outputs().size()) return {graph.outputs(), {"out"}};
  std::vector<std::string> names;
  for (const NamedTensor& output : outputs) names.push_back(output.name);
  return {names, {"out"}};
}

}  // namespace

void AddNumbers(const Comparison& c, Json& entry) {
  entry["elements"] = c.elements;
  entry["outside"] = c.outside;
  entry["max_absolute"] = c.max_absolute;
  entry["max_relative"] = c.max_relative;
  const auto mean = [&](double v) {
    return c.has_means() && std::isfinite(v) ? Json(v) : Json(nullptr);
  };
  entry["mean_absolute"] = mean(c.mean_absolute);
  entry["snr_db"] = mean(c.snr_db);
  entry["cosine"] = mean(c.cosine);
  if (c.worst) entry["worst"] = {{"index", *c.worst}, {"got", c.got_text}, {"want", c.want_text}};
}

void Expectation::Check(const std::string& name, const Tensor& want, const Tensor& got,
                        const Tolerance& tolerance) {
  const Comparison c = Compare(want, got, tolerance);
  passed_ = passed_ && c.agrees;
  std::string text = Describe(c, want);
  if (!c.agrees && c.mismatch.empty() && IsFloat(want.dtype())) {
    if (c.has_means())
      text += fmt::format("; mean difference {:.3g}, cosine {:.6g}", c.mean_absolute, c.cosine);
    text += "; " + AcceptingTolerance("--atol", c.max_absolute);
  }
  table_.Add({Escape(name), text});
  Json entry = {{"name", name}, {"agrees", c.agrees}, {"identical", c.identical}};
  if (!c.mismatch.empty()) {
    entry["mismatch"] = c.mismatch;
  } else {
    AddNumbers(c, entry);
  }
  json_.push_back(std::move(entry));
}

void Expectation::CheckLength(const std::string& name, size_t want, size_t got) {
  passed_ = passed_ && want == got;
  const std::string text = want == got
                               ? fmt::format("{} elements", got)
                               : fmt::format("has {} elements, but {} are expected", got, want);
  table_.Add({Escape(name), text});
  Json entry = {{"name", name}, {"agrees", want == got}, {"identical", want == got}};
  if (want != got) entry["mismatch"] = text;
  json_.push_back(std::move(entry));
}

void Expectation::Skip(const std::string& name) {
  table_.Add({Escape(name), "not compared: no expected array"});
}

Result<bool> CompareWithFile(const Graph& graph, std::span<const NamedTensor> outputs,
                             const RunOptions& options, RunReport& report) {
  std::vector<PortType> ports = TypesOf(graph.outputs());
  for (const NamedTensor& output : outputs.subspan(ports.size()))
    ports.push_back({output.name, Type(output.tensor.dtype(), ToDims(output.tensor.dims())), {}});
  PortArrays expected(ports.size());
  if (const Status read = ReadPortArrays(options.expect, ports, FinderOf(graph, outputs),
                                         options.limits, expected, true);
      !read)
    return tl::unexpected(WithPorts(read.error(), "output", ports, expected));
  Expectation expectation;
  bool any = false;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto& [name, tensor] = outputs[i];
    any = any || expected[i].has_value();
    if (expected[i])
      expectation.Check(
          name, *expected[i], tensor,
          ScaledTolerance(options.atol.value_or(1e-6), options.rtol.value_or(1e-5), *expected[i]));
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
