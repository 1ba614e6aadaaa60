// TFLite_Detection_PostProcess, a custom operator that TensorFlow Lite itself has: the last stage
// of single-shot detectors. Boxes are decoded and suppressed by their scores, and what remains is
// written into lists of a fixed length. The kernel leaves the rest of a list as it is in memory if
// use_regular_nms is off; here it is 0, as with use_regular_nms. The kernel decodes boxes in
// float64 and rounds; here each operator of the decoding rounds to float32.
//
// Source: tflite/kernels/detection_postprocess.cc.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "formats/common/padded_list.h"
#include "formats/tflite/family.h"
#include "formats/tflite/file/custom_options.h"
#include "ops/array/shape.h"
#include "ops/array/shape_of.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/nn/detect/non_max_suppression.h"
#include "ops/reduce/selection.h"
#include "ops/support/term_ops.h"

namespace nn::tflite {
namespace {

// Limit of TensorFlow Lite: detections, classes and detections of all classes of
// TFLite_Detection_PostProcess. Longer lists are no detections.
constexpr int64_t kMaxDetections = 1 << 20;

struct DetectionOptions {
  int64_t detections = 0;
  int64_t classes_per_detection = 0;  // without regular suppression
  int64_t detections_per_class = 100;
  int64_t classes = 0;  // without the background
  bool is_regular = false;
  float score_threshold = 0;
  float iou_threshold = 0;
  float y_scale = 0, x_scale = 0, h_scale = 0, w_scale = 0;
};

Result<DetectionOptions> ReadOptions(const ImportContext& ctx) {
  NN_ASSIGN(const CustomMap options, CustomMap::Read(ctx));
  const flexbuffers::Map map = options.map();
  Status missing;
  const auto option = [&](const char* name, bool is_required) {
    const flexbuffers::Reference r = map[name];
    if (r.IsNumeric() || r.IsBool() || (r.IsNull() && !is_required)) return r;
    if (missing) missing = ModelError("the option {} is missing or not a number", name);
    return flexbuffers::Reference();
  };
  const auto integer = [&](const char* name) {
    return static_cast<int64_t>(option(name, true).AsInt32());
  };
  const auto real = [&](const char* name) { return option(name, true).AsFloat(); };
  DetectionOptions o;
  o.detections = integer("max_detections");
  o.classes_per_detection = integer("max_classes_per_detection");
  o.classes = integer("num_classes");
  const auto per_class = option("detections_per_class", false);
  if (!per_class.IsNull()) o.detections_per_class = per_class.AsInt32();
  const auto regular = option("use_regular_nms", false);
  o.is_regular = !regular.IsNull() && regular.AsBool();
  o.score_threshold = real("nms_score_threshold");
  o.iou_threshold = real("nms_iou_threshold");
  o.y_scale = real("y_scale");
  o.x_scale = real("x_scale");
  o.h_scale = real("h_scale");
  o.w_scale = real("w_scale");
  NN_RETURN_IF_ERROR(missing);
  for (const auto& [value, name] : {std::pair(o.detections, "max_detections"),
                                    std::pair(o.classes_per_detection, "max_classes_per_detection"),
                                    std::pair(o.detections_per_class, "detections_per_class"),
                                    std::pair(o.classes, "num_classes")})
    if (value < 1 || value > kMaxDetections)
      return ModelError("the option {} is {}; must be 1 to {}", name, value, kMaxDetections);
  if (!(o.iou_threshold > 0 && o.iou_threshold <= 1))
    return ModelError("the option nms_iou_threshold is {}; must be above 0 and at most 1",
                      o.iou_threshold);
  const int64_t most = o.is_regular ? 1 : o.classes;
  if (o.classes_per_detection > most)
    return UnsupportedError(
        "max_classes_per_detection is {}, of {}; the kernel leaves the other results undefined",
        o.classes_per_detection,
        o.is_regular ? "1 with use_regular_nms" : fmt::format("{} classes", most));
  return o;
}

// Builds the graph of one operator.
class Detection {
 public:
  Detection(ImportContext& ctx, const DetectionOptions& options) : ctx_(ctx), o_(options) {}

  Status Import() {
    NN_RETURN_IF_ERROR(ReadInputs());
    return o_.is_regular ? Regular() : Fast();
  }

