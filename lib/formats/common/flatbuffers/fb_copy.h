// Copies of flatbuffers with changes, through the binary schema: fields keep their presence, and
// indices, which the schema marks with the attribute "refers_to", are renumbered.
#pragma once

#include <flatbuffers/flatbuffers.h>
#include <flatbuffers/reflection.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "formats/common/flatbuffers/fb_stable.h"

namespace nn {

// Calls fn(list, index) for all references of a table and of the tables below it, except those in
// deprecated fields; absent fields refer to their default. kUnsupported for union members that are
// not in the schema. Requires a verified flatbuffer.
using FbReference = std::function<Status(std::string_view list, int64_t index)>;
Status ForEachReference(const flatbuffers::Table& table, const reflection::Object& type,
                        const reflection::Schema& schema, const FbReference& fn);

// The type of a table by its name in the namespace of the schema's root.
const reflection::Object& FbTypeOf(std::string_view name, const reflection::Schema& schema);

class FbCopier {
 public:
  FbCopier(const StableFlatbuffer& source, const reflection::Schema& schema);
  virtual ~FbCopier() = default;

 protected:
  // What the copy of a table has in place of fields of the source.
  class Changes {
   public:
    void Drop(flatbuffers::voffset_t field) { Slot(field).kind = Kind::kDropped; }
    void SetNumber(flatbuffers::voffset_t field, int64_t value) {
      Slot(field) = {Kind::kNumber, value, 0};
    }
    // A string, vector or table that the builder already has.
    template <typename T>
    void SetOffset(flatbuffers::voffset_t field, flatbuffers::Offset<T> value) {
      Slot(field) = {Kind::kOffset, 0, value.o};
    }

   private:
    friend class FbCopier;
    enum class Kind : uint8_t { kDropped, kNumber, kOffset };
    struct Change {
      Kind kind = Kind::kDropped;
      int64_t number = 0;
      flatbuffers::uoffset_t offset = 0;
    };
    Change& Slot(flatbuffers::voffset_t field) { return changes_[field]; }

    std::map<flatbuffers::voffset_t, Change> changes_;
  };

  // Called before a table is copied, with the changes that Copy() was given; may add to the
  // builder.
  virtual Status Change(const flatbuffers::Table& table, std::string_view type,
                        Changes& changes) = 0;
  // The new index in place of one that is not negative.
  virtual Result<int64_t> Renumbered(std::string_view list, int64_t index) = 0;
  // Called with the position of a copy, counted from the end of the flatbuffer.
  virtual void Copied(const flatbuffers::Table& /*table*/, std::string_view /*type*/,
                      flatbuffers::uoffset_t /*position*/) {}

  // kUnsupported, by name, for fields and union members that are not in the schema, because their
  // type is unknown. kLimit above 2 GiB. kParse if a field that readers ignore is damaged.
  template <typename T>
  Result<flatbuffers::Offset<T>> Copy(const T& table, std::string_view type, Changes changes = {}) {
    NN_ASSIGN(const flatbuffers::uoffset_t offset,
              CopyTable(reinterpret_cast<const flatbuffers::Table&>(table), FbTypeOf(type, schema_),
                        std::move(changes)));
    return flatbuffers::Offset<T>(offset);
  }

  flatbuffers::FlatBufferBuilder& builder() { return builder_; }

 private:
  struct Slot;

  Result<flatbuffers::uoffset_t> CopyTable(const flatbuffers::Table& table,
                                           const reflection::Object& type, Changes changes = {});
  Status AddSlot(const flatbuffers::Table& table, const reflection::Field& field,
                 const reflection::Object& type, const Changes& changes, std::vector<Slot>& slots);
  Result<flatbuffers::uoffset_t> CopyField(const flatbuffers::Table& table,
                                           const reflection::Field& field,
                                           const reflection::Object& type);
  Result<flatbuffers::uoffset_t> CopyVector(const uint8_t* vector, const reflection::Field& field);
  Result<flatbuffers::uoffset_t> CopyNumbers(std::span<const std::byte> bytes, size_t count,
                                             const reflection::Field& field);
  Status Renumber(std::string_view list, reflection::BaseType type, std::byte* number);
  Status CheckSpace(size_t bytes) const;
  // The copy of a string or of numbers that is made once for a field.
  using Shared = std::map<std::pair<const void*, const reflection::Field*>, flatbuffers::uoffset_t>;

  const StableFlatbuffer& source_;
  const reflection::Schema& schema_;
  flatbuffers::Verifier verifier_;
  flatbuffers::FlatBufferBuilder builder_;
  Shared shared_;
};

}  // namespace nn
