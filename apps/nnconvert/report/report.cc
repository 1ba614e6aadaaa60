#include "apps/nnconvert/report/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/common/program.h"
#include "base/text/text.h"
#include "convert/outputs/tolerance.h"
#include "convert/verify/conversion_json.h"
#include "formats/model_list.h"
#include "tensorio/compare.h"

namespace nn::app {
namespace {

std::string_view Plural(size_t count) {
  return count == 1 ? "" : "s";
}

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
    const std::string_view op = OperatorOf(*first);
    if (node == op) return fmt::format("{} x{}", NameOf(*first), count);
    if (node.starts_with(std::string(op) + " ")) node.remove_prefix(op.size() + 1);
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

std::string RefutedOutputs(const Verification& v) {
  std::vector<std::string> names;
  for (const OutputDrift& d : v.outputs)
    if (!d.worst.agrees || (!v.passed && !d.worst.identical)) names.push_back(Quote(d.name));
  return fmt::format("{}", fmt::join(names, ", "));
}

// "; --rtol 1.5e-05 would accept it", if the only differences are those of real numbers and of
// integers that represent them, and what avoids these.
std::string WhatWouldPass(const Verification& v) {
  if (std::ranges::all_of(v.outputs, [](const OutputDrift& d) { return d.worst.agrees; }))
    return ": every bit must stay, but the outputs only agree within the tolerance";
  double largest = 0;
  std::string_view instead;
  for (const OutputDrift& d : v.outputs) {
    if (d.worst.agrees) continue;
    const bool integers = d.type == "i8" || d.type == "u8" || d.type == "i16";
    if (integers)
      instead = "; --dequantize converts the real numbers that quantized integers represent";
    const bool real = d.accepting > 0 && std::isfinite(d.accepting);
    if (!real && integers) return std::string(instead);
    if (!real || !d.worst.mismatch.empty()) return "";
    largest = std::max(largest, d.accepting);
  }
  return largest == 0 ? "" : fmt::format("; {}{}", AcceptingTolerance("--rtol", largest), instead);
}

std::string QuantizedDriftText(const Verification& v) {
  return v.quantized ? fmt::format("{}\n{}", QuantizedDriftSummary(*v.quantized),
                                   QuantizedDriftTable(*v.quantized).Text(2))
                     : "";
}

// The rows of the printed report; the others are in the file of --report.
constexpr size_t kWorstQuantizedValues = 8;

// The edited model has the bits of the source, or the table shows where not.
std::string EditVerificationText(const Verification& v) {
  std::string text = VerificationSummary(v);
  return v.passed ? "edit " + text + ": bit-identical\n"
                  : "edit " + text + "\n" + DriftTable(v).Text(2) + "no file was written\n";
}

std::string EditedText(const ConvertReport& r) {
  return r.written ? "edited in place; the rest of the file is unchanged\n" : "";
}

// The lines after the first one of a report.
std::string DetailText(const ConvertReport& r) {
  const Conversion& c = r.conversion;
  std::string out;
  if (c.written)
    for (const auto& [name, bytes] : c.written->side_files)
      out += fmt::format("and {}, {}\n", Escape(name), HumanBytes(bytes));
  if (!r.c_header.empty()) out += fmt::format("and {}\n", Escape(r.c_header));
  if (!c.unsupported.empty())
    out += fmt::format("{}:\n{}", UnsupportedCount(c.unsupported),
                       UnsupportedTable(c.unsupported, /*titled=*/false).Text(2));
  if (r.native_edit)
    for (const std::string& text : NativeEditTexts(*r.native_edit)) out += text + "\n";
  if (r.native_edit && r.native_edit->verification)
    out += EditVerificationText(*r.native_edit->verification);
  if (c.copied)
    return out + fmt::format("copied unchanged: no form with fewer than {} operator{} was found\n",
                             c.operators->before, Plural(c.operators->before));
  if (r.copy) {
    for (const std::string& note : c.notes) out += note + "\n";
    return out + (r.native_edit ? EditedText(r)
                  : r.renamed   ? "renamed: nothing else was changed, converted or run\n"
                  : r.typed     ? "copied with the inferred types: nothing was converted or run\n"
                                : "copied unchanged: nothing was converted, checked or run\n");
  }
  for (const std::string& text : c.edits) out += text + "\n";
  if (c.edit_verification)
    out += EditSummary(*c.edit_verification) + "\n" + DriftTable(*c.edit_verification).Text(2);
  if (c.edit_verification && !c.edit_verification->passed)
    return out + fmt::format("no file was written{}\n", WhatWouldPass(*c.edit_verification));
  if (r.dry_run && c.unsupported.empty() && c.rest_unchecked.empty())
    out += "every operator can be converted\n";
  for (const std::string& text : DequantizedTexts(c)) out += text + "\n";
  for (const PortChange& p : c.port_changes)
    if (p.kind != PortChange::Kind::kDequantized) out += PortChangeText(p) + "\n";
  for (const std::string& text : RetypedTexts(c)) out += text + "\n";
  for (const std::string& remark : Remarks(c)) out += remark + "\n";
  for (const std::string& text : QuantizeTexts(r)) out += text + "\n";
  for (const std::string& text : HoldingTexts(c)) out += text + "\n";
  if (c.quantize) out += QuantizedValuesTable(*c.quantize, kWorstQuantizedValues).Text(2);
  if (c.verification)
    out += VerificationSummary(*c.verification) + "\n" + DriftTable(*c.verification).Text(2) +
           QuantizedDriftText(*c.verification);
  else if (!r.dry_run && c.unsupported.empty())
    out += "not verified (--no-verify)\n";
  if (c.verification && !c.verification->passed)
    out += fmt::format("no file was written{}\n", WhatWouldPass(*c.verification));
  return out;
}

// "seeds 0, 1, 2", or "seeds 0 to 999" if many follow each other.
std::string SeedsText(const std::vector<uint64_t>& seeds) {
  constexpr size_t kListed = 8;
  bool in_order = seeds.size() > kListed;
  for (size_t i = 1; i < seeds.size(); ++i) in_order = in_order && seeds[i] == seeds[i - 1] + 1;
  return in_order ? fmt::format("seeds {} to {}", seeds.front(), seeds.back())
                  : fmt::format("seeds {}", fmt::join(seeds, ", "));
}

}  // namespace

std::string EditSummary(const Verification& v) {
  return "edited model against the model of the file: " + VerificationSummary(v);
}

std::string OutcomeText(const ConvertReport& r) {
  const Conversion& c = r.conversion;
  switch (OutcomeOf(r)) {
    case Outcome::kConverted:
      return "converted and verified";
    case Outcome::kUnverified:
      return "converted, not verified";
    case Outcome::kCopied:
      return r.renamed ? "renamed"
             : r.typed ? "copied with the inferred types"
                       : "copied unchanged";
    case Outcome::kEdited:
      return r.native_edit->verification ? "edited and verified" : "edited, not verified";
    case Outcome::kConvertible:
      return r.copy ? "the format of the model" : "every operator can be converted";
    case Outcome::kUnchanged:
      return "unchanged";
    case Outcome::kUnsupported:
      return r.error ? "cannot be converted: " + r.error->message()
                     : UnsupportedCount(c.unsupported) + ": " + OperatorCounts(c.unsupported);
    case Outcome::kRefuted:
      return "verification failed: different output " + RefutedOutputs(*FailedVerification(r));
    case Outcome::kError:
      break;
  }
  return "error: " + r.error->message();
}

int ReportCode(const TargetsReport& report) {
  int worst = kExitDone;
  for (const ConvertReport& r : report.targets) worst = WorstCode(worst, ReportCode(r));
  return worst;
}

Json ReportJson(const TargetsReport& report) {
  Json json = ConversionHead();
  json["input"] = InputJson(report.targets.front());
  Json& targets = json["targets"] = Json::array();
  for (const ConvertReport& r : report.targets) AddReportJson(r, targets.emplace_back());
  return json;
}

std::string OperatorCounts(const std::vector<UnsupportedNode>& unsupported) {
  std::map<std::string, size_t> counts;
  for (const UnsupportedNode& o : unsupported) ++counts[NameOf(o)];
  std::string out;
  for (const auto& [op, count] : counts)
    out += fmt::format("{}{}{}", out.empty() ? "" : ", ", op,
                       count == 1 ? "" : fmt::format(" x{}", count));
  return out;
}

std::string UnsupportedCount(const std::vector<UnsupportedNode>& unsupported) {
  return fmt::format("{} operator{} cannot be converted", unsupported.size(),
                     Plural(unsupported.size()));
}

Table UnsupportedTable(const std::vector<UnsupportedNode>& unsupported, bool titled) {
  Table table({{titled ? "operator" : ""}, {titled ? "reason" : ""}});
  for (const NodeGroup& g : GroupsOf(unsupported))
    table.Add({g.Text(), EscapeControls(g.first->reason)});
  return table;
}

std::string VerificationSummary(const Verification& v) {
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
    add(SeedsText(v.seeds) + symbols);
  else if (!symbols.empty())
    add(symbols.substr(2));
  return fmt::format(
      "{} {} run{} ({}){}{}", v.passed ? "verified by" : "verification failed:", v.runs,
      v.runs == 1 ? "" : "s", what,
      v.narrowed ? "; inputs from narrower ranges, because the model rejects others" : "",
      v.qdq_as_integers ? "; QDQ run as integer operators" : "");
}

Table DriftTable(const Verification& v) {
  Table table({{"output"},
               {"type"},
               {"absolute", Align::kRight},
               {"relative", Align::kRight},
               {"SNR dB", Align::kRight},
               {"cosine", Align::kRight},
               {"result"}});
  for (const OutputDrift& d : v.outputs)
    table.Add({Escape(d.name), d.type, fmt::format("{:.3g}", d.worst.max_absolute),
               fmt::format("{:.3g}", d.relative),
               d.worst.has_means() ? DecibelText(d.worst.snr_db) : "-",
               d.worst.has_means() ? fmt::format("{:.6g}", d.worst.cosine) : "-", d.where});
  return table;
}

std::string QuantizedDriftSummary(const QuantizedDrift& d) {
  return d.failure.empty()
             ? fmt::format("{}, {} run{}:",
                           d.quantized ? "float model against quantized model"
                                       : "changed model against the model of the file",
                           d.runs, d.runs == 1 ? "" : "s")
             : fmt::format("not compared with the {}: {}",
                           d.quantized ? "quantized model" : "model of the file",
                           EscapeControls(d.failure));
}

Table QuantizedDriftTable(const QuantizedDrift& d) {
  Table table({{"output"},
               {"absolute", Align::kRight},
               {"steps", Align::kRight},
               {"SNR dB", Align::kRight},
               {"cosine", Align::kRight}});
  for (const QuantizedOutputDrift& o : d.outputs)
    table.Add({Escape(o.name), fmt::format("{:.3g}", o.max_absolute),
               o.max_steps ? fmt::format("{:.3g}", *o.max_steps) : "-",
               std::isfinite(o.max_absolute) ? DecibelText(o.snr_db) : "-",
               std::isfinite(o.max_absolute) ? fmt::format("{:.6g}", o.cosine) : "-"});
  return table;
}

std::vector<std::string> DequantizedTexts(const Conversion& c) {
  std::vector<std::string> out;
  for (const PortChange& p : c.port_changes)
    if (p.kind == PortChange::Kind::kDequantized) out.push_back(PortChangeText(p));
  if (c.hybrids > 0)
    out.push_back(
        fmt::format("{} hybrid kernel{} converted to float: the model quantizes the input in each "
                    "run, and this rounding is not compared",
                    c.hybrids, c.hybrids == 1 ? "" : "s"));
  return out;
}

std::vector<std::string> RetypedTexts(const Conversion& c) {
  std::vector<std::string> out;
  // Whether a sentence about the port says what its type was.
  const auto is_changed = [&](PortSide side, const TypedPort& port) {
    return std::ranges::any_of(c.port_changes, [&](const PortChange& p) {
      return p.side == side && p.name == port.name &&
             p.from.starts_with(DTypeName(port.type.dtype));
    });
  };
  const auto add = [&](PortSide side, const std::vector<TypedPort>& from,
                       const std::vector<TypedPort>& to) {
    for (size_t i = 0; i < from.size() && i < to.size(); ++i) {
      const auto& [name, type] = from[i];
      if (type.dtype == to[i].type.dtype || is_changed(side, from[i])) continue;
      out.push_back(fmt::format("{} {} has another type: {} -> {}", nnsuite::PortSideName(side),
                                Quote(name), DTypeName(type.dtype), DTypeName(to[i].type.dtype)));
    }
  };
  add(PortSide::kInput, c.source.inputs, c.converted.inputs);
  add(PortSide::kOutput, c.source.outputs, c.converted.outputs);
  return out;
}

std::string PortChangeText(const PortChange& p) {
  const std::string port = fmt::format("{} {}", nnsuite::PortSideName(p.side), Quote(p.name));
  const std::string types = fmt::format("{} -> {}", p.from, p.to);
  if (p.kind == PortChange::Kind::kDequantized)
    return fmt::format("{} is dequantized: {}", port, types);
  if (p.kind == PortChange::Kind::kShifted)
    return fmt::format("{} is shifted: {} (integer {:+})", port, types, p.offset);
  if (p.axes == std::vector<int>{-1})
    return fmt::format("{} is a scalar in the source: {}", port, types);
  return fmt::format("{} is {}: {} (axes {})", port,
                     std::ranges::is_sorted(p.axes) ? "reshaped" : "transposed", types,
                     fmt::join(p.axes, ", "));
}

// "; it begins with zeros", "; it begins with -128", "; it begins with 0.5, 1, 2, ... (64
// numbers)".
std::string BeginText(const PassedState& s) {
  if (!s.initial) return "";
  const Tensor& t = *s.initial;
  if (t.dims().empty()) {
    const std::string number = ElementText(t, 0);
    return "; it begins with " + (number == "0" || number == "0.0" ? "zeros" : number);
  }
  std::vector<std::string> first;
  for (int64_t i = 0; i < std::min<int64_t>(t.elements(), 3); ++i)
    first.push_back(ElementText(t, i));
  return fmt::format("; it begins with {}, ... ({} numbers, listed by --format json)",
                     fmt::join(first, ", "), t.elements());
}

std::vector<std::string> Remarks(const Conversion& c) {
  std::vector<std::string> out = c.notes;
  if (c.random_nodes > 0)
    out.push_back(
        fmt::format("{} operator{} random numbers, with the same seeds in both models; other "
                    "implementations of either format draw different numbers",
                    c.random_nodes, c.random_nodes == 1 ? " draws" : "s draw"));
  for (const PassedState& s : c.states)
    out.push_back(fmt::format("state {} is kept by the application: input {}, output {}{}",
                              Quote(s.name), Quote(s.input), Quote(s.output), BeginText(s)));
  if (!c.rest_unchecked.empty())
    out.push_back("the remaining operators could not be checked: " + c.rest_unchecked);
  if (!c.remedy.empty()) out.push_back(c.remedy);
  if (c.half) {
    const HalfSummary& h = *c.half;
    out.push_back(fmt::format("in 16 bits: {} constants, {} operators", h.weights, h.operators));
    if (h.kept + h.unaccepted + h.out_of_range > 0)
      out.push_back(fmt::format(
          "in float32: {} operators by name or range, {} without a form in 16 bits, {} constants "
          "out of range",
          h.kept, h.unaccepted, h.out_of_range));
    if (!c.out_of_range.empty())
      out.push_back(fmt::format("{} operator{} out of range in the verification, first {}",
                                c.out_of_range.size(), Plural(c.out_of_range.size()),
                                EscapeControls(c.out_of_range.front())));
  }
  if (c.operators)
    out.push_back(fmt::format("simplified from {} to {} operator{}", c.operators->before,
                              c.operators->after, c.operators->after == 1 ? "" : "s"));
  if (c.batch_norms_folded > 0)
    out.push_back(fmt::format("{} batch normalization{} folded into convolutions",
                              c.batch_norms_folded, c.batch_norms_folded == 1 ? "" : "s"));
  if (c.batch_norms_lowered > 0)
    out.push_back(fmt::format("{} batch normalization{} lowered to multiply and add{}",
                              c.batch_norms_lowered, c.batch_norms_lowered == 1 ? "" : "s",
                              c.batch_norms_foldable == 0
                                  ? ""
                                  : "; --fold-batch-norm is faster, but rounds differently"));
  return out;
}

std::vector<std::string> HoldingTexts(const Conversion& c) {
  return FailedVerification(c) == nullptr ? DroppedTexts(c.holdings) : std::vector<std::string>();
}

std::string NameInFolder(const FolderReport& folder, const ConvertReport& model) {
  return std::filesystem::path(model.input)
      .lexically_relative(FolderOfModels(folder.input))
      .generic_string();
}

Table ModelsTable(const FolderReport& report) {
  Table table({{"model"}, {"result"}, {"size", Align::kRight}});
  for (const ConvertReport& r : report.models)
    table.Add({EscapeControls(NameInFolder(report, r)), EscapeControls(OutcomeText(r)),
               r.bytes ? HumanBytes(*r.bytes) : ""});
  return table;
}

std::string ModelsSummary(const FolderReport& report) {
  std::map<Outcome, size_t> counts;
  for (const ConvertReport& r : report.models) ++counts[OutcomeOf(r)];
  std::vector<std::string> parts;
  parts.reserve(counts.size());
  for (const auto& [outcome, count] : counts)
    parts.push_back(fmt::format("{} {}", count, OutcomeName(outcome)));
  std::string out = fmt::format("{} model{}: {}", report.models.size(),
                                Plural(report.models.size()), fmt::join(parts, ", "));
  if (report.skipped != 0)
    out += fmt::format("; {} other file{} skipped", report.skipped, Plural(report.skipped));
  return out;
}

Table TargetsTable(const TargetsReport& report) {
  Table table({{"target"}, {"outcome"}});
  for (const ConvertReport& r : report.targets)
    table.Add({r.output_format, EscapeControls(OutcomeText(r))});
  return table;
}

std::string ReportText(const ConvertReport& r) {
  std::string out =
      fmt::format("{} ({}) -> {} ({})", r.input, r.input_format, r.output, r.output_format);
  if (r.bytes) out += fmt::format(", {}", HumanBytes(*r.bytes));
  out += "\n";
  return out + DetailText(r);
}

std::string ReportText(const TargetsReport& report) {
  const ConvertReport& any = report.targets.front();
  std::string details;
  for (const ConvertReport& r : report.targets)
    if (!r.error && !r.copy &&
        (!r.conversion.unsupported.empty() || !r.conversion.holdings.dropped.empty()))
      details += fmt::format("\n{}: {}", r.output_format, DetailText(r));
  return fmt::format("{} ({})\n{}{}", any.input, any.input_format, TargetsTable(report).Text(2),
                     details);
}

std::string ReportText(const FolderReport& report) {
  return fmt::format("{} -> {} ({})\n{}{}\n", report.input,
                     report.output.empty() ? "-" : report.output, report.output_format,
                     ModelsTable(report).Text(2), ModelsSummary(report));
}

}  // namespace nn::app
