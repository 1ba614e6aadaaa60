#include "validators/lint/examples.h"

namespace nn::lint {
namespace {

constexpr const char* kModel = R"(
ir_version: 8
opset_import { version: 17 }
graph {
  name: "g"
  node { input: "x" input: "w" output: "t" name: "a" op_type: "Add" }
  node { input: "t" input: "v" output: "y" name: "b" op_type: "Mul" }
  initializer { name: "w" data_type: 1 dims: [128, 2] $V }
  initializer { name: "v" data_type: 1 dims: 2 float_data: [1, 2] }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 128 }
    dim { dim_value: 2 } } } } }
})";

constexpr const char* kBranches = R"(
ir_version: 8
opset_import { version: 17 }
graph {
  name: "g"
  node { input: "c" output: "y" name: "i" op_type: "If"
    attribute { name: "then_branch" type: GRAPH g { name: "p"
      initializer { name: "a" data_type: 1 $F }
      output { name: "a" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } } } }
    attribute { name: "else_branch" type: GRAPH g { name: "q"
      node { output: "b" name: "k" op_type: "Constant"
        attribute { name: "value" type: TENSOR t { data_type: 1 $F } } }
      output { name: "b" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } } } } }
  input { name: "c" type { tensor_type { elem_type: 9 shape {} } } }
  output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
})";

// Expands $F to two floats, $U to 1 KiB of equal floats, and $V and $W to 1 KiB of different ones.
std::string Expand(const std::string& text) {
  const auto data = [](std::string_view words) {
    std::string out = "raw_data: \"";
    for (size_t bytes = 0; bytes < 1024; bytes += words.size()) out += words;
    return out + "\"";
  };
  std::string full;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string_view mark = std::string_view(text).substr(i, 2);
    if (mark == "$F") {
      full += "dims: 2 float_data: [3, 4]";
      ++i;
    } else if (mark == "$U" || mark == "$V" || mark == "$W") {
      full += data(mark == "$U" ? "good" : mark == "$V" ? "goodfair" : "goodbest");
      ++i;
    } else {
      full += text[i];
    }
  }
  return full;
}

std::vector<RuleExample> All() {
  const auto first = [](const std::string& value) { return Edit{"[1,", "[" + value + ","}; };
  const auto more = [](const std::string& text) {
    return Edit{"  initializer", text + "\n  initializer"};
  };
  const std::string dead = R"(  node { input: "x" output: "u" name: "c" op_type: "Neg" })";
  const std::string constant = R"(  initializer { name: "u" data_type: 1 dims: [128, 2] )";
  const Edit use = {R"(input: "v")", R"(input: "u")"};
  const Edit spare = {"  input {",
                      "  input { name: \"i\" type { tensor_type { elem_type: 1 shape {} } } }\n"
                      "  input {"};
  const Edit import = Before("graph {", "opset_import { domain: \"com.example\" version: 1 }");
  const Edit no_v = {R"(  initializer { name: "v" data_type: 1 dims: 2 float_data: [1, 2] })", ""};
  return {
      {"LINT-DEAD-001",
       kModel,
       {more(dead)},
       {more(dead), {R"(input: "x" input)", R"(input: "u" input)"}}},
      {"LINT-DEAD-001",
       kModel,
       {more(dead + "\n" + R"(  node { input: "u" output: "z" name: "d" op_type: "Neg" })")},
       {more(dead), {R"(input: "x" input)", R"(input: "u" input)"}}},
      {"LINT-DEAD-002",
       kModel,
       {{R"(input: "v")", R"(input: "t")"}},
       {{R"(input: "t")", R"(input: "w")"},
        {R"(output: "t")", R"(output: "t2")"},
        {R"(input: "w" input: "v")", R"(input: "t2" input: "v")"}}},
      // The results of a branch are read by the operator that has it.
      {"LINT-DEAD-002",
       kBranches,
       {Before("output { name: \"a\"", "initializer { name: \"z\" data_type: 1 $F }")},
       {{"$F", "dims: 2 float_data: [5, 6]"}}},
      {"LINT-DEAD-003", kModel, {spare}, {spare, {R"(input: "v")", R"(input: "i")"}, no_v}},
      {"LINT-WEIGHT-001", kModel, {first("nan")}, {first("-0")}},
      {"LINT-WEIGHT-002", kModel, {first("inf")}, {first("3.4028234e38")}},
      {"LINT-WEIGHT-003", kModel, {first("1e-39")}, {first("1.17549435e-38")}},
      {"LINT-WEIGHT-004", kModel, {{"$V", "$U"}}, {{"$V", "$W"}}},
      {"LINT-WEIGHT-005",
       kModel,
       {more(constant + "$V }"),
        use,
        {R"(  initializer { name: "v" data_type: 1 dims: 2 float_data: [1, 2] })", ""}},
       {more(constant + "$W }"), use, no_v}},
      {"LINT-PORT-001",
       kModel,
       {import, {"\"Mul\"", "\"Mul\" domain: \"com.example\""}},
       {import, {"\"Mul\"", "\"Sub\""}}},
      {"LINT-PORT-002",
       kModel,
       {{"output: \"y\"", "output: \"y:0\""}, {"name: \"y\"", "name: \"y:0\""}},
       {{"output: \"y\"", "output: \"y_0\""}, {"name: \"y\"", "name: \"y_0\""}}},
  };
}

}  // namespace

RuleExamples Examples() {
  return {All(), "protobuf text of a ModelProto", Expand};
}

}  // namespace nn::lint
