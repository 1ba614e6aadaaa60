#include <flatbuffers/flatbuffers.h>

#include <cstring>
#include <limits>

#include "base/text/text.h"
#include "formats/common/flatbuffers/fb_outside.h"
#include "formats/common/flatbuffers/fb_stable.h"
#include "formats/common/flatbuffers/fb_verify.h"
#include "formats/nnapi/file/native.h"
#include "nnapi/nnapi_generated.h"

namespace nn::nnapi {
namespace {

// The alignment of constants in a file.
constexpr size_t kDataAlignment = 16;

// Tables of a flatbuffer may share vectors, so copies can be far larger than the file; the reader
// has one budget for them.
class FlatbufferReader {
 public:
  FlatbufferReader(const StableFlatbuffer& file, const ReadLimits& limits)
      : file_(file), left_(limits.max_items) {}

  Result<std::unique_ptr<Model>> Run(const fb::Model& in) {
    auto model = std::make_unique<Model>();
    model->version = in.version();
    NN_RETURN_IF_ERROR(CopyName(in.name(), model->name));
    NN_RETURN_IF_ERROR(Copy(in.inputIndexes(), model->input_indexes));
    NN_RETURN_IF_ERROR(Copy(in.outputIndexes(), model->output_indexes));
    if (in.operands() != nullptr)
      for (const fb::Operand* o : *in.operands())
        NN_RETURN_IF_ERROR(AddOperand(*o, model->operands.emplace_back()));
    if (in.operations() != nullptr)
      for (const fb::Operation* o : *in.operations())
        NN_RETURN_IF_ERROR(AddOperation(*o, model->operations.emplace_back()));
    model->operand_values = View(in.operandValues());
    if (in.pools() != nullptr)
      for (const fb::MemoryPool* p : *in.pools()) {
        Pool& pool = model->pools.emplace_back();
        NN_RETURN_IF_ERROR(CopyName(p->file(), pool.file));
        if (pool.file.empty()) pool.bytes = View(p->data());
      }
    return model;
  }

 private:
  Status Take(uint64_t count) {
    if (count > left_)
      return LimitError("the lists of the model have too many elements (max-items)");
    left_ -= count;
    return {};
  }

  Status Copy(const flatbuffers::Vector<uint32_t>* in, std::vector<uint32_t>& out) {
    if (in == nullptr) return {};
    NN_RETURN_IF_ERROR(Take(in->size()));
    out.assign(in->begin(), in->end());
    return {};
  }

  Status CopyName(const flatbuffers::String* in, std::string& out) {
    if (in == nullptr) return {};
    NN_RETURN_IF_ERROR(Take(in->size()));
    out = in->str();
    return {};
  }

  Status AddOperand(const fb::Operand& in, Operand& out) {
    out.type = static_cast<OperandType>(in.type());
    out.number_of_consumers = in.numberOfConsumers();
    out.scale = in.scale();
    out.zero_point = in.zeroPoint();
    out.lifetime = static_cast<LifeTime>(in.lifetime());
    if (const fb::DataLocation* at = in.location())
      out.location = {at->poolIndex(), at->offset(), at->length()};
    NN_RETURN_IF_ERROR(CopyName(in.name(), out.name));
    return Copy(in.dimensions(), out.dimensions);
  }

  Status AddOperation(const fb::Operation& in, Operation& out) {
    out.type = static_cast<OperationType>(in.type());
    NN_RETURN_IF_ERROR(Copy(in.inputs(), out.inputs));
    return Copy(in.outputs(), out.outputs);
  }

  Blob View(const flatbuffers::Vector<uint8_t>* in) const {
    return in == nullptr ? Blob() : file_.View(*in);
  }

  const StableFlatbuffer& file_;
  uint64_t left_;
};

// The data of constants.
std::vector<ByteRange> Payloads(std::span<const std::byte> bytes) {
  std::vector<ByteRange> payloads;
  const FlatbufferPeek peek(bytes);
  const auto root = peek.Root();
  if (const auto data = peek.Bytes(root, fb::Model::VT_OPERANDVALUES)) payloads.push_back(*data);
  for (const uint64_t pool : peek.Tables(root, fb::Model::VT_POOLS))
    if (const auto data = peek.Bytes(pool, fb::MemoryPool::VT_DATA)) payloads.push_back(*data);
  return payloads;
}

// The bytes of constants in the flatbuffer.
uint64_t InsideBytes(const Model& model) {
  uint64_t bytes = model.operand_values.size();
  for (const Pool& p : model.pools)
    if (p.file.empty()) bytes += p.bytes.size();
  return bytes;
}

class Writer {
 public:
  explicit Writer(const Model& model) : model_(model) {}

