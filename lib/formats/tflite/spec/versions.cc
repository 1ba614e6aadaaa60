#include "formats/tflite/spec/versions.h"

#include <algorithm>

namespace nn::tflite {
namespace {

using Op = fb::BuiltinOperator;

// The version needed for an element type of input `input`; 1 for types not listed.
struct VersionRow {
  Op op;
  size_t input;
  std::initializer_list<std::pair<DType, int32_t>> versions;
};

const VersionRow* FindTypes(Op op) {
  using enum DType;
  static const VersionRow rows[] = {
      {Op::ABS, 0, {{kI8, 2}, {kU8, 2}, {kI16, 4}, {kI32, 5}}},
      {Op::ADD, 0, {{kI8, 2}, {kI64, 4}, {kI16, 5}, {kF16, 6}}},
      {Op::ARG_MAX, 0, {{kI8, 2}, {kBool, 3}}},
      {Op::ARG_MIN, 0, {{kI8, 2}, {kBool, 3}}},
      {Op::AVERAGE_POOL_2D, 0, {{kI8, 2}, {kI16, 3}}},
      {Op::BATCH_MATMUL, 0, {{kI8, 2}, {kI16, 3}}},
      {Op::BATCH_TO_SPACE_ND, 0, {{kI8, 2}, {kI16, 4}}},
      {Op::CONCATENATION, 0, {{kI8, 2}, {kI16, 3}, {kU32, 4}, {kI4, 5}, {kF16, 6}}},
      {Op::CONV_2D, 0, {{kI8, 3}, {kI16, 4}}},
      {Op::COS, 0, {{kF16, 2}}},
      {Op::DEPTHWISE_CONV_2D, 0, {{kI8, 3}, {kI16, 5}}},
      {Op::DEPTH_TO_SPACE, 0, {{kI8, 2}}},
      {Op::DEQUANTIZE, 0, {{kI8, 2}, {kI16, 3}, {kF16, 3}, {kI4, 6}, {kI2, 7}, {kU4, 8}}},
      {Op::EQUAL, 0, {{kI8, 2}, {kString, 3}, {kI16, 5}}},
      {Op::EXP, 0, {{kI8, 2}, {kI16, 2}}},
      {Op::FILL, 1, {{kBool, 2}, {kString, 2}, {kI8, 3}, {kI16, 3}, {kF16, 4}}},
      {Op::FLOOR_DIV, 0, {{kF32, 2}, {kI8, 3}, {kI16, 3}}},
      {Op::FLOOR_MOD, 0, {{kI8, 2}, {kI16, 2}}},
      {Op::FULLY_CONNECTED, 0, {{kI8, 4}, {kI16, 7}}},
      {Op::GATHER, 0, {{kI8, 2}, {kBool, 3}, {kI16, 4}, {kI4, 7}}},
      {Op::GATHER_ND, 0, {{kString, 2}, {kI16, 3}, {kBool, 5}}},
      {Op::GELU, 0, {{kI8, 2}, {kU8, 2}, {kF16, 3}}},
      {Op::GREATER, 0, {{kI8, 2}}},
      {Op::GREATER_EQUAL, 0, {{kI8, 2}, {kI16, 3}}},
      {Op::L2_NORMALIZATION, 0, {{kI8, 2}}},
      {Op::LEAKY_RELU, 0, {{kI16, 2}}},
      {Op::LESS, 0, {{kI8, 2}, {kI16, 3}}},
      {Op::LESS_EQUAL, 0, {{kI8, 2}}},
      {Op::LOG, 0, {{kI8, 2}, {kI16, 2}}},
      {Op::LOGISTIC, 0, {{kI8, 2}, {kI16, 3}}},
      {Op::LOG_SOFTMAX, 0, {{kI8, 2}}},
      {Op::MAXIMUM, 0, {{kI8, 2}, {kI16, 4}}},
      {Op::MAX_POOL_2D, 0, {{kI8, 2}, {kI16, 3}}},
      {Op::MEAN, 0, {{kI8, 2}, {kI16, 3}}},
      {Op::MINIMUM, 0, {{kI8, 2}, {kI16, 4}}},
      {Op::MIRROR_PAD, 0, {{kI8, 2}, {kI16, 3}}},
      {Op::MUL, 0, {{kI8, 2}, {kI16, 4}, {kI64, 5}, {kC64, 6}, {kU32, 7}, {kF16, 8}}},
      {Op::NOT_EQUAL, 0, {{kI8, 2}, {kString, 3}, {kI16, 4}}},
      {Op::PACK, 0, {{kI8, 2}, {kI16, 3}, {kU32, 4}}},
      {Op::PAD, 0, {{kI8, 2}, {kI16, 3}, {kBool, 5}}},
      {Op::PADV2, 0, {{kI8, 2}, {kI16, 3}, {kBool, 5}}},
      {Op::QUANTIZE, 0, {{kI4, 4}, {kU4, 5}}},
      {Op::RANGE, 0, {{kI64, 2}}},
      {Op::REDUCE_MAX, 0, {{kI8, 2}, {kI16, 3}}},
      {Op::REDUCE_MIN, 0, {{kI8, 2}, {kI16, 3}}},
      {Op::REDUCE_PROD, 0, {{kI8, 2}, {kI16, 2}}},
      {Op::RELU, 0, {{kI8, 2}, {kU8, 2}, {kI16, 3}}},
      {Op::RELU6, 0, {{kI8, 2}, {kI16, 3}}},
      {Op::RESIZE_BILINEAR, 0, {{kI8, 2}, {kI16, 4}}},
      {Op::RESIZE_NEAREST_NEIGHBOR, 0, {{kI8, 2}, {kI16, 4}}},
      {Op::REVERSE_V2, 0, {{kBool, 2}, {kI8, 3}}},
      {Op::RSQRT, 0, {{kI8, 2}, {kI16, 3}}},
      {Op::SELECT, 1, {{kI8, 2}, {kU32, 4}}},
      {Op::SELECT_V2, 1, {{kU32, 2}}},
      {Op::SIGN, 0, {{kI32, 2}}},
      {Op::SIN, 0, {{kF16, 2}}},
      {Op::SLICE, 0, {{kI8, 2}, {kString, 3}, {kI16, 4}, {kU32, 6}, {kI4, 7}, {kF16, 8}}},
      {Op::SOFTMAX, 0, {{kI8, 2}, {kI16, 3}, {kF16, 4}}},
      {Op::SPACE_TO_BATCH_ND, 0, {{kI8, 2}, {kI16, 4}}},
      {Op::SPACE_TO_DEPTH, 0, {{kI8, 2}}},
      {Op::SPLIT, 1, {{kI8, 2}, {kI32, 3}, {kI16, 4}}},
      {Op::SPLIT_V, 0, {{kI8, 2}}},
      {Op::SQRT, 0, {{kI8, 2}, {kI16, 2}}},
      {Op::SQUARED_DIFFERENCE, 0, {{kI8, 2}}},
      {Op::SQUEEZE, 0, {{kString, 2}}},
      {Op::STRIDED_SLICE, 0, {{kI8, 2}, {kBool, 3}, {kString, 5}, {kU32, 7}}},
      {Op::SUB, 0, {{kI8, 2}, {kI64, 4}, {kI16, 5}}},
      {Op::SUM, 0, {{kI8, 2}}},
      {Op::SVDF, 0, {{kI8, 3}}},
      {Op::TANH, 0, {{kI8, 2}, {kI16, 3}}},
      {Op::TILE, 0, {{kString, 2}, {kI8, 3}}},
      {Op::TOPK_V2, 0, {{kI8, 2}}},
      {Op::TRANSPOSE, 0, {{kI8, 2}, {kBool, 3}, {kI16, 5}, {kI4, 7}, {kBF16, 8}, {kF16, 9}}},
      {Op::TRANSPOSE_CONV, 1, {{kI8, 2}}},
      {Op::UNPACK, 0, {{kI8, 2}, {kU8, 2}, {kBool, 3}, {kI16, 4}, {kF16, 5}, {kBF16, 5}}},
  };
  for (const VersionRow& row : rows)
    if (row.op == op) return &row;
  return nullptr;
}

int Rank(const Type& t) {
  return t.ranked() ? t.rank() : 0;
}

int32_t TypeVersion(Op op, std::span<const Type> inputs) {
  const VersionRow* row = FindTypes(op);
  if (row == nullptr || row->input >= inputs.size()) return 1;
  for (const auto& [dtype, version] : row->versions)
    if (dtype == inputs[row->input].dtype) return version;
  return 1;
}

bool Quantized(const Type& t) {
  return t.quantized();
}

// Broadcasting on more axes than the first kernels supported.
bool WideBroadcast(std::span<const Type> inputs) {
  return inputs.size() == 2 && inputs[0].dims != inputs[1].dims &&
         std::max(Rank(inputs[0]), Rank(inputs[1])) > 4;
}

bool PerAxis(const Type& t) {
  return t.quantized() && t.quant->per_axis();
}

// 16-bit inputs with a 32-bit bias, whose type is an option.
bool NarrowBias(std::span<const Type> in, size_t x, size_t bias) {
  return bias < in.size() && in[x].dtype == DType::kI16 && in[bias].dtype == DType::kI32;
}

// The version of a hybrid kernel of 8-bit weights: with one scale, and with several.
int32_t HybridVersion(Op op, const Type& weights, const VersionTraits& traits) {
  if (weights.dtype != DType::kI8) return 1;
  const bool several = PerAxis(weights) && weights.quant->scales.size() > 1;
  switch (op) {
    case Op::BATCH_MATMUL:
      return traits.asymmetric_inputs ? 4 : 1;
    case Op::CONV_2D:
      return several ? 5 : 2;
    case Op::DEPTHWISE_CONV_2D:
      return several ? 6 : 4;
    case Op::FULLY_CONNECTED:
      if (several) return 12;
      return traits.asymmetric_inputs ? 9 : 3;
    default:
      return 1;
  }
}

int32_t DotVersion(Op op, std::span<const Type> in, const VersionTraits& traits) {
  switch (op) {
    case Op::CONV_2D:
      if (NarrowBias(in, 0, 2)) return 8;
      if (traits.grouped) return 6;
      return in[1].dtype == DType::kI4 ? 7 : 1;
    case Op::DEPTHWISE_CONV_2D:
      if (in[1].dtype == DType::kI4) return 7;
      return traits.dilated ? 2 : 1;
    case Op::FULLY_CONNECTED:
      if (in[1].dtype == DType::kI2) return 14;
      if (in[1].dtype == DType::kI4) return in[0].dtype == DType::kI16 ? 13 : 10;
      if (NarrowBias(in, 0, 2)) return 11;
      if (in.size() == 2) return 6;
      return traits.keep_num_dims ? 5 : 1;
    case Op::TRANSPOSE_CONV:
      if (NarrowBias(in, 2, 3)) return 5;
      if (traits.activation) return 4;
      return in.size() == 4 ? 3 : 1;
    default:
      return 1;
  }
}

int32_t CastVersion(DType from, DType to) {
  using enum DType;
  const auto touches = [&](DType t) { return from == t || to == t; };
  if (touches(kF8E4M3FN) || touches(kF8E5M2)) return 9;
  if (touches(kI2) || touches(kU4)) return 8;
  if (touches(kBF16)) return 7;
  if (touches(kI4)) return 6;
  if (touches(kF64) || touches(kF16)) return 5;
  if (touches(kU16)) return 4;
  if (touches(kI8)) return 3;
  return touches(kU32) ? 2 : 1;
}

}  // namespace

int32_t VersionOf(Op op, std::span<const Type> in, std::span<const Type> out,
                  const VersionTraits& traits) {
  int32_t v = std::max(TypeVersion(op, in), DotVersion(op, in, traits));
  if (in.size() > 1 && in[0].dtype == DType::kF32)
    v = std::max(v, HybridVersion(op, in[1], traits));
  const auto at_least = [&](bool needed, int32_t version) {
    if (needed) v = std::max(v, version);
  };
  switch (op) {
    case Op::ABS:
      if (in[0].dtype == DType::kI16 && Quantized(in[0])) return 3;
      break;
    case Op::ADD:
      if (in[0].dtype == DType::kI16 && Quantized(in[0])) return 3;
      break;
    case Op::BIDIRECTIONAL_SEQUENCE_LSTM:
      at_least(traits.batch_first, 2);
      break;
    case Op::UNIDIRECTIONAL_SEQUENCE_LSTM:
      at_least(in[0].dtype == DType::kF32 && in[2].dtype == DType::kI8,
               traits.asymmetric_inputs ? 3 : 2);
      break;
    case Op::BROADCAST_TO:
      return in[0].dtype == DType::kI8 || in[0].dtype == DType::kI16 ? 3 : 2;
    case Op::CAST:
      return CastVersion(in[0].dtype, out[0].dtype);
    case Op::WHERE:
      return in[0].dtype == DType::kBool ? 1 : 2;
    case Op::MUL:
      at_least(in[0].dtype == DType::kI16 && !Quantized(in[0]), 7);
      at_least(Quantized(in[0]) && Quantized(in[1]) && Quantized(out[0]) &&
                   in[0].quant->scale() * in[1].quant->scale() / out[0].quant->scale() >= 1.0f,
               3);
      break;
    case Op::SUB:
    case Op::MAXIMUM:
    case Op::MINIMUM:
      at_least(WideBroadcast(in), 3);
      break;
    case Op::DIV:
      at_least(WideBroadcast(in), 2);
      break;
    case Op::DEQUANTIZE:
      at_least(PerAxis(in[0]), 5);
      break;
    case Op::QUANTIZE:
      at_least(out[0].dtype == DType::kI16, 2);
      at_least(PerAxis(out[0]), 3);
      at_least(out[0].dtype == DType::kI4, 4);
      at_least(out[0].dtype == DType::kU4, 5);
      break;
    case Op::GATHER:
      at_least(traits.batch_dims, 5);
      at_least(in[1].dtype == DType::kI16, 6);
      break;
    case Op::GATHER_ND:
      at_least(in[1].dtype == DType::kI16, 4);
      break;
    case Op::PAD:
    case Op::PADV2:
      at_least(Rank(in[0]) > 4, 4);
      break;
    case Op::RESIZE_BILINEAR:
      at_least(traits.half_pixel, 3);
      break;
    case Op::RESIZE_NEAREST_NEIGHBOR:
      at_least(traits.half_pixel || traits.align_corners, 3);
      break;
    case Op::SELECT:
      at_least(Rank(out[0]) > 4, 3);
      break;
    case Op::SLICE:
      at_least(Rank(in[0]) > 4, 5);
      break;
    case Op::STRIDED_SLICE:
      at_least(Rank(in[0]) > 4, 4);
      break;
    case Op::SPACE_TO_BATCH_ND:
    case Op::BATCH_TO_SPACE_ND:
      at_least(Rank(in[0]) != 4, 3);
      break;
    case Op::TRANSPOSE:
      at_least(Rank(in[0]) > 4, 4);
      at_least(Rank(in[0]) > 5, 6);
      at_least(Rank(in[0]) > 6, 8);
      break;
    default:
      break;
  }
  return v;
}

}  // namespace nn::tflite
