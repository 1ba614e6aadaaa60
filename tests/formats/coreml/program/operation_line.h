// MIL operations in one line, for tests of their definitions.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "coreml_mil.pb.h"
#include "formats/coreml/program/spec/check.h"
#include "ir/tensor.h"

namespace nn::test {

// "OP(INPUT TYPE, INPUT TYPE = NUMBER NUMBER, INPUT = TEXT) -> TYPE, TYPE". Inputs of one name are
// a list. A type is "f16[2, ?]" with the words of the specification, "list f32[2]", "state f16[4]",
// "any f32" of any rank, or "const f32[2]" for a constant with unknown contents.
class OperationLine {
 public:
  OperationLine(const std::string& line, coreml::program::Opset opset);
  const coreml::program::OperationView& view() const { return view_; }

 private:
  void AddOperand(std::string_view text);

  coreml::pb::mil::Operation operation_;
  std::deque<coreml::pb::mil::ValueType> types_;
  std::deque<std::string> names_;
  std::deque<Tensor> constants_;
  coreml::program::OperationView view_;
};

// A type of this text.
coreml::pb::mil::ValueType MilTypeOf(std::string_view text);

}  // namespace nn::test