  std::vector<Blob> Run() {
    std::vector<flatbuffers::Offset<fb::Operand>> operands;
    for (const Operand& o : model_.operands) operands.push_back(Add(o));
    std::vector<flatbuffers::Offset<fb::Operation>> operations;
    for (const Operation& o : model_.operations) {
      const auto inputs = builder_.CreateVector(o.inputs);
      operations.push_back(fb::CreateOperation(builder_, static_cast<int32_t>(o.type), inputs,
                                               builder_.CreateVector(o.outputs)));
    }
    std::vector<flatbuffers::Offset<fb::MemoryPool>> pools;
    for (const Pool& p : model_.pools) {
      const auto data = p.file.empty() ? Add(p.bytes) : 0;
      pools.push_back(fb::CreateMemoryPool(builder_, data, AddName(p.file)));
    }
    const auto values = Add(model_.operand_values);
    const auto all_operands = builder_.CreateVector(operands);
    const auto all_operations = builder_.CreateVector(operations);
    const auto inputs = builder_.CreateVector(model_.input_indexes);
    const auto outputs = builder_.CreateVector(model_.output_indexes);
    const auto all_pools = builder_.CreateVector(pools);
    const auto name = AddName(model_.name);
    fb::FinishModelBuffer(
        builder_, fb::CreateModel(builder_, all_operands, all_operations, inputs, outputs, values,
                                  all_pools, name, model_.version));
    flatbuffers::DetachedBuffer file = builder_.Release();
    const auto outside = Outside(file);
    return PlaceOutside(std::move(file), outside, kDataAlignment);
  }

 private:
  // Large data are left out; Outside() lists them.
  flatbuffers::Offset<flatbuffers::Vector<uint8_t>> Add(const Memory& memory) {
    const Blob bytes = memory.size() < kMinOutsideBytes ? memory.Joined() : Blob();
    builder_.ForceVectorAlignment(bytes.size(), sizeof(uint8_t), kDataAlignment);
    return builder_.CreateVector(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  }

  std::vector<OutsideVector> Outside(const flatbuffers::DetachedBuffer& file) const {
    const fb::Model* model = fb::GetModel(file.data());
    std::vector<OutsideVector> out;
    const auto add = [&](const void* table, flatbuffers::voffset_t field, const Memory& memory) {
      if (memory.size() >= kMinOutsideBytes)
        out.push_back({ReferencePosition(file, table, field), memory.pieces()});
    };
    for (size_t i = 0; i < model_.pools.size(); ++i)
      if (const Pool& p = model_.pools[i]; p.file.empty())
        add(model->pools()->Get(static_cast<flatbuffers::uoffset_t>(i)), fb::MemoryPool::VT_DATA,
            p.bytes);
    add(model, fb::Model::VT_OPERANDVALUES, model_.operand_values);
    return out;
  }

  flatbuffers::Offset<flatbuffers::String> AddName(const std::string& name) {
    return name.empty() ? flatbuffers::Offset<flatbuffers::String>() : builder_.CreateString(name);
  }

  flatbuffers::Offset<fb::Operand> Add(const Operand& o) {
    const auto dimensions = builder_.CreateVector(o.dimensions);
    const auto name = AddName(o.name);
    const fb::DataLocation at(o.location.pool_index, o.location.offset, o.location.length);
    return fb::CreateOperand(builder_, static_cast<int32_t>(o.type), dimensions,
                             o.number_of_consumers, o.scale, o.zero_point,
                             static_cast<int32_t>(o.lifetime),
                             o.location == DataLocation{} ? nullptr : &at, name);
  }

  const Model& model_;
  flatbuffers::FlatBufferBuilder builder_;
};

// An upper bound of the file size; the lists are far smaller than the slack.
uint64_t EstimatedSize(const Model& model) {
  uint64_t bytes = InsideBytes(model);
  for (const Pool& p : model.pools) bytes += 2 * kDataAlignment + p.file.size();
  for (const Operand& o : model.operands) bytes += 96 + o.name.size() + 4 * o.dimensions.size();
  for (const Operation& o : model.operations)
    bytes += 64 + 4 * (o.inputs.size() + o.outputs.size());
  return bytes + 4096;
}

}  // namespace

Result<std::unique_ptr<Model>> ReadFlatbuffer(const Blob& file, const ReadLimits& limits) {
  if (file.size() >= FLATBUFFERS_MAX_BUFFER_SIZE)
    return LimitError("the file would have {} bytes; a flatbuffer can have at most 2 GiB",
                      file.size());
  const Blob aligned = file.IsAligned(kDataAlignment) ? file : Blob::Copy(file.bytes());
  NN_ASSIGN(const StableFlatbuffer stable,
            StableFlatbuffer::Make(aligned, Payloads(aligned.bytes())));
  const auto bytes = stable.structure().bytes();
  NN_RETURN_IF_ERROR(VerifyFlatbuffer(bytes, "nnapi.fbs", fb::VerifyModelBuffer, limits));
  return FlatbufferReader(stable, limits).Run(*fb::GetModel(bytes.data()));
}

Result<std::vector<Blob>> WriteFlatbuffer(const Model& model) {
  if (EstimatedSize(model) >= FLATBUFFERS_MAX_BUFFER_SIZE)
    return UnsupportedError(
        "the model has {} of constants, but a .nnapi file can have at most 2 GiB; write them to "
        "other files with --external-data",
        HumanBytes(InsideBytes(model)));
  return Writer(model).Run();
}

}  // namespace nn::nnapi