 private:
  // The operands as real numbers, without the batch.
  Result<Value*> Operand(size_t i, int rank, std::string_view name) {
    NN_ASSIGN(Value * v, ctx_.Ranked(i));
    const Type& type = v->type();
    if (type.rank() != rank)
      return ModelError("{} are {}; expected rank {}", name, type.ToString(), rank);
    if (type.quantized() ? type.dtype != DType::kU8 : type.dtype != DType::kF32)
      return UnsupportedError("{} are {}; the kernel has f32 and quantized u8", name,
                              type.ToString());
    if (type.quantized()) {
      NN_ASSIGN(v, ctx_.Add("dequantize", {v}, DequantizeAttrs{}));
    }
    if (rank == 2) return v;
    if (!(v->type().dim(0) == 1))
      return UnsupportedError("{} are {}; the kernel has batches of 1", name, type.ToString());
    return ctx_.Add("squeeze", {v}, AxesAttrs{{0}});
  }

  // boxes_ [anchors, 4] and scores_ [anchors, classes].
  Status ReadInputs() {
    if (ctx_.input_count() != 3 || ctx_.output_count() != 4)
      return ModelError("the operator has {} inputs and {} outputs; expected 3 and 4",
                        ctx_.input_count(), ctx_.output_count());
    NN_ASSIGN(Value* const boxes, Operand(0, 3, "the boxes"));
    NN_ASSIGN(Value* const scores, Operand(1, 3, "the scores"));
    NN_ASSIGN(Value* const anchors, Operand(2, 2, "the anchors"));
    const Dim& numbers = boxes->type().dim(1);
    if ((numbers.is_const() && numbers.value() < 4) || !(anchors->type().dim(1) == 4))
      return ModelError("the boxes are {} and the anchors {}; expected four numbers each",
                        boxes->type().ToString(), anchors->type().ToString());
    boxes_ = Decode(boxes, anchors);
    const Dim& columns = scores->type().dim(1);
    if (!columns.is_const() || columns.value() < o_.classes || columns.value() > o_.classes + 1)
      return ModelError("the scores are {}, but num_classes is {}", scores->type().ToString(),
                        o_.classes);
    // The first class may be the background.
    NN_ASSIGN(scores_, ctx_.Build(Slice(scores, 1, columns.value() - o_.classes, columns.value())));
    return {};
  }

  // The corners ymin, xmin, ymax, xmax of boxes [anchors, 4 or more], whose columns y, x, h, w
  // count from the anchors [anchors, 4] in units of their sizes.
  Term Decode(const Term& boxes, const Term& anchors) const {
    const auto pair = [](float first, float second) {
      return Tensor::Of<float>({2}, std::vector<float>{first, second});
    };
    const Term sizes = Slice(anchors, 1, 2, 4);
    const Term center =
        Slice(boxes, 1, 0, 2) / pair(o_.y_scale, o_.x_scale) * sizes + Slice(anchors, 1, 0, 2);
    const Term half =
        Apply("exp", {Slice(boxes, 1, 2, 4) / pair(o_.h_scale, o_.w_scale)}) * 0.5 * sizes;
    return Concat({center - half, center + half}, 1);
  }

  static Term Column(const Term& v, int64_t i) { return Squeeze(Slice(v, 1, i, i + 1), {1}); }

  // The list of any shape [n, ...] as a list of `count` elements, padded with `filler`.
  template <typename T>
  Result<Term> Padded(const Term& list, T filler, int64_t count) {
    NN_ASSIGN(Value* const v, ctx_.Build(list));
    const Term flat = v->type().rank() > 1 ? Reshape(v, {Dim(-1)}) : v;
    return PaddedList(ctx_, flat, Tensor::Scalar(filler), Vector({count}));
  }

  // [n, 3]: what the rows of scores [rows, anchors] select.
  Term Suppress(const Term& rows, int64_t most) const {
    // The kernel keeps scores that equal the threshold, the graph's operator only greater ones.
    const float below = std::nextafter(o_.score_threshold, -std::numeric_limits<float>::infinity());
    return Apply(
        "non_max_suppression",
        {ExpandDims(boxes_, {0}), ExpandDims(rows, {0}), Vector({most}), o_.iou_threshold, below},
        NonMaxSuppressionAttrs{});
  }

