// Differences between two models.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "formats/format.h"
#include "inspect/loaded.h"
#include "tensorio/compare.h"

namespace nn::inspect {

// A field of one model or both; the text is empty where a model lacks it.
struct FieldDiff {
  std::string what;  // "attribute strides", "input 1", "metadata author"
  std::string a;
  std::string b;
};

// An operator of the main graph.
struct OperatorRef {
  int64_t index = -1;  // in its file; -1: the importer added it
  std::string op;      // as in the file
  std::string name;
};

struct OperatorDiff {
  OperatorRef a;
  OperatorRef b;
  std::vector<FieldDiff> fields;
};

// Constants at the same input of matched operators, with equal type and shape.
struct WeightDiff {
  OperatorRef a;
  OperatorRef b;
  size_t input = 0;
  std::string name;  // in the first model, or in the second if it has none
  std::string type;
  Comparison comparison;
};

struct ModelDiff {
  std::vector<FieldDiff> facts;  // format, version, producer, metadata
  std::vector<FieldDiff> interface;
  // Models of one format that are not both graphs (trees, pipelines, ML Programs) are compared
  // field by field, by path in the dump; the members below are then empty.
  bool by_field = false;
  static constexpr size_t kMaxFields = 100;
  std::vector<FieldDiff> fields;
  std::vector<OperatorRef> removed;  // only in the first model
  std::vector<OperatorRef> added;    // only in the second
  std::vector<OperatorDiff> changed;
  std::vector<WeightDiff> weights;
  uint64_t matched = 0;                            // operators with a counterpart
  std::vector<std::pair<int64_t, int64_t>> pairs;  // those, as OperatorRef::index
  uint64_t renamed = 0;   // of those, with a different name, which is ignored
  uint64_t compared = 0;  // constants whose contents were compared
  // The format that models of two formats are legalized for before the comparison; nullptr if the
  // imported graphs are compared directly.
  const Format* form = nullptr;

  bool empty() const {
    return facts.empty() && interface.empty() && fields.empty() && removed.empty() &&
           added.empty() && changed.empty() && weights.empty();
  }
};

// Compares two models of the same or different formats, operators with their counterparts
// (MatchNodes). Both must be loaded in full and with their graphs.
//
// Errors: those of CompareModels if the models are compared field by field; otherwise the import
// errors, kUnsupported if a format cannot list its tensors, and errors of reading tensors.
Result<ModelDiff> DiffModels(const LoadedModel& a, const LoadedModel& b);

}  // namespace nn::inspect
