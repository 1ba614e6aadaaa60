#include "apps/nnconvert/support.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "exec/plan.h"
#include "formats/format.h"
#include "ir/op_def.h"
#include "validators/onnx/schema.h"

namespace nn::app {
namespace {

std::string Written(const Format& format, const OpDef& op) {
  if (format.writes(op)) return "yes";
  const auto& rewrites = format.target->rewrites;
  const bool rewritten = std::any_of(rewrites.begin(), rewrites.end(),
                                     [&](const Rewrite& r) { return r.op == op.name; });
  return rewritten || op.decompose != nullptr ? "rewritten" : "";
}

// Text in a table of Markdown.
std::string Cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

// The operators of a format by name. ONNX's standard ones come from the validator's tables.
std::vector<OperatorSupport> OperatorsOf(const Format& format) {
  std::vector<OperatorSupport> operators = format.operators();
  if (format.name != "onnx") return operators;
  std::set<std::string, std::less<>> known;
  for (const OperatorSupport& op : operators) known.insert(op.name);
  for (const auto& [domain, text] : onnx::SchemaTexts()) {
    const auto schemas = onnx::ParseSchemas(text);
    if (!schemas) continue;
    for (const onnx::Schema& schema : *schemas) {
      std::string name = domain.empty() ? schema.op : domain + "." + schema.op;
      if (known.insert(name).second) operators.push_back({std::move(name), false});
    }
  }
  std::sort(operators.begin(), operators.end(),
            [](const OperatorSupport& a, const OperatorSupport& b) { return a.name < b.name; });
  return operators;
}

std::string ReadSection(const Format& format) {
  std::vector<std::string> read, refused;
  for (const OperatorSupport& op : OperatorsOf(format))
    (op.imported ? read : refused).push_back(op.name);
  return fmt::format("\n### {} operators\n\nRead, {} of {}: {}.\n\nRefused by name, {}: {}.\n",
                     format.label, read.size(), read.size() + refused.size(), fmt::join(read, ", "),
                     refused.size(),
                     refused.empty() ? "none" : fmt::to_string(fmt::join(refused, ", ")));
}

// What a format has beside operators.
std::string FeatureSection(const Format& format) {
  std::string out = fmt::format(
      "\n## {} files\n\n| | versions | copied | imported | exported | "
      "|\n|---|---|---|---|---|---|\n",
      format.label);
  const auto yes = [](bool b) { return b ? "yes" : ""; };
  for (const FeatureSupport& f : format.features)
    out += fmt::format("| {} | {} | {} | {} | {} | {} |\n", Cell(f.name), f.versions, yes(f.copied),
                       yes(f.imported), yes(f.exported), Cell(f.note));
  return out;
}

}  // namespace

std::string SupportMarkdown() {
  std::string out =
      "# What is supported\n\n"
      "Written by `scripts/update-support` from the suite's own tables; do not edit.\n\n"
      "Copied: inspected, validated, dumped and written back as it is. Imported: converted from "
      "and executed.\nExported: made by conversions. What is not is refused by name.\n";
  for (const Format& f : Formats()) out += FeatureSection(f);
  out +=
      "\n## Operators\n\n"
      "Some forms of an operator may be out of a format's reach: `nnconvert --dry-run` names each "
      "such operator of a\nmodel, with the reason.\n\n"
      "### Operators of the graph\n\n"
      "A format has the operator (yes), or it is rewritten in terms of others. Execution is by a "
      "SIMD kernel or by\nthe reference evaluation; both give the same bits.\n\n"
      "| operator | meaning |";
  std::string rule = "|---|---|";
  for (const Format& f : Formats()) {
    out += fmt::format(" {} |", f.label);
    rule += "---|";
  }
  out += " execution |\n" + rule + "---|\n";
  for (const OpDef* op : Ops().All()) {
    if (op->internal) continue;
    out += fmt::format("| {} | {} |", op->name, Cell(op->summary));
    for (const Format& f : Formats()) {
      const std::string written = Written(f, *op);
      out += written.empty() ? " |" : fmt::format(" {} |", written);
    }
    out += FindKernel(op->name) != nullptr ? " SIMD |\n" : " reference |\n";
  }
  for (const Format& f : Formats()) out += ReadSection(f);
  return out;
}

}  // namespace nn::app
