// What the exports to formats with unique names have in common, and those to formats whose
// operators refer to values by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/text/name_table.h"
#include "ir/graph.h"

namespace nn {

// The names of the file that is being written.
class FileNames {
 public:
  // A trial writes single nodes to see how the format encodes them.
  enum class Mode : uint8_t { kFile, kTrial };

  bool trial() const { return mode_ == Mode::kTrial; }

  // Reserves a name, so that no value gets it.
  void Reserve(const std::string& name) { used_.Claim(name); }
  // A name that is not in use: the hint, or "value" without one, followed by a number if necessary.
  std::string NewName(std::string_view hint);
  // Makes room for this many names.
  void ReserveNames(size_t names) { used_.Reserve(names); }

 protected:
  // `utf8`: the format has no other names. Hints are escaped.
  FileNames(Mode mode, bool utf8) : mode_(mode), utf8_(utf8) {}
  ~FileNames() = default;

 private:
  Mode mode_;
  bool utf8_;
  NameTable used_;
};

// The names of values in addition. The values must outlive this object.
class NamedExport : public FileNames {
 public:
  // The name of a value in the file, which is chosen on first use. The encoding of a constant is
  // then added.
  virtual std::string NameOf(const Value* value) = 0;
  // Whether a name was chosen for the value.
  bool HasName(const Value* value) const { return names_.contains(value); }
  // Makes the name, which may be that of other values, the value's.
  void SetName(const Value* value, std::string name) { names_[value] = std::move(name); }
  // Reserves a name for a value before other names are chosen; false if the value already has one.
  bool Claim(const Value* value, const std::string& name);
  // Gives the inputs of a region from `first` on the names of the last operands of its node.
  void CaptureOperands(const Node& node, const Graph& region, size_t first);

  // Makes room for the names of this many values.
  void ReserveNames(size_t values) {
    names_.reserve(values);
    FileNames::ReserveNames(values);
  }

 protected:
  using FileNames::FileNames;
  ~NamedExport() = default;

  // Null if the value has none.
  const std::string* FindName(const Value* value) const;
  const std::unordered_map<const Value*, std::string>& names() const { return names_; }

 private:
  std::unordered_map<const Value*, std::string> names_;
};

}  // namespace nn
