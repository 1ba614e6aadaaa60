// Import of the operations of ML Programs. One-to-one operations (OpDef::formats, "mil") need no
// code here; every other one has a function in program/ops/<family>.cc.
//
// Operands have names. Those that must be constants, and those that an operator of the graph needs
// as attributes, are read by Ints() and its like, which know the defaults of the specification
// (program/spec/*.spec).
//
// Design: docs/design/074-ml-program-import.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "coreml_mil.pb.h"
#include "formats/common/operator_import.h"
#include "formats/coreml/program/spec/signature.h"
#include "ir/graph.h"
#include "ir/op_def.h"
#include "ir/term.h"
#include "passes/facts/known_values.h"

namespace nn::coreml::program {

namespace mil = pb::mil;

// What a name of a program stands for. A constant becomes a value of the graph when an operation
// uses it as such.
struct Named {
  Value* value = nullptr;
  std::optional<Tensor> constant;
  std::string name;   // of the value
  std::string state;  // the name of the state; "" if it is none
};

// The value, after adding a constant to the graph if it has none yet; null if it is not a tensor.
Value* ValueOf(Graph& graph, Named& named);

// The operands of an operation, in the order of the file.
using Arguments = std::vector<std::pair<std::string_view, std::vector<Named*>>>;

// An operation to import and its target graph.
class ImportContext final : public OperatorImport {
 public:
  ImportContext(const mil::Operation& operation, const Definition* definition, int64_t index,
                Graph& graph, Arguments arguments, KnownValues& known);

  const mil::Operation& operation() const { return mil_; }
  const Definition& definition() const { return *definition_; }

  // Whether an operand is given.
  bool Has(std::string_view name) const { return Find(name) != nullptr; }
  // The operand as a value; null if it is absent.
  Result<Value*> Optional(std::string_view name);
  // The same; kModel if it is absent.
  Result<Value*> In(std::string_view name);
  // An operand whose rank must be known: kUnsupported otherwise.
  Result<Value*> Ranked(std::string_view name);
  // Those of an operand that is a list, in their order.
  Result<std::vector<Value*>> List(std::string_view name);
  // What the name of an operand stands for; null if it is absent. For states and strings.
  const Named* Find(std::string_view name) const;

  // The contents of an operand that no run changes; nullopt if it is absent. kUnsupported if they
  // depend on a run.
  Result<std::optional<Tensor>> Contents(std::string_view name) const;
  // The same, or the default. `count`: the length of a default that is one number for all.
  Result<std::vector<int64_t>> Ints(std::string_view name, int count = 1) const;
  Result<std::vector<bool>> Bools(std::string_view name, int count = 1) const;
  Result<int64_t> Int(std::string_view name) const;
  Result<float> Float(std::string_view name) const;
  Result<bool> Bool(std::string_view name) const;
  Result<std::string> String(std::string_view name) const;
  // The same in lower case, for operands that accept any case.
  Result<std::string> AnyCase(std::string_view name) const;
  // The element type that an operand names.
  Result<DType> NamedType(std::string_view name) const;
  // Axes from 0 to `rank` - 1, sorted as given; the default all_axes is all of them.
  Result<std::vector<int64_t>> Axes(std::string_view name, int rank) const;
  // The same for one axis; kModel if it is out of range.
  Result<int64_t> Axis(std::string_view name, int rank) const;

  // The element type that the file declares for output i; kUnknown if it is not a tensor.
  DType DeclaredType(size_t i = 0) const;
  // Output i is a term, in the element type that the file declares, for indices and sizes, which
  // operators of the graph compute in 64 bits.
  Status EmitCast(const Term& y, size_t i = 0);

 private:
  Status TakeInputsOf(const OpDef& op) override;
  Result<std::optional<AttrValue>> ReadAttr(std::string_view name,
                                            const AttrValue& initial) const override;
  Result<Value*> TensorOf(Named& named);
  Result<std::string_view> DefaultOf(std::string_view name) const;

  const mil::Operation& mil_;
  const Definition* definition_;
  Arguments arguments_;
  KnownValues& known_;
};

using ImportFn = Status (*)(ImportContext&);
struct ImportRow {
  std::string_view op;
  ImportFn import;
};

}  // namespace nn::coreml::program
