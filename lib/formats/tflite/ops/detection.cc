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
#include "ops/array/arrange/concat.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/shape.h"
#include "ops/array/shape_of.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/nn/detect/non_max_suppression.h"
#include "ops/reduce/selection.h"

namespace nn::tflite {
namespace {

// Lists beyond this length are no detections.
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
    NN_RETURN_IF_ERROR(Decode(boxes, anchors));
    const Dim& columns = scores->type().dim(1);
    if (!columns.is_const() || columns.value() < o_.classes || columns.value() > o_.classes + 1)
      return ModelError("the scores are {}, but num_classes is {}", scores->type().ToString(),
                        o_.classes);
    // The first class may be the background.
    NN_ASSIGN(scores_, Slice(scores, 1, columns.value() - o_.classes, columns.value()));
    return {};
  }

  // The corners ymin, xmin, ymax, xmax of boxes [anchors, 4 or more], whose columns y, x, h, w
  // count from the anchors [anchors, 4] in units of their sizes.
  Status Decode(Value* boxes, Value* anchors) {
    const Dim& columns = boxes->type().dim(1);
    if ((columns.is_const() && columns.value() < 4) || !(anchors->type().dim(1) == 4))
      return ModelError("the boxes are {} and the anchors {}; expected four numbers each",
                        boxes->type().ToString(), anchors->type().ToString());
    const auto pair = [&](float first, float second) {
      return ctx_.Constant(Tensor::Of<float>({2}, std::vector<float>{first, second}));
    };
    NN_ASSIGN(Value* const centers, Slice(anchors, 1, 0, 2));
    NN_ASSIGN(Value* const sizes, Slice(anchors, 1, 2, 4));
    NN_ASSIGN(Value * center, Slice(boxes, 1, 0, 2));
    NN_ASSIGN(center, ctx_.Add("div", {center, pair(o_.y_scale, o_.x_scale)}));
    NN_ASSIGN(center, ctx_.Add("mul", {center, sizes}));
    NN_ASSIGN(center, ctx_.Add("add", {center, centers}));
    NN_ASSIGN(Value * half, Slice(boxes, 1, 2, 4));
    NN_ASSIGN(half, ctx_.Add("div", {half, pair(o_.h_scale, o_.w_scale)}));
    NN_ASSIGN(half, ctx_.Add("exp", {half}));
    NN_ASSIGN(half, ctx_.Add("mul", {half, Number(0.5f)}));
    NN_ASSIGN(half, ctx_.Add("mul", {half, sizes}));
    NN_ASSIGN(Value* const least, ctx_.Add("sub", {center, half}));
    NN_ASSIGN(Value* const most, ctx_.Add("add", {center, half}));
    NN_ASSIGN(boxes_, ctx_.Add("concat", {least, most}, ConcatAttrs{1}));
    return {};
  }

  Result<Value*> Slice(Value* v, int64_t axis, int64_t begin, int64_t end) {
    return ctx_.Add("slice", {v}, SliceAttrs{{axis}, {begin}, {end}, {1}});
  }
  Result<Value*> Column(Value* v, int64_t i) {
    NN_ASSIGN(v, Slice(v, 1, i, i + 1));
    return ctx_.Add("squeeze", {v}, AxesAttrs{{1}});
  }
  Result<Value*> Rows(Value* v, Value* indices) {
    return ctx_.Add("gather", {v, indices}, GatherAttrs{});
  }
  Result<Value*> Cast(Value* v, DType to) { return ctx_.Add("cast", {v}, CastAttrs{.to = to}); }
  Value* Number(auto v) { return ctx_.Constant(Tensor::Scalar(v)); }

  // The list of any shape [n, ...] as a list of `count` elements, padded with `filler`.
  Result<Value*> Padded(Value* v, Value* filler, int64_t count) {
    if (v->type().rank() > 1) {
      NN_ASSIGN(v, ctx_.Add("reshape", {v}, ReshapeAttrs{{Dim(-1)}, false}));
    }
    return PaddedList(ctx_, v, filler, ctx_.Constant(Tensor::Ints({count})));
  }

  // [n, 3]: what the rows of scores [rows, anchors] select.
  Result<Value*> Suppress(Value* rows, int64_t most) {
    NN_ASSIGN(Value* const boxes, ctx_.Add("expand_dims", {boxes_}, AxesAttrs{{0}}));
    NN_ASSIGN(Value* const scores, ctx_.Add("expand_dims", {rows}, AxesAttrs{{0}}));
    // The kernel keeps scores that equal the threshold, the graph's operator only greater ones.
    const float below = std::nextafter(o_.score_threshold, -std::numeric_limits<float>::infinity());
    return ctx_.Add("non_max_suppression",
                    {boxes, scores, ctx_.Constant(Tensor::Ints({most})), Number(o_.iou_threshold),
                     Number(below)},
                    NonMaxSuppressionAttrs{});
  }

  Status SetOutputs(Value* boxes, Value* classes, Value* scores, Value* count) {
    const Dim size(o_.detections * o_.classes_per_detection);
    NN_ASSIGN(boxes, ctx_.Add("reshape", {boxes}, ReshapeAttrs{{Dim(1), size, Dim(4)}, false}));
    NN_ASSIGN(classes, ctx_.Add("reshape", {classes}, ReshapeAttrs{{Dim(1), size}, false}));
    NN_ASSIGN(scores, ctx_.Add("reshape", {scores}, ReshapeAttrs{{Dim(1), size}, false}));
    NN_ASSIGN(count, Cast(count, DType::kF32));
    NN_ASSIGN(count, ctx_.Add("reshape", {count}, ReshapeAttrs{{Dim(1)}, false}));
    size_t i = 0;
    for (Value* v : {boxes, classes, scores, count}) ctx_.SetOutput(i++, v);
    return {};
  }

