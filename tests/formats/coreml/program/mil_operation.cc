#include "formats/coreml/program/mil_operation.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "coreml_model.pb.h"
#include "formats/common/known_inputs.h"
#include "formats/coreml/file/native.h"
#include "formats/coreml/program/import/importer.h"
#include "formats/coreml/program/spec/words.h"
#include "ir/text/text.h"
#include "support/run_graph.h"

namespace nn::test {
namespace {

namespace mil = coreml::pb::mil;

Type Parsed(const std::string& text) {
  auto type = ParseType(text);
  REQUIRE_MESSAGE(type.has_value(), text);
  return *std::move(type);
}

Tensor TensorOf(const MilOperand& operand) {
  const Type type = Parsed(operand.type);
  auto out = TensorBuilder::Create(type.dtype, *type.const_dims());
  REQUIRE(out.has_value());
  REQUIRE(out->elements() == static_cast<int64_t>(operand.values.size()));
  for (int64_t i = 0; i < out->elements(); ++i)
    out->SetDouble(i, operand.values[static_cast<size_t>(i)]);
  return out->Finish();
}

void SetType(const std::string& text, mil::ValueType* to) {
  const Type type = Parsed(text);
  mil::TensorType* const tensor = to->mutable_tensortype();
  for (const coreml::program::TypeWord& word : coreml::program::kTypes)
    if (word.word == DTypeName(type.dtype)) tensor->set_datatype(word.type);
  tensor->set_rank(type.rank());
  for (const Dim& d : *type.dims) {
    mil::Dimension* const dim = tensor->add_dimensions();
    if (d.is_const())
      dim->mutable_constant()->set_size(static_cast<uint64_t>(d.value()));
    else
      dim->mutable_unknown();
  }
}

void SetValue(const MilOperand& operand, mil::Value* to) {
  mil::TensorValue* const value = to->mutable_immediatevalue()->mutable_tensor();
  if (operand.type.empty()) {
    to->mutable_type()->mutable_tensortype()->set_datatype(mil::STRING);
    value->mutable_strings()->add_values(operand.text);
    return;
  }
  SetType(operand.type, to->mutable_type());
  const Tensor tensor = TensorOf(operand);
  switch (tensor.dtype()) {
    case DType::kF32:
      for (const double v : operand.values)
        value->mutable_floats()->add_values(static_cast<float>(v));
      break;
    case DType::kI32:
      for (const double v : operand.values) value->mutable_ints()->add_values(static_cast<int>(v));
      break;
    case DType::kBool:
      for (const double v : operand.values) value->mutable_bools()->add_values(v != 0);
      break;
    default:
      value->mutable_bytes()->set_values(tensor.blob().data(), tensor.byte_size());
  }
}

void AddFeature(const std::string& name, const std::string& type, coreml::Writer feature) {
  feature.Text("name", name);
  coreml::Writer array = feature.Sub("type").Sub("multiArrayType");
  const Type parsed = Parsed(type);
  array.Enum("dataType", parsed.dtype == DType::kF32   ? "FLOAT32"
                         : parsed.dtype == DType::kF16 ? "FLOAT16"
                                                       : "INT32");
  if (const auto dims = parsed.const_dims()) array.Ints("shape", *dims);
}

// The element type of an array that can be an input of a model; others are cast.
std::string PortType(const std::string& type) {
  const DType dtype = Parsed(type).dtype;
  const bool is_port = dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kI32;
  return is_port ? type : "i32" + type.substr(type.find('['));
}

void AddName(const MilName& from, mil::NamedValueType* to) {
  constexpr std::string_view kState = "state ";
  to->set_name(from.first);
  if (from.second.starts_with(kState))
    SetType(from.second.substr(kState.size()),
            to->mutable_type()->mutable_statetype()->mutable_wrappedtype());
  else if (from.second == "list")
    to->mutable_type()->mutable_listtype();
  else
    SetType(from.second, to->mutable_type());
}

void Build(const MilBlock& from, mil::Block* to);

void Build(const MilOperation& from, mil::Operation* to) {
  to->set_type(from.op);
  std::map<std::string, mil::Argument*> arguments;
  for (const MilOperand& o : from.operands) {
    mil::Argument*& argument = arguments[o.name];
    if (argument == nullptr) {
      auto* const input = to->add_inputs();
      input->set_key(o.name);
      argument = input->mutable_value();
    }
    if (o.is_constant)
      SetValue(o, argument->add_arguments()->mutable_value());
    else
      argument->add_arguments()->set_name(o.text);
  }
  for (const MilName& result : from.results) AddName(result, to->add_outputs());
  for (const MilBlock& block : from.blocks) {
    mil::Block* const inner = to->add_blocks();
    for (const MilName& input : block.inputs) AddName(input, inner->add_inputs());
    Build(block, inner);
  }
}

void Build(const MilBlock& from, mil::Block* to) {
  for (const MilOperation& operation : from.operations) Build(operation, to->add_operations());
  for (const std::string& output : from.outputs) to->add_outputs(output);
}

void BuildModel(const MilBlock& from, const std::string& opset, coreml::Model& model) {
  coreml::Writer root = model.writer();
  root.Int("specificationVersion", 6);
  coreml::Writer description = root.Sub("description");
  auto* const named = model.proto->mutable_mlprogram()->add_functions();
  named->set_key("main");
  mil::Function* const function = named->mutable_value();
  function->set_opset(opset);
  auto* const specialization = function->add_block_specializations();
  specialization->set_key(opset);
  for (const MilName& input : from.inputs) {
    AddName(input, function->add_inputs());
    if (!input.second.starts_with("state "))
      AddFeature(input.first, PortType(input.second), description.Add("input"));
  }
  std::map<std::string, std::string> types;
  for (const MilOperation& operation : from.operations)
    types.insert(operation.results.begin(), operation.results.end());
  for (const std::string& output : from.outputs)
    AddFeature(output, types.contains(output) ? PortType(types[output]) : "f32[1]",
               description.Add("output"));
  Build(from, specialization->mutable_value());
}

// The program of one operation.
MilBlock FunctionOf(const MilCase& c) {
  MilBlock function;
  MilOperation operation{c.op, c.operands, {}};
  for (size_t i = 0; i < c.operands.size(); ++i) {
    MilOperand& operand = operation.operands[i];
    if (operand.is_constant) continue;
    const std::string name = operand.name + "_" + std::to_string(i);
    function.inputs.emplace_back(name, operand.type);
    operand = Ref(operand.name, name);
  }
  for (size_t i = 0; i < c.results.size(); ++i) {
    const std::string name = "result_" + std::to_string(i);
    operation.results.emplace_back(name, c.results[i]);
    function.outputs.push_back(name);
  }
  function.operations.push_back(std::move(operation));
  return function;
}

ImportedModel ImportedOrFail(const MilBlock& function, const std::string& opset) {
  auto imported = ImportMil(function, opset);
  REQUIRE_MESSAGE(imported.has_value(), imported.error().message());
  REQUIRE_MESSAGE(imported->unsupported.empty(), imported->unsupported[0].reason);
  return *std::move(imported);
}

}  // namespace

void BuildMil(const MilBlock& function, const std::string& opset, coreml::Model& model) {
  BuildModel(function, opset, model);
}

Result<ImportedModel> ImportMil(const MilBlock& function, const std::string& opset,
                                StatePorts states) {
  coreml::Model model;
  BuildModel(function, opset, model);
  KnownInputs known;
  known.states = states;
  return coreml::program::Importer(model, known).Run();
}

Result<ImportedModel> ImportMil(const MilCase& c) {
  return ImportMil(FunctionOf(c), c.opset);
}

std::vector<std::vector<double>> RunMil(const MilBlock& function,
                                        const std::vector<std::vector<double>>& inputs,
                                        const std::string& opset) {
  const ImportedModel imported = ImportedOrFail(function, opset);
  std::vector<std::vector<double>> out;
  for (const Tensor& t : RunEverywhere(imported.graph, InputsOf(imported.graph, inputs)))
    out.push_back(t.ToDoubles());
  return out;
}

std::string WhyNotMil(const MilCase& c) {
  const auto imported = ImportMil(c);
  if (!imported) return imported.error().message();
  return imported->unsupported.empty() ? "" : imported->unsupported[0].reason;
}

void CheckMil(const MilCase& c) {
  CAPTURE(c.op);
  std::vector<std::vector<double>> inputs;
  for (const MilOperand& o : c.operands)
    if (!o.is_constant) inputs.push_back(o.values);
  const auto outputs = RunMil(FunctionOf(c), inputs, c.opset);
  REQUIRE(outputs.size() == c.results.size());
  for (size_t i = 0; i < c.expected.size(); ++i) {
    const std::vector<double>& actual = outputs[i];
    REQUIRE(actual.size() == c.expected[i].size());
    for (size_t k = 0; k < actual.size(); ++k) {
      CAPTURE(i);
      CAPTURE(k);
      const double expected = c.expected[i][k];
      if (std::isnan(expected)) {
        CHECK(std::isnan(actual[k]));
      } else if (std::isinf(expected)) {
        CHECK(actual[k] == expected);
      } else {
        CHECK(std::abs(actual[k] - expected) <= c.tolerance * std::max(1.0, std::abs(expected)));
      }
    }
  }
}

}  // namespace nn::test
