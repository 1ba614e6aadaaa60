#include "apps/nninspect/print/diff.h"

#include "apps/common/program.h"
#include "base/text/table.h"
#include "base/text/text.h"

namespace nn::app {
namespace {

std::string RefText(const inspect::OperatorRef& r) {
  return fmt::format("{}{}{}{}", r.index < 0 ? "" : fmt::format("#{} ", r.index), Escape(r.op),
                     r.name.empty() ? "" : " ", Escape(r.name));
}

std::string OrAbsent(const std::string& text) {
  return text.empty() ? "-" : EscapeControls(text);
}

std::string FieldsText(std::string_view title, const std::vector<inspect::FieldDiff>& fields) {
  if (fields.empty()) return {};
  std::string out = fmt::format("\n{}\n", title);
  for (const inspect::FieldDiff& f : fields)
    out += fmt::format("  {}: {} -> {}\n", EscapeControls(f.what), OrAbsent(f.a), OrAbsent(f.b));
  return out;
}

std::string RefsText(std::string_view title, const std::vector<inspect::OperatorRef>& refs) {
  if (refs.empty()) return {};
  std::string out = fmt::format("\n{}: {}\n", title, WithThousands(refs.size()));
  for (const inspect::OperatorRef& r : refs) out += "  " + RefText(r) + "\n";
  return out;
}

std::string ChangedText(const std::vector<inspect::OperatorDiff>& changed) {
  if (changed.empty()) return {};
  std::string out = fmt::format("\nOperators changed: {}\n", WithThousands(changed.size()));
  for (const inspect::OperatorDiff& d : changed) {
    const std::string a = RefText(d.a), b = RefText(d.b);
    out += a == b ? fmt::format("  {}\n", a) : fmt::format("  {} -> {}\n", a, b);
    for (const inspect::FieldDiff& f : d.fields)
      out +=
          fmt::format("    {}: {} -> {}\n", EscapeControls(f.what), OrAbsent(f.a), OrAbsent(f.b));
  }
  return out;
}

std::string NumberText(double v) {
  return fmt::format("{}", static_cast<float>(v));
}

std::string WeightsText(const inspect::ModelDiff& diff) {
  if (diff.weights.empty()) return {};
  Table table({{"operator"},
               {"input", Align::kRight},
               {"name"},
               {"type"},
               {"differ", Align::kRight},
               {"absolute", Align::kRight},
               {"relative", Align::kRight}});
  for (const inspect::WeightDiff& w : diff.weights)
    table.Add({RefText(w.a), std::to_string(w.input), Escape(w.name), w.type,
               fmt::format("{} of {}", w.comparison.outside, w.comparison.elements),
               NumberText(w.comparison.max_absolute), NumberText(w.comparison.max_relative)});
  return fmt::format("\nWeights changed: {} of {} compared (largest differences)\n{}",
                     WithThousands(diff.weights.size()), WithThousands(diff.compared),
                     table.Text(2));
}

}  // namespace

std::string DiffText(const inspect::LoadedModel& a, const inspect::LoadedModel& b,
                     const inspect::ModelDiff& d) {
  std::string out = fmt::format("a: {} ({})\nb: {} ({})\n", EscapeControls(a.path),
                                a.summary.format, EscapeControls(b.path), b.summary.format);
  if (d.by_field) {
    const char* more = d.fields.size() < inspect::ModelDiff::kMaxFields ? "" : "at least ";
    out += d.empty() ? "no differences, field by field\n"
                     : fmt::format("{}{} fields differ\n", more, d.fields.size());
    return out + FieldsText("Model", d.facts) + FieldsText("Inputs and outputs", d.interface) +
           FieldsText("Fields", d.fields);
  }
  const std::string renamed =
      d.renamed == 0 ? "" : fmt::format(", {} renamed", WithThousands(d.renamed));
  if (d.empty())
    return out + fmt::format("no differences: {} operators{}, {} constants\n",
                             WithThousands(d.matched), renamed, WithThousands(d.compared));
  out += fmt::format(
      "{} operators in both{}; {} only in a, {} only in b, {} changed; {} of {} constants differ\n",
      WithThousands(d.matched), renamed, WithThousands(d.removed.size()),
      WithThousands(d.added.size()), WithThousands(d.changed.size()),
      WithThousands(d.weights.size()), WithThousands(d.compared));
  if (d.form != nullptr)
    out +=
        fmt::format("The formats differ: both models are compared as {} models.\n", d.form->label);
  else if (a.read.format != b.read.format)
    out += "The formats differ: operators and attributes are compared as imported.\n";
  return out + FieldsText("Model", d.facts) + FieldsText("Inputs and outputs", d.interface) +
         RefsText("Operators only in a", d.removed) + RefsText("Operators only in b", d.added) +
         ChangedText(d.changed) + WeightsText(d);
}

}  // namespace nn::app
