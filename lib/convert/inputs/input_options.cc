#include "convert/inputs/input_options.h"

#include <vector>

namespace nn {
namespace {

using nnsuite::ArrayOptions;
using nnsuite::ImageOptions;
using nnsuite::InputOptions;

using InputFields = std::vector<OptionField>;

InputFields SourceOptions() {
  return {
      Option<&InputOptions::inputs_file>(
          "inputs",
          {.help = "All inputs by name, or in_0, in_1, ... by position: .npz or .safetensors; of a "
                   "model with one input also .npy or .pb. Images of Core ML may be [H, W] or "
                   "[H, W, 3] in RGB order. A folder: one run for each file in it, images included",
           .value = "FILE"}),
      Option<&InputOptions::inputs>(
          "input", {.help = "One input: an .npy, .pb, .bin or .raw file, an image, or a literal "
                            "(0.5 fills, [1,2,3] lists); repeatable",
                    .value = "NAME=VALUE"}),
      Option<&InputOptions::seed>(
          "seed", {.help = "Seed for the inputs that are not given (default 0; without it, "
                           "--inputs must give all); values are drawn from the ranges that the "
                           "model accepts",
                   .value = "N"}),
      Option<&InputOptions::arrays, &ArrayOptions::cast>(
          "cast-inputs",
          {.help = "Convert arrays to the types of the inputs even if values change: to the "
                   "nearest number of the type, halves to even; integers saturate"}),
      Option<&InputOptions::arrays, &ArrayOptions::reshape>(
          "reshape-inputs",
          {.help = "Add and remove axes of size 1 where the shape of an array differs from the "
                   "shape of its input"}),
  };
}

OptionField LayoutOption(std::string_view name, OptionSurface surface) {
  return Option<&ImageOptions::layout>(name,
                                       {.help = "Where the channels are if the shape does not tell",
                                        .surfaces = surface,
                                        .choices = {"nchw", "nhwc"}});
}

InputFields ImageFields() {
  return {
      Option<&ImageOptions::size>(
          "image-size", {.help = "Size of images where the input leaves it open: N or HEIGHTxWIDTH",
                         .value = "SIZE"}),
      Option<&ImageOptions::max_pixels>(
          "max-image-pixels",
          {.help = "Limit of pixels of an image; exceeding it ends the program with exit code 4",
           .value = "N",
           .least = 1,
           .most = int64_t{1} << 36,
           .shows_default = true}),
      Option<&ImageOptions::fit>(
          "image-fit", {.help = "How an image gets the size: stretch it, or crop what covers the "
                                "size",
                        .choices = {"stretch", "crop"},
                        .shows_default = true}),
      Option<&ImageOptions::color>(
          "image-color", {.help = "Order of the colors; by default the order of the input, or RGB",
                          .choices = {"rgb", "bgr", "gray"}}),
      // In C and Python, "layout" is an option of conversions, of another kind.
      LayoutOption("layout", kOnCommandLine),
      LayoutOption("image-layout", kInBindings),
      Option<&ImageOptions::scale>(
          "scale",
          {.help = "An element is (pixel * scale - mean) / std, pixels being 0 to 255; default "
                   "1/255, for inputs that the model declares as images 1. Integers are pixels",
           .value = "S",
           .finite = true}),
      Option<&ImageOptions::mean>("mean",
                                  {.help = "See --scale: one number, or one for each channel",
                                   .value = "M,...",
                                   .finite = true,
                                   .lists = true}),
      Option<&ImageOptions::std>("std", {.help = "See --scale: one number, or one for each channel",
                                         .value = "S,...",
                                         .finite = true,
                                         .lists = true}),
  };
}

}  // namespace

OptionTable InputOptionTable() {
  static const InputFields fields = [] {
    InputFields out = SourceOptions();
    for (OptionField& field : OptionsWithin<&InputOptions::images>(ImageFields()))
      out.push_back(std::move(field));
    return out;
  }();
  return fields;
}

}  // namespace nn
