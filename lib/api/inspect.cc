#include "nnsuite/inspect.h"

#include <fmt/core.h>

#include "api/access.h"
#include "base/text.h"
#include "inspect/cost.h"
#include "inspect/diff.h"
#include "inspect/digests.h"
#include "inspect/loaded.h"
#include "inspect/picture.h"
#include "passes/ports.h"

namespace nnsuite {
namespace {

namespace inspect = nn::inspect;

Result<inspect::LoadedModel> Loaded(const Model& model, const InputShapes& shapes = {}) {
  const auto& impl = Access::Of(model);
  inspect::LoadOptions options = {.in_full = true};
  if (!shapes.shapes.empty() || shapes.batch)
    options.bind = [&](nn::Graph& graph) -> Status {
      if (!shapes.shapes.empty()) NN_RETURN_IF_ERROR(nn::BindInputs(graph, shapes.shapes));
      if (shapes.batch) NN_RETURN_IF_ERROR(nn::BindBatch(graph, *shapes.batch));
      return {};
    };
  return inspect::LoadFrom(impl.read, impl.path, options);
}

std::string Describe(const inspect::OperatorRef& op) {
  return op.name.empty() ? fmt::format("{} (operator {})", op.op, op.index)
                         : fmt::format("{} {}", op.op, nn::Quote(op.name));
}

}  // namespace

Result<ModelCost> CostOf(const Model& model, const InputShapes& shapes) {
  NN_ASSIGN(const inspect::LoadedModel loaded, Loaded(model, shapes));
  NN_ASSIGN(inspect::Cost cost, inspect::CostOf(loaded));
  ModelCost out;
  for (inspect::CostRow& r : cost.rows)
    out.operators.push_back({r.index, std::move(r.op), std::move(r.name), std::move(r.output),
                             r.multiply_adds, r.parameters, r.bytes_read, r.bytes_written});
  out.multiply_adds = cost.multiply_adds;
  out.bytes_read = cost.bytes_read;
  out.bytes_written = cost.bytes_written;
  out.parameters = cost.parameters;
  out.unknown = cost.unknown;
  out.peak_bytes = cost.peak_bytes;
  return out;
}

Result<ModelDigests> DigestsOf(const Model& model) {
  NN_ASSIGN(const inspect::LoadedModel loaded, Loaded(model));
  NN_ASSIGN(nn::GraphDigests digests, inspect::DigestsOf(loaded));
  return ModelDigests{std::move(digests.structure), std::move(digests.weights)};
}

Result<std::vector<Difference>> DiffModels(const Model& a, const Model& b) {
  NN_ASSIGN(const inspect::LoadedModel first, Loaded(a));
  NN_ASSIGN(const inspect::LoadedModel second, Loaded(b));
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

Result<std::string> DrawSvg(const Model& model, bool expand) {
  NN_ASSIGN(const inspect::LoadedModel loaded, Loaded(model));
  NN_ASSIGN(const inspect::Picture picture, inspect::DrawModel(loaded, expand));
  return inspect::PictureSvg(picture);
}

Result<std::string> DrawDot(const Model& model, bool expand) {
  NN_ASSIGN(const inspect::LoadedModel loaded, Loaded(model));
  NN_ASSIGN(const inspect::Picture picture, inspect::DrawModel(loaded, expand));
  return inspect::PictureDot(picture);
}

}  // namespace nnsuite
