// Rules of operators: how many tensors they take and give, and their options.
#include <algorithm>

#include "validators/tflite/rules.h"

namespace nn::tflite {
namespace {

using Op = fb::BuiltinOperator;
using Options = fb::BuiltinOptions;

struct Signature {
  Op op;
  int min_inputs;
  int max_inputs;  // -1: any number
  int outputs;     // -1: any number
  Options options = Options::NONE;
  bool needs_options = false;  // its defaults make no sense: no padding, a stride of 0
};

constexpr Signature kSignatures[] = {
    {Op::ADD, 2, 2, 1, Options::AddOptions},
    {Op::AVERAGE_POOL_2D, 1, 1, 1, Options::Pool2DOptions, true},
    {Op::CONCATENATION, 1, -1, 1, Options::ConcatenationOptions},
    {Op::CONV_2D, 2, 3, 1, Options::Conv2DOptions, true},
    {Op::DEPTHWISE_CONV_2D, 2, 3, 1, Options::DepthwiseConv2DOptions, true},
    {Op::DEPTH_TO_SPACE, 1, 1, 1, Options::DepthToSpaceOptions, true},
    {Op::DEQUANTIZE, 1, 1, 1, Options::DequantizeOptions},
    {Op::EMBEDDING_LOOKUP, 2, 2, 1},
    {Op::FLOOR, 1, 1, 1},
    {Op::FULLY_CONNECTED, 2, 3, -1, Options::FullyConnectedOptions},
    {Op::L2_NORMALIZATION, 1, 1, 1, Options::L2NormOptions},
    {Op::L2_POOL_2D, 1, 1, 1, Options::Pool2DOptions, true},
    {Op::LOCAL_RESPONSE_NORMALIZATION, 1, 1, 1, Options::LocalResponseNormalizationOptions},
    {Op::LOGISTIC, 1, 1, 1},
    {Op::MAX_POOL_2D, 1, 1, 1, Options::Pool2DOptions, true},
    {Op::MUL, 2, 2, 1, Options::MulOptions},
    {Op::RELU, 1, 1, 1},
    {Op::RELU_N1_TO_1, 1, 1, 1},
    {Op::RELU6, 1, 1, 1},
    {Op::RESHAPE, 1, 2, 1, Options::ReshapeOptions},
    {Op::RESIZE_BILINEAR, 2, 2, 1, Options::ResizeBilinearOptions},
    {Op::SOFTMAX, 1, 1, 1, Options::SoftmaxOptions},
    {Op::SPACE_TO_DEPTH, 1, 1, 1, Options::SpaceToDepthOptions, true},
    {Op::TANH, 1, 1, 1},
    {Op::PAD, 2, 2, 1, Options::PadOptions},
    {Op::PADV2, 3, 3, 1, Options::PadV2Options},
    {Op::MIRROR_PAD, 2, 2, 1, Options::MirrorPadOptions},
    {Op::GATHER, 2, 2, 1, Options::GatherOptions},
    {Op::GATHER_ND, 2, 2, 1, Options::GatherNdOptions},
    {Op::BATCH_TO_SPACE_ND, 3, 3, 1, Options::BatchToSpaceNDOptions},
    {Op::SPACE_TO_BATCH_ND, 3, 3, 1, Options::SpaceToBatchNDOptions},
    {Op::TRANSPOSE, 2, 2, 1, Options::TransposeOptions},
    {Op::MEAN, 2, 2, 1, Options::ReducerOptions},
    {Op::SUM, 2, 2, 1, Options::ReducerOptions},
    {Op::REDUCE_PROD, 2, 2, 1, Options::ReducerOptions},
    {Op::REDUCE_MAX, 2, 2, 1, Options::ReducerOptions},
    {Op::REDUCE_MIN, 2, 2, 1, Options::ReducerOptions},
    {Op::REDUCE_ANY, 2, 2, 1, Options::ReducerOptions},
    {Op::REDUCE_ALL, 2, 2, 1, Options::ReducerOptions},
    {Op::SUB, 2, 2, 1, Options::SubOptions},
    {Op::DIV, 2, 2, 1, Options::DivOptions},
    {Op::SQUEEZE, 1, 1, 1, Options::SqueezeOptions},
    {Op::STRIDED_SLICE, 4, 5, 1, Options::StridedSliceOptions},
    {Op::SLICE, 3, 3, 1, Options::SliceOptions},
    {Op::EXP, 1, 1, 1, Options::ExpOptions},
    {Op::LOG, 1, 1, 1},
    {Op::SIN, 1, 1, 1},
    {Op::COS, 1, 1, 1, Options::CosOptions},
    {Op::SQRT, 1, 1, 1},
    {Op::RSQRT, 1, 1, 1},
    {Op::NEG, 1, 1, 1, Options::NegOptions},
    {Op::ABS, 1, 1, 1, Options::AbsOptions},
    {Op::SQUARE, 1, 1, 1, Options::SquareOptions},
    {Op::CEIL, 1, 1, 1},
    {Op::ROUND, 1, 1, 1},
    {Op::ELU, 1, 1, 1},
    {Op::HARD_SWISH, 1, 1, 1, Options::HardSwishOptions},
    {Op::LEAKY_RELU, 1, 1, 1, Options::LeakyReluOptions},
    {Op::PRELU, 2, 2, 1},
    {Op::GELU, 1, 1, 1, Options::GeluOptions},
    {Op::LOG_SOFTMAX, 1, 1, 1, Options::LogSoftmaxOptions},
    {Op::SPLIT, 2, 2, -1, Options::SplitOptions},
    {Op::SPLIT_V, 3, 3, -1, Options::SplitVOptions},
    {Op::CAST, 1, 1, 1, Options::CastOptions},
    {Op::MAXIMUM, 2, 2, 1, Options::MaximumMinimumOptions},
    {Op::MINIMUM, 2, 2, 1, Options::MaximumMinimumOptions},
    {Op::ARG_MAX, 2, 2, 1, Options::ArgMaxOptions},
    {Op::ARG_MIN, 2, 2, 1, Options::ArgMinOptions},
    {Op::LESS, 2, 2, 1, Options::LessOptions},
    {Op::LESS_EQUAL, 2, 2, 1, Options::LessEqualOptions},
    {Op::GREATER, 2, 2, 1, Options::GreaterOptions},
    {Op::GREATER_EQUAL, 2, 2, 1, Options::GreaterEqualOptions},
    {Op::EQUAL, 2, 2, 1, Options::EqualOptions},
    {Op::NOT_EQUAL, 2, 2, 1, Options::NotEqualOptions},
    {Op::LOGICAL_AND, 2, 2, 1, Options::LogicalAndOptions},
    {Op::LOGICAL_OR, 2, 2, 1, Options::LogicalOrOptions},
    {Op::LOGICAL_NOT, 1, 1, 1, Options::LogicalNotOptions},
    {Op::SELECT, 3, 3, 1, Options::SelectOptions},
    {Op::SELECT_V2, 3, 3, 1, Options::SelectV2Options},
    {Op::TRANSPOSE_CONV, 3, 4, 1, Options::TransposeConvOptions, true},
    {Op::TILE, 2, 2, 1, Options::TileOptions},
    {Op::EXPAND_DIMS, 2, 2, 1, Options::ExpandDimsOptions},
    {Op::TOPK_V2, 2, 2, 2, Options::TopKV2Options},
    {Op::POW, 2, 2, 1, Options::PowOptions},
    {Op::FLOOR_DIV, 2, 2, 1, Options::FloorDivOptions},
    {Op::FLOOR_MOD, 2, 2, 1, Options::FloorModOptions},
    {Op::SHAPE, 1, 1, 1, Options::ShapeOptions},
    {Op::RANK, 1, 1, 1, Options::RankOptions},
    {Op::RANGE, 3, 3, 1, Options::RangeOptions},
    {Op::FILL, 2, 2, 1, Options::FillOptions},
    {Op::PACK, 1, -1, 1, Options::PackOptions, true},
    {Op::UNPACK, 1, 1, -1, Options::UnpackOptions, true},
    {Op::ONE_HOT, 4, 4, 1, Options::OneHotOptions},
    {Op::QUANTIZE, 1, 1, 1, Options::QuantizeOptions},
    {Op::RESIZE_NEAREST_NEIGHBOR, 2, 2, 1, Options::ResizeNearestNeighborOptions},
    {Op::BATCH_MATMUL, 2, 2, 1, Options::BatchMatMulOptions},
    {Op::BROADCAST_TO, 2, 2, 1, Options::BroadcastToOptions},
    {Op::CONV_3D, 2, 3, 1, Options::Conv3DOptions, true},
    {Op::REVERSE_V2, 2, 2, 1, Options::ReverseV2Options},
    {Op::CUMSUM, 2, 2, 1, Options::CumsumOptions},
};

const Signature* SignatureOf(const OperatorAt& at) {
  if (at.code == nullptr) return nullptr;
  const Op op = OperatorOf(*at.code);
  for (const Signature& s : kSignatures)
    if (s.op == op) return &s;
  return nullptr;
}

void InputCount(const Subject& s, Findings& f) {
  for (const OperatorAt& at : s.operators()) {
    const Signature* sig = SignatureOf(at);
    const int64_t n = SizeOf(at.op->inputs());
    if (sig == nullptr || (n >= sig->min_inputs && (sig->max_inputs < 0 || n <= sig->max_inputs)))
      continue;
    f.Add(Where(at, "inputs"), "{} has {} inputs; it takes {}{}", Title(at), n, sig->min_inputs,
          sig->max_inputs < 0                  ? " or more"
          : sig->max_inputs == sig->min_inputs ? ""
                                               : fmt::format(" to {}", sig->max_inputs));
  }
}

void OutputCount(const Subject& s, Findings& f) {
  for (const OperatorAt& at : s.operators()) {
    const Signature* sig = SignatureOf(at);
    const int64_t n = SizeOf(at.op->outputs());
    if (sig != nullptr && sig->outputs >= 0 && n != sig->outputs)
      f.Add(Where(at, "outputs"), "{} has {} outputs; it gives {}", Title(at), n, sig->outputs);
  }
}

void OptionsOfOperator(const Subject& s, Findings& f) {
  for (const OperatorAt& at : s.operators()) {
    const Signature* sig = SignatureOf(at);
    const Options type = at.op->builtin_options_type();
    if (sig == nullptr || type == Options::NONE || sig->options == Options::NONE) continue;
    if (type != sig->options)
      f.Add(Where(at, "builtin_options"), "{} has options {} instead of {}", Title(at),
            fb::EnumNameBuiltinOptions(type), fb::EnumNameBuiltinOptions(sig->options));
  }
}

void OptionsPresent(const Subject& s, Findings& f) {
  for (const OperatorAt& at : s.operators()) {
    const Signature* sig = SignatureOf(at);
    if (sig != nullptr && sig->needs_options && at.op->builtin_options() == nullptr)
      f.Add(Where(at, "builtin_options"), "{} has no {}", Title(at),
            fb::EnumNameBuiltinOptions(sig->options));
  }
}

template <typename Table>
void CheckStrides(Findings& f, const OperatorAt& at, const Table* options) {
  if (options != nullptr && (options->stride_w() <= 0 || options->stride_h() <= 0))
    f.Add(Where(at, "builtin_options"), "{} has strides {} and {}", Title(at), options->stride_h(),
          options->stride_w());
}

void StridesPositive(const Subject& s, Findings& f) {
  for (const OperatorAt& at : s.operators()) {
    CheckStrides(f, at, at.op->builtin_options_as_Conv2DOptions());
    CheckStrides(f, at, at.op->builtin_options_as_DepthwiseConv2DOptions());
    CheckStrides(f, at, at.op->builtin_options_as_TransposeConvOptions());
    const auto* pool = at.op->builtin_options_as_Pool2DOptions();
    CheckStrides(f, at, pool);
    if (pool != nullptr && (pool->filter_width() <= 0 || pool->filter_height() <= 0))
      f.Add(Where(at, "builtin_options"), "{} has a window of {} x {}", Title(at),
            pool->filter_height(), pool->filter_width());
  }
}

constexpr Rule kRules[] = {
    {{"TFLITE-OP-001", Severity::kError, "An operator has as many inputs as it takes.",
      "schema.fbs, BuiltinOperator", true, ""},
     InputCount},
    {{"TFLITE-OP-002", Severity::kError, "An operator has as many outputs as it gives.",
      "schema.fbs, BuiltinOperator", true, ""},
     OutputCount},
    {{"TFLITE-OP-003", Severity::kError, "The options are those of the operator.",
      "schema.fbs, BuiltinOptions", true, ""},
     OptionsOfOperator},
    {{"TFLITE-OP-004", Severity::kError, "Operators that cannot do without options have them.",
      "schema.fbs, BuiltinOptions", true, ""},
     OptionsPresent},
    {{"TFLITE-OP-005", Severity::kError, "Strides and windows are positive.",
      "schema.fbs, Conv2DOptions", true, ""},
     StridesPositive},
};

}  // namespace

std::span<const Rule> OperatorRules() {
  return kRules;
}

}  // namespace nn::tflite
