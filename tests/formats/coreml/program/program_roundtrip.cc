#include "formats/coreml/program/program_roundtrip.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "coreml_model.pb.h"
#include "exec/program.h"
#include "formats/coreml/file/native.h"
#include "formats/format.h"
#include "ir/text/text.h"
#include "rewrite/legalize.h"
#include "support/run_graph.h"

namespace nn::test {
namespace {

namespace mil = coreml::pb::mil;

Result<FileImage> Write(const Graph& source, const std::string& target) {
  const ExportOptions options{
      .path = "m.mlmodel", .core_ml = "program", .deployment_target = target};
  const Format& format = *FindFormat("coreml");
  Graph graph = source.Clone();
  InterfaceAxes axes;
  std::vector<UnsupportedNode> unsupported;
  NN_RETURN_IF_ERROR(FitTo(TargetOf(format, options), graph, axes, unsupported));
  if (!unsupported.empty()) return UnsupportedError("{}", unsupported[0].reason);
  return format.writer.Write(graph, options);
}

std::string OperationsOf(const mil::Block& block) {
  std::string out;
  for (const mil::Operation& operation : block.operations()) {
    if (operation.type() == "const") continue;
    out += (out.empty() ? "" : " ") + operation.type();
    for (const mil::Block& inner : operation.blocks()) out += "(" + OperationsOf(inner) + ")";
  }
  return out;
}

std::vector<Tensor> RunOn(const Graph& graph, const std::vector<Tensor>& inputs) {
  auto program = Program::Compile(graph, {});
  REQUIRE_MESSAGE(program.has_value(), program.error().message());
  auto outputs = program->Run(inputs);
  REQUIRE_MESSAGE(outputs.has_value(), outputs.error().message());
  return *std::move(outputs);
}

// The numbers in the shape and element type of an input of the program.
Tensor AsInput(const Tensor& t, const Type& type) {
  auto out = TensorBuilder::Create(
      type.dtype,
      t.rank() == 0 ? std::vector<int64_t>(static_cast<size_t>(type.rank()), 1) : t.dims());
  REQUIRE(out.has_value());
  for (int64_t i = 0; i < out->elements(); ++i) out->SetDouble(i, t.GetDouble(i));
  return out->Finish();
}

void CheckAlike(const Tensor& want, const Tensor& got, double tolerance) {
  REQUIRE(want.elements() == got.elements());
  if (want.rank() > 0) CHECK(want.dims() == got.dims());
  for (int64_t i = 0; i < want.elements(); ++i) {
    const double a = want.GetDouble(i), b = got.GetDouble(i);
    CHECK_MESSAGE(std::fabs(a - b) <= tolerance * std::max(1.0, std::fabs(a)), i, ": ", a, " ", b);
  }
}

}  // namespace

void CheckProgram(const ProgramCase& c) {
  CAPTURE(c.graph);
  const Graph source = Parse(c.graph);
  const auto image = Write(source, c.target);
  REQUIRE_MESSAGE(image.has_value(), image.error().message());
  const Format& format = *FindFormat("coreml");
  const auto model = format.reader.Read(image->Contents(), "m.mlmodel", {});
  REQUIRE_MESSAGE(model.has_value(), model.error().message());
  const mil::Function& function = coreml::ModelOf(**model).proto->mlprogram().functions(0).value();
  if (!c.operations.empty())
    CHECK(OperationsOf(function.block_specializations(0).value()) == c.operations);
  if (!c.opset.empty()) CHECK(function.opset() == c.opset);
  const auto imported = format.importer.Import(**model);
  REQUIRE_MESSAGE(imported.has_value(), imported.error().message());
  for (const UnsupportedNode& node : imported->unsupported)
    FAIL_CHECK(node.node << ": " << node.reason);
  const auto inputs = InputsOf(source, {});
  std::vector<Tensor> given;
  for (size_t i = 0; i < inputs.size(); ++i)
    given.push_back(AsInput(inputs[i], imported->graph.inputs()[i].value->type()));
  const auto want = RunOn(source, inputs), got = RunOn(imported->graph, given);
  REQUIRE(want.size() == got.size());
  for (size_t i = 0; i < want.size(); ++i) CheckAlike(want[i], got[i], c.tolerance);
}

std::string WhyNotProgram(const std::string& graph, const std::string& target) {
  const auto image = Write(Parse(graph), target);
  return image ? std::string() : image.error().message();
}

}  // namespace nn::test
