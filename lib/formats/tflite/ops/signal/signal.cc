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
#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/reduce/reduce.h"
#include "ops/support/term_ops.h"

namespace nn::tflite {

// ==== From TensorFlow Lite =======================================================================

namespace {

// Limit of TensorFlow Lite: samples and rows of the input of a signal operator.
constexpr int64_t kMaxSignal = 1 << 20;
// Limit of TensorFlow Lite: frames of SignalFramer, SignalOverlapAdd and SignalStacker. Each is an
// operator.
constexpr int64_t kMaxFrames = 1 << 10;

// An i32 limited to i16.
Term Saturated(Term v) {
  using Limits = std::numeric_limits<int16_t>;
  return Cast(Minimum(Maximum(std::move(v), Limits::min()), Limits::max()), DType::kI16);
}

Term Columns(Term v, int64_t begin, int64_t end) {
  return Slice(std::move(v), 1, begin, end);
}

// Input 0 as a matrix of its last axis, with a constant shape.
struct Signal {
  Term x;
  std::vector<int64_t> dims;  // before
  int64_t rows = 1, size = 0;
};

Result<Signal> SignalOf(const ImportContext& ctx, std::initializer_list<DType> types) {
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
  s.x = Reshape(x, {Dim(s.rows), Dim(s.size)});
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
  Value* const window = ctx.input(1);
  if (window->dtype() != DType::kI16 || window->type().dims != Dims{Dim(s.size)})
    return UnsupportedError("a window of type {} for frames of {} is unsupported",
                            window->type().ToString(), s.size);
  const Term product = Cast(s.x, DType::kI32) * Cast(window, DType::kI32);
  return ctx.Emit("reshape", {Saturated(ShiftRight(product, shift))}, ReshapeAttrs{ToDims(s.dims)});
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
  const Term x = Cast(Reshape(s.x, {Dim(count), Dim(2)}), DType::kI64);
  const Term energies = Slice(ReduceSum(x * x, {1}, false), 0, start, end);
  return ctx.Emit("cast", {Apply("pad", {energies}, PadAttrs{{start, count - end}})},
                  CastAttrs{DType::kU32});
}

// Shifts samples to the left as far as the largest magnitude allows. -32768, which the kernel's
// int16_t cannot negate, has the magnitude 32768.
Status ImportSignalAutoScale(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(RequireOutputs(ctx, 2));
  NN_ASSIGN(const Signal s, SignalOf(ctx, {DType::kI16}));
  const Term x = Cast(s.x, DType::kI32);
  const Term largest = Apply("reduce_max", {Apply("abs", {x})}, ReduceAttrs{{0, 1}, false});
  std::vector<int32_t> powers;
  for (int k = 0; k < 15; ++k) powers.push_back(1 << k);
  const Term bits =
      ReduceSum(Cast(Less(largest, Tensor::Of({15}, powers)), DType::kI32), {0}, false);
  const Term y = Cast(x * ShiftLeft(1, bits), DType::kI16);
  return ctx.EmitTerms({Reshape(y, ToDims(s.dims)), bits});
}

// The samples of `delay_length` samples ago.
Status ImportSignalDelay(ImportContext& ctx) {
  NN_ASSIGN(const CustomMap options, CustomMap::Read(ctx));
  NN_ASSIGN(const int64_t delay, options.Int("delay_length", 0, kMaxSignal));
  NN_ASSIGN(const Signal s, SignalOf(ctx, {DType::kI16}));
  NN_ASSIGN(Value* const before,
            ctx.ReadOwn("samples", Type(DType::kI16, {Dim(s.rows), Dim(delay)})));
  const Term all = Concat({before, s.x}, 1);
  NN_RETURN_IF_ERROR(ctx.AssignOwn("samples", Columns(all, s.size, s.size + delay)));
  return ctx.Emit("reshape", {Columns(all, 0, s.size)}, ReshapeAttrs{ToDims(s.dims)});
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
  const Term all = Concat({before, s.x}, 1);
  NN_RETURN_IF_ERROR(ctx.AssignOwn("samples", Columns(all, s.size, s.size + kept)));
  std::vector<Term> parts;
  for (int64_t f = 0; f < frames; ++f) parts.push_back(Columns(all, f * step, f * step + frame));
  std::vector<int64_t> dims = s.dims;
  dims.back() = frames;
  dims.push_back(frame);
  const Term y = Reshape(Apply("concat", std::move(parts), ConcatAttrs{1}), ToDims(dims));
  if (prefill != 0) return ctx.EmitTerms({y, Tensor::Scalar(true)});
  NN_ASSIGN(const Term count, ctx.ReadOwn("count", Type(DType::kI32, Dims())));
  NN_RETURN_IF_ERROR(ctx.EmitTerms({y, Apply("greater_equal", {count, kept})}));
  return ctx.AssignOwn("count", Minimum(count + s.size, kept));
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
  const DType dtype = ctx.input(0)->dtype();
  const Term x = Reshape(s.x, {Dim(rows), Dim(frames * s.size)});
  NN_ASSIGN(Value * sum, ctx.ReadOwn("sums", Type(dtype, {Dim(rows), Dim(s.size)})));
  std::vector<Term> parts;
  for (int64_t f = 0; f < frames; ++f) {
    const Term frame = Columns(x, f * s.size, (f + 1) * s.size);
    const Term next = dtype == DType::kI16
                          ? Saturated(Cast(sum, DType::kI32) + Cast(frame, DType::kI32))
                          : sum + frame;
    parts.push_back(Columns(next, 0, step));
    NN_ASSIGN(sum, ctx.Add("pad", {next}, PadAttrs{{0, -step, 0, step}}));
  }
  NN_RETURN_IF_ERROR(ctx.AssignOwn("sums", sum));
  std::vector<int64_t> dims = s.dims;
  dims.pop_back();
  dims.back() = frames * step;
  return ctx.Emit("reshape", {Apply("concat", std::move(parts), ConcatAttrs{1})},
                  ReshapeAttrs{ToDims(dims)});
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
  const auto after = [&](int64_t copies) {
    std::vector<Term> parts(static_cast<size_t>(copies) + 1, s.x);
    parts[0] = before;
    return Columns(Concat(std::move(parts), 1), copies * channels, copies * channels + size);
  };
  const Term frames = Select(started, after(1), after(left + 1));
  const auto number = [](int64_t v) { return Tensor::Scalar(static_cast<int32_t>(v)); };
  const Term more = count + Select(started, number(1), number(left + 1));
  const Term valid = Apply("greater_equal", {more, stack});
  NN_RETURN_IF_ERROR(ctx.AssignOwn("frames", frames));
  NN_RETURN_IF_ERROR(ctx.AssignOwn("count", Select(valid, more - step, more)));
  NN_RETURN_IF_ERROR(ctx.AssignOwn("started", Tensor::Scalar(true)));
  return ctx.EmitTerms({Reshape(frames, {Dim(size)}), valid});
}

constexpr ImportRow kSignalImports[] = {
    {.op = Op::CUSTOM, .import = ImportSignalWindow, .inputs = "-r", .custom = "SignalWindow"},
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
