// The language in which formats state what they hold: operators with versions, operands, element
// types, ranks, parameters and constraints. Texts in it are files lib/formats/<format>/spec/*.spec,
// which the build embeds; reader.h reads them, and check.h makes each fault a compile error.
//
// A row is a line, continued by indented lines; lines that begin with # are comments:
//
//   NAME versions option! (operand, ...) -> (operand, ...) parameter ... | TYPES=f32 i8 ; label ...
//       ;; label ...
//   NAME versions deprecated
//
// Versions are those that accept the row: "3"; "1-5"; "7+", from 7 up to the next row of the
// operator; "none", if the operator has a name but no implementation. A vocabulary may name the
// versions: "iOS15+". The option is the table in which a file stores the parameters, or what else
// the vocabulary's options are; ! if it is required. The rows of an operator follow one another in
// the order of their versions; two rows of one version differ in the number of inputs. "1|5 ("
// states the only allowed numbers of outputs. An operand is a name and
//
//   ?                may be left out, at the end altogether; anywhere if files name their operands
//   ?(1e-5)          the same, with a default: numbers, words of the vocabulary, or a choice
//   ?(1...)          a list of as many as needed
//   ~                is always listed, but may be empty
//   !                is a constant
//   * +              any number of them; at least one. ** and ++: each has a type of its own
//   [f32,i8]         element types;  {f32,i8}: that only the implementation checks
//   i8q              only with a scale
//   %                with a scale, 16-bit integers have zero point 0
//   =x =T            the type of input x, or the one that the variable T has in this operator
//   :x               the type of input x, which nothing checks
//   <x <i32          has this type whatever the file declares
//   <named(x)        the type that the string x names
//   <element(x)      the type of what is in the list or state x
//   "up|down"        one of these strings, or of a list in the vocabulary
//   @2 @1-4 @1- @2/4 ranks ("2/4": one of the two)
//   @=x @=x+1        the rank of input x, or one more; @=largest: the largest of the inputs' ranks
//   @@...            ranks that the published text requires, but not the vendor's checker
//   #1               number of elements
//   #=x #=2x-4       as many elements as the rank of x, or as twice the rank less 4
//
// A parameter is "name:kind", and "name!:kind" if it is required, followed by what it may be:
//
//   {a,b}      one of these strings
//   {0-3} {1-} a number in this range, or a list of them
//   {unique}   a list without duplicates
//
// "..." allows any other parameters. A label may name parameters and inputs:
// "parallel(starts,ends)". Labels after ";;" are those that the published text requires, but not
// the vendor's checker. The words of operators, versions, options, types, kinds of parameters,
// defaults and labels are those of the format's vocabulary. Element types can be groups of it, and
// enclosed: seq(f32), opt(seq(f32)), map(i64:f32), sparse_tensor(f32), state(f32).
//
// Design: docs/design/066-specification-language.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "formats/common/spec/range.h"

namespace nn::spec {

// An embedded file.
struct Text {
  std::string_view file;  // "nnapi/spec/operations.spec"
  std::string_view text;
};

constexpr bool IsSame(std::string_view a, std::string_view b) {
  // Compilers interpret a comparison of the first characters faster.
  return a.size() == b.size() && (a.empty() || *a.data() == *b.data()) && a == b;
}

// The position of a word; -1 if it is none of them.
constexpr int PositionOf(std::span<const std::string_view> words, std::string_view word) {
  int i = 0;
  for (const std::string_view candidate : words) {
    if (IsSame(candidate, word)) return i;
    ++i;
  }
  return -1;
}

// The words in a table.
template <typename Entry, size_t n>
constexpr std::array<std::string_view, n> WordsIn(const Entry (&table)[n],
                                                  std::string_view Entry::*word) {
  std::array<std::string_view, n> words;
  for (size_t i = 0; i < n; ++i) words[i] = table[i].*word;
  return words;
}

// Types of a vocabulary, one bit for each.
class TypeBits {
 public:
  constexpr TypeBits() = default;
  constexpr TypeBits(std::span<const std::string_view> vocabulary,
                     std::initializer_list<std::string_view> words) {
    for (const std::string_view word : words) Add(PositionOf(vocabulary, word));
  }
  constexpr void Add(int type) { bits_ |= uint64_t{1} << type; }
  constexpr void Add(TypeBits other) { bits_ |= other.bits_; }
  constexpr bool Has(int type) const { return type >= 0 && ((bits_ >> type) & 1) != 0; }
  constexpr bool empty() const { return bits_ == 0; }

