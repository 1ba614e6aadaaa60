// Small ONNX models as text, and what becomes of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/format.h"

namespace nn::test::onnx_text {

// Fields of a graph.
std::string Node(std::string_view op, const std::vector<std::string>& inputs,
                 const std::vector<std::string>& outputs, std::string_view attributes = "");
std::string Ints(std::string_view name, const std::vector<int64_t>& values);
std::string Int(std::string_view name, int64_t v);
std::string Subgraph(std::string_view attribute, const std::string& contents);
// "f32[2, n]" as a field `type`; dimensions are numbers or names.
std::string TypeOf(int element, const std::vector<std::string>& dims);
inline constexpr int kF32 = 1, kI64 = 7, kBool = 9;
std::string Input(std::string_view name, const std::string& type = "");
std::string Outputs(const std::vector<std::string>& names);
// Initializers.
std::string Integer(std::string_view name, int64_t v, std::string_view dims = "");
std::string Flag(std::string_view name, bool v);
std::string Float(std::string_view name, float v);

// The model of a graph; `more` are fields of the model.
ReadModel Read(const std::string& graph, int opset = 17, const std::string& more = "");
ImportedModel Import(const std::string& graph, int opset = 17, const std::string& more = "");

using Values = std::vector<std::vector<double>>;

// Imports and runs the model; returns the number of nodes.
size_t Check(const std::string& graph, const Values& inputs, const Values& outputs, int opset = 17,
             const std::string& more = "");

// The reasons why no format has the model, one a line.
std::string WhyNot(const std::string& graph, int opset = 17);
std::string ErrorOfImport(const std::string& graph);
// With the text as a message, if it does not.
bool Contains(const std::string& text, std::string_view part);

}  // namespace nn::test::onnx_text