  Status SetOutputs(const Term& boxes, const Term& classes, const Term& scores, const Term& count) {
    const Dim size(o_.detections * o_.classes_per_detection);
    return ctx_.EmitTerms({Reshape(boxes, {Dim(1), size, Dim(4)}), Reshape(classes, {Dim(1), size}),
                           Reshape(scores, {Dim(1), size}),
                           Reshape(Cast(count, DType::kF32), {Dim(1)})});
  }

  // Suppression of anchors by their best scores; each has its best classes.
  Status Fast() {
    const int64_t k = o_.classes_per_detection;
    const auto top = ApplyAll("top_k", {scores_, Vector({k})}, TopKAttrs{.axis = 1}, 2);
    const Term best = Transpose(Slice(top[0], 1, 0, 1), {1, 0});
    const Term list = Column(Suppress(best, o_.detections), 2);
    Term boxes = Gather(boxes_, list, 0);
    if (k > 1)
      boxes = Gather(ExpandDims(boxes, {1}),
                     Vector(std::vector<int64_t>(static_cast<size_t>(k), 0)), 1);
    const int64_t size = o_.detections * k;
    NN_ASSIGN(boxes, Padded(boxes, 0.0f, 4 * size));
    NN_ASSIGN(const Term classes, Padded(Cast(Gather(top[1], list, 0), DType::kF32), 0.0f, size));
    NN_ASSIGN(const Term scores, Padded(Gather(top[0], list, 0), 0.0f, size));
    return SetOutputs(boxes, classes, scores, Apply("shape_of", {list}, ShapeOfAttrs{}));
  }

  // Suppression in each class, and the best of all classes; those of equal scores in the order of
  // their classes.
  Status Regular() {
    const Dim& anchors = scores_->type().dim(0);
    if (!anchors.is_const() || anchors.value() < 1)
      return UnsupportedError("{} anchors with use_regular_nms; a number from 1 is expected",
                              anchors.ToString());
    const int64_t per_class = std::min(o_.detections_per_class, o_.detections);
    const Term list = Suppress(Transpose(scores_, {1, 0}), per_class);
    const Term list_classes = Column(list, 1), list_indices = Column(list, 2);
    const Term flat = list_indices * o_.classes + list_classes;
    const Term list_scores = Gather(Reshape(scores_, {Dim(-1)}), flat, 0);

    const int64_t selected = o_.classes * std::min(per_class, anchors.value());
    const int64_t size = std::max(o_.detections, selected);
    if (size > kMaxDetections)
      return UnsupportedError("{} detections of all classes; at most {}", size, kMaxDetections);
    constexpr float kLeast = -std::numeric_limits<float>::infinity();
    NN_ASSIGN(const Term padded_scores, Padded(list_scores, kLeast, size));
    const auto top =
        ApplyAll("top_k", {padded_scores, Vector({o_.detections})}, TopKAttrs{.axis = 0}, 2);
    const Term count = Minimum(Apply("shape_of", {list_indices}, ShapeOfAttrs{}), o_.detections);
    std::vector<int64_t> positions(static_cast<size_t>(o_.detections));
    for (size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<int64_t>(i);
    const Term is_detection = Less(Vector(positions), count);
    NN_ASSIGN(const Term indices, Padded(list_indices, int64_t{0}, size));
    NN_ASSIGN(const Term classes, Padded(list_classes, int64_t{0}, size));
    const Term boxes = Gather(boxes_, Gather(indices, top[1], 0), 0);
    const Term chosen_classes = Cast(Gather(classes, top[1], 0), DType::kF32);
    return SetOutputs(Select(ExpandDims(is_detection, {1}), boxes, 0),
                      Select(is_detection, chosen_classes, 0), Select(is_detection, top[0], 0),
                      count);
  }

  ImportContext& ctx_;
  const DetectionOptions& o_;
  Term boxes_;
  Value* scores_ = nullptr;
};

Status ImportDetection(ImportContext& ctx) {
  NN_ASSIGN(const DetectionOptions options, ReadOptions(ctx));
  return Detection(ctx, options).Import();
}

constexpr ImportRow kDetectionImports[] = {
    {.op = Op::CUSTOM, .import = ImportDetection, .custom = "TFLite_Detection_PostProcess"},
};

}  // namespace

Family DetectionFamily() {
  return {.imports = kDetectionImports};
}

}  // namespace nn::tflite
