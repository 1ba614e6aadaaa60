#include "apps/nnrun/results/outputs.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "apps/nnrun/options.h"
#include "base/file/file.h"
#include "base/text/table.h"
#include "base/text/text.h"
#include "tensorio/compare.h"
#include "tensorio/digest.h"

namespace nn::app {
namespace {

constexpr int64_t kFirstValues = 5;
constexpr size_t kMaxScores = 5;

// Minimum and maximum ignore NaN; the mean of a tensor with NaN is NaN.
struct Statistics {
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  double mean = 0;
};

std::optional<Statistics> StatisticsOf(const Tensor& t) {
  if (t.elements() == 0 || t.dtype() == DType::kString || IsComplex(t.dtype())) return std::nullopt;
  Statistics s;
  double sum = 0;
  for (int64_t i = 0; i < t.elements(); ++i) {
    const double v = t.GetDouble(i);
    sum += v;
    s.min = v < s.min ? v : s.min;
    s.max = v > s.max ? v : s.max;
  }
  s.mean = sum / static_cast<double>(t.elements());
  if (s.min > s.max) s.min = s.max = std::numeric_limits<double>::quiet_NaN();
  return s;
}

std::string FirstValues(const Tensor& t) {
  std::string out;
  const int64_t n = std::min(t.elements(), kFirstValues);
  for (int64_t i = 0; i < n; ++i) out += (i == 0 ? "" : ", ") + ElementText(t, i);
  return t.elements() > n ? out + ", ..." : out;
}

// What the integers of a quantized output stand for.
Result<Tensor> RealNumbers(const Graph& graph, const NamedTensor& output) {
  const auto port = std::ranges::find(graph.outputs(), output.name, &Port::name);
  if (port == graph.outputs().end() || !port->value->type().quantized() ||
      port->value->type().quant->per_axis())
    return output.tensor;
  const Quant& q = *port->value->type().quant;
  NN_ASSIGN(TensorBuilder real, TensorBuilder::Create(DType::kF32, output.tensor.dims()));
  for (int64_t i = 0; i < output.tensor.elements(); ++i)
    real.SetDouble(i, static_cast<double>(output.tensor.GetInt(i) - q.zero_point()) * q.scale());
  return real.Finish();
}

// The lines of a file, without an empty one at its end.
Result<std::vector<std::string>> ReadLabels(const std::string& path) {
  NN_ASSIGN(const Blob file, ReadFile(path));
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  std::vector<std::string> labels;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    labels.emplace_back(line);
    at = end + 1;
  }
  return labels;
}

}  // namespace

Json ValueJson(const Tensor& t, int64_t i) {
  if (t.dtype() == DType::kString) return t.strings()[static_cast<size_t>(i)];
  if (t.dtype() == DType::kBool) return t.GetInt(i) != 0;
  if (t.dtype() == DType::kU64) return static_cast<uint64_t>(t.GetInt(i));
  if (IsInteger(t.dtype())) return t.GetInt(i);
  if (IsComplex(t.dtype())) return ElementText(t, i);
  return t.GetDouble(i);
}

std::vector<NamedTensor> NameOutputs(const Graph& graph, std::vector<Tensor> outputs) {
  std::vector<NamedTensor> named;
  for (size_t i = 0; i < outputs.size(); ++i)
    named.push_back({graph.outputs()[i].name, std::move(outputs[i])});
  return named;
}

std::vector<NamedTensor> ClassOutputs(const Classes& classes,
                                      std::span<const NamedTensor> outputs) {
  const auto named = [&](const std::string& name) {
    return std::ranges::find(outputs, name, &NamedTensor::name);
  };
  const auto scores = named(classes.scores);
  if (scores == outputs.end()) return {};
  const Tensor& t = scores->tensor;
  if (t.elements() != classes.labels.elements()) {
    spdlog::warn(
        "output {} has the shape {}, which is not one score for each of {} classes; the "
        "predicted class is not determined",
        Quote(classes.scores), ToString(ToDims(t.dims())), classes.labels.elements());
    return {};
  }
  int64_t best = 0;
  for (int64_t i = 1; i < t.elements(); ++i)
    if (t.GetDouble(i) > t.GetDouble(best)) best = i;
  Tensor label = classes.labels.dtype() == DType::kString
                     ? Tensor({1}, {classes.labels.strings()[static_cast<size_t>(best)]})
                     : Tensor::Ints({classes.labels.GetInt(best)});
  std::vector<NamedTensor> out = {{classes.label, std::move(label)}};
  const std::string labels = classes.scores + ".labels";
  if (named(labels) == outputs.end()) out.push_back({labels, classes.labels});
  return out;
}

