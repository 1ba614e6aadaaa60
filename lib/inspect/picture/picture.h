// Pictures of models: boxes, lines and repetitions, and their form as SVG and DOT.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "formats/format.h"
#include "inspect/loaded.h"
#include "ir/op_def.h"

namespace nn::inspect {

// Operators of one color.
enum class BoxKind : uint8_t {
  kConvolution,
  kMatmul,
  kActivation,
  kNorm,
  kPool,
  kArithmetic,
  kShape,
  kQuantization,
  kOther,
  kInput,
  kOutput,
};

struct Box {
  BoxKind kind = BoxKind::kOther;
  std::string title;                     // the operator, or the name of an input or output
  std::vector<std::string> rows;         // significant attributes and constants
  std::string hint;                      // "#12 /features/0/Conv"
  std::optional<size_t> op = {};         // index into ModelSummary::operators
  std::vector<std::string> scopes = {};  // from the outermost one on, of an operator
};

// A value that flows from one box to another, by index.
struct Line {
  size_t from;
  size_t to;
  std::string name;
  std::string label;  // its shape; "" for all but one line of a value
};

// Boxes that represent several repetitions of operators.
struct Repetition {
  size_t first;  // boxes [first, last]
  size_t last;
  size_t times;
};

// The main graph, a subgraph or a function.
struct Panel {
  std::string title;
  std::vector<Box> boxes;
  std::vector<Line> lines;
  std::vector<Repetition> repetitions;
  // The same if all repetitions are drawn: `first` and `last` are the boxes of the first one, and
  // those of the others follow.
  std::vector<Repetition> expanded;
};

struct Picture {
  std::string title;
  std::string subtitle;
  std::vector<Panel> panels;
};

// Draws the operators of the file, whether they can be imported or not. Lines have the shapes of
// their values if the model was loaded with its graph. Without `expand`, repetitions are drawn
// once. Control characters in the texts are escaped. Reads constants of a few bytes. The errors are
// those of TensorsOf.
Result<Picture> DrawModel(const LoadedModel& model, bool expand);

// A complete SVG document of a picture with all repetitions, laid out in nested groups
// (inspect/picture/nested.h); groups that would make the picture too large are closed. With
// `expand`, all groups are open, and all repetitions are drawn. The same bytes for equal pictures.
std::string PictureSvg(const Picture& picture, bool expand);
// A graph for Graphviz.
std::string PictureDot(const Picture& picture);

BoxKind KindOfCategory(Category category);
// The kind of an operator that is not imported, by its name in any of the formats.
BoxKind KindOfOperator(std::string_view op);
struct BoxColors {
  std::string_view name;  // for the legend
  std::string_view fill;
  std::string_view border;
};
const BoxColors& ColorsOf(BoxKind kind);

// The attributes that a picture shows, "3x3, stride 2"; insignificant attributes and default values
// are omitted.
std::vector<std::string> ShownAttributes(const OperatorSummary& op);

}  // namespace nn::inspect
