// The import of an ML Program: the interface, functions, blocks and states. What becomes of an
// operation is in import.h.
// Design: docs/design/074-ml-program-import.md.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/status.h"
#include "formats/common/control_flow.h"
#include "formats/common/known_inputs.h"
#include "formats/coreml/file/fields.h"
#include "formats/coreml/file/native.h"
#include "formats/coreml/program/import/import.h"
#include "formats/coreml/program/import/values.h"
#include "formats/format.h"
#include "ir/graph.h"
#include "passes/facts/known_values.h"

namespace nn::coreml::program {

class Importer {
 public:
  // Must outlive this object.
  explicit Importer(const Model& model, KnownInputs known = {});

  Result<ImportedModel> Run();

  // Whether there is code or an encoding for the operation.
  static bool IsImported(std::string_view op);

 private:
  struct OwnRow;
  // Null if it is an operation of the graph alone.
  static const OwnRow* FindOwn(std::string_view op);

  // A state of the model. Its value changes while the function is imported.
  struct State {
    Type type;
    std::string input;       // the name of its port; "" if it has none
    Value* start = nullptr;  // before the run, once it is read
    Value* value = nullptr;  // now
  };
  using Scope = std::unordered_map<std::string_view, Named*>;

  // The function that runs by default, and the features that describe it.
  Status ChooseFunction();
  Result<const mil::Block*> BlockOf(const mil::Function& function);
  Result<Type> InputType(const Fields& feature, const Type& declared) const;
  Status ReadInput(const Fields& feature, size_t position);
  Status ReadState(const mil::NamedValueType& input);
  Status ReadOutput(const Fields& feature);
  // The outputs of a classifier.
  Status ReadClasses(const mil::Operation& classify);
  void ReadMetadata();
  Status FinishStates();

  // `place`: Source::place of the operations of an inner block, "block 0 of cond 3"; "" if it is
  // the function's. `index`: Source::index of those; -1: their own.
  Status ImportBlock(const mil::Block& block, int64_t index, const std::string& place);
  Status ImportOperation(const mil::Operation& operation, int64_t index, SharedString place);
  Result<Arguments> ArgumentsOf(const mil::Operation& operation);
  Status ImportConst(const mil::Operation& operation);
  Status ImportOperator(ImportContext& ctx);
  Status MakeOpaque(ImportContext& ctx, std::string reason);
  // Checks a result against the type that the file declares.
  Status CheckResult(const mil::NamedValueType& output, Value* value) const;
  void Declare(std::string_view name, Named named);
  void Declare(std::string_view name, Value* value);

  // States.
  Result<State*> StateOf(const ImportContext& ctx, std::string_view input);
  Result<Value*> ReadOf(State& state, const std::string& name);
  Status ImportReadState(ImportContext& ctx);
  Status ImportWriteState(ImportContext& ctx);
  Status ImportUpdateState(ImportContext& ctx);
  Status WriteState(ImportContext& ctx, std::string_view state, std::string_view value);

  // Control flow (control.cc). What it adds to the graph goes again if it fails.
  Status ImportControl(ImportContext& ctx);
  Status ImportCond(ImportContext& ctx);
  Status ImportOpenCond(ImportContext& ctx, Value* condition, std::string why);
  Status ImportWhile(ImportContext& ctx);
  Status ImportOpenWhile(ImportContext& ctx, std::string why);
  // The results of a block for these inputs.
  Result<std::vector<Value*>> RunBlock(const ImportContext& ctx, int block,
                                       std::span<Value* const> inputs);
  // The same, for a region of a node: without unsupported operations and changes of states.
  Result<std::vector<Value*>> RunRegion(const ImportContext& ctx, int block,
                                        std::span<Value* const> inputs);
  std::vector<Value*> StateValues() const;

  const Model& model_;
  KnownInputs known_inputs_;
  const mil::Program& program_;
  Fields description_;  // of the model, or of the function
  std::string function_name_;
  const mil::Function* function_ = nullptr;
  const mil::Block* block_ = nullptr;
  Opset opset_ = Opset::kIos15;

  ValueReader values_;
  Graph graph_;
  std::deque<Named> named_;
  Scope scope_;
  std::map<std::string, State, std::less<>> states_;
  size_t state_position_ = 0;  // of the next port
  const mil::Operation* classify_ = nullptr;
  KnownValues known_;
  int loops_ = 0;  // that are being unrolled
  int depth_ = 0;  // of blocks
  UnrollBudget unrolled_;
  std::vector<UnsupportedNode> unsupported_;
  std::unordered_set<const Value*>
      opaque_;  // results of unsupported operations, and of their users
  std::vector<ModelState> ports_;
};

// Format::operators: those of ML Programs.
std::vector<OperatorSupport> Operators();

}  // namespace nn::coreml::program
