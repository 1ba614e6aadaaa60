// Whether an operation of an ML Program is as its definition says: the inputs that it gives, their
// types, ranks and values, and the types of its results. Rules report what is not; an exporter
// refuses to write it.
//
// Design: docs/design/072-ml-program-operations.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/coreml/program/spec/label.h"
#include "formats/coreml/program/spec/signature.h"
#include "ir/tensor.h"

namespace nn::coreml::pb::mil {
class Operation;
class ValueType;
}  // namespace nn::coreml::pb::mil

namespace nn::coreml::program {

// What an operand is: the value of a name, or a constant in place.
struct BoundValue {
  const pb::mil::ValueType* type = nullptr;  // null if it is not known
  const Tensor* constant = nullptr;          // the contents; null if they are not known
  bool is_constant = false;                  // no run changes it, even if `constant` is null
};

// An operand by its name, with all elements if it is a list.
struct OperandView {
  std::string_view name;
  std::vector<BoundValue> values;
};

struct OperationView {
  const pb::mil::Operation* operation = nullptr;  // its results and blocks; inputs are not read
  const Definition* definition = nullptr;
  Opset opset = Opset::kIos15;  // of the function
  // Those of the inputs, or of the attributes of a definition with stored_as_attributes.
  std::vector<OperandView> operands;

  // The first of this name; null if it is not given.
  const OperandView* Operand(std::string_view name) const;
};

// A way in which an operation is not as its definition says.
struct Misfit {
  enum class About : uint8_t {
    kInputs,   // which inputs are given
    kOperand,  // types, ranks and values of inputs
    kResult,   // the number and the types of results
  };
  About about = About::kInputs;
  std::optional<Label> label;  // nullopt: the row itself says so
  bool published = false;      // by the text alone; type inference does not care
  std::string text;            // "input axis is 5, which is out of range for rank 3"
};

// All of them. Sizes, ranks and contents that are not known fit anything.
std::vector<Misfit> MisfitsOf(const OperationView& at);

// The first that type inference would refuse, as a reason against the operation; nullopt if it
// fits.
std::optional<std::string> WhyNotFit(const OperationView& at);

// Labels that MisfitsOf() does not check.
std::span<const Label> UncheckedLabels();

}  // namespace nn::coreml::program
