// Models in the programs: sizes of files, dumps, shapes and names from the command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "formats/format.h"
#include "formats/given_inputs.h"
#include "ir/graph.h"

namespace nn::app {

// --input-shape, --batch and --length.
struct ShapeOptions {
  std::vector<std::string> input_shapes;  // "NAME:1,3,224,224"
  std::optional<int64_t> batch;
  std::vector<std::string> lengths = {};  // "NAME=3", "NAME=none"

  bool empty() const { return input_shapes.empty() && !batch && lengths.empty(); }
};

// Logs that a side file got a name other than the requested one.
void SayOtherName(std::string_view wanted, std::string_view name);

// WriteDump(), with a log message if the tensor file got another name than requested.
Status WriteDumpOf(const ReadModel& read, const std::string& path, const DumpOptions& options);

// The shapes of --input-shape.
Result<InputShapes> ShapesOf(const ShapeOptions& options);

// What the options say about the inputs when the model is imported.
Result<InputSettings> SettingsOf(const ShapeOptions& options);

// Imports the model at `path` again if one of the shapes has another rank than the graph's input of
// that name, and the format may allow it (formats/given_inputs.h).
Status FitRanks(Graph& graph, const ReadModel& read, const std::string& path,
                const InputShapes& shapes);

// Sets the requested shapes of the graph's inputs. kUsage for names, ranks or sizes that do not
// fit, and for a batch if no input has a symbolic first dimension.
Status BindShapes(Graph& graph, const ShapeOptions& options);

}  // namespace nn::app
