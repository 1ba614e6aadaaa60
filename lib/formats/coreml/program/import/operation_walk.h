// The operations of an ML Program, each with what is known about its operands.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "formats/coreml/program/spec/check.h"

namespace nn::coreml {
struct Model;
}
namespace nn::coreml::pb::mil {
class Program;
}

namespace nn::coreml::program {

// A place in a program.
struct ProgramPlace {
  std::string path;    // "functions[\"main\"].operations[3].blocks[1].operations[0]"
  int64_t index = -1;  // of the operation in the block of the function; -1: not in one
};

struct OperationAt {
  ProgramPlace place;
  // The definition is null if the operation set has no such operation, or is unknown itself.
  OperationView view;
  bool has_opset = true;  // whether the operation set is known
};

// Null ones are not called.
struct ProgramVisitor {
  std::function<void(const OperationAt& at)> operation = {};
  // A name that is used before it is defined, or defined twice.
  std::function<void(const ProgramPlace& place, std::string text)> name = {};
};

// Visits the blocks of all functions, and inner blocks after the operation that has them.
// `program`: of the model.
void VisitProgram(const Model& model, const pb::mil::Program& program,
                  const ProgramVisitor& visitor);

}  // namespace nn::coreml::program
