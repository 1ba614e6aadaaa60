#include "fuzz/mutate_model.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/json/base64.h"
#include "base/random.h"
#include "formats/common/describe/dump.h"
#include "formats/common/describe/dump_writer.h"
#include "formats/format.h"
#include "fuzz/mutate.h"
#include "fuzz/mutate_flatbuffer.h"

namespace nn::test {
namespace {

// Members that declare sizes, in any of the formats.
constexpr std::string_view kDimensionNames[] = {"dim_value",  "dims",           "shape",
                                                "dimensions", "shapeSignature", "shape_signature",
                                                "size",       "sizeRange"};

class Draws {
 public:
  explicit Draws(uint64_t seed) : random_(seed) {}
  uint64_t Next() { return random_.Bits(drawn_++); }
  size_t Below(size_t n) { return n == 0 ? 0 : static_cast<size_t>(Next() % n); }
  bool Once(size_t in) { return Below(in) == 0; }

 private:
  SeededStream random_;
  uint64_t drawn_ = 0;
};

// A value of a dump and its location: a member, or an element of a list in a member.
struct Site {
  Json* parent;
  Json* value;
  std::string name;  // of the member, of an element that of the list's
  size_t index;      // of an element
};

// All values below `value`, in order; lists of many numbers by their first ones.
void CollectSites(Json& value, const std::string& name, std::vector<Site>& sites) {
  constexpr size_t kMaxNumbers = 12;
  if (value.is_object()) {
    for (auto it = value.begin(); it != value.end(); ++it) {
      sites.push_back({&value, &it.value(), it.key(), 0});
      CollectSites(it.value(), it.key(), sites);
    }
  } else if (value.is_array()) {
    const bool flat = !value.empty() && !value[0].is_structured();
    const size_t most = flat ? std::min(value.size(), kMaxNumbers) : value.size();
    for (size_t i = 0; i < most; ++i) {
      sites.push_back({&value, &value[i], name, i});
      CollectSites(value[i], name, sites);
    }
  }
}

bool IsDimension(const Site& site) {
  return site.value->is_number_integer() &&
         std::find(std::begin(kDimensionNames), std::end(kDimensionNames), site.name) !=
             std::end(kDimensionNames);
}

// Numbers for false declarations.
int64_t OtherInteger(int64_t v, Draws& draws) {
  const std::array<int64_t, 20> values = {
      v + 1,      v - 1,      v * 2,    v / 2,
      0,          1,          2,        3,
      4,          5,          7,        -1,
      -2,         100000,     v + 1000, 1000000000,
      2147483647, 2147483648, -v - 1,   std::numeric_limits<int64_t>::max() >> draws.Below(31)};
  // Small ones are twice as frequent, because they are refused less often.
  return values[draws.Once(2) ? draws.Below(13) : draws.Below(values.size())];
}

Json OtherNumber(const Json& v, Draws& draws) {
  if (v.is_number_float()) {
    const std::array<Json, 10> values = {
        0.0, -0.0, 1.0, -1.0, 1e-30, 1e30, 3e38, 0.5, v.get<double>() * 2, -v.get<double>()};
    return values[draws.Below(values.size())];
  }
  if (v.is_number_unsigned() && v.get<uint64_t>() > uint64_t{1} << 62)
    return v.get<uint64_t>() - draws.Below(3);
  const int64_t n = v.get<int64_t>();
  return OtherInteger(n > -(int64_t{1} << 40) && n < int64_t{1} << 40 ? n : 1, draws);
}

Json OtherText(const std::string& v, Draws& draws) {
  switch (draws.Below(8)) {
    case 0:
      return "";
    case 1:
      return v + "_";
    case 2:
      return v.substr(0, v.size() / 2);
    case 3:
      return "\x1b[31m\n" + v;
    case 4:
      return Json{{"base64", "/wAb"}};  // not UTF-8
    case 5:
      return std::string(300, 'n');
    case 6:
      return draws.Below(40);  // unnamed enumerators
    default:
      return v + v;
  }
}

// A list of plain values that is shorter or longer.
void Resize(Json& list, Draws& draws) {
  if (!list.empty() && draws.Once(2)) {
    list.erase(list.begin() + static_cast<ptrdiff_t>(draws.Below(list.size())), list.end());
    return;
  }
  const Json fill = list.empty() ? Json(1) : list[draws.Below(list.size())];
  for (size_t n = 1 + draws.Below(5); n > 0; --n) list.push_back(fill);
}

class DumpMutator {
 public:
  DumpMutator(Json& dump, const ModelDictionary& dictionary, uint64_t seed)
      : model_(dump["model"]), dictionary_(dictionary), draws_(seed) {}

