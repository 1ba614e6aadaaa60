#include "apps/nnconvert/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/common/program.h"
#include "apps/common/table.h"
#include "base/text.h"

namespace nn::app {
namespace {

// The operator in the graph; in the source file, if the graph has no such operator.
std::string NameOf(const UnsupportedNode& node) {
  return Escape(node.op == "opaque" ? node.source : node.op);
}

// Unsupported nodes with the same operator and reason.
struct NodeGroup {
  const UnsupportedNode* first;
  size_t count = 0;

  std::string Text() const {
    if (count == 1) return first->node;
    std::string_view node = first->node;
    if (node == first->op) return fmt::format("{} x{}", NameOf(*first), count);
    if (node.starts_with(first->op + " ")) node.remove_prefix(first->op.size() + 1);
    return fmt::format("{} x{}, first {}", NameOf(*first), count, node);
  }
};

// In the order of their first nodes.
std::vector<NodeGroup> GroupsOf(const std::vector<UnsupportedNode>& unsupported) {
  std::vector<NodeGroup> groups;
  std::map<std::pair<std::string, std::string_view>, size_t> places;
  for (const UnsupportedNode& o : unsupported) {
    const auto [it, added] = places.try_emplace({NameOf(o), o.reason}, groups.size());
    if (added) groups.push_back({&o});
    ++groups[it->second].count;
  }
  return groups;
}

std::string UnsupportedNodeText(const std::vector<UnsupportedNode>& unsupported) {
  if (unsupported.empty()) return {};
  Table table({{""}, {""}});
  for (const NodeGroup& g : GroupsOf(unsupported))
    table.Add({g.Text(), EscapeControls(g.first->reason)});
  return fmt::format("{} operator{} cannot be converted:\n{}", unsupported.size(),
                     unsupported.size() == 1 ? "" : "s", table.Text(2));
}

// "erf x6, lstm", by operator.
std::string OperatorCounts(const std::vector<UnsupportedNode>& unsupported) {
  std::map<std::string, size_t> counts;
  for (const UnsupportedNode& o : unsupported) ++counts[NameOf(o)];
  std::string out;
  for (const auto& [op, count] : counts)
    out += fmt::format("{}{}{}", out.empty() ? "" : ", ", op,
                       count == 1 ? "" : fmt::format(" x{}", count));
  return out;
}

// What a dry run found out, in a few words.
std::string OutcomeText(const ConvertReport& r) {
  const Conversion& c = r.conversion;
  if (r.error) return fmt::format("cannot be converted: {}", r.error->message());
  if (r.copy) return "the format of the model";
  if (c.unsupported.empty() && c.rest_unchecked.empty()) return "every operator can be converted";
  return fmt::format("{} operator{} cannot be converted: {}", c.unsupported.size(),
                     c.unsupported.size() == 1 ? "" : "s", OperatorCounts(c.unsupported));
}

// "infinite" where nothing differs.
std::string DecibelText(double snr) {
  return std::isinf(snr) ? (snr > 0 ? "inf" : "-inf") : fmt::format("{:.1f}", snr);
}

std::string VerificationText(const Verification& v) {
  std::string what;
  const auto add = [&what](std::string text) {
    what += fmt::format("{}{}", what.empty() ? "" : "; ", text);
  };
  if (!v.labels.empty())
    add(fmt::format("inputs {}", Escape(fmt::format("{}", fmt::join(v.labels, ", ")))));
  std::string symbols;
  for (const auto& [name, sizes] : v.symbols)
    symbols += fmt::format(", {} = {}", Escape(name), fmt::join(sizes, "/"));
  if (!v.seeds.empty())
    add(fmt::format("seeds {}{}", fmt::join(v.seeds, ", "), symbols));
  else if (!symbols.empty())
    add(symbols.substr(2));
  Table table({{"output"},
               {"type"},
               {"absolute", Align::kRight},
               {"relative", Align::kRight},
               {"SNR dB", Align::kRight},
               {"cosine", Align::kRight},
               {"result"}});
  for (const OutputDrift& d : v.outputs)
    table.Add({Escape(d.name), d.type, fmt::format("{:.3g}", d.worst.max_absolute),
               fmt::format("{:.3g}", d.relative), DecibelText(d.worst.snr_db),
               fmt::format("{:.6g}", d.worst.cosine), d.where});
  return fmt::format(
      "{} by {} run{} ({}){}{}\n{}", v.passed ? "verified" : "refuted", v.runs,
      v.runs == 1 ? "" : "s", what,
      v.narrowed ? "; inputs from narrower ranges, because the model rejects others" : "",
      v.qdq_as_integers ? "; QDQ run as integer operators" : "", table.Text(2));
}

Json VerificationJson(const Verification& v) {
  Json symbols = Json::object();
  for (const auto& [name, sizes] : v.symbols) symbols[name] = sizes;
  Json outputs = Json::array();
  for (const OutputDrift& d : v.outputs) {
    Json entry = {{"name", d.name},
                  {"type", d.type},
                  {"agrees", d.worst.agrees},
                  {"identical", d.worst.identical}};
    if (!d.worst.mismatch.empty()) {
      entry["mismatch"] = d.worst.mismatch;
    } else {
      entry["max_absolute"] = d.worst.max_absolute;
      entry["max_relative"] = d.relative;
      entry["snr_db"] = std::isinf(d.worst.snr_db) ? Json(nullptr) : Json(d.worst.snr_db);
      entry["cosine"] = d.worst.cosine;
      entry["where"] = d.where;
      entry["outside"] = d.worst.outside;
    }
    outputs.push_back(std::move(entry));
  }
  return {{"passed", v.passed},
          {"runs", v.runs},
          {"seeds", v.seeds},
          {"given", v.labels},
          {"narrowed", v.narrowed},
          {"symbols", std::move(symbols)},
          {"qdq_as_integers", v.qdq_as_integers},
          {"outputs", std::move(outputs)}};
}

// What follows the first line of a report.
std::string DetailText(const ConvertReport& r) {
  const Conversion& c = r.conversion;
  std::string out;
  if (c.written)
    for (const auto& [name, bytes] : c.written->side_files)
      out += fmt::format("and {}, {}\n", Escape(name), HumanBytes(bytes));
  out += UnsupportedNodeText(c.unsupported);
  if (!c.rest_unchecked.empty())
    out += fmt::format("the remaining operators could not be checked: {}\n", c.rest_unchecked);
  if (!c.remedy.empty()) out += c.remedy + "\n";
  if (r.copy) {
    out += r.renamed ? "renamed: nothing else was changed, converted or run\n"
                     : "copied unchanged: nothing was converted, checked or run\n";
    return out;
  }
  if (r.dry_run && c.unsupported.empty() && c.rest_unchecked.empty())
    out += "every operator can be converted\n";
  for (const MovedPort& p : c.moved_ports)
    out += fmt::format("{} {} is transposed: {} -> {} (axes {})\n", p.kind, Quote(p.name), p.from,
                       p.to, fmt::join(p.axes, ", "));
  if (c.batch_norms_folded > 0)
    out += fmt::format("{} batch normalization{} folded into convolutions\n", c.batch_norms_folded,
                       c.batch_norms_folded == 1 ? "" : "s");
  if (c.batch_norms_lowered > 0)
    out += fmt::format(
        "{} batch normalization{} lowered to multiply and add; --fold-batch-norm is faster, but "
        "rounds differently\n",
        c.batch_norms_lowered, c.batch_norms_lowered == 1 ? "" : "s");
  if (c.verification)
    out += VerificationText(*c.verification);
  else if (!r.dry_run && c.unsupported.empty())
    out += "not verified (--no-verify)\n";
  if (c.verification && !c.verification->passed) out += "no file was written\n";
  return out;
}

}  // namespace

std::string ConvertText(const ConvertReport& r) {
  std::string out =
      fmt::format("{} ({}) -> {} ({})", r.input, r.input_format, r.output, r.output_format);
  if (r.bytes) out += fmt::format(", {}", HumanBytes(*r.bytes));
  out += "\n";
  return out + DetailText(r);
}

std::string TargetsText(const std::vector<ConvertReport>& targets) {
  const ConvertReport& any = targets.front();
  Table table({{"target"}, {"outcome"}});
  std::string details;
  for (const ConvertReport& r : targets) {
    table.Add({r.output_format, EscapeControls(OutcomeText(r))});
    if (!r.error && !r.copy && !r.conversion.unsupported.empty())
      details += fmt::format("\n{}: {}", r.output_format, DetailText(r));
  }
  return fmt::format("{} ({})\n{}{}", any.input, any.input_format, table.Text(2), details);
}

Json TargetsJson(const std::vector<ConvertReport>& targets) {
  Json array = Json::array();
  for (const ConvertReport& r : targets) {
    Json entry = ConvertJson(r);
    entry.erase("version");
    entry.erase("tool");
    entry.erase("input");
    array.push_back(std::move(entry));
  }
  Json json = ConvertJson(targets.front());
  return {{"version", json["version"]},
          {"tool", json["tool"]},
          {"input", json["input"]},
          {"targets", std::move(array)}};
}

Json ConvertJson(const ConvertReport& r) {
  const Conversion& c = r.conversion;
  Json unsupported = Json::array();
  for (const UnsupportedNode& o : c.unsupported)
    unsupported.push_back(
        {{"node", o.node}, {"operator", o.op}, {"source", o.source}, {"reason", o.reason}});
  Json json = {{"version", 1}, {"tool", {{"name", "nnconvert"}, {"version", Version()}}}};
  json["input"] = {{"path", r.input}, {"format", r.input_format}};
  json["output"] = {{"path", r.output}, {"format", r.output_format}};
  json["dry_run"] = r.dry_run;
  json["copy"] = r.copy;
  json["renamed"] = r.renamed;
  json["written"] = r.written;
  if (r.bytes) json["output"]["bytes"] = *r.bytes;
  if (c.written && !c.written->side_files.empty()) {
    Json files = Json::array();
    for (const auto& [name, bytes] : c.written->side_files)
      files.push_back({{"name", name}, {"bytes", bytes}});
    json["output"]["side_files"] = std::move(files);
  }
  json["unsupported"] = std::move(unsupported);
  if (!c.moved_ports.empty()) {
    Json moved = Json::array();
    for (const MovedPort& p : c.moved_ports)
      moved.push_back(
          {{"kind", p.kind}, {"name", p.name}, {"from", p.from}, {"to", p.to}, {"axes", p.axes}});
    json["transposed"] = std::move(moved);
  }
  json["batch_norms"] = {{"folded", c.batch_norms_folded}, {"lowered", c.batch_norms_lowered}};
  if (!c.rest_unchecked.empty()) json["rest_unchecked"] = c.rest_unchecked;
  if (!c.remedy.empty()) json["remedy"] = c.remedy;
  if (r.error) json["error"] = r.error->message();
  json["verification"] = c.verification ? VerificationJson(*c.verification) : Json(nullptr);
  return json;
}

}  // namespace nn::app
