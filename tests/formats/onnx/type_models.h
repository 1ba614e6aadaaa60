// Models in text form, of one or few operators, for tests of Format::check_types of ONNX.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/format.h"

namespace nn::test::onnx_type_models {

// A ValueInfoProto as a field of a graph. Types are "f32[1, n]"; "f32" has no shape, "seq(f32[2])"
// is a sequence.
std::string Info(const std::string& field, const std::string& name, const std::string& type);

// The defects of a model with these fields of its graph.
std::vector<TypeDefect> CheckText(const std::string& graph, int opset,
                                  const std::string& functions = {});

struct Case {
  int opset;
  std::string op;
  std::vector<std::string> inputs;  // types; "" for absent ones
  std::string more;                 // attributes in text form, or initializers i0, i1 ...
  std::string expected;
};

// The defects of a node with the inputs i0, i1 ... and the result y, which `result` declares.
std::vector<TypeDefect> CheckNode(const Case& c, const std::string& result);

std::string IntAttr(const std::string& name, int64_t value);
std::string IntsAttr(const std::string& name, const std::string& values);
std::string StringAttr(const std::string& name, const std::string& value);
// The contents of an integer input.
std::string Data(int input, const std::string& dims, const std::string& values);

}  // namespace nn::test::onnx_type_models
