// The operations of the ML programs in a model, for rules.
#pragma once

#include <string>

#include "formats/coreml/program/import/operation_walk.h"
#include "validators/coreml/rule_context.h"

namespace nn::coreml {

// Visits the programs of all models.
void VisitPrograms(const RuleContext& s, const program::ProgramVisitor& visitor);

Location LocationOf(const program::ProgramPlace& place);

// "operation \"y\" (conv)".
std::string TitleOf(const pb::mil::Operation& operation);

}  // namespace nn::coreml
