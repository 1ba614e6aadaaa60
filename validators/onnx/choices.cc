// Rules for attribute values that tables describe: the strings, numbers and lists that the
// documentation of an operator allows, by version.
#include <algorithm>
#include <set>

#include "base/text/text.h"
#include "validators/onnx/rules.h"

namespace nn::onnx {
namespace {

using A = pb::AttributeProto;

constexpr std::string_view kMl = "ai.onnx.ml";
constexpr std::string_view kTrainingDomain = "ai.onnx.preview.training";
constexpr int64_t kEver = INT64_MAX;

// True if `words`, a list separated by spaces, contains the word.
bool HasWord(std::string_view words, std::string_view word) {
  for (size_t start = 0; start <= words.size();) {
    const size_t end = std::min(words.find(' ', start), words.size());
    if (words.substr(start, end - start) == word) return true;
    start = end + 1;
  }
  return false;
}

// "a b c" -> "a, b, c", for messages.
std::string WithCommas(std::string_view words) {
  std::string out;
  for (const char c : words) out += c == ' ' ? std::string(", ") : std::string(1, c);
  return out;
}

// Common to all tables: an attribute of some operators, in the signatures from version `since` up
// to but not including `until`.
struct Row {
  std::string_view ops;  // separated by spaces; "" for any
  std::string_view attribute;
  std::string_view domain = "";
  int64_t since = 1;
  int64_t until = kEver;
};

bool Matches(const Row& row, const NodeAt& node, std::string_view attribute) {
  return row.attribute == attribute && node.schema->since >= row.since &&
         node.schema->since < row.until && PlainDomain(node.node->domain()) == row.domain &&
         (row.ops.empty() || HasWord(row.ops, node.schema->op));
}

// Calls visit(node, attribute, entry) for each attribute with a value and each table entry that
// matches it.
template <typename Table, typename Visit>
void EachMatch(const RuleContext& s, const Table& table, const Visit& visit) {
  for (const AttributeAt& a : s.attributes()) {
    const NodeAt& node = s.nodes()[static_cast<size_t>(a.node)];
    if (node.schema == nullptr || !a.attribute->ref_attr_name().empty()) continue;
    for (const auto& entry : table)
      if (Matches(entry.row, node, a.attribute->name())) visit(node, a, entry);
  }
}

struct StringChoice {
  Row row;
  std::string_view values;  // separated by spaces
};

constexpr std::string_view kDirections = "forward reverse bidirectional";
constexpr std::string_view kTransforms = "NONE SOFTMAX LOGISTIC SOFTMAX_ZERO PROBIT";

constexpr StringChoice kStrings[] = {
    {{"", "auto_pad"}, "NOTSET SAME_UPPER SAME_LOWER VALID"},
    {{"Pad", "mode", "", 1, 19}, "constant reflect edge"},
    {{"Pad", "mode", "", 19}, "constant reflect edge wrap"},
    {{"Resize", "mode", "", 10, 11}, "nearest linear"},
    {{"Resize", "mode", "", 11}, "nearest linear cubic"},
    {{"Resize", "coordinate_transformation_mode", "", 11, 13},
     "half_pixel pytorch_half_pixel align_corners asymmetric tf_half_pixel_for_nn "
     "tf_crop_and_resize"},
    {{"Resize", "coordinate_transformation_mode", "", 13, 19},
     "half_pixel pytorch_half_pixel align_corners asymmetric tf_crop_and_resize"},
    {{"Resize", "coordinate_transformation_mode", "", 19},
     "half_pixel half_pixel_symmetric pytorch_half_pixel align_corners asymmetric "
     "tf_crop_and_resize"},
    {{"Resize", "nearest_mode"}, "round_prefer_floor round_prefer_ceil floor ceil"},
    {{"Resize", "keep_aspect_ratio_policy"}, "stretch not_larger not_smaller"},
    {{"Upsample", "mode"}, "nearest linear bilinear"},
    {{"DepthToSpace", "mode"}, "DCR CRD"},
    {{"GridSample", "mode", "", 1, 20}, "bilinear nearest bicubic"},
    {{"GridSample", "mode", "", 20}, "linear nearest cubic"},
    {{"GridSample", "padding_mode"}, "zeros border reflection"},
    {{"RoiAlign", "mode"}, "avg max"},
    {{"RoiAlign", "coordinate_transformation_mode"}, "half_pixel output_half_pixel"},
    {{"LSTM GRU RNN", "direction"}, kDirections},
    {{"BitShift", "direction"}, "LEFT RIGHT"},
    {{"Gelu", "approximate"}, "none tanh"},
    {{"ScatterElements ScatterND", "reduction", "", 1, 18}, "none add mul"},
    {{"ScatterElements ScatterND", "reduction", "", 18}, "none add mul min max"},
    {{"SoftmaxCrossEntropyLoss NegativeLogLikelihoodLoss", "reduction"}, "none sum mean"},
    {{"Cast CastLike", "round_mode"}, "up down nearest"},
    {{"Cast", "to", "", 1, 6},
     "FLOAT UINT8 INT8 UINT16 INT16 INT32 INT64 STRING BOOL FLOAT16 DOUBLE UINT32 UINT64 "
     "COMPLEX64 COMPLEX128"},
    {{"CausalConvWithState", "activation"}, "silu swish none"},
    {{"ImageDecoder", "pixel_format"}, "RGB BGR Grayscale"},
    {{"StringNormalizer", "case_change_action"}, "LOWER UPPER NONE"},
    {{"TensorScatter", "mode"}, "linear circular"},
    {{"TfIdfVectorizer", "mode"}, "TF IDF TFIDF"},
    {{"Momentum", "mode", kTrainingDomain}, "nesterov standard"},
    {{"", "post_transform", kMl}, kTransforms},
    {{"", "kernel_type", kMl}, "LINEAR POLY RBF SIGMOID"},
    {{"Normalizer", "norm", kMl}, "MAX L1 L2"},
    {{"CastMap", "cast_to", kMl}, "TO_FLOAT TO_STRING TO_INT64"},
    {{"CastMap", "map_form", kMl}, "DENSE SPARSE"},
    {{"TreeEnsembleRegressor", "aggregate_function", kMl}, "AVERAGE SUM MIN MAX"},
    {{"TreeEnsembleClassifier TreeEnsembleRegressor", "nodes_modes", kMl},
     "BRANCH_LEQ BRANCH_LT BRANCH_GTE BRANCH_GT BRANCH_EQ BRANCH_NEQ LEAF"},
};

void StringsAllowed(const RuleContext& s, Findings& f) {
  EachMatch(s, kStrings, [&](const NodeAt& node, const AttributeAt& a, const StringChoice& c) {
    const auto check = [&](const std::string& value, std::string_view field) {
      if (!HasWord(c.values, value))
        f.Add(s.Where(a, field), "{} of {} is {}; must be one of {}", c.row.attribute, Title(node),
              Quote(value), WithCommas(c.values));
    };
    if (a.attribute->has_s()) check(a.attribute->s(), "s");
    for (int i = 0; i < a.attribute->strings_size(); ++i)
      check(a.attribute->strings(i), fmt::format("strings[{}]", i));
  });
}

struct IntRange {
  Row row;
  int64_t least;
  int64_t most = INT64_MAX;
};

constexpr std::string_view kWindowedOps =
    "Conv ConvTranspose ConvInteger QLinearConv MaxPool AveragePool LpPool MaxUnpool DeformConv "
    "Col2Im";

constexpr IntRange kWindows[] = {
    {{kWindowedOps, "kernel_shape"}, 1},
    {{kWindowedOps, "strides"}, 1},
    {{kWindowedOps, "dilations"}, 1},
};

constexpr IntRange kRanges[] = {
    {{"ConvInteger QLinearConv DeformConv", "group"}, 1},
    {{"DeformConv", "offset_group"}, 1},
    {{kWindowedOps, "pads"}, 0},
    {{"ConvTranspose", "output_padding"}, 0},
    {{"ConvTranspose", "output_shape"}, 1},
    {{"MaxRoiPool", "pooled_shape"}, 1},
    {{"MaxPool", "storage_order"}, 0, 1},
    {{"LpPool GlobalLpPool", "p", "", 2}, 1},
    {{"LpNormalization", "p"}, 1, 2},
    {{"LRN", "size"}, 1},
    {{"DepthToSpace SpaceToDepth", "blocksize"}, 1},
    {{"GroupNormalization", "num_groups"}, 1},
    {{"LSTM GRU RNN", "hidden_size"}, 1},
    {{"LSTM GRU RNN", "layout"}, 0, 1},
    {{"ReverseSequence", "batch_axis"}, 0, 1},
    {{"ReverseSequence", "time_axis"}, 0, 1},
    {{"Unique", "sorted"}, 0, 1},
    {{"GatherND", "batch_dims"}, 0},
    {{"Split", "num_outputs"}, 1},
    {{"Split", "split"}, 0},
    {{"Multinomial", "sample_size"}, 1},
    {{"RandomNormal RandomUniform", "shape"}, 0},
    {{"RoiAlign", "output_height"}, 1},
    {{"RoiAlign", "output_width"}, 1},
    {{"RoiAlign", "sampling_ratio"}, 0},
    {{"NonMaxSuppression", "center_point_box"}, 0, 1},
    {{"DequantizeLinear QuantizeLinear", "block_size"}, 0},
    {{"Attention", "q_num_heads"}, 1},
    {{"Attention", "kv_num_heads"}, 1},
    {{"Attention", "qk_matmul_output_mode"}, 0, 3},
    {{"Attention", "left_window_size"}, -1},
    {{"Attention", "right_window_size"}, -1},
    {{"RotaryEmbedding", "num_heads"}, 0},
    {{"RotaryEmbedding", "rotary_embedding_dim"}, 0},
    {{"TfIdfVectorizer", "min_gram_length"}, 1},
    {{"TfIdfVectorizer", "max_gram_length"}, 1},
    {{"TfIdfVectorizer", "max_skip_count"}, 0},
    {{"TfIdfVectorizer", "ngram_counts"}, 0},
    {{"TfIdfVectorizer", "ngram_indexes"}, 0},
    {{"Scan", "num_scan_inputs"}, 1},
    {{"Scan", "directions"}, 0, 1},
    {{"Scan", "scan_input_directions"}, 0, 1},
    {{"Scan", "scan_output_directions"}, 0, 1},
    {{"FeatureVectorizer", "inputdimensions", kMl}, 0},
    {{"LinearRegressor", "targets", kMl}, 1},
    {{"TreeEnsembleRegressor TreeEnsemble", "n_targets", kMl}, 1},
    {{"TreeEnsemble", "aggregate_function", kMl}, 0, 3},
    {{"TreeEnsemble", "post_transform", kMl}, 0, 4},
    {{"TreeEnsemble", "nodes_falseleafs", kMl}, 0, 1},
    {{"TreeEnsemble", "nodes_trueleafs", kMl}, 0, 1},
    {{"TreeEnsemble", "leaf_targetids", kMl}, 0},
    {{"SVMRegressor", "n_supports", kMl}, 0},
    {{"SVMClassifier", "vectors_per_class", kMl}, 0},
};

std::string RangeText(const IntRange& range) {
  return range.most == INT64_MAX ? fmt::format("at least {}", range.least)
                                 : fmt::format("{} to {}", range.least, range.most);
}

// Checks single numbers and the elements of lists.
template <typename Table>
void CheckRanges(const RuleContext& s, Findings& f, const Table& table) {
  EachMatch(s, table, [&](const NodeAt& node, const AttributeAt& a, const IntRange& range) {
    const auto inside = [&](int64_t v) { return v >= range.least && v <= range.most; };
    if (a.attribute->has_i() && !inside(a.attribute->i()))
      f.Add(s.Where(a, "i"), "{} of {} is {}; must be {}", range.row.attribute, Title(node),
            a.attribute->i(), RangeText(range));
    const auto& ints = a.attribute->ints();
    const auto bad = std::find_if_not(ints.begin(), ints.end(), inside);
    if (bad != ints.end())
      f.Add(s.Where(a, fmt::format("ints[{}]", bad - ints.begin())),
            "{}[{}] of {} is {}; must be {}", range.row.attribute, bad - ints.begin(), Title(node),
            *bad, RangeText(range));
  });
}

void WindowsPositive(const RuleContext& s, Findings& f) {
  CheckRanges(s, f, kWindows);
}

void NumbersInRange(const RuleContext& s, Findings& f) {
  CheckRanges(s, f, kRanges);
}

// Boolean attributes.
struct Flag {
  Row row;
};

constexpr Flag kFlags[] = {
    {{"", "keepdims"}},
    {{"", "ceil_mode"}},
    {{"", "count_include_pad"}},
    {{"", "noop_with_empty_axes"}},
    {{"", "select_last_index"}},
    {{"", "align_corners"}},
    {{"", "inverse"}},
    {{"", "onesided"}},
    {{"", "saturate"}},
    {{"", "antialias"}},
    {{"", "exclude_outside"}},
    {{"Gemm", "transA"}},
    {{"Gemm", "transB"}},
    {{"CumSum CumProd", "exclusive"}},
    {{"CumSum CumProd", "reverse"}},
    {{"TopK", "largest"}},
    {{"TopK", "sorted"}},
    {{"Trilu", "upper"}},
    {{"Reshape", "allowzero"}},
    {{"ConcatFromSequence", "new_axis"}},
    {{"IsInf", "detect_negative"}},
    {{"IsInf", "detect_positive"}},
    {{"LSTM", "input_forget"}},
    {{"GRU", "linear_before_reset"}},
    {{"BatchNormalization Dropout", "training_mode"}},
    {{"Dropout BatchNormalization", "is_test"}},
    {{"Attention", "is_causal"}},
    {{"RotaryEmbedding", "interleaved"}},
    {{"BlackmanWindow HammingWindow HannWindow", "periodic"}},
    {{"StringNormalizer", "is_case_sensitive"}},
    {{"OneHotEncoder", "zeros", kMl}},
    {{"SVMRegressor", "one_class", kMl}},
};

void FlagsBoolean(const RuleContext& s, Findings& f) {
  EachMatch(s, kFlags, [&](const NodeAt& node, const AttributeAt& a, const Flag& flag) {
    if (a.attribute->has_i() && a.attribute->i() != 0 && a.attribute->i() != 1)
      f.Add(s.Where(a, "i"), "{} of {} is {}; must be 0 or 1", flag.row.attribute, Title(node),
            a.attribute->i());
  });
}

// Attributes that are checked together.
struct RequiredGroup {
  std::string_view ops;
  std::string_view domain;
  std::string_view attributes;  // separated by spaces
  int64_t since = 1;
  int64_t until = kEver;
};

bool Matches(const RequiredGroup& group, const NodeAt& node) {
  return node.schema != nullptr && node.schema->since >= group.since &&
         node.schema->since < group.until && PlainDomain(node.node->domain()) == group.domain &&
         HasWord(group.ops, node.schema->op);
}

// The number of elements of a list attribute; 1 for a tensor that is not a list, because it is one
// value as a whole.
uint64_t SizeOf(const RuleContext& s, const A& a) {
  for (const int field : {A::kFloatsFieldNumber, A::kIntsFieldNumber, A::kStringsFieldNumber})
    if (s.Has(a, field)) return s.SizeOf(a, field);
  if (!a.has_t()) return 0;
  return a.t().dims_size() == 1 ? static_cast<uint64_t>(std::max<int64_t>(0, a.t().dims(0))) : 1;
}

// Parallel lists: element i of each describes the same thing.
constexpr RequiredGroup kParallel[] = {
    {"Slice", "", "starts ends axes"},
    {"CategoryMapper", kMl, "cats_int64s cats_strings"},
    {"SVMClassifier", kMl, "prob_a prob_b"},
    {"LabelEncoder", kMl,
     "keys_floats keys_int64s keys_strings keys_tensor values_floats values_int64s values_strings "
     "values_tensor",
     2},
    {"TreeEnsembleClassifier TreeEnsembleRegressor", kMl,
     "nodes_falsenodeids nodes_featureids nodes_hitrates nodes_hitrates_as_tensor "
     "nodes_missing_value_tracks_true nodes_modes nodes_nodeids nodes_treeids nodes_truenodeids "
     "nodes_values nodes_values_as_tensor"},
    {"TreeEnsembleClassifier", kMl,
     "class_ids class_nodeids class_treeids class_weights class_weights_as_tensor"},
    {"TreeEnsembleRegressor", kMl,
     "target_ids target_nodeids target_treeids target_weights target_weights_as_tensor"},
    {"TreeEnsemble", kMl,
     "nodes_falseleafs nodes_falsenodeids nodes_featureids nodes_hitrates "
     "nodes_missing_value_tracks_true nodes_modes nodes_splits nodes_trueleafs nodes_truenodeids"},
    {"TreeEnsemble", kMl, "leaf_targetids leaf_weights"},
    {"TfIdfVectorizer", "", "ngram_indexes weights"},
};

void ListsParallel(const RuleContext& s, Findings& f) {
  for (const NodeAt& node : s.nodes())
    for (const RequiredGroup& group : kParallel) {
      if (!Matches(group, node)) continue;
      const A* first = nullptr;
      for (const auto& a : node.node->attribute()) {
        if (!HasWord(group.attributes, a.name()) || SizeOf(s, a) == 0) continue;
        if (first == nullptr) first = &a;
        if (SizeOf(s, a) != SizeOf(s, *first))
          f.Add(s.Where(node, a.name()), "{} of {} has {} elements, but {} has {}", a.name(),
                Title(node), SizeOf(s, a), first->name(), SizeOf(s, *first));
      }
    }
}

// Alternatives: exactly one attribute of each group is given.
constexpr RequiredGroup kAlternatives[] = {
    {"TfIdfVectorizer", "", "pool_int64s pool_strings"},
    {"DictVectorizer", kMl, "int64_vocabulary string_vocabulary"},
    {"LinearClassifier SVMClassifier", kMl, "classlabels_ints classlabels_strings"},
    {"TreeEnsembleClassifier", kMl, "classlabels_int64s classlabels_strings"},
    {"OneHotEncoder", kMl, "cats_int64s cats_strings"},
    {"ZipMap", kMl, "classlabels_int64s classlabels_strings"},
    {"LabelEncoder", kMl, "keys_floats keys_int64s keys_strings keys_tensor", 2},
    {"LabelEncoder", kMl, "values_floats values_int64s values_strings values_tensor", 2},
};

void AlternativesChosen(const RuleContext& s, Findings& f) {
  for (const NodeAt& node : s.nodes())
    for (const RequiredGroup& group : kAlternatives) {
      if (!Matches(group, node)) continue;
      const auto& list = node.node->attribute();
      const auto count = [&](bool with_elements) {
        return std::count_if(list.begin(), list.end(), [&](const A& a) {
          return HasWord(group.attributes, a.name()) &&
                 (!with_elements || !a.ref_attr_name().empty() || SizeOf(s, a) > 0);
        });
      };
      // Exporters also write the other lists, but empty.
      const auto n = count(true);
      if (n > 1 || count(false) == 0)
        f.Add(s.Where(node, "attribute"), "{} sets {} of {}; must set exactly one", Title(node), n,
              WithCommas(group.attributes));
    }
}

// Lists without duplicates.
struct Distinct {
  Row row;
};

constexpr Distinct kDistinct[] = {
    {{"Squeeze Unsqueeze", "axes"}},
    {{"Slice", "axes"}},
    {{"CenterCropPad", "axes"}},
    {{"Resize", "axes"}},
};

void ListsDistinct(const RuleContext& s, Findings& f) {
  EachMatch(s, kDistinct, [&](const NodeAt& node, const AttributeAt& a, const Distinct& d) {
    std::set<int64_t> seen;
    for (const int64_t v : a.attribute->ints())
      if (!seen.insert(v).second)
        f.Add(s.Where(a, "ints"), "{} of {} has {} more than once", d.row.attribute, Title(node),
              v);
  });
}

constexpr Rule kChoiceRules[] = {
    {.info = {.id = "ONNX-OP-001",
              .statement = "An attribute that selects a named option, such as auto_pad or mode, "
                           "has a value that the imported operator version allows.",
              .clause = "Operators.md",
              .hint =
                  "Use one of the allowed values, or import an opset version that has the value."},
     .check = StringsAllowed},
    {.info = {.id = "ONNX-OP-002",
              .statement = "The kernel_shape, strides and dilations of convolutions, pooling "
                           "operators and Col2Im are positive.",
              .clause = "Operators.md, Conv",
              .hint = "Set every kernel size, stride and dilation to 1 or more."},
     .check = WindowsPositive},
    {.info =
         {.id = "ONNX-OP-011",
          .statement =
              "Integer attributes are in the range that the documentation of their operator gives.",
          .clause = "Operators.md",
          .hint = "Set the attribute to a value in the allowed range."},
     .check = NumbersInRange},
    {.info = {.id = "ONNX-OP-012",
              .severity = Severity::kWarning,
              .statement = "Attributes that are flags, such as keepdims and ceil_mode, are 0 or 1.",
              .clause = "Operators.md",
              .hint = "Set the attribute to 0 or 1."},
     .check = FlagsBoolean},
    {.info = {.id = "ONNX-OP-013",
              .statement = "Attributes of a node that are parallel lists, such as starts and ends "
                           "of Slice, have the same length.",
              .clause = "Operators.md, Operators-ml.md",
              .hint = "Give all of the parallel lists the same number of elements."},
     .check = ListsParallel},
    {.info = {.id = "ONNX-OP-014",
              .statement =
                  "Of alternative attributes, such as classlabels_ints and classlabels_strings, at "
                  "least one is present and at most one has elements.",
              .clause = "Operators.md, Operators-ml.md",
              .hint = "Keep exactly one of the alternative attributes."},
     .check = AlternativesChosen},
    {.info = {.id = "ONNX-OP-015",
              .statement = "The axes attribute of Squeeze, Unsqueeze, Slice, CenterCropPad and "
                           "Resize has no duplicates.",
              .clause = "Operators.md",
              .hint = "Remove the repeated axis."},
     .check = ListsDistinct},
};

}  // namespace

std::span<const Rule> ChoiceRules() {
  return kChoiceRules;
}

}  // namespace nn::onnx
