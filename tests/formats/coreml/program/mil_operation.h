// ML Programs that tests import and run: of one operation (MilCase), or of blocks.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "formats/coreml/file/native.h"
#include "formats/format.h"

namespace nn::test {

// An operand of a MIL operation. Types are in the text form of graphs: "f32[2, 3]", "i32[]".
struct MilOperand {
  std::string name;
  std::string type;
  std::vector<double> values;  // in row-major order
  std::string text = {};       // of a constant string, or the name of a value
  bool is_constant = false;
};

// An input of the program.
inline MilOperand In(std::string name, std::string type, std::vector<double> values) {
  return {std::move(name), std::move(type), std::move(values)};
}
// A constant.
inline MilOperand Const(std::string name, std::string type, std::vector<double> values) {
  return {std::move(name), std::move(type), std::move(values), {}, true};
}
inline MilOperand Text(std::string name, std::string text) {
  return {std::move(name), {}, {}, std::move(text), true};
}

// A value of the program. The types of names are not needed.
inline MilOperand Ref(std::string name, std::string value) {
  return {std::move(name), "name", {}, std::move(value)};
}

// A name and its type: "f32[2, 3]", "state f16[4]", "list" for a type that nothing reads.
using MilName = std::pair<std::string, std::string>;

struct MilOperation;
struct MilBlock {
  std::vector<MilName> inputs;
  std::vector<MilOperation> operations;
  std::vector<std::string> outputs;
};
struct MilOperation {
  std::string op;
  std::vector<MilOperand> operands;
  std::vector<MilName> results;
  std::vector<MilBlock> blocks = {};
};

// Makes the program of a function, whose states and inputs are in its block.
void BuildMil(const MilBlock& function, const std::string& opset, coreml::Model& model);
// Imports the program of a function, whose states and inputs are those of its block.
Result<ImportedModel> ImportMil(const MilBlock& function, const std::string& opset = "CoreML5",
                                StatePorts states = StatePorts::kNone);
// Imports and runs it: on every SIMD target, with the same bits. The contents of the results.
std::vector<std::vector<double>> RunMil(const MilBlock& function,
                                        const std::vector<std::vector<double>>& inputs,
                                        const std::string& opset = "CoreML5");

struct MilCase {
  std::string op;
  std::vector<MilOperand> operands;  // those of one name are a list
  std::vector<std::string> results;  // the types that the file declares
  // The contents of the results; empty: only the backends are compared with each other.
  std::vector<std::vector<double>> expected = {};
  std::string opset = "CoreML5";
  double tolerance = 0;  // relative to max(1, |expected|)
};

// Imports the program.
Result<ImportedModel> ImportMil(const MilCase& c);

// Imports and runs it: on every SIMD target, with the same bits, and with the expected results.
void CheckMil(const MilCase& c);

// Why it is not imported: the error, or the reason of the unsupported operation; "" if it is.
std::string WhyNotMil(const MilCase& c);

}  // namespace nn::test
