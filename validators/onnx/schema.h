// Signatures of the standard operators: names, counts, attributes and element types of every
// version of every operator of the domains ai.onnx, ai.onnx.ml and the preview domains.
// scripts/update-onnx-signatures writes the tables from the operators' documents.
//
// The tables are text, one signature a line (longer ones go on in indented lines):
//
//   Name since (input:T, other?:T, rest*:T) -> (output:T) attribute:i required!:s | T=FLOAT i32
//   Name since deprecated
//
// A parameter marked ? may be left out, * repeats, ** repeats with a type of its own each time. Its
// type is a type variable or {types}. "n..(" states the smallest count where it is not that of the
// last parameter that cannot be left out, "n|m(" the only counts of outputs that there may be. An
// attribute ... stands for any others. Attribute types: f i s t g p y for FLOAT, INT, STRING,
// TENSOR, GRAPH, SPARSE_TENSOR, TYPE_PROTO, and F I S T for lists of them. Type sets name element
// types, or the groups INT, UINT, FLOAT (16 to 64 bits), FLOAT8 and ANY; seq(), opt(), map() and
// sparse_tensor() stand around them.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace nn::onnx {

struct SchemaParameter {
  enum class Kind : uint8_t { kSingle, kOptional, kVariadic };
  std::string name;
  std::string type;  // key of Schema::types
  Kind kind = Kind::kSingle;
  bool own_type = false;  // repeated values need not agree in type
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
  std::vector<int> output_counts;  // the only ones allowed; empty: all from min_outputs on
  bool open_attributes = false;    // attributes that are not listed are allowed, too
  std::map<std::string, SchemaAttribute, std::less<>> attributes;
  std::map<std::string, std::set<std::string>, std::less<>> types;
};

// The parameter that the value at `position` belongs to; nullptr if there are not that many.
const SchemaParameter* ParameterAt(const std::vector<SchemaParameter>& list, int position);

// True for the domains whose operators are in the tables. "" is ai.onnx.
bool IsStandardDomain(std::string_view domain);

// The newest version of a standard domain that the tables know.
int64_t NewestOpset(std::string_view domain);

// The operator as of version `opset` of its domain; nullptr if that has none.
const Schema* FindSchema(std::string_view domain, std::string_view op, int64_t opset);

// Signatures from a table's text, in its order. kParse names the line that is not in the notation.
Result<std::vector<Schema>> ParseSchemas(std::string_view text);

// All tables, by domain.
const std::map<std::string, std::string, std::less<>>& SchemaTexts();

}  // namespace nn::onnx
