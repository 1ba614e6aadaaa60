#include "formats/tflite/file/model_metadata.h"

#include <flatbuffers/reflection.h>

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "formats/common/flatbuffers/fb_copy.h"
#include "formats/tflite/file/native.h"
#include "tflite_metadata/tflite_metadata_bfbs_generated.h"
#include "tflite_metadata/tflite_metadata_generated.h"

namespace nn::tflite {
namespace {

using flatbuffers::Offset;
using flatbuffers::voffset_t;
using TensorList = flatbuffers::Vector<Offset<fb::TensorMetadata>>;

constexpr std::pair<std::string_view, voffset_t> kModelTexts[] = {
    {"name", fb::ModelMetadata::VT_NAME},       {"description", fb::ModelMetadata::VT_DESCRIPTION},
    {"version", fb::ModelMetadata::VT_VERSION}, {"author", fb::ModelMetadata::VT_AUTHOR},
    {"license", fb::ModelMetadata::VT_LICENSE},
};

const reflection::Schema& MetadataSchema() {
  return *reflection::GetSchema(fb::ModelMetadataBinarySchema::data());
}

// At an address that every number of the flatbuffer may have.
Blob AlignedCopy(const Blob& bytes) {
  Buffer copy(bytes.size());
  std::ranges::copy(bytes.bytes(), copy.data());
  return Blob(std::move(copy));
}

class MetadataEditor : private FbCopier {
 public:
  MetadataEditor(const StableFlatbuffer& source, const MetadataChange& change)
      : FbCopier(source, MetadataSchema()),
        root_(*fb::GetModelMetadata(source.structure().data())),
        main_(At(root_.subgraph_metadata(), 0)),
        change_(change) {}

  Result<Blob> Run() {
    NN_ASSIGN(const Offset<fb::ModelMetadata> root, Copy(root_, "ModelMetadata"));
    builder().Finish(root, fb::ModelMetadataIdentifier());
    return Blob::CopyOf(
        std::span<const uint8_t>(builder().GetBufferPointer(), builder().GetSize()));
  }

 private:
  Status Change(const flatbuffers::Table& table, std::string_view type, Changes& changes) override {
    if (type == "ModelMetadata") SetTexts(changes);
    if (type == "SubGraphMetadata" &&
        reinterpret_cast<const fb::SubGraphMetadata*>(&table) == main_)
      return SetPorts(changes);
    if (type == "TensorMetadata" && is_normalized_)
      return DropNormalization(reinterpret_cast<const fb::TensorMetadata&>(table), changes);
    return {};
  }

  Result<int64_t> Renumbered(std::string_view, int64_t index) override { return index; }

  void SetTexts(Changes& changes) {
    for (const auto& [name, field] : kModelTexts) {
      const auto it = change_.texts.find(name);
      if (it == change_.texts.end()) continue;
      if (it->second.empty())
        changes.Drop(field);
      else
        changes.SetOffset(field, builder().CreateString(it->second));
    }
  }

  Status SetPorts(Changes& changes) {
    using S = fb::SubGraphMetadata;
    NN_RETURN_IF_ERROR(SetList(S::VT_INPUT_TENSOR_METADATA, main_->input_tensor_metadata(),
                               change_.inputs, changes));
    return SetList(S::VT_OUTPUT_TENSOR_METADATA, main_->output_tensor_metadata(), change_.outputs,
                   changes);
  }

  Status SetList(voffset_t field, const TensorList* list,
                 const std::optional<MetadataChange::Ports>& change, Changes& changes) {
    if (!change || list == nullptr || list->size() != change->sources) return {};
    std::vector<Offset<fb::TensorMetadata>> out;
    for (const DescribedPort& port : change->ports) {
      const auto* const tensor =
          port.source ? At(list, static_cast<int64_t>(*port.source)) : nullptr;
      if (tensor == nullptr) {
        out.push_back(fb::CreateTensorMetadata(builder(), builder().CreateString(port.name)));
        continue;
      }
      is_normalized_ = port.is_normalized;
      NN_ASSIGN(const auto copy, Copy(*tensor, "TensorMetadata"));
      is_normalized_ = false;
      out.push_back(copy);
    }
    changes.SetOffset(field, builder().CreateVector(out));
    return {};
  }

  // The normalization, and the range of the values before it.
  Status DropNormalization(const fb::TensorMetadata& tensor, Changes& changes) {
    changes.Drop(fb::TensorMetadata::VT_STATS);
    if (tensor.process_units() == nullptr) return {};
    std::vector<Offset<fb::ProcessUnit>> units;
    for (int64_t i = 0; i < SizeOf(tensor.process_units()); ++i) {
      const fb::ProcessUnit& unit = *At(tensor.process_units(), i);
      if (unit.options_type() == fb::ProcessUnitOptions::NormalizationOptions) continue;
      NN_ASSIGN(const auto copy, Copy(unit, "ProcessUnit"));
      units.push_back(copy);
    }
    if (units.empty())
      changes.Drop(fb::TensorMetadata::VT_PROCESS_UNITS);
    else
      changes.SetOffset(fb::TensorMetadata::VT_PROCESS_UNITS, builder().CreateVector(units));
    return {};
  }

  const fb::ModelMetadata& root_;
  const fb::SubGraphMetadata* main_;
  const MetadataChange& change_;
  bool is_normalized_ = false;  // the tensor that is copied
};

}  // namespace

bool IsModelMetadata(const Blob& bytes) {
  if (bytes.size() >= FLATBUFFERS_MAX_BUFFER_SIZE) return false;
  const Blob aligned = AlignedCopy(bytes);
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(aligned.data()), aligned.size());
  return fb::VerifyModelMetadataBuffer(verifier);
}

bool IsModelText(std::string_view name) {
  return std::ranges::any_of(kModelTexts, [&](const auto& text) { return text.first == name; });
}

Result<Blob> ChangeModelMetadata(const Blob& bytes, const MetadataChange& change) {
  std::vector<StableFlatbuffer::Part> parts;
  parts.push_back({AlignedCopy(bytes)});
  NN_ASSIGN(const StableFlatbuffer source, StableFlatbuffer::Join(std::move(parts)));
  return MetadataEditor(source, change).Run();
}

}  // namespace nn::tflite
