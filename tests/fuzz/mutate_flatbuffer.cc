#include "fuzz/mutate_flatbuffer.h"

#include <flatbuffers/reflection.h>

#include <array>
#include <cstring>
#include <set>
#include <vector>

#include "base/random.h"
#include "nnapi/nnapi_bfbs_generated.h"
#include "tflite/tflite_bfbs_generated.h"

namespace nn::test {
namespace {

enum class SiteKind : uint8_t { kScalar, kElement, kLength, kOffset, kVtable };
constexpr size_t kSiteKinds = 5;

struct Site {
  size_t at;
  size_t width;
};

// Finds the numbers in a flatbuffer. Reads nothing outside the bytes, whatever their contents.
class Walker {
 public:
  Walker(std::string_view bytes, const reflection::Schema& schema)
      : bytes_(bytes), schema_(schema) {}

  void Run() {
    Add(SiteKind::kOffset, 0, 4);
    Table(Target(0), *schema_.root_table());
  }

  std::array<std::vector<Site>, kSiteKinds> sites;

 private:
  static constexpr size_t kMaxTables = 2000;
  static constexpr size_t kMaxElements = 8;

  bool Inside(size_t at, size_t width) const {
    return at <= bytes_.size() && width <= bytes_.size() - at;
  }
  template <typename T>
  T Read(size_t at) const {
    T value = 0;
    if (Inside(at, sizeof(T))) std::memcpy(&value, bytes_.data() + at, sizeof(T));
    return value;
  }
  size_t Target(size_t at) const { return at + Read<uint32_t>(at); }
  void Add(SiteKind kind, size_t at, size_t width) {
    if (Inside(at, width)) sites[static_cast<size_t>(kind)].push_back({at, width});
  }

  void Table(size_t at, const reflection::Object& object) {
    if (!Inside(at, 4) || seen_.size() > kMaxTables || !seen_.insert(at).second) return;
    const size_t vtable = at - static_cast<size_t>(int64_t{Read<int32_t>(at)});
    Add(SiteKind::kVtable, at, 4);
    Add(SiteKind::kVtable, vtable, 2);
    Add(SiteKind::kVtable, vtable + 2, 2);
    const size_t size = Read<uint16_t>(vtable);
    const auto place = [&](size_t entry) -> size_t {
      if (entry + 2 > size || !Inside(vtable + entry, 2)) return 0;
      const size_t offset = Read<uint16_t>(vtable + entry);
      return offset == 0 ? 0 : at + offset;
    };
    for (const reflection::Field* field : *object.fields()) {
      const size_t field_at = place(field->offset());
      if (field_at == 0) continue;
      Add(SiteKind::kVtable, vtable + field->offset(), 2);
      // The entry before a union holds its type.
      const uint8_t member = Read<uint8_t>(place(field->offset() - 2u));
      Field(field_at, *field->type(), member);
    }
  }

  void Field(size_t at, const reflection::Type& type, uint8_t union_member) {
    switch (type.base_type()) {
      case reflection::String:
        Add(SiteKind::kOffset, at, 4);
        Add(SiteKind::kLength, Target(at), 4);
        break;
      case reflection::Vector:
        Add(SiteKind::kOffset, at, 4);
        Vector(Target(at), type);
        break;
      case reflection::Obj:
        Object(at, *schema_.objects()->Get(static_cast<uint32_t>(type.index())));
        break;
      case reflection::Union: {
        Add(SiteKind::kOffset, at, 4);
        const auto* values = schema_.enums()->Get(static_cast<uint32_t>(type.index()))->values();
        const auto* value = values->LookupByKey(int64_t{union_member});
        if (value != nullptr && value->union_type() != nullptr && value->union_type()->index() >= 0)
          Table(Target(at),
                *schema_.objects()->Get(static_cast<uint32_t>(value->union_type()->index())));
        break;
      }
      default:
        Add(SiteKind::kScalar, at, flatbuffers::GetTypeSize(type.base_type()));
    }
  }

  void Object(size_t at, const reflection::Object& object) {
    if (object.is_struct()) {
      for (const reflection::Field* field : *object.fields())
        Add(SiteKind::kScalar, at + field->offset(),
            flatbuffers::GetTypeSize(field->type()->base_type()));
      return;
    }
    Add(SiteKind::kOffset, at, 4);
    Table(Target(at), object);
  }

  void Vector(size_t at, const reflection::Type& type) {
    Add(SiteKind::kLength, at, 4);
    const size_t count = Read<uint32_t>(at);
    const size_t width = flatbuffers::GetTypeSize(type.element());
    const bool scalars = type.element() < reflection::String;
    for (size_t i = 0; i < count && (!scalars || i < kMaxElements); ++i) {
      const size_t element = at + 4 + i * width;
      if (!Inside(element, width)) return;
      if (scalars) {
        Add(SiteKind::kElement, element, width);
      } else if (type.element() == reflection::String) {
        Add(SiteKind::kOffset, element, 4);
        Add(SiteKind::kLength, Target(element), 4);
      } else if (type.element() == reflection::Obj) {
        const auto& object = *schema_.objects()->Get(static_cast<uint32_t>(type.index()));
        if (object.is_struct()) return;
        Object(element, object);
      }
    }
  }

  std::string_view bytes_;
  const reflection::Schema& schema_;
  std::set<size_t> seen_;
};

// A number that is to overwrite these bytes.
uint64_t OtherNumber(uint64_t old, uint64_t random, uint64_t low) {
  const std::array<uint64_t, 16> values = {
      old + 1, old - 1,      old * 2,     old / 2,     0,       1,       2,         3,
      4,       ~uint64_t{0}, 0x7FFFFFFFu, 0x80000000u, old + 4, old - 4, old ^ low, low};
  return values[random % values.size()];
}

}  // namespace

std::string MutateFlatbuffer(std::string_view bytes, std::string_view path, uint64_t seed) {
  const auto& schema = path.ends_with(".nnapi")
                           ? *reflection::GetSchema(nnapi::fb::ModelBinarySchema::data())
                           : *reflection::GetSchema(tflite::fb::ModelBinarySchema::data());
  std::string out(bytes);
  Walker walker(bytes, schema);
  walker.Run();
  const SeededStream random(seed, 1);
  uint64_t drawn = 0;
  constexpr size_t kCounts[] = {1, 1, 2, 3};
  for (size_t n = kCounts[random.Bits(drawn++) % 4]; n > 0; --n) {
    // Half of the drawn sites are scalars and elements, because the result is still a flatbuffer.
    const uint64_t kind = random.Bits(drawn++) % (2 * kSiteKinds - 2);
    const auto& sites = walker.sites[kind < kSiteKinds ? kind : kind % 2];
    if (sites.empty()) continue;
    const Site site = sites[random.Bits(drawn++) % sites.size()];
    uint64_t value = 0;
    std::memcpy(&value, out.data() + site.at, site.width);
    value = OtherNumber(value, random.Bits(drawn), random.Bits(drawn + 1) % bytes.size());
    drawn += 2;
    std::memcpy(out.data() + site.at, &value, site.width);
  }
  return out;
}

}  // namespace nn::test
