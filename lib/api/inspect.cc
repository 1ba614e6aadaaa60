#include "nnsuite/inspect.h"

#include <fmt/core.h>

#include <utility>

#include "api/access.h"
#include "base/json/json.h"
#include "base/text/text.h"
#include "formats/format_options.h"
#include "inspect/bom.h"
#include "inspect/diff/diff.h"
#include "inspect/diff/digests.h"
#include "inspect/loaded.h"
#include "inspect/page/page.h"
#include "inspect/page/page_notes.h"
#include "inspect/picture/picture.h"
#include "inspect/report/cost.h"
#include "inspect/report/inspection.h"
#include "passes/core/ports.h"

namespace nnsuite {
namespace {

namespace inspect = nn::inspect;

// With the shapes that are given.
inspect::LoadOptions OptionsFor(const InputShapes& shapes) {
  inspect::LoadOptions options;
  if (shapes.empty()) return options;
  options.inputs = nn::SettingsOf(shapes);
  options.bind = [shapes](nn::Graph& graph) {
    return nn::BindShapes(graph, shapes.shapes, shapes.batch);
  };
  return options;
}

Result<inspect::LoadedModel> Loaded(const Model& model, const InputShapes& shapes = {}) {
  const auto& impl = Access::Of(model);
  inspect::LoadOptions options = OptionsFor(shapes);
  options.in_full = true;
  return inspect::LoadFrom(impl.read, impl.path, options);
}

std::string Describe(const inspect::OperatorRef& op) {
  return op.name.empty() ? fmt::format("{} (operator {})", op.op, op.index)
                         : fmt::format("{} {}", op.op, nn::Quote(op.name));
}

}  // namespace

Result<ModelCost> CostOf(const Model& model, const InputShapes& shapes) {
  NN_ASSIGN(const inspect::LoadedModel loaded, Loaded(model, shapes));
  return inspect::CostOf(loaded);
}

Result<ModelDigests> DigestsOf(const Model& model) {
  NN_ASSIGN(const inspect::LoadedModel loaded, Loaded(model));
  return inspect::DigestsOf(loaded);
}

Result<std::vector<Difference>> DiffModels(const Model& a, const Model& b,
                                           const InputShapes& shapes) {
  NN_ASSIGN(const inspect::LoadedModel first, Loaded(a, shapes));
  NN_ASSIGN(const inspect::LoadedModel second, Loaded(b, shapes));
  NN_ASSIGN(const inspect::ModelDiff diff, inspect::DiffModels(first, second));
  std::vector<Difference> out;
  const auto add = [&](const std::string& where, const std::vector<inspect::FieldDiff>& fields) {
    for (const inspect::FieldDiff& f : fields) out.push_back({where, f.what, f.a, f.b});
  };
  add("model", diff.facts);
  add("interface", diff.interface);
  for (const inspect::FieldDiff& f : diff.fields) out.push_back({f.what, "field", f.a, f.b});
  for (const inspect::OperatorRef& op : diff.removed)
    out.push_back({Describe(op), "operator", op.op, ""});
  for (const inspect::OperatorRef& op : diff.added)
    out.push_back({Describe(op), "operator", "", op.op});
  for (const inspect::OperatorDiff& op : diff.changed) add(Describe(op.a), op.fields);
  for (const inspect::WeightDiff& w : diff.weights)
    out.push_back({Describe(w.a), fmt::format("weights {}", nn::Quote(w.name)),
                   w.comparison.want_text, w.comparison.got_text});
  return out;
}

Result<DiffReport> ReportDifferences(const Model& a, const Model& b, const InputShapes& shapes) {
  NN_ASSIGN(const inspect::LoadedModel first, Loaded(a, shapes));
  NN_ASSIGN(const inspect::LoadedModel second, Loaded(b, shapes));
  NN_ASSIGN(const inspect::ModelDiff diff, inspect::DiffModels(first, second));
  return DiffReport{nn::JsonText(inspect::DiffJson(first, second, diff)), diff.empty()};
}

Result<std::string> DrawDifferences(const Model& a, const Model& b, const InputShapes& shapes) {
  NN_ASSIGN(const inspect::LoadedModel first, Loaded(a, shapes));
  NN_ASSIGN(const inspect::LoadedModel second, Loaded(b, shapes));
  NN_ASSIGN(const inspect::ModelDiff diff, inspect::DiffModels(first, second));
  return inspect::DiffPage(first, second, diff);
}

Result<std::string> Report(const Model& model, const ReportParts& report_parts,
                           const InputShapes& shapes) {
  const auto& impl = Access::Of(model);
  const inspect::Parts parts = {report_parts};
  inspect::LoadOptions options = OptionsFor(shapes);
  parts.SetNeeds(true, options);
  NN_ASSIGN(inspect::LoadedModel loaded, inspect::LoadFrom(impl.read, impl.path, options));
  NN_ASSIGN(const inspect::Inspection inspection, inspect::InspectModel(std::move(loaded), parts));
  return nn::JsonText(inspect::InspectionJson(inspection, parts));
}

namespace {

Result<inspect::Picture> PictureOf(const Model& model, bool expand) {
  NN_ASSIGN(const inspect::LoadedModel loaded, Loaded(model));
  return inspect::DrawModel(loaded, expand);
}

}  // namespace

Result<std::string> DrawSvg(const Model& model, bool expand) {
  return PictureOf(model, true).map([=](const inspect::Picture& p) {
    return inspect::PictureSvg(p, expand);
  });
}

Result<std::string> DrawDot(const Model& model, bool expand) {
  return PictureOf(model, expand).map(inspect::PictureDot);
}

Result<std::string> DrawHtml(const Model& model, const PageReports& reports) {
  const auto& impl = Access::Of(model);
  NN_ASSIGN(const inspect::LoadedModel loaded, inspect::LoadFrom(impl.read, impl.path, {}));
  NN_ASSIGN(const inspect::PageNotes notes, inspect::ReadNotes(reports, loaded));
  return inspect::ModelPage(loaded, notes);
}

Result<std::string> BillOfMaterials(const Model& model) {
  if (Access::Of(model).edited)
    return nn::UsageError("a bill of materials states digests of files; an edited model has none");
  NN_ASSIGN(const inspect::LoadedModel loaded, Loaded(model));
  NN_ASSIGN(const nn::Json bill, inspect::BillOfMaterials(loaded));
  return nn::JsonText(bill);
}

}  // namespace nnsuite
