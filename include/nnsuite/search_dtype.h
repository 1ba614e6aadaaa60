// Finds the operators that must stay float32 if the others compute in a narrower type, as
// nnrun --search-dtype does.
//
//   auto search = nnsuite::SearchDtype(model, {.inputs_file = "in.npz"}, {.rtol = 1e-3});
//   if (!search) ...
//   for (const auto& stays : search->stay) std::cout << stays.op << "\n";
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nnsuite/error.h"
#include "nnsuite/inputs.h"
#include "nnsuite/outputs.h"
#include "nnsuite/program.h"
#include "nnsuite/shapes.h"

namespace nnsuite {

class Model;

enum class NarrowFloat : uint8_t { kF16, kBf16 };

struct DtypeSearchOptions {
  NarrowFloat dtype = NarrowFloat::kF16;
  // The outputs hold the tolerance of ExpectOptions. `rtol` must be set.
  std::optional<double> atol = std::nullopt;  // nullopt: 1e-6
  std::optional<double> rtol = std::nullopt;
};

struct FloatOperator {
  std::string op;     // "Mul 1": its type and its number in the file
  std::string value;  // the name of its last result
};

struct DtypeSearch {
  // With any one of these in the type, too, the outputs did not hold the tolerance.
  std::vector<FloatOperator> stay;
  size_t operators = 0;              // that can compute in the type
  uint64_t runs = 0;                 // of the search
  std::vector<OutputCheck> outputs;  // with all other operators in the type
  std::string text;                  // what nnrun prints
  // {"search_dtype": {...}}: the member of what nnrun --search-dtype --format json prints.
  std::string report;
};

// Errors: those of ReadInputs and of Program; kUsage without a relative tolerance, and if no
// operator computes in float32.
Result<DtypeSearch> SearchDtype(const Model& model, const InputOptions& inputs,
                                const DtypeSearchOptions& options, const InputShapes& shapes = {},
                                const ProgramOptions& program = {});

}  // namespace nnsuite
