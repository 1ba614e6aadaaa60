// The variables of a model: resource variables and variable tensors, which keep their contents from
// run to run. The graph has none. The import follows the value of each variable from operator to
// operator, in their order in the file, beginning with a constant or with an input of the graph;
// the last value is dropped or becomes an output.
//
// Hash tables are variables that are assigned once and are empty before.
//
// Design: docs/design/018-states.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/status.h"
#include "formats/common/known_inputs.h"
#include "formats/format.h"
#include "formats/tflite/file/native.h"
#include "ir/graph.h"
#include "ir/tensor.h"
#include "ir/types/type.h"

namespace nn::tflite {

// The name of a resource variable, for users.
std::string VariableName(std::string_view container, std::string_view shared_name);

class Variables {
 public:
  explicit Variables(StatePorts ports) : ports_(ports) {}

  // Must be called before the first variable is read: the names that ports cannot have, and the
  // position of the first input for a variable.
  void SetPorts(std::set<std::string> names, size_t position);
  // The value of a resource variable before the first run.
  Status SetInitial(const std::string& name, Tensor initial);

  // The handle of a resource variable: a constant that identifies it.
  Value* Handle(Graph& graph, const std::string& name);
  bool IsHandle(const Value* v) const { return handles_.contains(v); }
  // kUnsupported if `handle` is none, such as one that a run chooses.
  Result<size_t> OfHandle(const Value* handle) const;
  // The same for a hash table. kModel if one with that id has other types.
  Result<Value*> TableHandle(Graph& graph, int64_t id, DType key, DType value);
  Result<size_t> OfTableHandle(const Value* handle) const;
  bool IsTable(size_t variable) const { return list_[variable].table.has_value(); }
  // The variable tensor at an index of a subgraph.
  size_t OfTensor(const fb::SubGraph& subgraph, int64_t index);

  // A variable of an operator itself, which no tensor of the file holds.
  size_t OfOperator(const fb::SubGraph& subgraph, int64_t index, const std::string& name);

  // Whether the variables of this kind become ports.
  bool HasPorts(bool resource) const {
    return ports_ == StatePorts::kAll || (resource && ports_ == StatePorts::kResources);
  }
  // `type` is the declared one; that of the value may have other dimensions.
  Result<Value*> Read(Graph& graph, const KnownInputs& known, size_t variable, const Type& type);
  Status Assign(size_t variable, Value* value);

  // Fills a hash table, unless it has been filled before. kModel if the types are others.
  Status Fill(size_t table, Value* keys, Value* values);
  // The contents of a hash table as vectors of the same length, without two equal keys.
  // kUnsupported if it is empty or if its contents are not constant.
  struct Contents {
    Value *keys, *values;
  };
  Result<Contents> ContentsOf(Graph& graph, size_t table);

  // The current values, to return to. Null: as before the run.
  std::vector<Value*> Values() const;
  void Restore(const std::vector<Value*>& values);
  // The first variable whose value is not the one in `values`; nullopt if there is none.
  std::optional<size_t> ChangedSince(const std::vector<Value*>& values) const;
  const std::string& NameOf(size_t variable) const { return list_[variable].name; }

  // Adds the outputs of the graph, in the order of the inputs. A variable that no operator changes
  // becomes a constant. One that is assigned before it is read has neither an input nor an output:
  // no run depends on another.
  Result<std::vector<ModelState>> Finish(Graph& graph);
  // The resource variables that have a value, for an initialization.
  std::vector<std::pair<std::string, Value*>> Assigned() const;
  // The hash tables that are filled, for the same.
  struct FilledTable {
    int64_t id;
    DType key, value;
    Value *keys, *values;
  };
  std::vector<FilledTable> Filled() const;

 private:
  struct Table {
    DType key, value;
  };
  struct Variable {
    std::string name;
    std::optional<Table> table;
    bool is_resource = false;
    std::optional<Tensor> initial;
    Value* start = nullptr;  // its value before the run, once it has been read
    std::string input;       // the name of `start`, if that is an input,
    size_t position = 0;     // and its position
    Value* value = nullptr;  // the current one; of a table, its keys
  };

  size_t Add(const std::string& name, bool is_resource);
  std::string UniqueName(std::string name);
  Result<Value*> Start(Graph& graph, const KnownInputs& known, Variable& v, const Type& declared);

  StatePorts ports_;
  std::set<std::string> names_;  // of ports
  size_t position_ = 0;          // of the next input
  std::vector<Variable> list_;
  std::map<std::string, size_t> resources_;
  std::map<std::pair<const fb::SubGraph*, int64_t>, size_t> tensors_;
  std::map<std::tuple<const fb::SubGraph*, int64_t, std::string>, size_t> own_;
  std::map<const Value*, size_t> handles_;
  std::map<int64_t, size_t> tables_;  // by id
  // What belongs to the keys of a table: the values of Fill(), and the result of ContentsOf().
  std::map<std::pair<size_t, const Value*>, Value*> table_values_;
  std::map<std::pair<size_t, const Value*>, Contents> contents_;
};

// The zeros of real numbers that a variable begins with. kUnsupported unless the size is known.
Result<Tensor> ZerosOf(const Type& type);

}  // namespace nn::tflite