 private:
  uint64_t bits_ = 0;
};

// A name for several types.
struct TypeGroup {
  std::string_view name;
  TypeBits members;
};

// A name for several strings.
struct ChoiceList {
  std::string_view name;
  std::string_view choices;  // separated by |
};

// The words of a format.
struct Vocabulary {
  std::span<const std::string_view> operators = {};  // empty: any
  std::span<const std::string_view> versions = {};   // the first is version 1; empty: numbers
  std::span<const std::string_view> options = {};
  std::span<const std::string_view> types = {};  // at most 64
  std::span<const TypeGroup> groups = {};
  std::span<const ChoiceList> choices = {};
  std::span<const std::string_view> kinds = {};     // of parameters
  std::span<const std::string_view> defaults = {};  // beside numbers
  std::span<const std::string_view> labels = {};
};

// Ranks that an operand must have: `range`, and that of an input plus `more`.
struct RankRule {
  static constexpr int kNone = -1;
  static constexpr int kLargest = -2;
  Range range;
  int like = kNone;  // position of an input
  int more = 0;
};

// A number of elements: the rank of an input, multiplied, and `more`.
struct ElementRule {
  int like = RankRule::kNone;  // position of an input
  int times = 1;
  int more = 0;
};

struct Operand {
  enum class Presence : uint8_t { kRequired, kNullable, kOptional };
  enum class Giving : uint8_t { kType, kNamed, kElement };
  static constexpr int kNone = -1;

  std::string_view name;
  Presence presence = Presence::kRequired;
  bool repeats = false;
  bool own_types = false;  // repeated ones may differ in type
  bool constant = false;
  std::string_view default_text;  // "1...", "1 1"; "" if there is none
  std::string_view choices;       // separated by |
  std::string_view type_text;     // as in the row; "" if it lists no types
  TypeBits types;                 // those of `type_text` that are not enclosed
  TypeBits scaled;                // those of `types` that need a scale
  bool checked_late = false;      // `types` is checked by the implementation only
  bool symmetric = false;         // 16-bit integers have zero point 0
  std::string_view same_name;     // the word after "="
  int variable = kNone;           // of the row, if `same_name` is one
  int same_as = kNone;            // the input whose type is required
  int expected = kNone;           // the input whose type is expected, but not checked
  int given_by = kNone;           // the input whose type it is given
  Giving giving = Giving::kType;  // how `given_by` determines the type
  int given_type = kNone;         // the type that it is given
  RankRule ranks;
  RankRule published_ranks;
  int elements = kNone;  // a number of elements
  ElementRule element_rule;
};

struct Parameter {
  std::string_view name;
  std::string_view kind;
  bool required = false;
  std::string_view choices;  // separated by commas
  bool has_range = false;
  int least = 0;
  int most = -1;  // below `least`: no limit
  bool unique = false;
};

struct Label {
  std::string_view name;
  std::string_view parameters;  // separated by commas
  bool published = false;       // by the published text alone
};

struct Variable {
  std::string_view name;
  std::string_view type_text;
  TypeBits types;
};

// A list of at most `kCapacity` items, for use while compiling.
template <typename T, size_t kCapacity>
class List {
 public:
  constexpr void clear() { size_ = 0; }
  constexpr bool full() const { return size_ == kCapacity; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr size_t size() const { return size_; }
  constexpr T& Add() {
    items_[size_] = T();
    return items_[size_++];
  }
  constexpr T& operator[](size_t i) { return items_[i]; }
  constexpr const T& operator[](size_t i) const { return items_[i]; }
  constexpr const T* begin() const { return items_.data(); }
  constexpr const T* end() const { return items_.data() + size_; }

 private:
  std::array<T, kCapacity> items_{};
  size_t size_ = 0;
};

using Operands = List<Operand, 64>;

// One row. Views are of the text.
struct Row {
  std::string_view name;
  int first_version = 0;  // 0: no implementation
  int last_version = 0;   // -1: up to the next row of the operator
  bool deprecated = false;
  std::string_view option;
  bool needs_option = false;
  Operands inputs;
  Operands outputs;
  List<int, 4> output_counts;  // the only allowed numbers; empty: any from the least
  List<Parameter, 32> parameters;
  bool open_parameters = false;
  List<Variable, 16> variables;
  List<Label, 16> labels;

  constexpr void Clear() {
    inputs.clear();
    outputs.clear();
    output_counts.clear();
    parameters.clear();
    variables.clear();
    labels.clear();
    name = option = {};
    first_version = last_version = 0;
    deprecated = needs_option = open_parameters = false;
  }
};

// The number of operands that a list allows.
constexpr Range CountOf(const Operands& list) {
  Range range(0);
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i].presence != Operand::Presence::kOptional) range.low = static_cast<int>(i) + 1;
    range.high = list[i].repeats || range.high < 0 ? -1 : static_cast<int>(i) + 1;
  }
  return range;
}

}  // namespace nn::spec
