#include "apps/nnconvert/graph_edits.h"

#include <string>
#include <vector>

#include "convert/edits/graph_edits.h"

namespace nn::app {

void AddGraphEditOptions(CommandLine& command, ConvertArguments& o) {
  CLI::App& app = command.options();
  app.get_option("--input-shape")
      ->description(
          "Shape of an input, such as NAME:1,3,224,224, or with symbols, NAME:N,3,h,w: a symbol "
          "opens a size that the model fixes, or renames a symbol; equal symbols are equal sizes; "
          "repeatable");
  app.add_option("--set-batch", o.graph_edits.batch,
                 "Batch of all inputs: a size, or a symbol, which leaves it open. Also for models "
                 "that fix it: shapes, slices and constants that hold the old size follow; exit "
                 "code 3 with the name of an operator that cannot")
      ->type_name("N|NAME")
      ->group(kEditGroup);
  command
      .AddRepeated("--preprocess", o.graph_edits.preprocess,
                   "Put preprocessing before an input: u8 (it becomes bytes), resize=HxW[:bilinear|"
                   "nearest] (it gets this size), bgr (from RGB), scale=, mean=, std=, bias= (one "
                   "number, or one for each channel): (pixel * scale - mean) / std + bias, with a "
                   "scale of 1/255 for u8; nchw or nhwc, if the layout is not clear; repeatable")
      ->type_name("INPUT:SETTING,...")
      ->group(kEditGroup);
  command
      .AddRepeated("--layout", o.graph_edits.layouts,
                   "Give an input or output another layout by a transpose; the present one is that "
                   "of the operators around it, or stated, as in nchw:nhwc; repeatable")
      ->type_name("NAME=nhwc|nchw")
      ->group(kEditGroup);
  app.add_option("--merge", o.graph_edits.merge,
                 "Append this model: outputs of IN feed its inputs. Other inputs and outputs of "
                 "both stay")
      ->type_name("FILE")
      ->group(kEditGroup);
  command
      .AddRepeated(
          "--connect", o.graph_edits.connections,
          "With --merge: an output of IN and the input that it feeds; repeatable; default: "
          "the only output and the only input")
      ->type_name("OUTPUT=INPUT")
      ->group(kEditGroup);
}

void SeparateSymbolShapes(ConvertArguments& o) {
  std::vector<std::string>& shapes = o.shapes.input_shapes;
  for (const std::string& text : shapes)
    if (HasSymbols(text)) o.graph_edits.symbol_shapes.push_back(text);
  std::erase_if(shapes, HasSymbols);
}

}  // namespace nn::app