  void Run() {
    constexpr size_t kCounts[] = {1, 1, 1, 2, 3};
    for (size_t n = kCounts[draws_.Below(std::size(kCounts))]; n > 0; --n) Step();
  }

  // Damages one of the files beside the model; false if there is none.
  bool File() {
    Collect();
    std::erase_if(sites_, [](const Site& s) { return s.name != "bytes" || !s.value->is_string(); });
    if (sites_.empty()) return false;
    Json& file = *sites_[draws_.Below(sites_.size())].value;
    const auto bytes = FromBase64(file.get<std::string>());
    if (!bytes) return false;
    const std::string damaged =
        Mutate({reinterpret_cast<const char*>(bytes->data()), bytes->size()}, draws_.Next());
    file = Base64(std::as_bytes(std::span(damaged)));
    return true;
  }

  bool Dimension() {
    Collect();
    std::erase_if(sites_, [](const Site& s) { return !IsDimension(s); });
    if (sites_.empty()) return false;
    ChangeNumber(sites_[draws_.Below(sites_.size())]);
    return true;
  }

 private:
  void Collect() {
    sites_.clear();
    CollectSites(model_, {}, sites_);
  }

  // A site that fits, of several that are drawn; null if none does.
  template <typename Fits>
  const Site* Draw(const Fits& fits) {
    for (int tries = 0; tries < 64 && !sites_.empty(); ++tries) {
      const Site& site = sites_[draws_.Below(sites_.size())];
      if (fits(site)) return &site;
    }
    return nullptr;
  }

  void Step() {
    Collect();
    const auto any = [](const Site&) { return true; };
    const auto number = [](const Site& s) { return s.value->is_number(); };
    const auto text = [](const Site& s) { return s.value->is_string(); };
    const auto element = [](const Site& s) { return s.parent->is_array(); };
    const auto flat = [](const Site& s) {
      return s.value->is_array() && (s.value->empty() || !(*s.value)[0].is_structured());
    };
    const auto object = [](const Site& s) { return s.value->is_object(); };
    const auto flag = [](const Site& s) { return s.value->is_boolean(); };
    switch (draws_.Below(16)) {
      case 0:
      case 1:
      case 2:
        if (const Site* s = Draw(IsDimension)) ChangeNumber(*s);
        break;
      case 3:
      case 4:
        if (const Site* s = Draw(number)) ChangeNumber(*s);
        break;
      case 5:
        if (const Site* s = Draw(text)) *s->value = OtherText(s->value->get<std::string>(), draws_);
        break;
      case 6:
      case 7:
      case 8:
        if (const Site* s = Draw([&](const Site& x) { return number(x) || text(x); })) Retarget(*s);
        break;
      case 9:
        if (const Site* s = Draw(any)) Delete(*s);
        break;
      case 10:
        if (const Site* s = Draw(element)) Double(*s);
        break;
      case 11:
        if (const Site* s = Draw(element)) Exchange(*s);
        break;
      case 12:
        if (const Site* s = Draw(flat)) Resize(*s->value, draws_);
        break;
      case 13:
        if (const Site* s = Draw([](const Site& x) { return x.value->is_structured(); }))
          Retarget(*s);
        break;
      case 14:
        if (const Site* s = Draw(object)) AddMember(*s);
        break;
      default:
        if (const Site* s = Draw(flag)) *s->value = !s->value->get<bool>();
        break;
    }
  }

  void ChangeNumber(const Site& site) { *site.value = OtherNumber(*site.value, draws_); }

  // The value of the same field elsewhere: in this model, or in others.
  void Retarget(const Site& site) {
    if (const auto* known = dictionary_.Find(site.name); known != nullptr && draws_.Once(3)) {
      const Json& other = (*known)[draws_.Below(known->size())];
      if (other.type() == site.value->type()) *site.value = other;
      return;
    }
    // Names of values are in members of different names: input, output, name.
    const bool by_type = site.value->is_string() && draws_.Once(3);
    const Site* other = Draw([&](const Site& s) {
      return s.value != site.value && s.value->type() == site.value->type() &&
             (by_type || s.name == site.name);
    });
    if (other == nullptr) return;
    const Json copy = *other->value;  // which may contain the site
    *site.value = copy;
  }

