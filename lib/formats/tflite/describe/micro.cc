
#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "base/checked_math.h"
#include "base/text/text.h"
#include "formats/common/describe/micro.h"
#include "formats/tflite/file/native.h"
#include "formats/tflite/file/tensor.h"
#include "formats/tflite/roles.h"
#include "ir/types/dtype.h"

namespace nn::tflite {
namespace {

// Limit on the nesting of subgraphs, which a file may make endless.
constexpr int kMaxSubgraphDepth = 64;

// Operators that MicroMutableOpResolver registers by a method other than their name in camel case,
// and those with that.
constexpr std::pair<std::string_view, std::string_view> kMethods[] = {
    {"BATCH_MATMUL", "AddBatchMatMul"},
    {"CUMSUM", "AddCumSum"},
    {"PADV2", "AddPadV2"},
    {"UNIDIRECTIONAL_SEQUENCE_LSTM", "AddUnidirectionalSequenceLSTM"},
    {"CUSTOM CIRCULAR_BUFFER", "AddCircularBuffer"},
    {"CUSTOM SignalDelay", "AddDelay"},
    {"CUSTOM SignalEnergy", "AddEnergy"},
    {"CUSTOM SignalFftAutoScale", "AddFftAutoScale"},
    {"CUSTOM SignalFilterBank", "AddFilterBank"},
    {"CUSTOM SignalFilterBankLog", "AddFilterBankLog"},
    {"CUSTOM SignalFilterBankSquareRoot", "AddFilterBankSquareRoot"},
    {"CUSTOM SignalFilterBankSpectralSubtraction", "AddFilterBankSpectralSubtraction"},
    {"CUSTOM SignalFramer", "AddFramer"},
    {"CUSTOM SignalIrfft", "AddIrfft"},
    {"CUSTOM SignalOverlapAdd", "AddOverlapAdd"},
    {"CUSTOM SignalPCAN", "AddPCAN"},
    {"CUSTOM SignalRfft", "AddRfft"},
    {"CUSTOM SignalStacker", "AddStacker"},
    {"CUSTOM SignalWindow", "AddWindow"},
    {"CUSTOM TFLM_DECODE", "AddDecode"},
    {"CUSTOM TFLite_Detection_PostProcess", "AddDetectionPostprocess"},
    {"CUSTOM ethos-u", "AddEthosU"},
};
constexpr std::string_view kRegistered =
    " ABS ADD ADD_N ARG_MAX ARG_MIN ASSIGN_VARIABLE AVERAGE_POOL_2D BATCH_TO_SPACE_ND "
    "BROADCAST_ARGS BROADCAST_TO CALL_ONCE CAST CEIL CONCATENATION CONV_2D COS "
    "DEPTHWISE_CONV_2D DEPTH_TO_SPACE DEQUANTIZE DIV DYNAMIC_UPDATE_SLICE ELU "
    "EMBEDDING_LOOKUP EQUAL EXP EXPAND_DIMS FILL FLOOR FLOOR_DIV FLOOR_MOD FULLY_CONNECTED "
    "GATHER GATHER_ND GREATER GREATER_EQUAL HARD_SWISH IF L2_NORMALIZATION L2_POOL_2D "
    "LEAKY_RELU LESS LESS_EQUAL LOG LOGICAL_AND LOGICAL_NOT LOGICAL_OR LOGISTIC LOG_SOFTMAX "
    "MAXIMUM MAX_POOL_2D MEAN MINIMUM MIRROR_PAD MUL NEG NOT_EQUAL PACK PAD PRELU QUANTIZE "
    "READ_VARIABLE REDUCE_ALL REDUCE_MAX REDUCE_MIN RELU RELU6 RESHAPE RESIZE_BILINEAR "
    "RESIZE_NEAREST_NEIGHBOR REVERSE_V2 ROUND RSQRT SELECT_V2 SHAPE SIN SLICE SOFTMAX "
    "SPACE_TO_BATCH_ND SPACE_TO_DEPTH SPLIT SPLIT_V SQRT SQUARE SQUARED_DIFFERENCE SQUEEZE "
    "STRIDED_SLICE SUB SUM SVDF TANH TRANSPOSE TRANSPOSE_CONV UNPACK VAR_HANDLE WHILE "
    "ZEROS_LIKE ";

// "AVERAGE_POOL_2D": "AddAveragePool2D". A letter after a digit stays upper case.
std::string CamelCase(std::string_view name) {
  std::string out = "Add";
  bool upper = true;
  for (const char c : name) {
    if (c == '_') {
      upper = true;
      continue;
    }
    const bool letter = c >= 'A' && c <= 'Z';
    out += letter && !upper ? static_cast<char>(c - 'A' + 'a') : c;
    upper = !letter;
  }
  return out;
}

std::string RegistrationOf(std::string_view name) {
  for (const auto& [op, method] : kMethods)
    if (op == name) return std::string(method);
  return kRegistered.find(fmt::format(" {} ", name)) == std::string_view::npos ? ""
                                                                               : CamelCase(name);
}

class ArenaPlanner {
 public:
  explicit ArenaPlanner(const Model& model) : model_(model) {}

