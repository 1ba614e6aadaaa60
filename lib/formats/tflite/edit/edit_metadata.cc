#include "formats/tflite/edit/edit_metadata.h"

#include <algorithm>

#include "base/text/text.h"
#include "formats/tflite/file/model_metadata.h"

namespace nn::tflite {
namespace {

// The order of operators, by their indices.
constexpr std::string_view kOperatorOrder = "model_control_dependencies";

// The name by which signatures are listed.
constexpr std::string_view kSignature = "signature";

// The entry's text without padding; nullopt if it has none.
std::optional<std::string_view> TextOf(const Blob& bytes) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  text = text.substr(0, text.find_last_not_of('\0') + 1);
  if (!IsUtf8(text) || text.find('\0') != text.npos) return std::nullopt;
  return text;
}

// Text of fixed size stays so.
Blob PaddedLike(const Blob& before, std::string text) {
  const bool is_padded = !before.empty() && before.bytes().back() == std::byte{0};
  if (is_padded) text.resize(std::max(text.size(), before.size()), '\0');
  return Blob::CopyOf(std::span<const char>(text));
}

// The first entry that describes the model, if it is valid.
struct Description {
  int64_t entry = -1;
  Blob bytes;
};

Description FindDescription(const Model& model) {
  const auto* const entries = model.root->metadata();
  for (int64_t i = 0; i < SizeOf(entries); ++i) {
    if (Text(At(entries, i)->name()) != kModelMetadata) continue;
    auto bytes = BufferBytes(model, At(entries, i)->buffer());
    if (bytes && IsModelMetadata(*bytes)) return {i, *std::move(bytes)};
  }
  return {};
}

bool HasSignature(const Model& model, std::string_view key) {
  const auto* const signatures = model.root->signature_defs();
  for (int64_t i = 0; i < SizeOf(signatures); ++i)
    if (Text(At(signatures, i)->signature_key()) == key) return true;
  return false;
}

}  // namespace

bool KeepsSignature(const NativeEdit& edit, const fb::SignatureDef& signature) {
  return std::ranges::all_of(edit.metadata, [&](const auto& e) {
    return e.first != kSignature || e.second == Text(signature.signature_key());
  });
}

Result<MetadataEdit> EditMetadata(const Model& model, const NativeEdit& edit,
                                  bool drops_operators) {
  MetadataEdit out;
  const auto* const entries = model.root->metadata();
  out.keeps.assign(static_cast<size_t>(SizeOf(entries)), !edit.strip.metadata);
  for (int64_t i = 0; i < SizeOf(entries); ++i)
    if (drops_operators && Text(At(entries, i)->name()) == kOperatorOrder)
      out.keeps[static_cast<size_t>(i)] = false;
  if (edit.strip.docs) out.description = "";
  const bool is_replaced =
      edit.strip.metadata ||
      std::ranges::any_of(edit.metadata, [](const auto& e) { return e.first == kModelMetadata; });
  const Description description =
      edit.metadata.empty() || is_replaced ? Description() : FindDescription(model);
  MetadataChange described;
  for (const auto& [name, text] : edit.metadata) {
    Blob before;
    bool is_found = false;
    for (int64_t i = 0; i < SizeOf(entries); ++i) {
      if (Text(At(entries, i)->name()) != name) continue;
      NN_ASSIGN(const Blob bytes, BufferBytes(model, At(entries, i)->buffer()));
      if (!text.empty() && !TextOf(bytes))
        return UnsupportedError("metadata {} holds {} bytes that are not text", Quote(name),
                                bytes.size());
      if (!is_found) before = bytes;
      out.keeps[static_cast<size_t>(i)] = false;
      is_found = true;
    }
    if (!is_found && description.entry >= 0 && IsModelText(name)) {
      described.texts[name] = text;
    } else if (!is_found && name == "description") {
      out.description = text;
    } else if (!is_found && name == kSignature) {
      if (!text.empty() && !HasSignature(model, text))
        return UnsupportedError("signatures cannot be set: they follow the inputs and outputs");
    } else if (!text.empty()) {
      out.texts[name] = PaddedLike(before, text);
    }
  }
  if (!described.texts.empty()) {
    out.keeps[static_cast<size_t>(description.entry)] = false;
    NN_ASSIGN(out.texts[std::string(kModelMetadata)],
              ChangeModelMetadata(description.bytes, described));
  }
  return out;
}

}  // namespace nn::tflite