  static void Delete(const Site& site) {
    const std::string name = site.name;
    if (site.parent->is_array())
      site.parent->erase(site.parent->begin() + static_cast<ptrdiff_t>(site.index));
    else
      site.parent->erase(name);
  }

  void Double(const Site& site) {
    const Json copy = *site.value;
    const size_t at = draws_.Once(2) ? site.index : draws_.Below(site.parent->size() + 1);
    site.parent->insert(site.parent->begin() + static_cast<ptrdiff_t>(at), copy);
  }

  void Exchange(const Site& site) {
    std::swap((*site.parent)[site.index], (*site.parent)[draws_.Below(site.parent->size())]);
  }

  // A member that similar objects have.
  void AddMember(const Site& site) {
    const auto* known = dictionary_.Find(site.name);
    if (known == nullptr) return;
    const Json& other = (*known)[draws_.Below(known->size())];
    if (!other.is_object() || other.empty()) return;
    auto it = other.begin();
    std::advance(it, static_cast<ptrdiff_t>(draws_.Below(other.size())));
    (*site.value)[it.key()] = it.value();
  }

  Json& model_;
  const ModelDictionary& dictionary_;
  Draws draws_;
  std::vector<Site> sites_;
};

}  // namespace

ModelDictionary::ModelDictionary(std::span<const Seed> seeds) {
  for (const Seed& seed : seeds)
    if (const auto dump = DumpOfBytes(seed.bytes, seed.path)) Add(*dump);
}

void ModelDictionary::Add(const Json& dump) {
  Json copy = dump;
  std::vector<Site> sites;
  CollectSites(copy["model"], {}, sites);
  for (const Site& site : sites) {
    if (site.value->is_array() && site.value->size() > 32) continue;
    std::vector<Json>& values = values_[site.name];
    if (values.size() < kMax &&
        std::find(values.begin(), values.end(), *site.value) == values.end())
      values.push_back(*site.value);
  }
}

const std::vector<Json>* ModelDictionary::Find(std::string_view name) const {
  const auto it = values_.find(name);
  return it == values_.end() || it->second.empty() ? nullptr : &it->second;
}

std::optional<Json> DumpOfBytes(std::string_view bytes, const std::string& path) {
  const auto model = ReadModelBytes(Blob::Copy(std::as_bytes(std::span(bytes))), path);
  if (!model) return std::nullopt;
  std::string text;
  DumpWriter out([&](std::string_view piece) { text += piece; }, {DumpWeights::kBase64});
  if (!WriteDump(*model, out)) return std::nullopt;
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return std::nullopt;
  return json;
}

std::optional<std::string> BytesOfDump(const Json& dump, const std::string& path) {
  std::string text = dump.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (IsDumpPath(path)) return text;
  const auto model =
      ReadModelBytes(Blob::Copy(std::as_bytes(std::span(text))), "m.json", ReadLimits{});
  if (!model) return std::nullopt;
  const auto image = model->format->writer.Save(*model->model, ExportOptions{path});
  if (!image) return std::nullopt;
  std::string bytes;
  for (const Blob& b : image->parts)
    bytes.append(reinterpret_cast<const char*>(b.data()), b.size());
  return bytes;
}

void MutateDump(Json& dump, const ModelDictionary& dictionary, uint64_t seed) {
  DumpMutator(dump, dictionary, seed).Run();
}

bool MutateDimension(Json& dump, uint64_t seed) {
  return DumpMutator(dump, ModelDictionary(), seed).Dimension();
}

bool MutateFile(Json& dump, uint64_t seed) {
  return DumpMutator(dump, ModelDictionary(), seed).File();
}

std::optional<std::string> MutateModel(const Seed& model, const ModelDictionary& dictionary,
                                       uint64_t seed) {
  const bool flatbuffer = model.path.ends_with(".tflite") || model.path.ends_with(".nnapi");
  if (flatbuffer && seed % 4 == 3) return MutateFlatbuffer(model.bytes, model.path, seed);
  auto dump = DumpOfBytes(model.bytes, model.path);
  if (!dump) return std::nullopt;
  if (seed % 8 == 5 && MutateFile(*dump, seed)) return BytesOfDump(*dump, model.path);
  if (seed % 4 == 0) {
    if (!MutateDimension(*dump, seed)) return std::nullopt;
  } else {
    MutateDump(*dump, dictionary, seed);
  }
  return BytesOfDump(*dump, model.path);
}

}  // namespace nn::test
