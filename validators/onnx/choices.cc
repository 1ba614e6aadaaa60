// Rules of attribute values that a table can tell: which strings, numbers and lists an operator's
// text allows, by version.
#include <algorithm>
#include <set>

#include "base/text.h"
#include "validators/onnx/rules.h"

namespace nn::onnx {
namespace {

using A = pb::AttributeProto;

constexpr std::string_view kMl = "ai.onnx.ml";
constexpr std::string_view kTraining = "ai.onnx.preview.training";
constexpr int64_t kEver = INT64_MAX;

// True if `words`, separated by blanks, has the word.
bool HasWord(std::string_view words, std::string_view word) {
  for (size_t start = 0; start <= words.size();) {
    const size_t end = std::min(words.find(' ', start), words.size());
    if (words.substr(start, end - start) == word) return true;
    start = end + 1;
  }
  return false;
}

// What all rows say: an attribute of operators, from the signature of version `since` to that
// before `until`.
struct Row {
  std::string_view ops;  // separated by blanks; "" for any
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

// Calls visit(node, attribute, row) for the attributes with values that a table has a row of.
template <typename Table, typename Visit>
void EachMatch(const Subject& s, const Table& table, const Visit& visit) {
  for (const AttributeAt& a : s.attributes()) {
    const NodeAt& node = s.nodes()[static_cast<size_t>(a.node)];
    if (node.schema == nullptr || !a.attribute->ref_attr_name().empty()) continue;
    for (const auto& entry : table)
      if (Matches(entry.row, node, a.attribute->name())) visit(node, a, entry);
  }
}

struct StringChoice {
  Row row;
  std::string_view values;  // separated by blanks
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
    {{"Momentum", "mode", kTraining}, "nesterov standard"},
    {{"", "post_transform", kMl}, kTransforms},
    {{"", "kernel_type", kMl}, "LINEAR POLY RBF SIGMOID"},
    {{"Normalizer", "norm", kMl}, "MAX L1 L2"},
    {{"CastMap", "cast_to", kMl}, "TO_FLOAT TO_STRING TO_INT64"},
    {{"CastMap", "map_form", kMl}, "DENSE SPARSE"},
    {{"TreeEnsembleRegressor", "aggregate_function", kMl}, "AVERAGE SUM MIN MAX"},
    {{"TreeEnsembleClassifier TreeEnsembleRegressor", "nodes_modes", kMl},
     "BRANCH_LEQ BRANCH_LT BRANCH_GTE BRANCH_GT BRANCH_EQ BRANCH_NEQ LEAF"},
};

void StringsAllowed(const Subject& s, Findings& f) {
  EachMatch(s, kStrings, [&](const NodeAt& node, const AttributeAt& a, const StringChoice& c) {
    const auto check = [&](const std::string& value, std::string_view field) {
      if (!HasWord(c.values, value))
        f.Add(s.Where(a, field), "{} of {} is {}; allowed are {}", c.row.attribute, Title(node),
              Quote(value), c.values);
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

constexpr std::string_view kWindowed =
    "Conv ConvTranspose ConvInteger QLinearConv MaxPool AveragePool LpPool MaxUnpool DeformConv "
    "Col2Im";

constexpr IntRange kWindows[] = {
    {{kWindowed, "kernel_shape"}, 1},
    {{kWindowed, "strides"}, 1},
    {{kWindowed, "dilations"}, 1},
};

constexpr IntRange kRanges[] = {
    {{"ConvInteger QLinearConv DeformConv", "group"}, 1},
    {{"DeformConv", "offset_group"}, 1},
    {{kWindowed, "pads"}, 0},
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
  return range.most == INT64_MAX ? fmt::format("{} or more", range.least)
                                 : fmt::format("{} to {}", range.least, range.most);
}

// Checks single numbers, and the elements of lists.
template <typename Table>
void CheckRanges(const Subject& s, Findings& f, const Table& table) {
  EachMatch(s, table, [&](const NodeAt& node, const AttributeAt& a, const IntRange& range) {
    const auto inside = [&](int64_t v) { return v >= range.least && v <= range.most; };
    if (a.attribute->has_i() && !inside(a.attribute->i()))
      f.Add(s.Where(a, "i"), "{} of {} is {}; allowed is {}", range.row.attribute, Title(node),
            a.attribute->i(), RangeText(range));
    const auto& ints = a.attribute->ints();
    const auto bad = std::find_if_not(ints.begin(), ints.end(), inside);
    if (bad != ints.end())
      f.Add(s.Where(a, fmt::format("ints[{}]", bad - ints.begin())),
            "{} of {} has value {}; allowed is {}", range.row.attribute, Title(node), *bad,
            RangeText(range));
  });
}

void WindowsPositive(const Subject& s, Findings& f) {
  CheckRanges(s, f, kWindows);
}

void NumbersInRange(const Subject& s, Findings& f) {
  CheckRanges(s, f, kRanges);
}

// Attributes that say yes or no.
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

void FlagsBoolean(const Subject& s, Findings& f) {
  EachMatch(s, kFlags, [&](const NodeAt& node, const AttributeAt& a, const Flag& flag) {
    if (a.attribute->has_i() && a.attribute->i() != 0 && a.attribute->i() != 1)
      f.Add(s.Where(a, "i"), "{} of {} is {}, neither 0 nor 1", flag.row.attribute, Title(node),
            a.attribute->i());
  });
}

// Attributes that belong together.
struct Group {
  std::string_view ops;
  std::string_view domain;
  std::string_view attributes;  // separated by blanks
  int64_t since = 1;
  int64_t until = kEver;
};

bool Matches(const Group& group, const NodeAt& node) {
  return node.schema != nullptr && node.schema->since >= group.since &&
         node.schema->since < group.until && PlainDomain(node.node->domain()) == group.domain &&
         HasWord(group.ops, node.schema->op);
}

// Elements of a list; 1 for what is no list, where it stands for a whole.
uint64_t SizeOf(const Subject& s, const A& a) {
  for (const int field : {A::kFloatsFieldNumber, A::kIntsFieldNumber, A::kStringsFieldNumber})
    if (s.Has(a, field)) return s.SizeOf(a, field);
  if (!a.has_t()) return 0;
  return a.t().dims_size() == 1 ? static_cast<uint64_t>(std::max<int64_t>(0, a.t().dims(0))) : 1;
}

// Lists with an element for each of the same things.
constexpr Group kParallel[] = {
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

void ListsParallel(const Subject& s, Findings& f) {
  for (const NodeAt& node : s.nodes())
    for (const Group& group : kParallel) {
      if (!Matches(group, node)) continue;
      const A* first = nullptr;
      for (const auto& a : node.node->attribute()) {
        if (!HasWord(group.attributes, a.name()) || SizeOf(s, a) == 0) continue;
        if (first == nullptr) first = &a;
        if (SizeOf(s, a) != SizeOf(s, *first))
          f.Add(s.Where(node, a.name()), "{} of {} has {} elements, {} has {}", a.name(),
                Title(node), SizeOf(s, a), first->name(), SizeOf(s, *first));
      }
    }
}

// One of each group is there, and no more.
constexpr Group kAlternatives[] = {
    {"TfIdfVectorizer", "", "pool_int64s pool_strings"},
    {"DictVectorizer", kMl, "int64_vocabulary string_vocabulary"},
    {"LinearClassifier SVMClassifier", kMl, "classlabels_ints classlabels_strings"},
    {"TreeEnsembleClassifier", kMl, "classlabels_int64s classlabels_strings"},
    {"OneHotEncoder", kMl, "cats_int64s cats_strings"},
    {"ZipMap", kMl, "classlabels_int64s classlabels_strings"},
    {"LabelEncoder", kMl, "keys_floats keys_int64s keys_strings keys_tensor", 2},
    {"LabelEncoder", kMl, "values_floats values_int64s values_strings values_tensor", 2},
};

void AlternativesChosen(const Subject& s, Findings& f) {
  for (const NodeAt& node : s.nodes())
    for (const Group& group : kAlternatives) {
      if (!Matches(group, node)) continue;
      const auto& list = node.node->attribute();
      const auto count = [&](bool with_elements) {
        return std::count_if(list.begin(), list.end(), [&](const A& a) {
          return HasWord(group.attributes, a.name()) &&
                 (!with_elements || !a.ref_attr_name().empty() || SizeOf(s, a) > 0);
        });
      };
      // An empty list may stand beside the one that is meant.
      const auto n = count(true);
      if (n > 1 || count(false) == 0)
        f.Add(s.Where(node, "attribute"), "{} has {} of {}", Title(node), n, group.attributes);
    }
}

// Lists in which nothing comes twice.
struct Distinct {
  Row row;
};

constexpr Distinct kDistinct[] = {
    {{"Squeeze Unsqueeze", "axes"}},
    {{"Slice", "axes"}},
    {{"CenterCropPad", "axes"}},
    {{"Resize", "axes"}},
};

void ListsDistinct(const Subject& s, Findings& f) {
  EachMatch(s, kDistinct, [&](const NodeAt& node, const AttributeAt& a, const Distinct& d) {
    std::set<int64_t> seen;
    for (const int64_t v : a.attribute->ints())
      if (!seen.insert(v).second)
        f.Add(s.Where(a, "ints"), "{} of {} has {} twice", d.row.attribute, Title(node), v);
  });
}

constexpr Rule kRules[] = {
    {{"ONNX-OP-001", Severity::kError, "Attributes that choose by name have a name that exists.",
      "Operators.md", false, ""},
     StringsAllowed},
    {{"ONNX-OP-002", Severity::kError, "Kernel sizes, strides and dilations are positive.",
      "Operators.md, Conv", false, ""},
     WindowsPositive},
    {{"ONNX-OP-011", Severity::kError,
      "Numbers in attributes are in the range that the operator's text gives.", "Operators.md",
      false, ""},
     NumbersInRange},
    {{"ONNX-OP-012", Severity::kWarning, "Attributes that say yes or no are 0 or 1.",
      "Operators.md", false, ""},
     FlagsBoolean},
    {{"ONNX-OP-013", Severity::kError,
      "Attributes with an element for each of the same things have the same length.",
      "Operators.md, Operators-ml.md", false, ""},
     ListsParallel},
    {{"ONNX-OP-014", Severity::kError, "Of attributes that stand for each other one is given.",
      "Operators.md, Operators-ml.md", false, ""},
     AlternativesChosen},
    {{"ONNX-OP-015", Severity::kError, "Lists of axes have no axis twice.", "Operators.md", false,
      ""},
     ListsDistinct},
};

}  // namespace

std::span<const Rule> ChoiceRules() {
  return kRules;
}

}  // namespace nn::onnx
