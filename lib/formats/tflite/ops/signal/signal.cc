// The custom operators of tflite-micro's signal library that are exact in elementary integer
// operators: windows, energies, and buffers that keep samples from run to run. See also
// signal_bank.cc and signal_transform.cc.
//
// Source: tflite-micro signal/micro/kernels and signal/src.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "formats/tflite/family.h"
#include "formats/tflite/file/custom_options.h"
#include "ops/array/arrange/concat.h"
#include "ops/array/arrange/pad.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/arrange/tile.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/reduce/reduce.h"

namespace nn::tflite {

// ==== From TensorFlow Lite =======================================================================

namespace {

constexpr int64_t kMaxSignal = 1 << 20;  // samples
constexpr int64_t kMaxFrames = 1 << 10;  // each of which is an operator

Result<Value*> Cast(ImportContext& ctx, Value* v, DType to) {
  return ctx.Add("cast", {v}, CastAttrs{to});
}

Value* Int32(ImportContext& ctx, int64_t v) {
  return ctx.Constant(Tensor::Scalar(static_cast<int32_t>(v)));
}

// An i32 limited to i16.
Result<Value*> Saturated(ImportContext& ctx, Value* v) {
  NN_ASSIGN(v, ctx.Add("maximum", {v, Int32(ctx, std::numeric_limits<int16_t>::min())}));
  NN_ASSIGN(v, ctx.Add("minimum", {v, Int32(ctx, std::numeric_limits<int16_t>::max())}));
  return Cast(ctx, v, DType::kI16);
}

Result<Value*> Columns(ImportContext& ctx, Value* v, int64_t begin, int64_t end) {
  return ctx.Add("slice", {v}, SliceAttrs{{1}, {begin}, {end}, {}});
}

// Input 0 as a matrix of its last axis, with a constant shape.
struct Signal {
  Value* x = nullptr;
  std::vector<int64_t> dims;  // before
  int64_t rows = 1, size = 0;
};

Result<Signal> SignalOf(ImportContext& ctx, std::initializer_list<DType> types) {
  NN_ASSIGN(Value* const x, ctx.Ranked(0));
  const auto dims = x->type().const_dims();
  if (!dims || dims->empty() || std::ranges::find(types, x->dtype()) == types.end())
    return UnsupportedError("an input of type {} is unsupported", x->type().ToString());
  Signal s;
  s.dims = *dims;
  s.size = s.dims.back();
  for (size_t i = 0; i + 1 < s.dims.size(); ++i) s.rows *= s.dims[i];
  if (s.size < 1 || s.size > kMaxSignal || s.rows > kMaxSignal)
    return UnsupportedError("an input of type {} is unsupported", x->type().ToString());
  NN_ASSIGN(s.x, ctx.Add("reshape", {x}, ReshapeAttrs{{Dim(s.rows), Dim(s.size)}}));
  return s;
}

Status RequireOutputs(const ImportContext& ctx, size_t count) {
  if (ctx.output_count() == count) return {};
  return ModelError("there are {} outputs; expected {}", ctx.output_count(), count);
}

// Products with a window, shifted to the right and saturated.
Status ImportSignalWindow(ImportContext& ctx) {
  NN_ASSIGN(const CustomMap options, CustomMap::Read(ctx));
  NN_ASSIGN(const int64_t shift, options.Int("shift", 0, 31));
  NN_ASSIGN(const Signal s, SignalOf(ctx, {DType::kI16}));
  NN_ASSIGN(Value* const window, ctx.Ranked(1));
  if (window->dtype() != DType::kI16 || window->type().dims != Dims{Dim(s.size)})
    return UnsupportedError("a window of type {} for frames of {} is unsupported",
                            window->type().ToString(), s.size);
  NN_ASSIGN(Value * x, Cast(ctx, s.x, DType::kI32));
  NN_ASSIGN(Value* const w, Cast(ctx, window, DType::kI32));
  NN_ASSIGN(x, ctx.Add("mul", {x, w}));
  NN_ASSIGN(x, ctx.Add("shift_right", {x, Int32(ctx, shift)}));
  NN_ASSIGN(x, Saturated(ctx, x));
  return ctx.Emit("reshape", {x}, ReshapeAttrs{ToDims(s.dims)});
}

// The squared magnitudes of complex numbers from start_index to end_index; the others, which the
// kernel leaves as they are in memory, are 0.
Status ImportSignalEnergy(ImportContext& ctx) {
  NN_ASSIGN(const CustomMap options, CustomMap::Read(ctx));
  NN_ASSIGN(const Signal s, SignalOf(ctx, {DType::kI16}));
  const int64_t count = s.size / 2;
  NN_ASSIGN(const int64_t end, options.Int("end_index", 0, count));
  NN_ASSIGN(const int64_t start, options.Int("start_index", 0, end));
  if (s.dims.size() != 1 || s.size % 2 != 0)
    return ModelError("the input has shape {}; expected a list of complex numbers",
                      ToString(ToDims(s.dims)));
  NN_ASSIGN(Value * x, ctx.Add("reshape", {s.x}, ReshapeAttrs{{Dim(count), Dim(2)}}));
  NN_ASSIGN(x, Cast(ctx, x, DType::kI64));
  NN_ASSIGN(x, ctx.Add("mul", {x, x}));
  NN_ASSIGN(x, ctx.Add("reduce_sum", {x}, ReduceAttrs{{1}, false}));
  NN_ASSIGN(x, ctx.Add("slice", {x}, SliceAttrs{{0}, {start}, {end}, {}}));
  NN_ASSIGN(x, ctx.Add("pad", {x}, PadAttrs{{start, count - end}}));
  return ctx.Emit("cast", {x}, CastAttrs{DType::kU32});
}

// Shifts samples to the left as far as the largest magnitude allows. -32768, which the kernel's
// int16_t cannot negate, has the magnitude 32768.
Status ImportSignalAutoScale(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(RequireOutputs(ctx, 2));
  NN_ASSIGN(const Signal s, SignalOf(ctx, {DType::kI16}));
  NN_ASSIGN(Value* const x, Cast(ctx, s.x, DType::kI32));
  NN_ASSIGN(Value * bits, ctx.Add("abs", {x}));
  NN_ASSIGN(bits, ctx.Add("reduce_max", {bits}, ReduceAttrs{{0, 1}, false}));
  std::vector<int32_t> powers;
  for (int k = 0; k < 15; ++k) powers.push_back(1 << k);
  NN_ASSIGN(bits, ctx.Add("less", {bits, ctx.Constant(Tensor::Of({15}, powers))}));
  NN_ASSIGN(bits, Cast(ctx, bits, DType::kI32));
  NN_ASSIGN(bits, ctx.Add("reduce_sum", {bits}, ReduceAttrs{{0}, false}));
  NN_ASSIGN(Value * y, ctx.Add("shift_left", {Int32(ctx, 1), bits}));
  NN_ASSIGN(y, ctx.Add("mul", {x, y}));
  NN_ASSIGN(y, Cast(ctx, y, DType::kI16));
  NN_ASSIGN(y, ctx.Add("reshape", {y}, ReshapeAttrs{ToDims(s.dims)}));
  ctx.SetOutput(0, y);
  ctx.SetOutput(1, bits);
  return {};
}

// The samples of `delay_length` samples ago.
Status ImportSignalDelay(ImportContext& ctx) {
  NN_ASSIGN(const CustomMap options, CustomMap::Read(ctx));
  NN_ASSIGN(const int64_t delay, options.Int("delay_length", 0, kMaxSignal));
  NN_ASSIGN(const Signal s, SignalOf(ctx, {DType::kI16}));
  NN_ASSIGN(Value* const before,
            ctx.ReadOwn("samples", Type(DType::kI16, {Dim(s.rows), Dim(delay)})));
  NN_ASSIGN(Value* const all, ctx.Add("concat", {before, s.x}, ConcatAttrs{1}));
  NN_ASSIGN(Value* const after, Columns(ctx, all, s.size, s.size + delay));
  NN_RETURN_IF_ERROR(ctx.AssignOwn("samples", after));
  NN_ASSIGN(Value* const y, Columns(ctx, all, 0, s.size));
  return ctx.Emit("reshape", {y}, ReshapeAttrs{ToDims(s.dims)});
}

// Overlapping frames. Without prefill, the first ones are not valid: the kernel leaves them as they
// are in memory, and here they begin with zeros.
Status ImportSignalFramer(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(RequireOutputs(ctx, 2));
  NN_ASSIGN(const CustomMap options, CustomMap::Read(ctx));
  NN_ASSIGN(const int64_t frame, options.Int("frame_size", 1, kMaxSignal));
  NN_ASSIGN(const int64_t step, options.Int("frame_step", 1, frame));
  NN_ASSIGN(const int64_t prefill, options.Int("prefill", 0, 1));
  NN_ASSIGN(const Signal s, SignalOf(ctx, {DType::kI16}));
  const int64_t frames = s.size / step;
  if (s.size % step != 0 || frames > kMaxFrames)
    return UnsupportedError("{} samples in steps of {} are unsupported", s.size, step);
  // The samples before a step once frames are valid.
  const int64_t kept = prefill != 0 ? frame - step : (frame - 1) / step * step;
  NN_ASSIGN(Value* const before,
            ctx.ReadOwn("samples", Type(DType::kI16, {Dim(s.rows), Dim(kept)})));
  NN_ASSIGN(Value* const all, ctx.Add("concat", {before, s.x}, ConcatAttrs{1}));
  NN_ASSIGN(Value* const after, Columns(ctx, all, s.size, s.size + kept));
  NN_RETURN_IF_ERROR(ctx.AssignOwn("samples", after));
  std::vector<Value*> parts;
  for (int64_t f = 0; f < frames; ++f) {
    NN_ASSIGN(Value* const part, Columns(ctx, all, f * step, f * step + frame));
    parts.push_back(part);
  }
  NN_ASSIGN(Value * y, ctx.Add("concat", std::move(parts), ConcatAttrs{1}));
  std::vector<int64_t> dims = s.dims;
  dims.back() = frames;
  dims.push_back(frame);
  NN_ASSIGN(y, ctx.Add("reshape", {y}, ReshapeAttrs{ToDims(dims)}));
  ctx.SetOutput(0, y);
  if (prefill != 0) {
    NN_ASSIGN(TensorBuilder valid, TensorBuilder::Create(DType::kBool, {}));
    valid.SetInt(0, 1);
    ctx.SetOutput(1, ctx.Constant(valid.Finish()));
    return {};
  }
  NN_ASSIGN(Value * count, ctx.ReadOwn("count", Type(DType::kI32, Dims())));
  NN_ASSIGN(Value* const valid, ctx.Add("greater_equal", {count, Int32(ctx, kept)}));
  ctx.SetOutput(1, valid);
  NN_ASSIGN(count, ctx.Add("add", {count, Int32(ctx, s.size)}));
  NN_ASSIGN(count, ctx.Add("minimum", {count, Int32(ctx, kept)}));
  return ctx.AssignOwn("count", count);
}

// The sum of overlapping frames, [..., frames, size].
Status ImportSignalOverlapAdd(ImportContext& ctx) {
  NN_ASSIGN(const CustomMap options, CustomMap::Read(ctx));
  NN_ASSIGN(const Signal s, SignalOf(ctx, {DType::kI16, DType::kF32}));
  NN_ASSIGN(const int64_t step, options.Int("frame_step", 1, s.size));
  if (s.dims.size() < 2) return ModelError("the input has rank 1; expected frames");
  const int64_t frames = s.dims[s.dims.size() - 2];
  if (frames < 1 || frames > kMaxFrames)
    return UnsupportedError("{} frames are unsupported", frames);
  const int64_t rows = s.rows / frames;
  const bool is_integer = s.x->dtype() == DType::kI16;
  NN_ASSIGN(Value* const x,
            ctx.Add("reshape", {s.x}, ReshapeAttrs{{Dim(rows), Dim(frames * s.size)}}));
  NN_ASSIGN(Value * sum, ctx.ReadOwn("sums", Type(s.x->dtype(), {Dim(rows), Dim(s.size)})));
  std::vector<Value*> parts;
  for (int64_t f = 0; f < frames; ++f) {
    NN_ASSIGN(Value * frame, Columns(ctx, x, f * s.size, (f + 1) * s.size));
    if (is_integer) {
      NN_ASSIGN(frame, Cast(ctx, frame, DType::kI32));
      NN_ASSIGN(sum, Cast(ctx, sum, DType::kI32));
    }
    NN_ASSIGN(sum, ctx.Add("add", {sum, frame}));
    if (is_integer) {
      NN_ASSIGN(sum, Saturated(ctx, sum));
    }
    NN_ASSIGN(Value* const part, Columns(ctx, sum, 0, step));
    parts.push_back(part);
    NN_ASSIGN(sum, ctx.Add("pad", {sum}, PadAttrs{{0, -step, 0, step}}));
  }
  NN_RETURN_IF_ERROR(ctx.AssignOwn("sums", sum));
  NN_ASSIGN(Value* const y, ctx.Add("concat", std::move(parts), ConcatAttrs{1}));
  std::vector<int64_t> dims = s.dims;
  dims.pop_back();
  dims.back() = frames * step;
  return ctx.Emit("reshape", {y}, ReshapeAttrs{ToDims(dims)});
}

// Stacks of frames, one for each `stacker_step` frames. The first frame replaces the frames before
// it. A stack that is not valid, which the kernel leaves as it is in memory, is what the buffer
// holds.
Status ImportSignalStacker(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(RequireOutputs(ctx, 2));
  NN_ASSIGN(const CustomMap options, CustomMap::Read(ctx));
  NN_ASSIGN(const Signal s, SignalOf(ctx, {DType::kI16}));
  NN_ASSIGN(const int64_t channels, options.Int("num_channels", s.size, s.size));
  NN_ASSIGN(const int64_t left, options.Int("stacker_left_context", 0, kMaxFrames));
  NN_ASSIGN(const int64_t right, options.Int("stacker_right_context", 0, kMaxFrames));
  const int64_t stack = left + right + 1;
  NN_ASSIGN(const int64_t step, options.Int("stacker_step", 1, stack));
  if (s.rows != 1) return ModelError("the input has {} rows; expected one", s.rows);
  const int64_t size = stack * channels;
  NN_ASSIGN(Value* const before, ctx.ReadOwn("frames", Type(DType::kI16, {Dim(1), Dim(size)})));
  NN_ASSIGN(Value* const count, ctx.ReadOwn("count", Type(DType::kI32, Dims())));
  NN_ASSIGN(Value* const started, ctx.ReadOwn("started", Type(DType::kBool, Dims())));
  // The last `size` samples after `copies` of the frame.
  const auto after = [&](int64_t copies) -> Result<Value*> {
    std::vector<Value*> parts(static_cast<size_t>(copies) + 1, s.x);
    parts[0] = before;
    NN_ASSIGN(Value* const all, ctx.Add("concat", std::move(parts), ConcatAttrs{1}));
    return Columns(ctx, all, copies * channels, copies * channels + size);
  };
  NN_ASSIGN(Value* const next, after(1));
  NN_ASSIGN(Value* const first, after(left + 1));
  NN_ASSIGN(Value* const frames, ctx.Add("select", {started, next, first}));
  NN_RETURN_IF_ERROR(ctx.AssignOwn("frames", frames));
  NN_ASSIGN(Value * more, ctx.Add("select", {started, Int32(ctx, 1), Int32(ctx, left + 1)}));
  NN_ASSIGN(more, ctx.Add("add", {count, more}));
  NN_ASSIGN(Value* const valid, ctx.Add("greater_equal", {more, Int32(ctx, stack)}));
  NN_ASSIGN(Value* const rest, ctx.Add("sub", {more, Int32(ctx, step)}));
  NN_ASSIGN(Value* const left_over, ctx.Add("select", {valid, rest, more}));
  NN_RETURN_IF_ERROR(ctx.AssignOwn("count", left_over));
  NN_ASSIGN(TensorBuilder yes, TensorBuilder::Create(DType::kBool, {}));
  yes.SetInt(0, 1);
  NN_RETURN_IF_ERROR(ctx.AssignOwn("started", ctx.Constant(yes.Finish())));
  NN_ASSIGN(Value* const y, ctx.Add("reshape", {frames}, ReshapeAttrs{{Dim(size)}}));
  ctx.SetOutput(0, y);
  ctx.SetOutput(1, valid);
  return {};
}

constexpr ImportRow kSignalImports[] = {
    {.op = Op::CUSTOM, .import = ImportSignalWindow, .custom = "SignalWindow"},
    {.op = Op::CUSTOM, .import = ImportSignalEnergy, .custom = "SignalEnergy"},
    {.op = Op::CUSTOM, .import = ImportSignalAutoScale, .custom = "SignalFftAutoScale"},
    {.op = Op::CUSTOM, .import = ImportSignalDelay, .custom = "SignalDelay"},
    {.op = Op::CUSTOM, .import = ImportSignalFramer, .custom = "SignalFramer"},
    {.op = Op::CUSTOM, .import = ImportSignalOverlapAdd, .custom = "SignalOverlapAdd"},
    {.op = Op::CUSTOM, .import = ImportSignalStacker, .custom = "SignalStacker"},
};

}  // namespace

Family SignalFamily() {
  return {.imports = kSignalImports};
}

}  // namespace nn::tflite
