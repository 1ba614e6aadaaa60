// Edits of native models, without import (ModelEditor::FlowOf and ModelEditor::Apply). Formats
// state what their operators read and write, and carry an edit out; lib/edit decides what the edit
// is. Design: docs/design/041-native-edits.md.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "formats/common/describe/value_type.h"

namespace nn {

// The operators of a model's main graph and the values that they connect. Values are indices into
// `values`.
struct NativeFlow {
  struct Operator {
    std::string type;  // as OperatorSummary::op
    std::string name;  // may be empty
    // Without duplicates and absent inputs, but with the values of the main graph that subgraphs of
    // the operator use, or assign (Core ML loops and branches).
    std::vector<size_t> inputs;
    std::vector<size_t> outputs;
    bool has_effect = false;  // it changes a state, and is needed although no value depends on it
  };
  struct Value {
    std::string name;          // unique; as in ModelSummary and ModelDescriber::ValuesOf
    bool is_constant = false;  // an initializer, a tensor with a buffer; inputs with a default, too
    bool is_state = false;     // a state, or the handle of one, which operators with effects change
  };

  std::vector<Operator> operators;  // in file order
  std::vector<Value> values;
  // In the order of ModelDescriber::PortNamesOf.
  std::vector<size_t> inputs;
  std::vector<size_t> outputs;
};

// What an edited model has of a model with the flow `NativeFlow`.
struct NativeEdit {
  struct Port {
    size_t value = 0;
    // Of a value that is no input or output of the source. Unknown for outputs of formats that need
    // not declare their type.
    ValueType type = {};
  };
  // What the source has for the sake of readers only.
  struct Strip {
    bool docs = false;      // documentation, comments, descriptions
    bool names = false;     // of operators, and of values that are no inputs or outputs
    bool metadata = false;  // of the model and of its operators
    bool any() const { return docs || names || metadata; }
  };

  std::vector<bool> keeps;  // by operator; the others are dropped with their subgraphs
  // In their order. Each value that a kept operator reads is one of them, a constant, or written by
  // a kept operator.
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::map<size_t, std::string> names;  // new names of values, which no other value has or gets
  // Entries of the model's metadata to set, by the names of ModelSummary::metadata; an empty text
  // removes the entry.
  std::vector<std::pair<std::string, std::string>> metadata;
  Strip strip;
};

}  // namespace nn
