#include "apps/nnrun/against/report.h"

#include <fmt/format.h>

#include <cmath>

#include "apps/common/model/document.h"
#include "apps/nnrun/options.h"
#include "base/text/table.h"
#include "base/text/text.h"
#include "convert/outputs/expectation.h"
#include "passes/core/ports.h"

namespace nn::app {
namespace {

using against::ValueDrift;

std::string Number(double v) {
  return fmt::format("{:.3g}", v);
}

// "NaN 3, infinite 0 here; ..." for a value that is not finite in one of the models.
std::string NotFiniteText(const ValueDrift& d) {
  const auto text = [](const against::NotFinite& n) {
    std::string out;
    if (n.nan > 0) out += fmt::format("{} NaN", n.nan);
    if (n.infinite > 0) out += fmt::format("{}{} infinite", out.empty() ? "" : ", ", n.infinite);
    return out.empty() ? "all finite" : out;
  };
  if (d.here.nan + d.here.infinite + d.there.nan + d.there.infinite == 0) return "";
  const std::string here = text(d.here), there = text(d.there);
  return here == there ? here : fmt::format("{}, expected {}", here, there);
}

// Names in the table: those that TensorFlow Lite's converter joins can have hundreds of characters.
std::string Shortened(const std::string& name) {
  constexpr size_t kMax = 64;
  const std::string shown = Escape(name);
  return shown.size() <= kMax ? shown : shown.substr(0, kMax - 3) + "...";
}

// What is not obvious about a pair.
std::string Notes(const ValueDrift& d) {
  std::string out;
  const auto add = [&](const std::string& text) {
    if (!text.empty()) out += (out.empty() ? "" : "; ") + text;
  };
  if (d.other.name != d.name)
    add(fmt::format("{}, by {}", Shortened(d.other.name), against::PairedByName(d.other.by)));
  if (!d.comparable) add(d.where);
  if (d.comparable && d.axes && !d.axes->IsIdentity()) add("axes " + d.axes->ToString());
  if (d.comparable && !d.axes) add("shapes differ");
  add(NotFiniteText(d));
  return out;
}

std::string Verdict(const ValueDrift& d) {
  if (d.parts) return "parts";
  if (!d.comparable) return "not compared";
  if (!d.comparison.agrees) return "no pair";
  return d.comparison.identical ? "identical" : "";
}

Table DriftTable(const AgainstSummary& summary) {
  Table table({{"value"},
               {"operator"},
               {""},
               {"largest", Align::kRight},
               {"mean", Align::kRight},
               {"SNR dB", Align::kRight},
               {"cosine", Align::kRight},
               {"notes"}});
  for (const ValueDrift& d : summary.drifts) {
    const Comparison& c = d.comparison;
    const bool differs = d.comparable && !c.identical && c.has_means();
    table.Add({Shortened(d.name), d.op, Verdict(d), differs ? Number(c.max_absolute) : "",
               differs ? Number(c.mean_absolute) : "",
               differs && std::isfinite(c.snr_db) ? fmt::format("{:.1f}", c.snr_db) : "",
               differs ? fmt::format("{:.6g}", c.cosine) : "", Notes(d)});
  }
  return table;
}

std::string FirstText(const ValueDrift& d) {
  std::string out = fmt::format("first difference: value {}, {}", Quote(d.name), d.op);
  out += d.other.op.empty() ? fmt::format(", recorded as {}", Quote(d.other.name))
                            : fmt::format(", against {}", d.other.op);
  return out + ": " + d.where;
}

// The first value that is not finite in one of the models.
std::string FirstNotFinite(const AgainstSummary& summary) {
  for (const ValueDrift& d : summary.drifts)
    if (const std::string text = NotFiniteText(d); !text.empty())
      return fmt::format("first NaN or infinity: value {}, {}: {}", Quote(d.name), d.op, text);
  return "";
}

std::vector<std::string> Lines(const AgainstSummary& summary) {
  size_t agree = 0;
  for (const ValueDrift& d : summary.drifts) agree += d.comparable && d.comparison.agrees ? 1 : 0;
  std::vector<std::string> lines = {fmt::format("{} against {}: {} of {} values compared, {} agree",
                                                summary.model, summary.other, summary.drifts.size(),
                                                summary.values, agree)};
  if (!summary.outputs.empty())
    lines.push_back("outputs without a counterpart: " + NameList(summary.outputs));
  if (summary.recorded > 0)
    lines.push_back(fmt::format("{} recorded values have no counterpart", summary.recorded));
  const ValueDrift* first = summary.first();
  lines.push_back(first == nullptr ? "no difference beyond the tolerance" : FirstText(*first));
  if (std::string text = FirstNotFinite(summary); !text.empty()) lines.push_back(std::move(text));
  return lines;
}

Json NotFiniteJson(const against::NotFinite& n) {
  return {{"nan", n.nan}, {"infinite", n.infinite}};
}

Json DriftJson(const ValueDrift& d) {
  const Comparison& c = d.comparison;
  Json out = {{"name", d.name}, {"operator", d.op}, {"type", d.type}};
  out["against"] = {{"name", d.other.name}};
  if (!d.other.op.empty()) out["against"]["operator"] = d.other.op;
  if (!d.other.type.empty()) out["against"]["type"] = d.other.type;
  out["paired_by"] = against::PairedByName(d.other.by);
  out["parts"] = d.parts;
  if (!d.comparable) {
    out["mismatch"] = d.where;
  } else {
    if (d.axes && !d.axes->IsIdentity()) out["axes"] = d.axes->from();
    out["agrees"] = c.agrees;
    out["identical"] = c.identical;
    AddNumbers(c, out);
  }
  if (!NotFiniteText(d).empty()) {
    out["not_finite"] = NotFiniteJson(d.here);
    out["against"]["not_finite"] = NotFiniteJson(d.there);
  }
  return out;
}

std::string Page(const AgainstSummary& summary) {
  Document page;
  page.title = fmt::format("{} against {}", summary.model, summary.other);
  for (std::string& line : Lines(summary)) page.AddParagraph(std::move(line));
  page.AddHeading(2, "Values");
  page.AddTable(DriftTable(summary));
  return HtmlText(page);
}

}  // namespace

void DescribeAgainst(const AgainstSummary& summary, const RunOptions& options, RunReport& report) {
  Json& json = report.json["against"];
  const ValueDrift* first = summary.first();
  json = {{"model", summary.other},
          {"passed", first == nullptr},
          {"first", first == nullptr ? Json(nullptr) : Json(first->name)},
          {"computed", summary.values},
          {"outputs_without_counterpart", summary.outputs},
          {"unmatched", summary.recorded},
          {"peak_bytes", summary.peak_bytes},
          {"values", Json::array()}};
  for (const ValueDrift& d : summary.drifts) json["values"].push_back(DriftJson(d));
  if (options.format == "html") {
    report.text += Page(summary);
    return;
  }
  for (const std::string& line : Lines(summary)) report.text += line + "\n";
  report.text += DriftTable(summary).Text(2);
}

}  // namespace nn::app
