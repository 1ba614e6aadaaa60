// What models cost, how they differ, and pictures of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nnsuite/error.h"
#include "nnsuite/shapes.h"

namespace nnsuite {

class Model;

// The cost of one operator of the main graph. Sizes are nullopt where a shape is unknown.
struct OperatorCost {
  int64_t index = -1;  // of the operator among those of the main graph; -1: the importer added it
  std::string op;      // as in the file
  std::string name;
  std::string output;                     // type and shape of the first output
  std::optional<uint64_t> multiply_adds;  // nullopt: unknown
  uint64_t parameters = 0;                // elements of its constants
  // Constants and other inputs, each once; outputs.
  std::optional<uint64_t> bytes_read;
  std::optional<uint64_t> bytes_written;
  std::string unknown;  // why the multiply-adds are unknown
};

struct ModelCost {
  std::vector<OperatorCost> operators;  // in the file's order
  // Sums over the operators that have them; `unknown` operators lack multiply-adds, `unsized` ones
  // lack bytes.
  uint64_t multiply_adds = 0;
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;
  uint64_t unknown = 0;
  uint64_t unsized = 0;
  uint64_t parameters = 0;  // elements of all used constants, each counted once
  // The largest sum of live tensors, without constants, when operators run in file order and none
  // in place; temporaries inside an operator are not counted. nullopt if a size is unknown.
  std::optional<uint64_t> peak_bytes;
  size_t peak_operator = 0;  // the first with this peak, as an index into `operators`
};

// The cost of running a model, estimated from its graph. Errors: those of Model::Import, and kUsage
// for shapes that the model does not have.
Result<ModelCost> CostOf(const Model& model, const InputShapes& shapes = {});

// Digests of a model, each "sha256:" and 64 hexadecimal digits. They depend neither on names nor on
// the order of nodes. Models with equal structure are the same except for names and constants; if
// their weights are equal, too, they compute the same function.
struct ModelDigests {
  std::string structure;
  std::string weights;
};

// Errors: those of Model::Import, except that operators which cannot be imported are included in
// the digests, and those of reading tensors.
Result<ModelDigests> DigestsOf(const Model& model);

// A difference between two models; a text is empty where a model lacks the field.
struct Difference {
  std::string where;  // "model", "interface", `Conv "features.0"`, a path in the file
  std::string what;   // "attribute strides", "input 1", "weights w", "operator"
  std::string a;
  std::string b;
};

// Compares two models of the same or different formats, operators with their counterparts, weights
// element by element. Names of operators are ignored. Empty: no difference. Errors: those of
// Model::Import and of reading tensors. The shapes are for both models.
Result<std::vector<Difference>> DiffModels(const Model& a, const Model& b,
                                           const InputShapes& shapes = {});

// The same as nninspect --diff --format json prints it (schemas/nninspect-diff.schema.json).
struct DiffReport {
  std::string json;
  bool equal = false;
};
Result<DiffReport> ReportDifferences(const Model& a, const Model& b,
                                     const InputShapes& shapes = {});
// The same as a page for a browser, as nninspect --diff --format html writes it.
Result<std::string> DrawDifferences(const Model& a, const Model& b, const InputShapes& shapes = {});

// Parts of a report beside the summary.
struct ReportParts {
  bool nodes = false;      // the table of operators
  std::string op = {};     // the same, of this type only
  std::string node = {};   // details of one: its name, or "#" and its number in the table
  bool tensors = false;    // all constant tensors
  bool stats = false;      // reads them for statistics
  bool histogram = false;  // the same, of the tensors and of `node`
  bool values = false;     // types of all values
  bool tree = false;       // counts by scope
  bool cost = false;
  bool hash = false;
};

// Everything about a model as nninspect --format json prints it (schemas/nninspect.schema.json).
// Errors: kUsage for operators and shapes that the model does not have, and those of reading
// tensors.
Result<std::string> Report(const Model& model, const ReportParts& parts = {},
                           const InputShapes& shapes = {});

// Draws the operators of a model, whether they can be imported or not, as a complete SVG document
// or as a graph for Graphviz. Repetitions of operators are drawn once unless `expand`. Equal models
// have equal pictures. Errors: those of Model::Tensors.
Result<std::string> DrawSvg(const Model& model, bool expand = false);
Result<std::string> DrawDot(const Model& model, bool expand = false);

// Files with JSON reports about a model, which a page shows; "": none.
struct PageReports {
  std::string findings = {};  // of nnvalidate
  std::string times = {};     // of nnrun --bench --profile
  std::string errors = {};    // of nnrun --against: differences from another model
};

// A page for a browser, which loads nothing from the network: the operators, their attributes and
// types, and the constants. The same errors, and those of reading the reports.
Result<std::string> DrawHtml(const Model& model, const PageReports& reports = {});

// The bill of materials of a model as a CycloneDX document, as nninspect --format cyclonedx prints
// it. kUsage for a model that was not read from a file, whose digest is unknown.
Result<std::string> BillOfMaterials(const Model& model);

}  // namespace nnsuite
