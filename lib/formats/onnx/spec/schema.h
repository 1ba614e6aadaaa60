// Signatures of the standard operators: names, counts, attributes and element types of every
// version of every operator of the domains ai.onnx, ai.onnx.ml and the preview domains. They are
// the rows of the files *.spec of this folder, which scripts/update-onnx-signatures generates from
// the documentation of the operators. The rows of an operator are read when it is first asked for.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nn::onnx {

// Types in the notation of specifications, without groups: "f32", "seq(i64)".
using TypeNames = std::set<std::string, std::less<>>;

struct SchemaParameter {
  enum class Kind : uint8_t { kSingle, kOptional, kVariadic };
  std::string name;
  std::string type;  // key of Schema::types
  Kind kind = Kind::kSingle;
  bool own_type = false;  // the values of a variadic parameter may differ in type
};

struct SchemaAttribute {
  struct Range {
    int64_t least = 0;
    int64_t most = INT64_MAX;
  };
  // f i s t g p y for FLOAT, INT, STRING, TENSOR, GRAPH, SPARSE_TENSOR, TYPE_PROTO; F I S T for
  // lists of them.
  char type = 0;
  bool required = false;
  bool is_flag = false;                   // an INT that is 0 or 1
  bool is_unique = false;                 // a list without duplicates
  std::vector<std::string_view> choices;  // the allowed strings; empty: any
  std::optional<Range> range;             // of the number, or of each in the list
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
  // Names of attributes: lists of one length, and alternatives of which exactly one is given.
  std::vector<std::vector<std::string_view>> parallel;
  std::vector<std::vector<std::string_view>> alternatives;
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

// All signatures of an operator of a standard domain, in the order of their versions.
std::span<const Schema> SchemasOf(std::string_view domain, std::string_view op);

// The standard domains, sorted.
std::vector<std::string> StandardDomains();

}  // namespace nn::onnx
