// Rules of the ModelProto itself.
#include <map>
#include <set>

#include "base/text.h"
#include "validators/onnx/rules.h"

namespace nn::onnx {
namespace {

constexpr int64_t kNewestIr = 14;
constexpr int64_t kFirstIrWithOpsets = 3;

void IrVersionPresent(const Subject& s, Findings& f) {
  if (s.ir_version() == 0) f.Add(At("ir_version"), "the model has no ir_version");
}

void IrVersionPositive(const Subject& s, Findings& f) {
  if (s.ir_version() < 0) f.Add(At("ir_version"), "ir_version is {}", s.ir_version());
}

void IrVersionKnown(const Subject& s, Findings& f) {
  if (s.ir_version() > kNewestIr)
    f.Add(At("ir_version"), "ir_version is {}, the newest known is {}", s.ir_version(), kNewestIr);
}

void OpsetsPresent(const Subject& s, Findings& f) {
  if (s.ir_version() >= kFirstIrWithOpsets && s.proto().opset_import().empty())
    f.Add(At("opset_import"), "IR version {} without opset_import", s.ir_version());
}

void OpsetsAbsent(const Subject& s, Findings& f) {
  if (s.ir_version() != 0 && s.ir_version() < kFirstIrWithOpsets &&
      !s.proto().opset_import().empty())
    f.Add(At("opset_import"), "IR version {} with opset_import", s.ir_version());
}

// Calls visit(path, entry) for the operator sets that the model and its functions import.
template <typename Visit>
void EachImport(const Subject& s, const Visit& visit) {
  const auto each = [&](const std::string& path, const OperatorSets& sets) {
    for (int i = 0; i < sets.size(); ++i)
      visit(fmt::format("{}opset_import[{}]", path, i), sets.Get(i));
  };
  each("", s.proto().opset_import());
  for (const auto& body : s.bodies())
    if (body->kind == Body::Kind::kFunction) each(body->path + ".", body->function->opset_import());
}

void OpsetsOnce(const Subject& s, Findings& f) {
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
      f.Add(At(path), "domain {} is imported in version {} and in {}", Quote(domain), first,
            id.version());
  });
}

void OpsetsPositive(const Subject& s, Findings& f) {
  EachImport(s, [&](const std::string& path, const pb::OperatorSetIdProto& id) {
    if (id.version() < 1)
      f.Add(At(path + ".version"), "version {} of domain {}", id.version(), Quote(id.domain()));
  });
}

void OpsetsInRange(const Subject& s, Findings& f) {
  EachImport(s, [&](const std::string& path, const pb::OperatorSetIdProto& id) {
    if (id.version() > INT32_MAX || id.version() < INT32_MIN)
      f.Add(At(path + ".version"), "version {} of domain {} does not fit into 32 bits",
            id.version(), Quote(id.domain()));
  });
}

void OpsetsKnown(const Subject& s, Findings& f) {
  for (int i = 0; i < s.proto().opset_import_size(); ++i) {
    const auto& id = s.proto().opset_import(i);
    const std::string_view domain = PlainDomain(id.domain());
    if (IsStandardDomain(domain) && id.version() > NewestOpset(domain))
      f.Add(At(fmt::format("opset_import[{}].version", i)),
            "version {} of domain {}, the newest known is {}", id.version(), Quote(domain),
            NewestOpset(domain));
  }
}

void GraphPresent(const Subject& s, Findings& f) {
  if (!s.proto().has_graph()) f.Add(At("graph"), "the model has no graph");
}

void MetadataUnique(const Subject& s, Findings& f) {
  std::set<std::string_view> seen;
  for (int i = 0; i < s.proto().metadata_props_size(); ++i)
    if (!seen.insert(s.proto().metadata_props(i).key()).second)
      f.Add(At(fmt::format("metadata_props[{}]", i)), "key {} occurs again",
            Quote(s.proto().metadata_props(i).key()));
}

constexpr Rule kRules[] = {
    {{"ONNX-MODEL-001", Severity::kError, "The model states its ir_version.", "IR.md, Models", true,
      "Set ir_version."},
     IrVersionPresent},
    {{"ONNX-MODEL-002", Severity::kError, "The ir_version is a published one.",
      "onnx.proto, Version", true, "Check the model with a newer version of this tool."},
     IrVersionKnown},
    {{"ONNX-MODEL-003", Severity::kError, "A model of IR version 3 or later imports operator sets.",
      "IR.md, Operator Sets", true, "Add opset_import."},
     OpsetsPresent},
    {{"ONNX-MODEL-004", Severity::kError, "A model of IR version 1 or 2 has no opset_import.",
      "onnx.proto, ModelProto.opset_import", true, "Raise ir_version to 3 or later."},
     OpsetsAbsent},
    {{"ONNX-MODEL-005", Severity::kError, "Each domain is imported in one version.",
      "onnx.proto, ModelProto.opset_import", false, "Keep one entry a domain."},
     OpsetsOnce},
    {{"ONNX-MODEL-006", Severity::kError, "Imported versions of operator sets are positive.",
      "IR.md, Operator Sets", false, ""},
     OpsetsPositive},
    {{"ONNX-MODEL-007", Severity::kWarning,
      "Imported versions of standard domains are published ones.", "Changelog.md", false,
      "Operators are checked against the newest version that is known."},
     OpsetsKnown},
    {{"ONNX-MODEL-008", Severity::kError, "The model has a graph.", "IR.md, Models", true, ""},
     GraphPresent},
    {{"ONNX-MODEL-009", Severity::kError, "Keys of metadata_props are unique.",
      "onnx.proto, ModelProto.metadata_props", true, "Remove the second entry."},
     MetadataUnique},
    {{"ONNX-MODEL-010", Severity::kError, "The ir_version is positive.", "onnx.proto, Version",
      false, "Set ir_version."},
     IrVersionPositive},
    {{"ONNX-MODEL-011", Severity::kError, "Imported versions of operator sets fit into 32 bits.",
      "IR.md, Operator Sets", true, ""},
     OpsetsInRange},
};

}  // namespace

std::span<const Rule> ModelRules() {
  return kRules;
}

}  // namespace nn::onnx
