// What the imports of all formats have in common: the operator that is being imported, and how it
// becomes nodes. The ImportContext of a format adds the access to what only its files have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/shared.h"
#include "base/status.h"
#include "ir/attrs.h"
#include "ir/graph.h"
#include "ir/op_def.h"
#include "ir/term.h"
#include "rewrite/legalize.h"

namespace nn {

// An operator of a file, as the nodes that it becomes show it.
struct ImportedOperator {
  std::string kind;        // Source::op
  int64_t index;           // Source::index
  SharedString name = {};  // of the nodes
  // Of nodes with quantized operands or results.
  Arithmetic arithmetic = Arithmetic::kDefault;
};

// An operator to import and its target graph, which must outlive this object. Nodes are added at
// the end of the graph, with inferred types and the operator as their source. A node that inference
// rejects is erased; what was added before stays.
class OperatorImport : public NodeInserter {
 public:
  // The name of the operator in the file, and its position.
  const std::string& kind() const { return operator_.kind; }
  int64_t index() const { return operator_.index; }
  // Source::place of what is added.
  const SharedString& place() const { return place_; }
  void set_place(SharedString place) { place_ = std::move(place); }
  Graph& graph() { return graph_; }

  // The operands; null if absent.
  const std::vector<Value*>& inputs() const { return inputs_; }
  size_t input_count() const { return inputs_.size(); }
  Value* input(size_t i) const { return i < inputs_.size() ? inputs_[i] : nullptr; }
  // The input, or kModel if it is absent.
  Result<Value*> Required(size_t i) const;
  // The contents of an integer input, as far as known by inference; nullopt if unknown.
  std::optional<Dims> Elements(size_t i) const { return KnownElements(input(i)); }

  // The values of the operator's outputs; null if not set.
  const std::vector<Value*>& outputs() const { return outputs_; }
  size_t output_count() const { return outputs_.size(); }
  // Ignored if the operator has no output i.
  void SetOutput(size_t i, Value* value) {
    if (i < outputs_.size()) outputs_[i] = value;
  }
  // Sets the first outputs. Values beyond the last one are ignored.
  void SetOutputs(std::span<Value* const> values);

  Value* Constant(Tensor tensor, std::shared_ptr<const Quant> quant = nullptr) {
    return graph_.AddConstant(std::move(tensor), {}, std::move(quant));
  }
  // Adds a node; the regions become its own. kInternal if there is no operator `op`; otherwise the
  // error of inference.
  Result<Node*> AddNode(std::string_view op, std::vector<Value*> inputs, Attrs attrs = {},
                        size_t results = 1, std::span<Graph> regions = {});
  // The same with a result for each type, from whose element type and quantization inference
  // starts. kModel if it infers something else.
  Result<Node*> AddNode(std::string_view op, std::vector<Value*> inputs, Attrs attrs,
                        std::span<const Type> types, std::span<Graph> regions = {});
  // The result of a node that has one.
  Result<Value*> Add(std::string_view op, const Terms& operands, Attrs attrs, const Type& type);
  using NodeInserter::Add;

  // Adds a node whose results are the operator's outputs.
  Status Emit(std::string_view op, const Terms& operands, Attrs attrs = {});
  // The same with regions and a result for each output.
  Status EmitRegions(std::string_view op, std::vector<Value*> inputs, Attrs attrs,
                     std::span<Graph> regions);
  // Output i is the value of a term.
  Status EmitTerm(const Term& y, size_t i = 0);
  // Emits the graph operator that `path` of a format encodes (FormatName); false if there is none.
  Result<bool> EmitOneToOne(std::string_view format, std::string_view path, int version = 1);
  // Whether there is one.
  static bool IsOneToOne(std::string_view format, std::string_view path, int version = 1) {
    return Ops().FindEncoding(format, path, version).first != nullptr;
  }
  // Adds an "opaque" node in place of the operator. Its first results are the operator's outputs.
  // It is listed among the unsupported ones unless `reason` is empty, as it is where another node
  // is to blame.
  Result<Node*> EmitOpaque(size_t results, std::string reason,
                           std::vector<UnsupportedNode>& unsupported);

 protected:
  OperatorImport(ImportedOperator of, Graph& graph, std::vector<Value*> inputs, size_t outputs)
      : operator_(std::move(of)),
        graph_(graph),
        inputs_(std::move(inputs)),
        outputs_(outputs, nullptr) {}
  ~OperatorImport() = default;

  // Replaces an input by what it was converted to.
  void SetInput(size_t i, Value* value) { inputs_[i] = value; }
  void SetInputs(std::vector<Value*> values) { inputs_ = std::move(values); }

  // Adds the node of AddNode().
  virtual Result<Node*> Insert(const OpDef& op, std::vector<Value*> inputs, Attrs attrs,
                               std::span<const Type> types, std::span<Graph> regions);
  // kModel if the operator has more or fewer outputs than Emit() and EmitTerm() can set.
  virtual Status CheckOutputs() const { return {}; }
  // The types of the results of Emit()'s node of `op`. By default, they are unknown, and there are
  // as many as both operators have outputs, but at least one.
  virtual std::vector<Type> TypesToEmit(const OpDef& op) const;
  // Checks and converts the inputs of a one-to-one operator.
  virtual Status TakeInputsOf(const OpDef& /*op*/) { return {}; }
  // An attribute of a one-to-one operator by its name in the file; nullopt if it has its initial
  // value. By default, operators have no attributes.
  virtual Result<std::optional<AttrValue>> ReadAttr(std::string_view name,
                                                    const AttrValue& initial) const;

 private:
  Graph& graph_of_terms() override { return graph_; }
  Result<Node*> InsertNode(std::string_view op, std::vector<Value*> inputs, Attrs attrs,
                           size_t results) override {
    return AddNode(op, std::move(inputs), std::move(attrs), results);
  }
  void SetOrigin(Node& node);

  ImportedOperator operator_;
  SharedString place_;
  Graph& graph_;
  std::vector<Value*> inputs_;
  std::vector<Value*> outputs_;
};

}  // namespace nn
