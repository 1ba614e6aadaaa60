#include "formats/nnapi/spec/signature.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>

namespace nn::nnapi {
namespace {

// "x4" is a data tensor of rank 4, "x1-4" of rank 1 to 4, "x2/4" of rank 2 or 4, "x2-" of 2 or
// more; "?" is optional, "*" repeats. The letters are those of Argument::Kind.
struct Row {
  OperationType type;
  std::string_view data_types;
  std::string_view inputs;
  std::string_view outputs;
  std::string_view constraints;  // labels
};

using enum OperationType;

constexpr Row kRows[] = {
    {kAdd, "fq", "x1-4 x1-4 a", "x1-4", "broadcast"},
    {kAveragePool2d, "fq", "x4 n n n n s s s s a", "x4",
     "window_fits window_shape pool_padding same_quantization"},
    {kAveragePool2d, "fq", "x4 p s s s s a", "x4",
     "window_fits window_shape pool_padding same_quantization"},
    {kConcatenation, "fq", "x1-4* i", "x1-4",
     "concat_axis concat_sizes concat_shape same_quantization"},
    {kConv2d, "fq", "x4 x4 b1 n n n n s s a", "x4",
     "window_fits window_shape filter_depth bias_length bias_scale product_scale"},
    {kConv2d, "fq", "x4 x4 b1 p s s a", "x4",
     "window_fits window_shape filter_depth bias_length bias_scale product_scale"},
    {kDepthwiseConv2d, "fq", "x4 x4 b1 n n n n s s s a", "x4",
     "window_fits window_shape depthwise_filter bias_length bias_scale product_scale"},
    {kDepthwiseConv2d, "fq", "x4 x4 b1 p s s s a", "x4",
     "window_fits window_shape depthwise_filter bias_length bias_scale product_scale"},
    {kDepthToSpace, "fq", "x4 s", "x4", "block_divides block_shape same_quantization"},
    {kDequantize, "q", "x1-4", "f1-4", "same_shape"},
    {kEmbeddingLookup, "f", "t1 x2-", "x2-", "lookup_shape lookup_range same_quantization"},
    {kFloor, "f", "x1-4", "x1-4", "same_shape"},
    {kFullyConnected, "fq", "x2-4 x2 b1 a", "x2",
     "row_length product_shape bias_length bias_scale product_scale"},
    {kHashtableLookup, "fqi", "t1 t1 x1-", "x1- q1",
     "table_shape key_order key_count hits_quantization same_quantization"},
    {kL2Normalization, "f", "x4", "x4", "same_shape"},
    {kL2Pool2d, "f", "x4 n n n n s s s s a", "x4", "window_fits window_shape pool_padding"},
    {kL2Pool2d, "f", "x4 p s s s s a", "x4", "window_fits window_shape pool_padding"},
    {kLocalResponseNormalization, "f", "x4 n r r r", "x4", "same_shape nonzero_bias"},
    {kLogistic, "fq", "x1-4", "x1-4", "same_shape probability_scale"},
    {kLshProjection, "", "f2 y1- f1? i", "t1",
     "projection_type projection_weight_count projection_weights hash_bits projection_shape"},
    {kLstm, "f", "x2 x2? x2 x2 x2 x2? x2 x2 x2 x1? x1? x1? x1? x1 x1 x1 x2? x1? x2 x2 i r r",
     "x2 x2 x2 x2",
     "lstm_sizes lstm_unprojected lstm_input_gate lstm_activation lstm_peepholes lstm_projection "
     "lstm_clip"},
    {kMaxPool2d, "fq", "x4 n n n n s s s s a", "x4",
     "window_fits window_shape pool_padding same_quantization"},
    {kMaxPool2d, "fq", "x4 p s s s s a", "x4",
     "window_fits window_shape pool_padding same_quantization"},
    {kMul, "fq", "x1-4 x1-4 a", "x1-4", "broadcast product_scale"},
    {kRelu, "fq", "x1-4", "x1-4", "same_shape same_quantization"},
    {kRelu1, "fq", "x1-4", "x1-4", "same_shape same_quantization"},
    {kRelu6, "fq", "x1-4", "x1-4", "same_shape same_quantization"},
    {kReshape, "fq", "x1-4 t1", "x1-4",
     "reshape_sizes reshape_elements reshape_shape same_quantization"},
    {kResizeBilinear, "f", "x4 s s", "x4", "resize_shape"},
    {kRnn, "f", "x2 x2 x2 x1 x2 a?", "x2 x2", "rnn_sizes"},
    {kSoftmax, "fq", "x2/4 r", "x2/4", "same_shape probability_scale positive_beta"},
    {kSpaceToDepth, "fq", "x4 s", "x4", "block_divides block_shape same_quantization"},
    {kSvdf, "f", "x2 x2 x2 x1? x2 s a?", "x2 x2", "svdf_filters svdf_sizes svdf_state"},
    {kTanh, "f", "x1-4", "x1-4", "same_shape"},
};

// In the order of the enumerators.
constexpr std::string_view kLabelNames =
    "operand_type scalar_dimensions tensor_dimensions quantization stray_quantization "
    "finite_scale tensor_bytes "
    "known_operation input_count output_count required_value data_type argument_type "
    "rank activation_code padding_code positive non_negative "
    "same_shape broadcast same_quantization probability_scale nonzero_bias positive_beta "
    "window_fits window_shape filter_depth depthwise_filter bias_length bias_scale "
    "product_scale pool_padding "
    "concat_axis concat_sizes concat_shape block_divides block_shape reshape_sizes "
    "reshape_elements reshape_shape resize_shape "
    "lookup_shape lookup_range table_shape key_order key_count hits_quantization "
    "projection_type projection_weight_count projection_weights hash_bits "
    "projection_shape "
    "row_length product_shape rnn_sizes svdf_filters svdf_sizes svdf_state lstm_sizes "
    "lstm_unprojected lstm_input_gate lstm_activation lstm_peepholes lstm_projection "
    "lstm_clip";

std::vector<std::string_view> Words(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

const std::vector<std::string_view>& LabelNames() {
  static const std::vector<std::string_view> names = Words(kLabelNames);
  return names;
}

std::vector<Label> ParseLabels(std::string_view text) {
  std::vector<Label> list;
  for (const std::string_view word : Words(text))
    if (const auto label = LabelNamed(word)) list.push_back(*label);
  return list;
}

std::vector<Argument> ParseArguments(std::string_view text) {
  std::vector<Argument> list;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (c >= 'a' && c <= 'z') {
      list.push_back({static_cast<Argument::Kind>(c)});
    } else if (digit && list.back().min_rank == 0) {
      list.back().min_rank = list.back().max_rank = c - '0';
    } else if (digit) {
      list.back().max_rank = c - '0';
    } else if (c == '-') {
      list.back().max_rank = 0;
    } else if (c == '/') {
      list.back().ends_only = true;
    } else if (c == '?') {
      list.back().optional = true;
    } else if (c == '*') {
      list.back().repeats = true;
    }
  }
  return list;
}

const std::vector<Signature>& Signatures() {
  static const auto* const kSignatures = [] {
    auto* list = new std::vector<Signature>;
    for (const Row& row : kRows)
      list->push_back({row.type, row.data_types, ParseArguments(row.inputs),
                       ParseArguments(row.outputs), ParseLabels(row.constraints)});
    return list;
  }();
  return *kSignatures;
}

}  // namespace

std::string_view NameOf(Label label) {
  return LabelNames().at(static_cast<size_t>(label));
}

std::optional<Label> LabelNamed(std::string_view name) {
  for (size_t i = 0; i < LabelNames().size(); ++i)
    if (LabelNames()[i] == name) return static_cast<Label>(i);
  return std::nullopt;
}

bool Signature::Has(Label label) const {
  return std::find(constraints.begin(), constraints.end(), label) != constraints.end();
}

bool Argument::is_tensor() const {
  return std::string_view("xbftqy").find(static_cast<char>(kind)) != std::string_view::npos;
}

bool Argument::TakesRank(size_t rank) const {
  const bool low = static_cast<int>(rank) == min_rank;
  const bool high = static_cast<int>(rank) == max_rank;
  if (ends_only) return low || high;
  return rank >= static_cast<size_t>(min_rank) &&
         (max_rank == 0 || rank <= static_cast<size_t>(max_rank));
}

std::string Argument::RanksText() const {
  if (max_rank == 0) return fmt::format("{} or more", min_rank);
  if (min_rank == max_rank) return std::to_string(min_rank);
  return fmt::format("{} {} {}", min_rank, ends_only ? "or" : "to", max_rank);
}

bool Signature::Takes(size_t count) const {
  for (const Argument& a : inputs)
    if (a.repeats) return count >= inputs.size();
  return count == inputs.size();
}

const Argument& Signature::InputAt(size_t i, size_t count) const {
  if (!inputs.front().repeats) return inputs[i];
  const size_t repeated = count - inputs.size() + 1;
  return i < repeated ? inputs.front() : inputs[i - repeated + 1];
}

std::vector<const Signature*> SignaturesOf(OperationType type) {
  std::vector<const Signature*> found;
  for (const Signature& s : Signatures())
    if (s.type == type) found.push_back(&s);
  return found;
}

std::string InputCounts(OperationType type) {
  std::string counts;
  for (const Signature* s : SignaturesOf(type))
    counts += fmt::format("{}{}{}", counts.empty() ? "" : " or ", s->inputs.size(),
                          s->inputs.front().repeats ? " or more" : "");
  return counts;
}

const Signature* FindSignature(OperationType type, size_t inputs) {
  for (const Signature& s : Signatures())
    if (s.type == type && s.Takes(inputs)) return &s;
  return nullptr;
}

}  // namespace nn::nnapi
