// Type inference of RNN, GRU and LSTM.
#include "formats/onnx/infer/dim_names.h"

namespace nn::onnx {
namespace {

Status InferRecurrent(TypeContext& ctx) {
  const bool batch_first = ctx.node().Int("layout", 0) != 0;
  DimNames dims(ctx);
  NN_RETURN_IF_ERROR(dims.Match(0, batch_first ? "N S I" : "S N I"));
  const std::string direction = ctx.node().String("direction", "forward");
  if (direction == "bidirectional") {
    NN_RETURN_IF_ERROR(dims.Bind("D", 2));
  } else if (direction == "forward" || direction == "reverse") {
    NN_RETURN_IF_ERROR(dims.Bind("D", 1));
  }
  if (const int64_t hidden = ctx.node().Int("hidden_size", -1); hidden > 0)
    NN_RETURN_IF_ERROR(dims.Bind("H", hidden));
  ctx.Set(0, ctx.dtype(0), dims.Make(batch_first ? "N S D H" : "S D N H"));
  for (const size_t last : {1, 2})
    ctx.Set(last, ctx.dtype(0), dims.Make(batch_first ? "N D H" : "D N H"));
  return {};
}

}  // namespace

void AddRecurrentInferences(InferTable& t) {
  for (const char* op : {"RNN", "GRU", "LSTM"}) t.Add("", op, 1, InferRecurrent);
}

}  // namespace nn::onnx