  // Suppression of anchors by their best scores; each has its best classes.
  Status Fast() {
    const int64_t k = o_.classes_per_detection;
    NN_ASSIGN(Node* const top, ctx_.AddNode("top_k", {scores_, ctx_.Constant(Tensor::Ints({k}))},
                                            TopKAttrs{.axis = 1}, 2));
    NN_ASSIGN(Value * best, Slice(top->output(0), 1, 0, 1));
    NN_ASSIGN(best, ctx_.Add("transpose", {best}, TransposeAttrs{{1, 0}}));
    NN_ASSIGN(Value * list, Suppress(best, o_.detections));
    NN_ASSIGN(list, Column(list, 2));
    NN_ASSIGN(Value * boxes, Rows(boxes_, list));
    if (k > 1) {
      NN_ASSIGN(boxes, ctx_.Add("expand_dims", {boxes}, AxesAttrs{{1}}));
      const std::vector<int64_t> copies(static_cast<size_t>(k), 0);
      NN_ASSIGN(boxes, ctx_.Add("gather", {boxes, ctx_.Constant(Tensor::Ints(copies))},
                                GatherAttrs{1, 0}));
    }
    NN_ASSIGN(Value * classes, Rows(top->output(1), list));
    NN_ASSIGN(classes, Cast(classes, DType::kF32));
    NN_ASSIGN(Value * scores, Rows(top->output(0), list));
    const int64_t size = o_.detections * k;
    NN_ASSIGN(boxes, Padded(boxes, Number(0.0f), 4 * size));
    NN_ASSIGN(classes, Padded(classes, Number(0.0f), size));
    NN_ASSIGN(scores, Padded(scores, Number(0.0f), size));
    NN_ASSIGN(Value* const count, ctx_.Add("shape_of", {list}, ShapeOfAttrs{}));
    return SetOutputs(boxes, classes, scores, count);
  }

  // Suppression in each class, and the best of all classes; those of equal scores in the order of
  // their classes.
  Status Regular() {
    const Dim& anchors = scores_->type().dim(0);
    if (!anchors.is_const() || anchors.value() < 1)
      return UnsupportedError("{} anchors with use_regular_nms; a number from 1 is expected",
                              anchors.ToString());
    const int64_t per_class = std::min(o_.detections_per_class, o_.detections);
    NN_ASSIGN(Value* const rows, ctx_.Add("transpose", {scores_}, TransposeAttrs{{1, 0}}));
    NN_ASSIGN(Value* const list, Suppress(rows, per_class));
    NN_ASSIGN(Value * classes, Column(list, 1));
    NN_ASSIGN(Value * indices, Column(list, 2));
    NN_ASSIGN(Value * flat, ctx_.Add("mul", {indices, Number(o_.classes)}));
    NN_ASSIGN(flat, ctx_.Add("add", {flat, classes}));
    NN_ASSIGN(Value * scores, ctx_.Add("reshape", {scores_}, ReshapeAttrs{{Dim(-1)}, false}));
    NN_ASSIGN(scores, Rows(scores, flat));
    NN_ASSIGN(Value * count, ctx_.Add("shape_of", {indices}, ShapeOfAttrs{}));

    const int64_t selected = o_.classes * std::min(per_class, anchors.value());
    const int64_t size = std::max(o_.detections, selected);
    if (size > kMaxDetections)
      return UnsupportedError("{} detections of all classes; at most {}", size, kMaxDetections);
    constexpr float kLeast = -std::numeric_limits<float>::infinity();
    NN_ASSIGN(scores, Padded(scores, Number(kLeast), size));
    NN_ASSIGN(Node* const top,
              ctx_.AddNode("top_k", {scores, ctx_.Constant(Tensor::Ints({o_.detections}))},
                           TopKAttrs{.axis = 0}, 2));
    NN_ASSIGN(count, ctx_.Add("minimum", {count, Number(o_.detections)}));
    std::vector<int64_t> positions(static_cast<size_t>(o_.detections));
    for (size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<int64_t>(i);
    NN_ASSIGN(Value* const is_detection,
              ctx_.Add("less", {ctx_.Constant(Tensor::Ints(positions)), count}));
    const auto chosen = [&](Value* v) -> Result<Value*> {
      NN_ASSIGN(v, Padded(v, Number(int64_t{0}), size));
      return Rows(v, top->output(1));
    };
    NN_ASSIGN(indices, chosen(indices));
    NN_ASSIGN(Value * boxes, Rows(boxes_, indices));
    NN_ASSIGN(Value* const is_box, ctx_.Add("expand_dims", {is_detection}, AxesAttrs{{1}}));
    NN_ASSIGN(boxes, ctx_.Add("select", {is_box, boxes, Number(0.0f)}));
    NN_ASSIGN(classes, chosen(classes));
    NN_ASSIGN(classes, Cast(classes, DType::kF32));
    NN_ASSIGN(classes, ctx_.Add("select", {is_detection, classes, Number(0.0f)}));
    NN_ASSIGN(scores, ctx_.Add("select", {is_detection, top->output(0), Number(0.0f)}));
    return SetOutputs(boxes, classes, scores, count);
  }

  ImportContext& ctx_;
  const DetectionOptions& o_;
  Value* boxes_ = nullptr;
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