void DescribeOutputs(std::span<const NamedTensor> outputs, RunReport& report) {
  Table table({{"output"},
               {"type"},
               {"shape"},
               {"min", Align::kRight},
               {"max", Align::kRight},
               {"mean", Align::kRight},
               {"first values"}});
  Json list = Json::array();
  for (const auto& [name, t] : outputs) {
    const auto s = StatisticsOf(t);
    const auto number = [&](double v) { return s ? fmt::format("{:.6g}", v) : std::string(); };
    table.Add({Escape(name), std::string(DTypeName(t.dtype())), ToString(ToDims(t.dims())),
               number(s ? s->min : 0), number(s ? s->max : 0), number(s ? s->mean : 0),
               FirstValues(t)});
    Json entry = {{"name", name}, {"type", DTypeName(t.dtype())}, {"shape", t.dims()}};
    if (s) {
      entry["min"] = s->min;
      entry["max"] = s->max;
      entry["mean"] = s->mean;
    }
    entry["first"] = Json::array();
    for (int64_t i = 0; i < std::min(t.elements(), kFirstValues); ++i)
      entry["first"].push_back(ValueJson(t, i));
    list.push_back(std::move(entry));
  }
  report.text += table.Text();
  report.json["outputs"] = std::move(list);
}

Status DescribeScores(const Graph& graph, const std::string& path,
                      std::span<const NamedTensor> outputs, RunReport& report) {
  NN_ASSIGN(const std::vector<std::string> labels, ReadLabels(path));
  const auto has_scores = [&](const NamedTensor& output) {
    const int64_t n = output.tensor.elements(), lines = static_cast<int64_t>(labels.size());
    return (n == lines || n == lines + 1) && StatisticsOf(output.tensor);
  };
  Json list = Json::array();
  for (const NamedTensor& output : outputs) {
    if (!has_scores(output)) continue;
    NN_ASSIGN(const Tensor t, RealNumbers(graph, output));
    const int64_t background = t.elements() - static_cast<int64_t>(labels.size());
    std::vector<int64_t> order(static_cast<size_t>(t.elements()));
    std::iota(order.begin(), order.end(), 0);
    // NaN is the lowest.
    const auto score = [&](int64_t i) {
      const double v = t.GetDouble(i);
      return std::isnan(v) ? -std::numeric_limits<double>::infinity() : v;
    };
    std::ranges::stable_sort(order, [&](int64_t a, int64_t b) { return score(a) > score(b); });
    order.resize(std::min(order.size(), kMaxScores));
    Table table({{Escape(output.name)}, {"score", Align::kRight}, {"label"}});
    Json scores = Json::array();
    for (const int64_t i : order) {
      const std::string label =
          i < background ? "background" : labels[static_cast<size_t>(i - background)];
      table.Add({std::to_string(i), ElementText(t, i), Escape(label)});
      scores.push_back({{"index", i}, {"score", ValueJson(t, i)}, {"label", label}});
    }
    report.text += (report.text.empty() ? "" : "\n") + table.Text();
    list.push_back({{"name", output.name}, {"top", std::move(scores)}});
  }
  if (list.empty())
    return UsageError("--labels: no output has {} scores, one for each line of {}, nor one more",
                      labels.size(), path);
  report.json["scores"] = std::move(list);
  return {};
}

void DigestOutputs(std::span<const NamedTensor> outputs, RunReport& report) {
  const std::string digest = Digest(outputs);
  report.text += digest + "\n";
  report.json["digest"] = digest;
  Json list = Json::array();
  for (const NamedTensor& output : outputs) {
    // Without the name, which a conversion may change.
    const NamedTensor value = {"", output.tensor};
    list.push_back({{"name", output.name},
                    {"type", DTypeName(output.tensor.dtype())},
                    {"shape", output.tensor.dims()},
                    {"digest", Digest(std::span(&output, 1))},
                    {"value_digest", Digest(std::span(&value, 1))}});
  }
  report.json["outputs"] = std::move(list);
}

}  // namespace nn::app
