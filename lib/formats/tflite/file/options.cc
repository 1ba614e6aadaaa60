#include "formats/tflite/file/options.h"

#include <flatbuffers/reflection.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "base/sha256.h"
#include "base/text/text.h"
#include "ir/types/type.h"
#include "tflite/tflite_bfbs_generated.h"

namespace nn::tflite {
const reflection::Schema& Schema() {
  return *reflection::GetSchema(fb::ModelBinarySchema::data());
}

namespace {

using Op = fb::BuiltinOperator;
using Kind = fb::BuiltinOptions;

struct Row {
  Op op;
  Kind kind;
};

// Operators that are not listed have no options.
constexpr Row kOptions[] = {
    {Op::ADD, Kind::AddOptions},
    {Op::AVERAGE_POOL_2D, Kind::Pool2DOptions},
    {Op::CONCATENATION, Kind::ConcatenationOptions},
    {Op::CONV_2D, Kind::Conv2DOptions},
    {Op::DEPTHWISE_CONV_2D, Kind::DepthwiseConv2DOptions},
    {Op::DEPTH_TO_SPACE, Kind::DepthToSpaceOptions},
    {Op::DEQUANTIZE, Kind::DequantizeOptions},
    {Op::FULLY_CONNECTED, Kind::FullyConnectedOptions},
    {Op::L2_NORMALIZATION, Kind::L2NormOptions},
    {Op::L2_POOL_2D, Kind::Pool2DOptions},
    {Op::LOCAL_RESPONSE_NORMALIZATION, Kind::LocalResponseNormalizationOptions},
    {Op::LSH_PROJECTION, Kind::LSHProjectionOptions},
    {Op::LSTM, Kind::LSTMOptions},
    {Op::MAX_POOL_2D, Kind::Pool2DOptions},
    {Op::MUL, Kind::MulOptions},
    {Op::RESHAPE, Kind::ReshapeOptions},
    {Op::RESIZE_BILINEAR, Kind::ResizeBilinearOptions},
    {Op::RNN, Kind::RNNOptions},
    {Op::SOFTMAX, Kind::SoftmaxOptions},
    {Op::SPACE_TO_DEPTH, Kind::SpaceToDepthOptions},
    {Op::SVDF, Kind::SVDFOptions},
    {Op::CONCAT_EMBEDDINGS, Kind::ConcatEmbeddingsOptions},
    {Op::SKIP_GRAM, Kind::SkipGramOptions},
    {Op::CALL, Kind::CallOptions},
    {Op::EMBEDDING_LOOKUP_SPARSE, Kind::EmbeddingLookupSparseOptions},
    {Op::PAD, Kind::PadOptions},
    {Op::UNIDIRECTIONAL_SEQUENCE_RNN, Kind::SequenceRNNOptions},
    {Op::GATHER, Kind::GatherOptions},
    {Op::BATCH_TO_SPACE_ND, Kind::BatchToSpaceNDOptions},
    {Op::SPACE_TO_BATCH_ND, Kind::SpaceToBatchNDOptions},
    {Op::TRANSPOSE, Kind::TransposeOptions},
    {Op::MEAN, Kind::ReducerOptions},
    {Op::SUB, Kind::SubOptions},
    {Op::DIV, Kind::DivOptions},
    {Op::SQUEEZE, Kind::SqueezeOptions},
    {Op::UNIDIRECTIONAL_SEQUENCE_LSTM, Kind::UnidirectionalSequenceLSTMOptions},
    {Op::STRIDED_SLICE, Kind::StridedSliceOptions},
    {Op::BIDIRECTIONAL_SEQUENCE_RNN, Kind::BidirectionalSequenceRNNOptions},
    {Op::EXP, Kind::ExpOptions},
    {Op::TOPK_V2, Kind::TopKV2Options},
    {Op::SPLIT, Kind::SplitOptions},
    {Op::LOG_SOFTMAX, Kind::LogSoftmaxOptions},
    {Op::BIDIRECTIONAL_SEQUENCE_LSTM, Kind::BidirectionalSequenceLSTMOptions},
    {Op::CAST, Kind::CastOptions},
    {Op::MAXIMUM, Kind::MaximumMinimumOptions},
    {Op::ARG_MAX, Kind::ArgMaxOptions},
    {Op::MINIMUM, Kind::MaximumMinimumOptions},
    {Op::LESS, Kind::LessOptions},
    {Op::NEG, Kind::NegOptions},
    {Op::PADV2, Kind::PadV2Options},
    {Op::GREATER, Kind::GreaterOptions},
    {Op::GREATER_EQUAL, Kind::GreaterEqualOptions},
    {Op::LESS_EQUAL, Kind::LessEqualOptions},
    {Op::SELECT, Kind::SelectOptions},
    {Op::SLICE, Kind::SliceOptions},
    {Op::TRANSPOSE_CONV, Kind::TransposeConvOptions},
    {Op::SPARSE_TO_DENSE, Kind::SparseToDenseOptions},
    {Op::TILE, Kind::TileOptions},
    {Op::EXPAND_DIMS, Kind::ExpandDimsOptions},
    {Op::EQUAL, Kind::EqualOptions},
    {Op::NOT_EQUAL, Kind::NotEqualOptions},
    {Op::SUM, Kind::ReducerOptions},
    {Op::SHAPE, Kind::ShapeOptions},
    {Op::POW, Kind::PowOptions},
    {Op::ARG_MIN, Kind::ArgMinOptions},
    {Op::FAKE_QUANT, Kind::FakeQuantOptions},
    {Op::REDUCE_PROD, Kind::ReducerOptions},
    {Op::REDUCE_MAX, Kind::ReducerOptions},
    {Op::PACK, Kind::PackOptions},
    {Op::LOGICAL_OR, Kind::LogicalOrOptions},
    {Op::ONE_HOT, Kind::OneHotOptions},
    {Op::LOGICAL_AND, Kind::LogicalAndOptions},
    {Op::LOGICAL_NOT, Kind::LogicalNotOptions},
    {Op::UNPACK, Kind::UnpackOptions},
    {Op::REDUCE_MIN, Kind::ReducerOptions},
    {Op::FLOOR_DIV, Kind::FloorDivOptions},
    {Op::REDUCE_ANY, Kind::ReducerOptions},
    {Op::SQUARE, Kind::SquareOptions},
    {Op::ZEROS_LIKE, Kind::ZerosLikeOptions},
    {Op::FILL, Kind::FillOptions},
    {Op::FLOOR_MOD, Kind::FloorModOptions},
    {Op::RANGE, Kind::RangeOptions},
    {Op::RESIZE_NEAREST_NEIGHBOR, Kind::ResizeNearestNeighborOptions},
    {Op::LEAKY_RELU, Kind::LeakyReluOptions},
    {Op::SQUARED_DIFFERENCE, Kind::SquaredDifferenceOptions},
    {Op::MIRROR_PAD, Kind::MirrorPadOptions},
    {Op::ABS, Kind::AbsOptions},
    {Op::SPLIT_V, Kind::SplitVOptions},
    {Op::UNIQUE, Kind::UniqueOptions},
    {Op::REVERSE_V2, Kind::ReverseV2Options},
    {Op::ADD_N, Kind::AddNOptions},
    {Op::GATHER_ND, Kind::GatherNdOptions},
    {Op::COS, Kind::CosOptions},
    {Op::WHERE, Kind::WhereOptions},
    {Op::RANK, Kind::RankOptions},
    {Op::REVERSE_SEQUENCE, Kind::ReverseSequenceOptions},
    {Op::MATRIX_DIAG, Kind::MatrixDiagOptions},
    {Op::QUANTIZE, Kind::QuantizeOptions},
    {Op::MATRIX_SET_DIAG, Kind::MatrixSetDiagOptions},
    {Op::HARD_SWISH, Kind::HardSwishOptions},
    {Op::IF, Kind::IfOptions},
    {Op::WHILE, Kind::WhileOptions},
    {Op::NON_MAX_SUPPRESSION_V4, Kind::NonMaxSuppressionV4Options},
    {Op::NON_MAX_SUPPRESSION_V5, Kind::NonMaxSuppressionV5Options},
    {Op::SCATTER_ND, Kind::ScatterNdOptions},
    {Op::SELECT_V2, Kind::SelectV2Options},
    {Op::DENSIFY, Kind::DensifyOptions},
    {Op::SEGMENT_SUM, Kind::SegmentSumOptions},
    {Op::BATCH_MATMUL, Kind::BatchMatMulOptions},
    {Op::CUMSUM, Kind::CumsumOptions},
    {Op::CALL_ONCE, Kind::CallOnceOptions},
    {Op::BROADCAST_TO, Kind::BroadcastToOptions},
    {Op::RFFT2D, Kind::Rfft2dOptions},
    {Op::CONV_3D, Kind::Conv3DOptions},
    {Op::HASHTABLE, Kind::HashtableOptions},
    {Op::HASHTABLE_FIND, Kind::HashtableFindOptions},
    {Op::HASHTABLE_IMPORT, Kind::HashtableImportOptions},
    {Op::HASHTABLE_SIZE, Kind::HashtableSizeOptions},
    {Op::REDUCE_ALL, Kind::ReducerOptions},
    {Op::CONV_3D_TRANSPOSE, Kind::Conv3DOptions},
    {Op::VAR_HANDLE, Kind::VarHandleOptions},
    {Op::READ_VARIABLE, Kind::ReadVariableOptions},
    {Op::ASSIGN_VARIABLE, Kind::AssignVariableOptions},
    {Op::RANDOM_STANDARD_NORMAL, Kind::RandomOptions},
    {Op::BUCKETIZE, Kind::BucketizeOptions},
    {Op::RANDOM_UNIFORM, Kind::RandomOptions},
    {Op::MULTINOMIAL, Kind::RandomOptions},
    {Op::GELU, Kind::GeluOptions},
    {Op::DYNAMIC_UPDATE_SLICE, Kind::DynamicUpdateSliceOptions},
    {Op::UNSORTED_SEGMENT_PROD, Kind::UnsortedSegmentProdOptions},
    {Op::UNSORTED_SEGMENT_MAX, Kind::UnsortedSegmentMaxOptions},
    {Op::UNSORTED_SEGMENT_SUM, Kind::UnsortedSegmentSumOptions},
    {Op::ATAN2, Kind::ATan2Options},
    {Op::UNSORTED_SEGMENT_MIN, Kind::UnsortedSegmentMinOptions},
    {Op::SIGN, Kind::SignOptions},
    {Op::BITCAST, Kind::BitcastOptions},
    {Op::BITWISE_XOR, Kind::BitwiseXorOptions},
    {Op::RIGHT_SHIFT, Kind::RightShiftOptions},
};

// The table of the schema with this name; null if there is none.
const reflection::Object* TableNamed(std::string_view name) {
  return Schema().objects()->LookupByKey(fmt::format("nn.tflite.fb.{}", name).c_str());
}

const reflection::Object* TableOf(Kind kind) {
  return TableNamed(fb::EnumNameBuiltinOptions(kind));
}

const reflection::Field* FieldOf(const reflection::Object* table, std::string_view name) {
  return table == nullptr ? nullptr : table->fields()->LookupByKey(std::string(name).c_str());
}

bool IsReal(const reflection::Field& field) {
  return flatbuffers::IsFloat(field.type()->base_type());
}

template <typename T>
void AddScalar(flatbuffers::FlatBufferBuilder& builder, const reflection::Field& field,
               double value) {
  const auto initial = IsReal(field) ? static_cast<T>(field.default_real())
                                     : static_cast<T>(field.default_integer());
  builder.AddElement<T>(field.offset(), static_cast<T>(value), initial);
}

Status AddField(flatbuffers::FlatBufferBuilder& builder, const reflection::Field& field,
                double value) {
  switch (field.type()->base_type()) {
    case reflection::Bool:
    case reflection::UByte:
      AddScalar<uint8_t>(builder, field, value);
      return {};
    case reflection::Byte:
      AddScalar<int8_t>(builder, field, value);
      return {};
    case reflection::Int:
      AddScalar<int32_t>(builder, field, value);
      return {};
    case reflection::Float:
      AddScalar<float>(builder, field, value);
      return {};
    default:
      return InternalError("option {} is not a number", field.name()->str());
  }
}

std::string EnumText(const reflection::Type& type, int64_t value) {
  if (type.index() >= 0) {
    const auto* e = Schema().enums()->Get(static_cast<flatbuffers::uoffset_t>(type.index()));
    if (const auto* v = e->values()->LookupByKey(value)) return v->name()->str();
  }
  return std::to_string(value);
}

std::string VectorText(const flatbuffers::Table& table, const reflection::Field& field,
                       bool in_full) {
  constexpr size_t kShown = 16;
  const auto* list = flatbuffers::GetFieldAnyV(table, field);
  if (list == nullptr) return "[]";
  const reflection::BaseType element = field.type()->element();
  std::string out = "[";
  for (size_t i = 0; i < list->size(); ++i) {
    if (i == kShown && !in_full) {
      out += fmt::format(", ... {} in all", list->size());
      break;
    }
    // The verifier does not check the alignment of elements.
    alignas(8) uint8_t value[8] = {};
    const size_t width = flatbuffers::GetTypeSize(element);
    std::memcpy(value, list->Data() + i * width, std::min(width, sizeof(value)));
    out += i == 0 ? "" : ", ";
    out += flatbuffers::IsFloat(element)
               ? FloatText(static_cast<float>(flatbuffers::GetAnyValueF(element, value)))
               : std::to_string(flatbuffers::GetAnyValueI(element, value));
  }
  return out + "]";
}

std::string FieldText(const flatbuffers::Table& table, const reflection::Field& field,
                      bool in_full) {
  const reflection::Type& type = *field.type();
  switch (type.base_type()) {
    case reflection::Bool:
      return flatbuffers::GetAnyFieldI(table, field) != 0 ? "true" : "false";
    case reflection::Float:
    case reflection::Double:
      return FloatText(static_cast<float>(flatbuffers::GetAnyFieldF(table, field)));
    case reflection::String: {
      const auto* s = flatbuffers::GetFieldS(table, field);
      return Quote(s == nullptr ? std::string_view() : std::string_view(s->c_str(), s->size()));
    }
    case reflection::Vector:
      return VectorText(table, field, in_full);
    default:
      return EnumText(type, flatbuffers::GetAnyFieldI(table, field));
  }
}

}  // namespace

Kind OptionsOf(Op op) {
  for (const Row& row : kOptions)
    if (row.op == op) return row.kind;
  return Kind::NONE;
}

Result<AttrValue> ReadOption(const fb::Operator& op, Kind kind, std::string_view name) {
  const reflection::Field* field = FieldOf(TableOf(kind), name);
  if (field == nullptr)
    return InternalError("{} has no field {}", fb::EnumNameBuiltinOptions(kind), name);
  const auto* table = op.builtin_options_type() == kind
                          ? static_cast<const flatbuffers::Table*>(op.builtin_options())
                          : nullptr;
  if (IsReal(*field))
    return static_cast<float>(table == nullptr ? field->default_real()
                                               : flatbuffers::GetAnyFieldF(*table, *field));
  const int64_t v =
      table == nullptr ? field->default_integer() : flatbuffers::GetAnyFieldI(*table, *field);
  if (field->type()->base_type() == reflection::Bool) return v != 0;
  return v;
}

Result<flatbuffers::Offset<void>> WriteOptions(
    flatbuffers::FlatBufferBuilder& builder, Kind kind,
    const std::vector<std::pair<std::string_view, AttrValue>>& fields) {
  const reflection::Object* table = TableOf(kind);
  const auto start = builder.StartTable();
  Status status;
  for (const auto& [name, value] : fields) {
    const reflection::Field* field = FieldOf(table, name);
    double number = 0;
    if (const auto* v = std::get_if<int64_t>(&value)) number = static_cast<double>(*v);
    if (const auto* v = std::get_if<float>(&value)) number = *v;
    if (const auto* v = std::get_if<bool>(&value)) number = *v ? 1 : 0;
    if (field == nullptr)
      status = InternalError("{} has no field {}", fb::EnumNameBuiltinOptions(kind), name);
    else if (auto s = AddField(builder, *field, number); !s)
      status = s;
  }
  const flatbuffers::Offset<void> offset(builder.EndTable(start));
  if (!status) return tl::unexpected(status.error());
  return offset;
}

std::vector<std::pair<std::string, std::string>> DescribeOptions(const fb::Operator& op,
                                                                 bool in_full) {
  std::vector<std::pair<std::string, std::string>> out;
  const auto describe = [&](const char* kind, const void* options) {
    const reflection::Object* table = TableNamed(kind);
    if (table == nullptr || options == nullptr) return;
    std::vector<const reflection::Field*> fields;
    for (const reflection::Field* f : *table->fields())
      if (!f->deprecated()) fields.push_back(f);
    std::sort(fields.begin(), fields.end(),
              [](const auto* a, const auto* b) { return a->id() < b->id(); });
    for (const reflection::Field* f : fields)
      out.emplace_back(f->name()->str(),
                       FieldText(*static_cast<const flatbuffers::Table*>(options), *f, in_full));
  };
  describe(fb::EnumNameBuiltinOptions(op.builtin_options_type()), op.builtin_options());
  describe(fb::EnumNameBuiltinOptions2(op.builtin_options_2_type()), op.builtin_options_2());
  if (const auto* custom = op.custom_options(); SizeOf(custom) != 0) {
    std::string text = fmt::format("{} bytes", custom->size());
    if (in_full) {
      Sha256 sha;
      sha.Bytes(std::as_bytes(std::span(custom->data(), custom->size())));
      text += ", " + sha.Finish();
    }
    out.emplace_back("custom_options", std::move(text));
  } else if (const uint64_t large = op.large_custom_options_size(); large != 0) {
    out.emplace_back("custom_options", fmt::format("{} bytes", large));
  }
  return out;
}

}  // namespace nn::tflite
