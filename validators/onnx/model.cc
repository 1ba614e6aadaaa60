// Rules for the fields of ModelProto.
#include <map>
#include <set>

#include "base/text/text.h"
#include "validators/onnx/rules.h"

namespace nn::onnx {
namespace {

constexpr int64_t kNewestIr = 14;
constexpr int64_t kFirstIrWithOpsets = 3;

void IrVersionPresent(const RuleContext& s, Findings& f) {
  if (s.ir_version() == 0) f.Add(At("ir_version"), "the model has no ir_version");
}

void IrVersionPositive(const RuleContext& s, Findings& f) {
  if (s.ir_version() < 0)
    f.Add(At("ir_version"), "ir_version is {}; must be positive", s.ir_version());
}

void IrVersionKnown(const RuleContext& s, Findings& f) {
  if (s.ir_version() > kNewestIr)
    f.Add(At("ir_version"), "ir_version is {}; the newest known version is {}", s.ir_version(),
          kNewestIr);
}

void OpsetsPresent(const RuleContext& s, Findings& f) {
  if (s.ir_version() >= kFirstIrWithOpsets && s.proto().opset_import().empty())
    f.Add(At("opset_import"), "the model has IR version {}, but no opset_import", s.ir_version());
}

void OpsetsAbsent(const RuleContext& s, Findings& f) {
  if (s.ir_version() != 0 && s.ir_version() < kFirstIrWithOpsets &&
      !s.proto().opset_import().empty())
    f.Add(At("opset_import"), "the model has opset_import, which IR version {} does not support",
          s.ir_version());
}

// Calls visit(path, entry) for the operator sets that the model and its functions import.
template <typename Visit>
void EachImport(const RuleContext& s, const Visit& visit) {
  const auto each = [&](const std::string& path, const OperatorSets& sets) {
    for (int i = 0; i < sets.size(); ++i)
      visit(fmt::format("{}opset_import[{}]", path, i), sets.Get(i));
  };
  each("", s.proto().opset_import());
  for (const auto& body : s.bodies())
    if (body->kind == Body::Kind::kFunction) each(body->path + ".", body->function->opset_import());
}

void OpsetsOnce(const RuleContext& s, Findings& f) {
  std::map<std::string, int64_t> seen;
  std::string list;
  EachImport(s, [&](const std::string& path, const pb::OperatorSetIdProto& id) {
    if (std::string owner = path.substr(0, path.rfind('[')); owner != list) {
      list = std::move(owner);
      seen.clear();
    }
    const std::string domain(PlainDomain(id.domain()));
    if (const int64_t first = seen.try_emplace(domain, id.version()).first->second;
        first != id.version())
      f.Add(At(path), "domain {} is imported in versions {} and {}", Quote(domain), first,
            id.version());
  });
}

void OpsetsPositive(const RuleContext& s, Findings& f) {
  EachImport(s, [&](const std::string& path, const pb::OperatorSetIdProto& id) {
    if (id.version() < 1)
      f.Add(At(path + ".version"), "domain {} is imported in version {}; must be positive",
            Quote(id.domain()), id.version());
  });
}

void OpsetsInRange(const RuleContext& s, Findings& f) {
  EachImport(s, [&](const std::string& path, const pb::OperatorSetIdProto& id) {
    if (id.version() > INT32_MAX || id.version() < INT32_MIN)
      f.Add(At(path + ".version"),
            "domain {} is imported in version {}, which does not fit into 32 bits",
            Quote(id.domain()), id.version());
  });
}

void OpsetsKnown(const RuleContext& s, Findings& f) {
  for (int i = 0; i < s.proto().opset_import_size(); ++i) {
    const auto& id = s.proto().opset_import(i);
    const std::string_view domain = PlainDomain(id.domain());
    if (IsStandardDomain(domain) && id.version() > NewestOpset(domain))
      f.Add(At(fmt::format("opset_import[{}].version", i)),
            "domain {} is imported in version {}; the newest known version is {}", Quote(domain),
            id.version(), NewestOpset(domain));
  }
}

void GraphPresent(const RuleContext& s, Findings& f) {
  if (!s.proto().has_graph()) f.Add(At("graph"), "the model has no graph");
}

void MetadataUnique(const RuleContext& s, Findings& f) {
  std::set<std::string_view> seen;
  for (int i = 0; i < s.proto().metadata_props_size(); ++i)
    if (!seen.insert(s.proto().metadata_props(i).key()).second)
      f.Add(At(fmt::format("metadata_props[{}]", i)), "metadata_props has key {} more than once",
            Quote(s.proto().metadata_props(i).key()));
}

constexpr Rule kModelRules[] = {
    {.info = {.id = "ONNX-MODEL-001",
              .statement = "The model has an ir_version.",
              .clause = "IR.md, Models",
              .vendor = true,
              .hint = "Set ir_version to the IR version that the model is written for."},
     .check = IrVersionPresent},
    {.info = {.id = "ONNX-MODEL-002",
              .statement =
                  "The ir_version of the model is not newer than the newest published IR version.",
              .clause = "onnx.proto, Version",
              .vendor = true,
              .hint = "Correct ir_version, or check the model with a newer release of this tool."},
     .check = IrVersionKnown},
    {.info = {.id = "ONNX-MODEL-003",
              .statement = "A model of IR version 3 or later imports at least one operator set.",
              .clause = "IR.md, Operator Sets",
              .vendor = true,
              .hint = "Add an opset_import entry for each domain that the model uses."},
     .check = OpsetsPresent},
    {.info = {.id = "ONNX-MODEL-004",
              .statement = "A model of IR version 1 or 2 has no opset_import.",
              .clause = "onnx.proto, ModelProto.opset_import",
              .vendor = true,
              .hint = "Raise ir_version to 3 or later, or remove opset_import."},
     .check = OpsetsAbsent},
    {.info = {.id = "ONNX-MODEL-005",
              .statement =
                  "The model and each of its functions import a domain in one version only.",
              .clause = "onnx.proto, ModelProto.opset_import",
              .hint = "Keep one opset_import entry per domain."},
     .check = OpsetsOnce},
    {.info = {.id = "ONNX-MODEL-006",
              .statement =
                  "Every opset version that the model or one of its functions imports is positive.",
              .clause = "IR.md, Operator Sets",
              .hint = "Set version to the opset version that the nodes are written for."},
     .check = OpsetsPositive},
    {.info = {.id = "ONNX-MODEL-007",
              .severity = Severity::kWarning,
              .statement = "The model does not import a standard domain in a version newer than "
                           "the newest published one.",
              .clause = "Changelog.md",
              .hint = "Import a published opset version, or check the model with a newer release "
                      "of this tool."},
     .check = OpsetsKnown},
    {.info = {.id = "ONNX-MODEL-008",
              .statement = "The model has a graph.",
              .clause = "IR.md, Models",
              .vendor = true,
              .hint = "Add the main graph, or export the model again."},
     .check = GraphPresent},
    {.info = {.id = "ONNX-MODEL-009",
              .statement = "The keys of the model's metadata_props are unique.",
              .clause = "onnx.proto, ModelProto.metadata_props",
              .vendor = true,
              .hint = "Rename or remove the repeated key."},
     .check = MetadataUnique},
    {.info = {.id = "ONNX-MODEL-010",
              .statement = "The ir_version of the model is not negative.",
              .clause = "onnx.proto, Version",
              .hint = "Set ir_version to the IR version that the model is written for."},
     .check = IrVersionPositive},
    {.info = {.id = "ONNX-MODEL-011",
              .statement = "Every opset version that the model or one of its functions imports "
                           "fits into 32 bits.",
              .clause = "IR.md, Operator Sets",
              .vendor = true,
              .hint = "Set version to a published opset version."},
     .check = OpsetsInRange},
};

}  // namespace

std::span<const Rule> ModelRules() {
  return kModelRules;
}

}  // namespace nn::onnx
