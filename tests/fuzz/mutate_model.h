// Seeded damage to models that knows what a model consists of.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "fuzz/seeds.h"

namespace nn::test {

// What models of one format have under each name: members of their dumps, for mutants of others.
class ModelDictionary {
 public:
  ModelDictionary() = default;
  explicit ModelDictionary(std::span<const Seed> seeds);

  void Add(const Json& dump);
  // Values of members, or of elements of members, of that name; at most kMost, null if none is
  // known.
  const std::vector<Json>* Find(std::string_view name) const;

 private:
  static constexpr size_t kMost = 48;
  std::map<std::string, std::vector<Json>, std::less<>> values_;
};

// The JSON dump of a model file; nullopt if the file cannot be read or dumped.
std::optional<Json> DumpOfBytes(std::string_view bytes, const std::string& path);
// The file of a dump, in the form that the extension of `path` tells; nullopt if the dump cannot be
// restored.
std::optional<std::string> BytesOfDump(const Json& dump, const std::string& path);

// Changes one to three places of a dump, whose members are the fields of the format's own schema:
// fields and elements deleted, doubled, exchanged or copied from elsewhere; names and indices
// retargeted to others of their kind; dimensions, counts, enumerators and other numbers that lie;
// texts and data replaced, shortened, extended. The same for the same seed.
void MutateDump(Json& dump, const ModelDictionary& dictionary, uint64_t seed);

// Changes one declared dimension of a dump and nothing else; false if it has none.
bool MutateDimension(Json& dump, uint64_t seed);

// A mutant of a model file: of the dump, or, for flatbuffers one time in four, of the file's bytes
// with the help of its schema (mutate_flatbuffer.h). nullopt if what came out cannot be written as
// a file.
std::optional<std::string> MutateModel(const Seed& model, const ModelDictionary& dictionary,
                                       uint64_t seed);

}  // namespace nn::test
