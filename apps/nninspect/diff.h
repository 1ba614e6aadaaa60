// What is different in two models: nninspect --diff.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "apps/nninspect/loaded.h"
#include "base/json.h"
#include "tensorio/compare.h"

namespace nn::app {

// A fact that both have, or one of them: then the other text is empty.
struct FieldDiff {
  std::string what;  // "attribute strides", "input 1", "metadata author"
  std::string a;
  std::string b;
};

// An operator of the main graph.
struct OperatorRef {
  int64_t index = -1;  // in its file; -1: the importer added it
  std::string op;      // as the file has it
  std::string name;
};

struct OperatorDiff {
  OperatorRef a;
  OperatorRef b;
  std::vector<FieldDiff> fields;
};

// Constants that operators take in the same place, of one type and shape.
struct WeightDiff {
  OperatorRef a;
  OperatorRef b;
  size_t input = 0;
  std::string name;  // in the first model, or in the second where it has none there
  std::string type;
  Comparison comparison;
};

struct ModelDiff {
  std::vector<FieldDiff> facts;  // format, version, producer, metadata
  std::vector<FieldDiff> interface;
  // Models of one format that are not both graphs (trees, pipelines, ML Programs) are compared
  // field by field, the fields by their places in dumps, and nothing below is told.
  bool by_field = false;
  static constexpr size_t kMostFields = 100;
  std::vector<FieldDiff> fields;
  std::vector<OperatorRef> removed;  // only in the first model
  std::vector<OperatorRef> added;    // only in the second
  std::vector<OperatorDiff> changed;
  std::vector<WeightDiff> weights;
  uint64_t matched = 0;   // operators that have a counterpart
  uint64_t renamed = 0;   // of those, with another name: not a difference
  uint64_t compared = 0;  // constants whose contents were compared
  // Models of two formats are compared in the form that conversions to this one give them; nullptr
  // where the graphs are compared as they were imported.
  const Format* form = nullptr;

  bool empty() const {
    return facts.empty() && interface.empty() && fields.empty() && removed.empty() &&
           added.empty() && changed.empty() && weights.empty();
  }
};

// Compares the graphs of models of one format or of two. Counterparts are nodes that compute the
// same from the inputs on; then nodes of one operator and name; then nodes of one operator in the
// same order. Both models must have been loaded in full.
Result<ModelDiff> DiffModels(const LoadedModel& a, const LoadedModel& b);

// The counterpart in `b` of each node of `a` that has one.
using Matching = std::unordered_map<const Node*, const Node*>;
Matching MatchNodes(const Graph& a, const Graph& b);

// The graph as a conversion to the format has it, parts that do not fit left as they are, with the
// padding and the attributes of windows written in one way; nullopt if the conversion fails.
std::optional<Graph> InFormOf(const Format& format, const Graph& graph);

std::string DiffText(const LoadedModel& a, const LoadedModel& b, const ModelDiff& diff);
// As schemas/nninspect-diff.schema.json has it.
Json DiffJson(const LoadedModel& a, const LoadedModel& b, const ModelDiff& diff);

}  // namespace nn::app
