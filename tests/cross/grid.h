// The grid of tests/cross: the outcome of each case of each row in each kind of model.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "cross/rows.h"
#include "formats/format.h"
#include "rewrite/legalize.h"

namespace nn::test {

// The outcome of a case in a format.
struct Cell {
  enum class Kind : uint8_t {
    kOneToOne,   // written with the same operators, and computes the same
    kRewritten,  // written with other operators
    kDrift,      // written, but computes different results, which the verification reports
    kRefused,    // with a reason
    kBroken,     // none of these: a defect
  };
  Kind kind = Kind::kBroken;
  bool rounds = false;  // written, and within the tolerance, but not the same bits
  std::string reason;   // of a refusal or a defect; how the outputs drift
  // If written: the rewrites, the largest difference of outputs of floats over the output's largest
  // magnitude, and that of outputs of integers.
  RewriteCounts rewrites = {};
  double relative = 0;
  double steps = 0;

  // "one-to-one", "rewritten, rounds differently", "refused: ...".
  std::string Text() const;
  bool written() const { return kind == Kind::kOneToOne || kind == Kind::kRewritten; }
};

// Legalizes the case's graph for the format, writes it, reads it again, validates and imports it,
// runs both graphs on the inputs of the row and compares the outputs.
Cell Convert(const Row& row, const CrossCase& c, const OutputKind& kind);
// The same if the users of an input do not know its rank.
Cell ConvertUnranked(const Row& row, const CrossCase& c, size_t input, const OutputKind& kind);

// The cells of all cases, in their order, for all kinds of models, in the order of OutputKinds().
// Uses all processors.
struct CaseCells {
  std::string label;
  std::vector<Cell> cells;
};
struct RowCells {
  const Row* row;
  std::vector<CaseCells> cases;
};
std::vector<RowCells> ConvertAll(std::span<const Row> rows);

// The cells of one family as text: of each row and kind of model, the outcomes with their cases.
std::string GridText(std::span<const RowCells> rows);

// All rewrites of written cells as a table in Markdown: in how many cells each took part, how many
// of them keep the bits, and the largest difference of the others.
std::string RewritesText(std::span<const RowCells> rows);

}  // namespace nn::test