  Result<MicroModel> Run() {
    NN_RETURN_IF_ERROR(AddTensors());
    ReadOfflinePlan();
    if (!tensors_.empty()) NN_RETURN_IF_ERROR(MarkSubgraph(0, 0));
    CountOperators();
    Place();
    Finish();
    return std::move(out_);
  }

 private:
  struct TensorInfo {
    uint64_t bytes = 0;  // 0: not in the arena
    int64_t first = -1, last = -1;
    std::optional<uint64_t> fixed;  // offset by the file
    uint64_t offset = 0;
  };

  const fb::SubGraph* Graph(int64_t g) const { return At(model_.root->subgraphs(), g); }

  Status AddTensors() {
    for (int64_t g = 0; g < SizeOf(model_.root->subgraphs()); ++g) {
      auto& list = tensors_.emplace_back();
      const fb::SubGraph* graph = Graph(g);
      for (int64_t i = 0; graph != nullptr && i < SizeOf(graph->tensors()); ++i) {
        TensorInfo& info = list.emplace_back();
        const fb::Tensor* tensor = At(graph->tensors(), i);
        if (tensor == nullptr || tensor->is_variable()) continue;
        NN_ASSIGN(const bool is_constant, HasContents(model_, *tensor));
        if (is_constant) continue;
        NN_ASSIGN(info.bytes, BytesOf(*tensor, i));
      }
    }
    return {};
  }

  // Resources have the bytes of the number by which they are known.
  static Result<uint64_t> BytesOf(const fb::Tensor& tensor, int64_t index) {
    const bool is_resource = tensor.type() == fb::TensorType::RESOURCE;
    const DType dtype = is_resource ? DType::kI32 : DTypeOf(tensor.type());
    const std::vector<int64_t> shape = ListOf<int64_t>(tensor.shape());
    const auto elements = CheckedElements(shape);
    if (dtype == DType::kUnknown || dtype == DType::kString || !elements ||
        *elements > kMaxElements)
      return UnsupportedError(
          "tensor {} has no size that is known before a run, so microcontrollers cannot run the "
          "model",
          Quote(NameOfTensor(tensor, index)));
    return RoundUp(ByteSize(dtype, *elements), MicroModel::kAlignment);
  }

  // The metadata: a version, a subgraph, the number of tensors, and an offset for each tensor,
  // which is -1 where the interpreter plans.
  void ReadOfflinePlan() {
    for (int64_t i = 0; i < SizeOf(model_.root->metadata()); ++i) {
      const fb::Metadata* entry = At(model_.root->metadata(), i);
      if (entry == nullptr || Text(entry->name()) != "OfflineMemoryAllocation") continue;
      const auto bytes = BufferBytes(model_, entry->buffer());
      if (!bytes || bytes->size() < 3 * sizeof(int32_t)) continue;
      std::vector<int32_t> words(bytes->size() / sizeof(int32_t));
      std::memcpy(words.data(), bytes->data(), words.size() * sizeof(int32_t));
      size_t k = 3;
      for (auto& list : tensors_)
        for (TensorInfo& tensor : list)
          if (k < words.size() && words[k++] >= 0)
            tensor.fixed = static_cast<uint64_t>(words[k - 1]);
    }
  }

  template <typename List, typename Fn>
  void EachTensor(int64_t g, const List* list, const Fn& fn) {
    for (const int64_t i : ListOf<int64_t>(list))
      if (i >= 0 && i < static_cast<int64_t>(tensors_[static_cast<size_t>(g)].size()))
        fn(tensors_[static_cast<size_t>(g)][static_cast<size_t>(i)]);
  }

  void Create(TensorInfo& tensor) const { tensor.first = tensor.last = step_; }
  void Use(TensorInfo& tensor) const { tensor.last = step_; }

  // Each operator is a step. Inputs and outputs exist from the start of a subgraph.
  Status MarkSubgraph(int64_t g, int depth) {
    const fb::SubGraph* graph = Graph(g);
    if (graph == nullptr) return ModelError("there is no subgraph {}", g);
    if (depth > kMaxSubgraphDepth)
      return ModelError("subgraphs are nested more than {} deep", kMaxSubgraphDepth);
    const auto create = [&](TensorInfo& t) { Create(t); };
    const auto use = [&](TensorInfo& t) { Use(t); };
    EachTensor(g, graph->inputs(), create);
    EachTensor(g, graph->outputs(), create);
    for (int64_t i = 0; i < SizeOf(graph->operators()); ++i) {
      const fb::Operator* op = At(graph->operators(), i);
      if (op == nullptr) continue;
      ++step_;
      EachTensor(g, op->outputs(), create);
      for (const int64_t inner : SubgraphsOf(*op)) {
        ++step_;
        NN_RETURN_IF_ERROR(MarkSubgraph(inner, depth + 1));
      }
      EachTensor(g, op->inputs(), use);
      EachTensor(g, op->outputs(), use);
    }
    EachTensor(g, graph->outputs(), use);
    return {};
  }

