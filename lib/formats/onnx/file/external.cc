#include "formats/onnx/file/external.h"

#include <charconv>
#include <map>
#include <set>

#include "base/file/file.h"
#include "base/text/text.h"
#include "formats/common/protobuf/pb_text.h"
#include "formats/onnx/file/native.h"
#include "formats/onnx/file/tensor.h"
#include "formats/onnx/infer/infer.h"

namespace nn::onnx {
namespace {

Result<uint64_t> ParseNumber(const std::string& text, std::string_view key) {
  uint64_t v = 0;
  const auto r = std::from_chars(text.data(), text.data() + text.size(), v);
  if (r.ec != std::errc() || r.ptr != text.data() + text.size())
    return ModelError("external data: {} = {} is not a number", key, Quote(text));
  return v;
}

// Calls fn with every M inside the model.
template <typename M, typename Fn>
Status ForEach(pb::ModelProto* model, const Fn& fn) {
  return ForEachMessage(model, [&](google::protobuf::Message* message) -> Status {
    auto* m = google::protobuf::DynamicCastToGenerated<M>(message);
    return m == nullptr ? Status() : fn(*m);
  });
}

bool IsExternal(const pb::TensorProto& tensor) {
  return tensor.data_location() == pb::TensorProto::EXTERNAL;
}

// Removes the contents of a tensor, wherever they are.
void ClearData(pb::TensorProto& tensor) {
  tensor.clear_raw_data();
  tensor.clear_float_data();
  tensor.clear_double_data();
  tensor.clear_int32_data();
  tensor.clear_int64_data();
  tensor.clear_uint64_data();
  tensor.clear_external_data();
  tensor.clear_data_location();
  PayloadTable::Detach(&tensor);
}

class Assembler {
 public:
  Assembler(Model& model, const ExportOptions& options) : options_(options), model_(model) {}

  Result<FileImage> Run() {
    if (options_.value_info) NN_RETURN_IF_ERROR(StateTypes());
    const ExternalData& wanted = options_.external_data;
    if (wanted.embed) {
      NN_RETURN_IF_ERROR(Embed());
    } else if (!wanted.file.empty()) {
      NN_RETURN_IF_ERROR(MoveOut(wanted.file));
      if (!has_changed_) return NothingMoves();
    }
    NN_ASSIGN(FileImage image, Image());
    if (image.size() <= kMaxProtobufBytes) return image;
    const uint64_t size = image.size();
    if (!wanted.embed && wanted.file.empty()) {
      NN_RETURN_IF_ERROR(
          MoveOut(std::filesystem::path(options_.path).filename().string() + ".data"));
      NN_ASSIGN(image, Image());
      if (image.size() <= kMaxProtobufBytes) return image;
    }
    return LimitError("the file would have {} bytes, but an ONNX file can have at most {}{}", size,
                      kMaxProtobufBytes, wanted.embed ? ": keep tensors in an external file" : "");
  }

 private:
  Result<FileImage> Image() {
    FileImage image;
    if (const PbForm form = PbFormOfPath(options_.path); form == PbForm::kBinary) {
      NN_ASSIGN(image.parts, SerializeWithPayloads(model_.proto, model_.payloads));
    } else {
      NN_ASSIGN(Blob text, PrintPbText(form, model_.proto, model_.payloads));
      image.parts.push_back(std::move(text));
    }
    if (!outside_.parts.empty()) image.side_files.push_back(outside_);
    // Files that tensors still refer to.
    std::set<std::string> seen;
    NN_RETURN_IF_ERROR(
        ForEach<pb::TensorProto>(&model_.proto, [&](const pb::TensorProto& tensor) -> Status {
          if (!IsExternal(tensor) || moved_.contains(&tensor)) return {};
          NN_ASSIGN(const ExternalRange range, ReadExternalRange(tensor));
          if (!seen.insert(range.location).second) return {};
          auto file = model_.files.Read(range.location);
          if (!file) {
            if (file.error().code() != ErrorCode::kLimit && IsThere(range.location)) return {};
            return tl::unexpected(file.error().In("tensor " + Quote(tensor.name())));
          }
          image.side_files.push_back({range.location, {*std::move(file)}, true});
          return {};
        }));
    return image;
  }

  // Whether a file exists in the output folder: the dump may come from another folder.
  bool IsThere(const std::string& location) const {
    return ReadFileBeneath(std::filesystem::path(options_.path).parent_path(), location)
        .has_value();
  }

  // The types of values that the graphs state.
  Result<std::string> StatedTypes() {
    std::string types;
    NN_RETURN_IF_ERROR(ForEach<pb::GraphProto>(&model_.proto, [&](const pb::GraphProto& g) {
      for (const auto* list : {&g.value_info(), &g.output()})
        for (const pb::ValueInfoProto& info : *list) types += info.type().SerializeAsString() + ";";
      return Status();
    }));
    return types;
  }

  Status StateTypes() {
    NN_ASSIGN(const std::string before, StatedTypes());
    AddValueInfo(model_);
    NN_ASSIGN(const std::string after, StatedTypes());
    if (after != before) return {};
    return UsageError(
        "--infer-shapes has no effect: the model states all types of values that can be inferred");
  }

