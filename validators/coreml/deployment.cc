// What a deployment target reads of a model: ValidateOptions::deployment_target.
#include "validators/deployment.h"

#include <optional>
#include <string>

#include "base/text/text.h"
#include "coreml_mil.pb.h"
#include "validators/coreml/operations.h"
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

using program::OperationAt;
using program::Opset;

// The first system that reads a specification version: "iOS17 or macOS14".
std::string SystemsFor(int version) {
  std::string text;
  for (const std::string_view target : kDeploymentTargets)
    if (SpecificationVersionFor(target) == version)
      text += (text.empty() ? "" : " or ") + std::string(target);
  return text.empty() ? "an unknown system" : text;
}

// The operation set of a deployment target; nullopt if it has no ML programs.
std::optional<Opset> OpsetFor(int version) {
  std::optional<Opset> opset;
  for (size_t i = 0; i < program::kOpsets; ++i)
    if (SpecificationVersionOf(static_cast<Opset>(i)) <= version) opset = static_cast<Opset>(i);
  return opset;
}

void CheckVersions(const RuleContext& s, Findings& f) {
  for (const ModelAt& at : s.models())
    if (at.version() > s.specification_version())
      f.Add(At(at.path + "specificationVersion"),
            "specification version {} needs {}; the deployment target reads version {}",
            at.version(), SystemsFor(at.version()), s.specification_version());
}

void CheckOpsets(const RuleContext& s, Findings& f) {
  for (const ModelAt& at : s.models())
    for (const auto& function : at.model->mlprogram().functions()) {
      const auto opset = program::OpsetNamed(function.value().opset());
      if (opset && SpecificationVersionOf(*opset) > s.specification_version())
        f.Add(At(at.path + "mlProgram.functions[" + Quote(function.key()) + "].opset"),
              "function {} has the operation set {}", Quote(function.key()), NameOf(*opset));
    }
}

// What an operation has that the definition of an earlier operation set has not.
void CheckOperation(const OperationAt& at, Opset opset, Findings& f) {
  const program::Definition* const earlier = Find(at.view.definition->op, opset);
  const std::string title = TitleOf(*at.view.operation);
  if (earlier == nullptr || !earlier->in_files())
    return f.Add(LocationOf(at.place), "{}: it is of the operation set {} or later", title,
                 NameOf(program::DefinitionsOf(at.view.definition->op).front().opset));
  if (earlier == at.view.definition || WhyNotFit(at.view)) return;
  program::OperationView view = at.view;
  view.definition = earlier;
  view.opset = opset;
  if (const auto why = WhyNotFit(view))
    f.Add(LocationOf(at.place), "{}: by the definition of {}, {}; the operation set {} has it",
          title, NameOf(opset), *why, NameOf(at.view.definition->opset));
}

void FitsTarget(const RuleContext& s, Findings& f) {
  if (s.specification_version() == 0) return;
  CheckVersions(s, f);
  CheckOpsets(s, f);
  const auto opset = OpsetFor(s.specification_version());
  if (!opset) return;
  VisitPrograms(s, {.operation = [&](const OperationAt& at) {
                  if (at.view.definition != nullptr && at.view.opset > *opset)
                    CheckOperation(at, *opset, f);
                }});
}

constexpr Rule kTargetRules[] = {
    {.info = {.id = "COREML-TARGET-001",
              .statement = "The deployment target reads the specification version of the model, "
                           "and has the operations of its programs.",
              .clause = "--deployment-target",
              .hint = "Convert the model again for this deployment target, or choose a later one."},
     .check = FitsTarget},
};

}  // namespace

std::span<const Rule> TargetRules() {
  return kTargetRules;
}

}  // namespace nn::coreml
