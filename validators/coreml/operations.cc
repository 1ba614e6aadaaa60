// Rules about the operations of ML programs: their definitions, and the names between them.
#include <string>

#include "base/text/text.h"
#include "formats/coreml/describe/program.h"
#include "validators/coreml/operations.h"
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

using program::OperationAt;
using About = program::Misfit::About;

// The operation sets that have it: "iOS17 or later"; "" if there is none.
std::string SetsWith(std::string_view op) {
  for (const program::Definition& d : program::DefinitionsOf(op))
    if (d.in_files()) return fmt::format("{} or later", NameOf(d.opset));
  return "";
}

void OperationExists(const RuleContext& s, Findings& f) {
  VisitPrograms(s, {.operation = [&](const OperationAt& at) {
                  const program::Definition* const definition = at.view.definition;
                  if (!at.has_opset || (definition != nullptr && definition->in_files())) return;
                  const mil::Operation& operation = *at.view.operation;
                  const std::string sets = SetsWith(operation.type());
                  if (sets.empty())
                    f.Add(LocationOf(at.place), "{}: there is no such operation",
                          TitleOf(operation));
                  else
                    f.Add(LocationOf(at.place),
                          "{}: the function has the operation set {}; the operation is of {}",
                          TitleOf(operation), NameOf(at.view.opset), sets);
                }});
}

// Reports the misfits of operations that `is_wanted`.
template <typename IsWanted>
void ReportMisfits(const RuleContext& s, Findings& f, const IsWanted& is_wanted) {
  VisitPrograms(s, {.operation = [&](const OperationAt& at) {
                  if (at.view.definition == nullptr || !at.view.definition->in_files()) return;
                  for (const program::Misfit& m : MisfitsOf(at.view))
                    if (is_wanted(m))
                      f.Add(LocationOf(at.place), "{}: {} ({})", TitleOf(*at.view.operation),
                            m.text, at.view.definition->Clause());
                }});
}

// Of the definitions' code. COREML-MIL-004 counts class labels.
template <About about>
void FitsDefinition(const RuleContext& s, Findings& f) {
  ReportMisfits(s, f, [](const program::Misfit& m) {
    return m.about == about && !m.published && m.label != program::Label::kClassCount;
  });
}

void FitsText(const RuleContext& s, Findings& f) {
  ReportMisfits(s, f, [](const program::Misfit& m) { return m.published; });
}

void NamesDefined(const RuleContext& s, Findings& f) {
  VisitPrograms(s, {.name = [&](const program::ProgramPlace& place, const std::string& text) {
                  f.Add(LocationOf(place), "{}", text);
                }});
}

constexpr Rule kOperationRules[] = {
    {.info = {.id = "COREML-MIL-005",
              .statement = "Each operation of an ML program exists in the operation set of its "
                           "function.",
              .clause = "MIL operations: operation sets",
              .vendor = true,
              .hint = "Convert the model again for the deployment target that has the operation."},
     .check = OperationExists},
    {.info = {.id = "COREML-MIL-006",
              .statement = "An operation of an ML program has the inputs and blocks of its "
                           "definition: all that are required, each once, and no others.",
              .clause = "MIL operations: inputs",
              .vendor = true,
              .hint = "Give the inputs by the names of the definition that the finding cites."},
     .check = FitsDefinition<About::kInputs>},
    {.info = {.id = "COREML-MIL-007",
              .statement = "The inputs of an operation of an ML program have the types, ranks, "
                           "sizes and values that its definition requires.",
              .clause = "MIL operations: constraints",
              .vendor = true,
              .hint = "Change the input as the finding says, or insert a cast, reshape or "
                      "transpose."},
     .check = FitsDefinition<About::kOperand>},
    {.info = {.id = "COREML-MIL-008",
              .statement = "The results of an operation of an ML program have the number and the "
                           "types that follow from its inputs.",
              .clause = "MIL operations: type inference",
              .vendor = true,
              .hint = "Declare the types that the operation computes."},
     .check = FitsDefinition<About::kResult>},
    {.info = {.id = "COREML-MIL-009",
              .statement = "Each name in an ML program is defined once, before it is used, in the "
                           "same block or one around it.",
              .clause = "MIL.proto, Block",
              .vendor = true,
              .hint = "Sort the operations, and give each result a name of its own."},
     .check = NamesDefined},
    {.info = {.id = "COREML-MIL-010",
              .severity = Severity::kWarning,
              .statement = "The operations of an ML program keep what the documentation says of "
                           "their inputs and nothing checks.",
              .clause = "MIL operations: documentation",
              .hint = "Change the input as the finding says; what the operation computes from it "
                      "is not documented."},
     .check = FitsText},
};

}  // namespace

void VisitPrograms(const RuleContext& s, const program::ProgramVisitor& visitor) {
  for (const ModelAt& at : s.models())
    if (at.model->has_mlprogram())
      program::VisitProgram(s.native(), at.model->mlprogram(), visitor);
}

Location LocationOf(const program::ProgramPlace& place) {
  return At("mlProgram." + place.path, place.index);
}

std::string TitleOf(const mil::Operation& operation) {
  return fmt::format("operation {} ({})", Quote(NameOf(operation)), Escape(operation.type()));
}

std::span<const Rule> OperationRules() {
  return kOperationRules;
}

}  // namespace nn::coreml
