// Seeded damage to models, based on their structure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "fuzz/seeds.h"

namespace nn::test {

// The members of the dumps of one format by name, to be copied into mutants.
class ModelDictionary {
 public:
  ModelDictionary() = default;
  explicit ModelDictionary(std::span<const Seed> seeds);

  void Add(const Json& dump);
  // Values of members, or of elements of members, of that name; at most kMax. Null if there are
  // none.
  const std::vector<Json>* Find(std::string_view name) const;

 private:
  static constexpr size_t kMax = 48;
  std::map<std::string, std::vector<Json>, std::less<>> values_;
};

// The JSON dump of a model file; nullopt if the file cannot be read or dumped.
std::optional<Json> DumpOfBytes(std::string_view bytes, const std::string& path);
// The file of a dump, in the form given by the extension of `path`; nullopt if the dump cannot be
// restored. With the extension of dumps, it stays as it is.
std::optional<std::string> BytesOfDump(const Json& dump, const std::string& path);

// Changes one to three places of a dump, whose members are the fields of the format's own schema:
// fields and elements deleted, doubled, exchanged or copied from elsewhere; names and indices
// retargeted to others of their kind; false dimensions, counts, enumerators and other numbers;
// texts and data replaced, shortened, extended. Deterministic for a seed.
void MutateDump(Json& dump, const ModelDictionary& dictionary, uint64_t seed);

// Changes one declared dimension of a dump and nothing else; false if it has none.
bool MutateDimension(Json& dump, uint64_t seed);

// Damages one of the files that a dump has beside its model, as mutate.h does; false if it has
// none.
bool MutateFile(Json& dump, uint64_t seed);

// A mutant of a model file or a dump: of the dump, or, for flatbuffers one time in four, of the
// file's bytes, guided by its schema (mutate_flatbuffer.h). nullopt if the result cannot be written
// as a file.
std::optional<std::string> MutateModel(const Seed& model, const ModelDictionary& dictionary,
                                       uint64_t seed);

}  // namespace nn::test
