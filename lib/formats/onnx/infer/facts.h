// What type inference through a model knows about its values.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/name_map.h"
#include "formats/onnx/file/value_type.h"
#include "formats/onnx/import/import.h"
#include "formats/onnx/spec/schema.h"

namespace nn::onnx {

struct KnownFacts {
  ValueType type;
  // The contents, if they are known: those of a small initializer are read when they are needed, as
  // there can be a million.
  const pb::TensorProto* initializer = nullptr;
  Shared<Tensor> constant = {};
  Shared<Dims> elements = {};
  bool computed = false;  // by an imported operator
};

// What the graph knows about the value.
KnownFacts FactsOf(Value* v);

// The constant of one element in the shape of the type, or a scalar if its rank is not known;
// null if the type has another number of elements.
Shared<Tensor> ShapedAs(const Tensor& constant, const ValueType& type);

std::vector<ValueType> TypesOf(const std::vector<KnownFacts>& values);

// Replaces element types that the operator does not accept (AcceptedType). Returns the type
// variables of the signature that they stand for.
std::set<std::string_view> AcceptTypes(const Schema& schema, std::vector<KnownFacts>& inputs);

// The names of a graph, or of the body of a function.
struct TypeScope {
  const TypeScope* outer = nullptr;
  NameMap<KnownFacts> values;
  NameMap<const pb::TypeProto*> declared;
  const pb::FunctionProto* function = nullptr;
  const AttrBindings* attrs = nullptr;  // of the function's call
  std::string path;                     // "graph", "graph.node[3].attribute[0].g"
  std::string name;                     // as in OperatorSummary::scope
  // In a function, the path of its call in the graph.
  std::optional<std::string> call;
  int64_t call_index = -1;
};

// Whether a graph can be called with so many inputs: the others must have initializers.
bool TakesInputs(const pb::GraphProto& g, size_t given);

}  // namespace nn::onnx
