// The definitions of ML Program operations: the rows of the files *.spec of this folder. An
// operation has one for each opset that changes it.
//
// Design: docs/design/072-ml-program-operations.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/common/spec/row.h"
#include "formats/coreml/program/spec/label.h"

namespace nn::coreml::pb::mil {
enum DataType : int;
}

namespace nn::coreml::program {

enum class Opset : uint8_t { kIos15, kIos16, kIos17, kIos18, kIos26 };
inline constexpr size_t kOpsets = static_cast<size_t>(Opset::kIos26) + 1;

// "iOS15": the deployment target.
std::string_view NameOf(Opset opset);
// "CoreML5": in files.
std::string_view FileNameOf(Opset opset);
// The specification version of models: 6.
int SpecificationVersionOf(Opset opset);
// The opset of a deployment target; nullopt if there is none.
std::optional<Opset> OpsetOfTarget(std::string_view target);
// The opset of a name in files; nullopt if there is none.
std::optional<Opset> OpsetNamed(std::string_view file_name);

// A constraint on the operands of an operation.
struct Constraint {
  Label label{};
  std::vector<std::string_view> operands;  // inputs, blocks and attributes
  bool published = false;                  // by the text alone; type inference ignores it
};

// An operation from an opset on, up to its next definition. Inputs have names and no order.
struct Definition {
  std::string_view op;
  Opset opset{};
  std::string_view module;  // "conv"
  std::vector<spec::Operand> inputs;
  std::vector<spec::Operand> outputs;
  std::vector<int> output_counts;  // the only allowed numbers; empty: all outputs
  std::vector<spec::Parameter> parameters;
  std::vector<spec::Variable> variables;
  std::vector<Constraint> constraints;

  const spec::Operand* Input(std::string_view name) const;  // nullptr if there is none
  const Constraint* Find(Label label) const;                // the first; nullptr if there is none
  bool in_builder() const { return Find(Label::kFileOnly) == nullptr; }
  bool in_files() const { return Find(Label::kBuilderOnly) == nullptr; }
  // The types that a row lists for an operand; empty if it lists none.
  spec::TypeBits TypesOf(const spec::Operand& operand) const;
  bool Takes(const spec::Operand& operand, pb::mil::DataType type) const;
  // "coremltools, iOS17/conv.py: conv".
  std::string Clause() const;
};

// All definitions, by operation and opset.
std::span<const Definition> Definitions();

// The definitions of an operation, in the order of the opsets; empty if it is unknown.
std::span<const Definition> DefinitionsOf(std::string_view op);

// The definition that a program of an opset has; nullptr if it has no such operation.
const Definition* Find(std::string_view op, Opset opset);

// The type of a name in strings of a program: "fp16", "int32".
std::optional<pb::mil::DataType> TypeNamed(std::string_view name);

}  // namespace nn::coreml::program