  Status Embed() {
    return ForEach<pb::TensorProto>(&model_.proto, [&](pb::TensorProto& tensor) -> Status {
      if (!IsExternal(tensor)) return {};
      NN_ASSIGN(const Tensor contents, ReadTensor(tensor, model_));
      ClearData(tensor);
      SetRawData(contents, &tensor, model_.payloads);
      return {};
    });
  }

  tl::unexpected<Error> NothingMoves() const {
    const ExternalData& wanted = options_.external_data;
    if (!moved_.empty())
      return UsageError("--external-data {} has no effect: the tensors are there", wanted.file);
    return UsageError(
        "--external-data {} has no effect: no tensor has {} bytes or more (--external-threshold)",
        wanted.file, wanted.threshold);
  }

  // Visits every message; initializers are also met earlier, with their graph.
  Status MoveOut(const std::string& file) {
    outside_.name = file;
    return ForEachMessage(&model_.proto, [&](google::protobuf::Message* message) -> Status {
      if (auto* graph = google::protobuf::DynamicCastToGenerated<pb::GraphProto>(message)) {
        for (pb::TensorProto& tensor : *graph->mutable_initializer())
          NN_RETURN_IF_ERROR(MoveOut(tensor));
        return {};
      }
      auto* tensor = google::protobuf::DynamicCastToGenerated<pb::TensorProto>(message);
      return tensor != nullptr && IsExternal(*tensor) ? MoveOut(*tensor) : Status();
    });
  }

  // Tensors that are already external move regardless of size: their file may be overwritten, or
  // may not be beside the new model.
  Status MoveOut(pb::TensorProto& tensor) {
    if (moved_.contains(&tensor)) return {};
    const bool was_external = IsExternal(tensor);
    ExternalRange before;
    std::string key;  // of bytes that other tensors may share
    if (was_external) {
      NN_ASSIGN(before, ReadExternalRange(tensor));
      key = fmt::format("{}:{}", before.offset, before.location);
    }
    auto contents = ReadTensor(tensor, model_);
    if (!contents) {
      // Invalid inline tensors are unchanged; a missing external file is an error.
      return was_external ? Status(tl::unexpected(contents.error())) : Status();
    }
    const uint64_t size = contents->byte_size();
    if (contents->dtype() == DType::kString) return {};
    if (!was_external && (size == 0 || size < options_.external_data.threshold)) return {};
    ClearData(tensor);
    if (size == 0) {
      SetRawData(*contents, &tensor, model_.payloads);
      has_changed_ = true;
      return {};
    }
    moved_.insert(&tensor);
    const auto place = key.empty() ? places_.end() : places_.find({key, size});
    const uint64_t offset = place != places_.end() ? place->second : Append(contents->blob());
    if (!key.empty()) places_.insert({{key, size}, offset});
    const auto add = [&](const char* name, std::string value) {
      auto* entry = tensor.add_external_data();
      entry->set_key(name);
      entry->set_value(std::move(value));
    };
    add("location", outside_.name);
    add("offset", std::to_string(offset));
    add("length", std::to_string(size));
    tensor.set_data_location(pb::TensorProto::EXTERNAL);
    has_changed_ = has_changed_ || before.location != outside_.name || before.offset != offset;
    return {};
  }

  // Appends bytes to the external file and returns their offset.
  uint64_t Append(const Blob& bytes) {
    constexpr uint64_t kPage = 4096, kSmall = 64;
    const uint64_t alignment = bytes.size() >= kPage ? kPage : kSmall;
    if (const uint64_t over = end_ % alignment; over != 0) {
      Buffer padding(alignment - over);
      padding.Clear();
      end_ += padding.size();
      outside_.parts.emplace_back(std::move(padding));
    }
    const uint64_t offset = end_;
    outside_.parts.push_back(bytes);
    end_ += bytes.size();
    return offset;
  }

  const ExportOptions& options_;
  Model& model_;
  SideFile outside_;
  uint64_t end_ = 0;  // size of outside_
  std::set<const pb::TensorProto*> moved_;
  bool has_changed_ = false;  // the place of a tensor
  std::map<std::pair<std::string, uint64_t>, uint64_t>
      places_;  // offsets of external bytes in outside_
};

}  // namespace

Result<ExternalRange> ReadExternalRange(const pb::TensorProto& tensor) {
  ExternalRange range;
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") {
      range.location = entry.value();
    } else if (entry.key() == "offset") {
      NN_ASSIGN(range.offset, ParseNumber(entry.value(), "offset"));
    } else if (entry.key() == "length") {
      NN_ASSIGN(range.length, ParseNumber(entry.value(), "length"));
    }
  }
  return range;
}

Result<FileImage> Assemble(Model& model, const ExportOptions& options) {
  return Assembler(model, options).Run();
}

Result<FileImage> Assemble(const pb::ModelProto& model, PayloadTable payloads,
                           const SideFiles& files, const ExportOptions& options) {
  Model copy;
  copy.proto = model;
  copy.payloads = std::move(payloads);
  copy.files = files;
  return Assemble(copy, options);
}

}  // namespace nn::onnx