  static std::vector<int64_t> SubgraphsOf(const fb::Operator& op) {
    if (const auto* o = op.builtin_options_as_IfOptions())
      return {o->then_subgraph_index(), o->else_subgraph_index()};
    if (const auto* o = op.builtin_options_as_WhileOptions())
      return {o->cond_subgraph_index(), o->body_subgraph_index()};
    if (const auto* o = op.builtin_options_as_CallOnceOptions()) return {o->init_subgraph_index()};
    return {};
  }

  void CountOperators() {
    for (int64_t g = 0; g < SizeOf(model_.root->subgraphs()); ++g) {
      const fb::SubGraph* graph = Graph(g);
      for (int64_t i = 0; graph != nullptr && i < SizeOf(graph->operators()); ++i) {
        const fb::Operator* op = At(graph->operators(), i);
        if (op == nullptr) continue;
        const std::string name =
            OperatorName(At(model_.root->operator_codes(), op->opcode_index()));
        auto it = std::ranges::find(out_.operators, name, &MicroModel::Operator::name);
        if (it == out_.operators.end())
          it = out_.operators.insert(it, {name, RegistrationOf(name), 0});
        ++it->count;
      }
    }
  }

  // Tensors whose offset the file states first, in order; then the others, largest first, and of
  // equal ones the last first. Each gets the first gap between the tensors that are alive at the
  // same time.
  void Place() {
    std::vector<TensorInfo*> order;
    for (auto& list : tensors_)
      for (TensorInfo& tensor : list)
        if (tensor.bytes != 0) order.push_back(&tensor);
    std::ranges::reverse(order);
    std::ranges::stable_sort(order, std::ranges::greater(), &TensorInfo::bytes);
    std::vector<TensorInfo*> placed;  // by offset; equal ones in the order of their placement
    const auto place = [&](TensorInfo& tensor, uint64_t offset) {
      tensor.offset = offset;
      placed.insert(std::ranges::upper_bound(placed, offset, {}, &TensorInfo::offset), &tensor);
    };
    for (auto& list : tensors_)
      for (TensorInfo& tensor : list)
        if (tensor.bytes != 0 && tensor.fixed) place(tensor, *tensor.fixed);
    for (TensorInfo* tensor : order)
      if (!tensor->fixed) place(*tensor, GapFor(*tensor, placed));
  }

  static uint64_t GapFor(const TensorInfo& wanted, const std::vector<TensorInfo*>& placed) {
    uint64_t offset = 0;
    for (const TensorInfo* other : placed) {
      if (other->first > wanted.last || wanted.first > other->last) continue;
      if (other->offset >= offset + wanted.bytes) break;
      offset = std::max(offset, other->offset + other->bytes);
    }
    return offset;
  }

  void Finish() {
    std::vector<std::pair<int64_t, int64_t>> changes;  // of the live bytes, by step
    for (size_t g = 0; g < tensors_.size(); ++g)
      for (size_t i = 0; i < tensors_[g].size(); ++i) {
        const TensorInfo& t = tensors_[g][i];
        if (t.bytes == 0) continue;
        const auto index = static_cast<int64_t>(i), subgraph = static_cast<int64_t>(g);
        const fb::Tensor* tensor = At(Graph(subgraph)->tensors(), index);
        out_.placements.push_back(
            {NameOfTensor(*tensor, index), subgraph, t.offset, t.bytes, t.first, t.last});
        out_.arena_bytes = std::max(out_.arena_bytes, t.offset + t.bytes);
        changes.emplace_back(t.first, static_cast<int64_t>(t.bytes));
        changes.emplace_back(t.last + 1, -static_cast<int64_t>(t.bytes));
      }
    std::ranges::sort(changes);
    int64_t live = 0;
    for (const auto& [step, change] : changes) {
      live += change;
      out_.live_bytes =
          std::max(out_.live_bytes, static_cast<uint64_t>(std::max<int64_t>(live, 0)));
    }
  }

  static constexpr int64_t kMaxElements = int64_t{1} << 40;

  const Model& model_;
  std::vector<std::vector<TensorInfo>> tensors_;  // by subgraph
  int64_t step_ = 0;
  MicroModel out_;
};

}  // namespace

std::optional<Result<MicroModel>> TfliteDescriber::MicroModelOf(const NativeModel& model) const {
  return ArenaPlanner(ModelOf(model)).Run();
}

}  // namespace nn::tflite
