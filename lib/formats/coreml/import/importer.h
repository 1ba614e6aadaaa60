// The import of a neural network: features, blobs and the networks of branches and loops. What
// becomes of a layer is in import.h.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "base/status.h"
#include "formats/common/control_flow.h"
#include "formats/common/known_inputs.h"
#include "formats/coreml/file/fields.h"
#include "formats/coreml/file/native.h"
#include "formats/coreml/import/import.h"
#include "formats/format.h"
#include "ir/graph.h"
#include "passes/facts/known_values.h"

namespace nn::coreml {

using Shapes = std::map<std::string, std::vector<int64_t>>;

// Whether the layer has networks, or ends an iteration: branch, loop, loopBreak and loopContinue.
bool IsControlFlow(std::string_view kind);

// Whether there is a function or an encoding for this kind of layer.
bool IsImported(std::string_view kind);

// Imports a layer that is not control flow. kUnsupported if no function applies.
Status ImportKind(ImportContext& ctx);

class Importer {
 public:
  Importer(const Model& model, const Shapes& shapes, KnownInputs known = {})
      : model_(model),
        shapes_(shapes),
        known_inputs_(std::move(known)),
        network_(model.network()),
        description_(model.root().Sub("description")),
        user_defined_(description_.Sub("metadata")) {}

  Result<ImportedModel> Run();
  // After Run(), while its result exists: the types of the blobs around branches and loops.
  std::map<std::string, Type> BlobTypes() const;

 private:
  bool rank5() const { return network_.Enum("arrayInputShapeMapping") == "RANK5_ARRAY_MAPPING"; }
  static bool IsArray(const Fields& feature) {
    return feature.Sub("type").OneOf("Type") == "multiArrayType";
  }
  bool IsClassifier() const { return model_.kind() == "neuralNetworkClassifier"; }

  void ReadMetadata();
  Status ReadInput(const Fields& feature, size_t position);
  Status ReadOutput(const Fields& feature);

  // A fact that is known at import, or bool[], which a run decides.
  using Decision = std::variant<bool, Value*>;
  // Whether a layer ends an iteration of the loop around it, and whether it ends the loop, too.
  struct Flow {
    Decision ends_iteration = false;
    Decision ends_loop = false;
  };

  // The layers of a network. `index`: Source::index of those in layers; -1: their own.
  Result<Flow> ImportLayers(const Fields& network, int64_t index = -1);
  // Those from `layers[at]` on.
  Result<Flow> ImportLayers(const std::vector<Fields>& layers, size_t at, int64_t index);
  // `place`: Source::place.
  Result<Flow> ImportLayer(const Fields& layer, const std::string& kind, int64_t index,
                           const SharedString& place);
  // A later layer may overwrite a blob; then the name refers to the new value.
  void Declare(Value* v, const std::string& name);
  void Assign(const std::string& name, Value* v);  // null: not defined
  Status MakeOpaque(ImportContext& ctx, const std::vector<std::string>& blobs, std::string reason);

  // Layers with networks (import_control.cc). What they add to the graph goes again if they fail.
  Result<Flow> ImportControl(ImportContext& ctx, int64_t index);
  // The network in this field of the layer.
  Result<Flow> RunNetwork(const ImportContext& ctx, std::string_view network, int64_t index);
  Result<Flow> ImportBranch(ImportContext& ctx, int64_t index);
  // A branch that a run decides about, for the reason `why`, as a node with regions. Its results
  // are these blobs, with whether they become float32.
  Result<Flow> ImportOpenBranch(ImportContext& ctx, int64_t index,
                                const std::map<std::string, bool>& blobs, std::string why);
  // What `condition` selects.
  Result<Decision> Choose(ImportContext& ctx, const Decision& condition, const Decision& yes,
                          const Decision& no);
  // Two values of a blob with the same element type, float32 if they differ.
  Status MatchTypes(ImportContext& ctx, Value*& a, Value*& b);
  // After a layer whose flow a run decides: the next ones, whose changes count if it ends nothing.
  Result<Flow> ImportGuarded(ImportContext& ctx, const Flow& flow,
                             const std::function<Result<Flow>()>& next);
  Result<Flow> ImportLoop(ImportContext& ctx, int64_t index);
  // A loop whose end a run decides about, for the reason `why`.
  Result<Flow> ImportOpenLoop(ImportContext& ctx, int64_t index, std::string why);
  // The condition of the loop after its network, as bool[]; true if it has none.
  Result<Value*> RunCondition(ImportContext& ctx, int64_t index);
  // The largest number of iterations.
  Result<int64_t> TripCount(ImportContext& ctx);
  // The blobs that the network has changed since the journal had `mark` entries, with their values;
  // the scope is as it was then.
  std::map<std::string, Value*> TakeChanges(size_t mark);

  const Model& model_;
  const Shapes& shapes_;
  KnownInputs known_inputs_;
  Fields network_;
  Fields description_;
  Fields user_defined_;
  Graph graph_;
  std::unordered_map<std::string, Value*> scope_;  // by blob name
  // The earlier values of the blobs that were assigned, null if there were none.
  std::vector<std::pair<std::string, Value*>> journal_;
  std::unordered_map<const Message*, Value*> weights_;  // of layers in loops, for all iterations
  std::string
      within_;     // the network that is imported, unless it is the model's: "ifBranch of branch 3"
  int loops_ = 0;  // that are being unrolled
  int branches_ = 0;  // that are being inlined
  UnrollBudget unrolled_;
  KnownValues known_;
  std::vector<UnsupportedNode> unsupported_;
};

}  // namespace nn::coreml
