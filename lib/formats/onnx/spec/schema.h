// Signatures of the standard operators: names, counts, attributes and element types of every
// version of every operator of the domains ai.onnx, ai.onnx.ml and the preview domains.
// scripts/update-onnx-signatures generates the tables from the documentation of the operators.
//
// The tables are text, one signature per line (long ones continue on indented lines):
//
//   Name since (input:T, other?:T, rest*:T) -> (output:T) attribute:i required!:s | T=FLOAT i32
//   Name since deprecated
//
// A parameter marked ? is optional, * is variadic, ** is variadic and heterogeneous: each value has
// a type of its own. The type of a parameter is a type variable or {types}. "n..(" states the
// smallest count if it is not the position of the last parameter that is not optional; "n|m(" lists
// the only allowed counts of outputs. An attribute ... allows any others. Attribute types: f i s t
// g p y for FLOAT, INT, STRING, TENSOR, GRAPH, SPARSE_TENSOR, TYPE_PROTO, and F I S T for lists of
// them. Type sets have element types or the groups INT, UINT, FLOAT (16 to 64 bits), FLOAT8 and
// ANY, and may enclose them in seq(), opt(), map() and sparse_tensor().
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace nn::onnx {

// Types in the notation above: "f32", "seq(i64)".
using TypeNames = std::set<std::string, std::less<>>;

struct SchemaParameter {
  enum class Kind : uint8_t { kSingle, kOptional, kVariadic };
  std::string name;
  std::string type;  // key of Schema::types
  Kind kind = Kind::kSingle;
  bool own_type = false;  // the values of a variadic parameter may differ in type
};

struct SchemaAttribute {
  char type = 0;
  bool required = false;
};

struct Schema {
  std::string op;
  int64_t since = 0;
  bool deprecated = false;
  std::vector<SchemaParameter> inputs;
  std::vector<SchemaParameter> outputs;
  int min_inputs = 0;
  int min_outputs = 0;
  std::vector<int> output_counts;  // the only allowed counts; empty: all from min_outputs on
  bool open_attributes = false;    // attributes that are not listed are allowed
  std::map<std::string, SchemaAttribute, std::less<>> attributes;
  std::map<std::string, TypeNames, std::less<>> types;
};

// The parameter of the value at `position`; null if there are fewer parameters.
const SchemaParameter* ParameterAt(const std::vector<SchemaParameter>& list, int position);

// True for the domains whose operators are in the tables. "" is ai.onnx.
bool IsStandardDomain(std::string_view domain);

// The newest version of a standard domain in the tables.
int64_t NewestOpset(std::string_view domain);

// The operators of a standard domain, sorted.
std::vector<std::string> OperatorsIn(std::string_view domain);

// The signature of the operator in version `opset` of its domain; null if it has no such operator.
const Schema* FindSchema(std::string_view domain, std::string_view op, int64_t opset);

// The signatures in the text of a table, in its order. kParse names the line that is malformed.
Result<std::vector<Schema>> ParseSchemas(std::string_view text);

// All tables, by domain.
const std::map<std::string, std::string, std::less<>>& SchemaTexts();

}  // namespace nn::onnx
