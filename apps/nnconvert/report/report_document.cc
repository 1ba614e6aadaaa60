// The document form of reports, for Markdown and HTML.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/common/program.h"
#include "apps/nnconvert/report/report.h"
#include "base/text/text.h"

namespace nn::app {
namespace {

std::string AxesText(const std::vector<int>& axes) {
  return fmt::format("{}", fmt::join(axes, ", "));
}

void AddFileRows(std::string_view role, const std::string& path, const std::string& format,
                 const std::vector<FileDigest>& files, Table& table) {
  table.Add({role, EscapeControls(path), format, "", ""});
  for (const FileDigest& f : files)
    table.Add({"", EscapeControls(f.name), "", WithThousands(f.bytes), f.digest});
}

void AddFiles(const ConvertReport& r, bool with_target, int level, Document& document) {
  document.AddHeading(level, "Files");
  Table table({{"model"}, {"file"}, {"format"}, {"bytes", Align::kRight}, {"digest"}});
  AddFileRows("source", r.input, r.input_format, r.input_files, table);
  if (with_target) AddFileRows("target", r.output, r.output_format, r.output_files, table);
  document.AddTable(std::move(table));
}

// A row for each port; those of the target have the same positions.
void AddPorts(std::string_view kind, const std::vector<TypedPort>& source,
              const std::vector<TypedPort>& converted, Table& table) {
  for (size_t i = 0; i < source.size(); ++i) {
    const bool both = i < converted.size();
    table.Add({kind, EscapeControls(source[i].name), EscapeControls(source[i].type.ToString()),
               both ? EscapeControls(converted[i].name) : "",
               both ? EscapeControls(converted[i].type.ToString()) : ""});
  }
}

void AddInterface(const Conversion& c, int level, Document& document) {
  if (c.source.outputs.empty()) return;
  document.AddHeading(level, "Inputs and outputs");
  Table table({{"port"}, {"source"}, {"type"}, {"target"}, {"type"}});
  AddPorts("input", c.source.inputs, c.converted.inputs, table);
  AddPorts("output", c.source.outputs, c.converted.outputs, table);
  document.AddTable(std::move(table));
  for (const std::string& text : DequantizedTexts(c)) document.AddParagraph(text);
  for (const PortChange& p : c.port_changes)
    if (p.kind != PortChange::Kind::kDequantized) document.AddParagraph(PortChangeText(p));
}

void AddUnsupported(const Conversion& c, int level, Document& document) {
  if (c.unsupported.empty()) return;
  document.AddHeading(level, "Unsupported operators");
  document.AddParagraph(UnsupportedCount(c.unsupported) + ".");
  document.AddTable(UnsupportedTable(c.unsupported, /*titled=*/true));
}

void AddRewrites(const Conversion& c, int level, Document& document) {
  if (c.rewrites.empty()) return;
  document.AddHeading(level, "Rewritten operators");
  Table table({{"operator"}, {"rewrite"}, {"count", Align::kRight}});
  for (const AppliedRewrite& r : c.rewrites) table.Add({r.op, r.rewrite, WithThousands(r.count)});
  document.AddTable(std::move(table));
}

void AddTransposes(const Conversion& c, int level, Document& document) {
  if (c.transposes.empty()) return;
  document.AddHeading(level, "Transposes in the target");
  Table table({{"operator"}, {"from"}, {"to"}, {"axes"}, {"reason"}});
  for (const TransposeNode& t : c.transposes)
    table.Add({EscapeControls(t.node), EscapeControls(t.from), EscapeControls(t.to),
               AxesText(t.axes), EscapeControls(t.reason)});
  document.AddTable(std::move(table));
}

void AddVerification(const Conversion& c, int level, Document& document) {
  if (!c.verification) return;
  document.AddHeading(level, "Verification");
  document.AddParagraph(VerificationSummary(*c.verification));
  document.AddTable(DriftTable(*c.verification));
  if (!c.verification->quantized) return;
  document.AddParagraph(QuantizedDriftSummary(*c.verification->quantized));
  document.AddTable(QuantizedDriftTable(*c.verification->quantized));
}

void AddGraphEdits(const Conversion& c, int level, Document& document) {
  if (c.edits.empty()) return;
  document.AddHeading(level, "Edits");
  for (const std::string& text : c.edits) document.AddParagraph(text);
  if (!c.edit_verification) return;
  document.AddParagraph(EditSummary(*c.edit_verification));
  document.AddTable(DriftTable(*c.edit_verification));
}

void AddQuantization(const ConvertReport& r, int level, Document& document) {
  if (!r.conversion.quantize) return;
  document.AddHeading(level, "Quantization");
  for (const std::string& text : QuantizeTexts(r)) document.AddParagraph(text);
  document.AddTable(QuantizedValuesTable(*r.conversion.quantize, SIZE_MAX));
}

// The sections have headings of the level.
void AddConversion(const ConvertReport& r, int level, Document& document) {
  const Conversion& c = r.conversion;
  document.AddParagraph("Result: " + OutcomeText(r));
  if (r.native_edit) {
    for (const std::string& text : NativeEditTexts(*r.native_edit)) document.AddParagraph(text);
    if (r.native_edit->verification) {
      document.AddHeading(level, "Verification of the edit");
      document.AddParagraph(VerificationSummary(*r.native_edit->verification));
      document.AddTable(DriftTable(*r.native_edit->verification));
    }
  }
  for (const std::string& remark : Remarks(c)) document.AddParagraph(remark);
  for (const std::string& text : HoldingTexts(c)) document.AddParagraph(text);
  AddGraphEdits(c, level, document);
  AddUnsupported(c, level, document);
  AddInterface(c, level, document);
  AddRewrites(c, level, document);
  AddTransposes(c, level, document);
  AddQuantization(r, level, document);
  AddVerification(c, level, document);
}

void AddNotes(Document& document) {
  document.AddParagraph(fmt::format(
      "Written by nnconvert {}. Each digest is that of one file: of the model file, of the files "
      "beside it that were read or written, or of the files of a folder.",
      Version()));
}

}  // namespace

Document ReportDocument(const ConvertReport& r) {
  Document document;
  document.title =
      fmt::format("{}{} to {}", r.dry_run ? "Dry run: " : "", r.input, r.output_format);
  AddConversion(r, 2, document);
  AddFiles(r, /*with_target=*/true, 2, document);
  AddNotes(document);
  return document;
}

Document ReportDocument(const TargetsReport& report) {
  const ConvertReport& any = report.targets.front();
  Document document;
  document.title = fmt::format("Dry run: {} to every format", any.input);
  document.AddTable(TargetsTable(report));
  for (const ConvertReport& r : report.targets) {
    if (r.copy) continue;
    document.AddHeading(2, r.output_format);
    AddConversion(r, 3, document);
  }
  AddFiles(any, /*with_target=*/false, 2, document);
  AddNotes(document);
  return document;
}

Document ReportDocument(const FolderReport& report) {
  Document document;
  document.title = fmt::format("{}{} to {}", report.dry_run ? "Dry run: " : "", report.input,
                               report.output_format);
  document.AddTable(ModelsTable(report));
  document.AddParagraph(ModelsSummary(report));
  for (const ConvertReport& r : report.models) {
    document.AddHeading(2, NameInFolder(report, r));
    AddConversion(r, 3, document);
    AddFiles(r, /*with_target=*/true, 3, document);
  }
  AddNotes(document);
  return document;
}

}  // namespace nn::app
