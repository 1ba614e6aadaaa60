#include "convert/outputs/expectation.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/text/text.h"
#include "convert/outputs/tolerance.h"

namespace nn {
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
  Comparison c = Compare(want, got, tolerance);
  passed_ = passed_ && c.agrees;
  std::string text = Describe(c, want);
  if (!c.agrees && c.mismatch.empty() && IsFloat(want.dtype())) {
    if (c.has_means())
      text += fmt::format("; mean difference {:.3g}, cosine {:.6g}", c.mean_absolute, c.cosine);
    text += "; " + AcceptingTolerance("--atol", c.max_absolute);
  }
  Json entry = {{"name", name}, {"agrees", c.agrees}, {"identical", c.identical}};
  if (!c.mismatch.empty()) {
    entry["mismatch"] = c.mismatch;
  } else {
    AddNumbers(c, entry);
  }
  json_.push_back(std::move(entry));
  outputs_.push_back({name, std::move(c), std::move(text)});
}

void Expectation::CheckLength(const std::string& name, size_t want, size_t got) {
  passed_ = passed_ && want == got;
  const std::string text = want == got
                               ? fmt::format("{} elements", got)
                               : fmt::format("has {} elements, but {} are expected", got, want);
  outputs_.push_back({name, std::nullopt, text});
  Json entry = {{"name", name}, {"agrees", want == got}, {"identical", want == got}};
  if (want != got) entry["mismatch"] = text;
  json_.push_back(std::move(entry));
}

void Expectation::Skip(const std::string& name) {
  outputs_.push_back({name, std::nullopt, "not compared: no expected array"});
}

std::string Expectation::Text() const {
  Table table({{""}, {""}});
  for (const Output& output : outputs_) table.Add({Escape(output.name), output.text});
  return table.Text(2);
}

Result<Expectation> CompareWithExpected(const std::vector<PortType>& ports,
                                        const PortFinder& finder,
                                        std::span<const NamedTensor> outputs,
                                        const ExpectOptions& options,
                                        std::span<const NamedTensor> arrays) {
  PortArrays expected(ports.size());
  const auto read = [&]() -> Status {
    if (!options.file.empty())
      NN_RETURN_IF_ERROR(
          ReadPortArrays(options.file, ports, finder, options.limits, expected, true));
    return AddPortArrays(arrays, ports, finder, expected, true);
  };
  if (const Status done = read(); !done)
    return tl::unexpected(WithPorts(done.error(), "output", ports, expected));
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
  if (any) return expectation;
  if (options.file.empty()) return UsageError("there are no expected arrays to compare with");
  return UsageError("{}: contains no arrays, so nothing can be compared", options.file);
}

Json ExpectationJson(const std::string& file, Expectation& expectation) {
  return {{"file", file}, {"passed", expectation.passed()}, {"outputs", expectation.TakeJson()}};
}

}  // namespace nn
