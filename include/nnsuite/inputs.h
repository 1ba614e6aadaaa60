// The contents of a model's inputs from files, images and literals, as nnrun takes them.
//
//   nnsuite::Result<nnsuite::ModelInputs> given =
//       nnsuite::ReadInputs(model, {.inputs = {"image=cat.jpg"}});
//   if (!given) ...
//   auto program = nnsuite::Program::Compile(std::move(given->graph));
//   if (!program) ...
//   auto inputs = nnsuite::CompleteInputs(*program, given->arrays);
//   if (!inputs) ...
//   auto outputs = program->Run(*inputs);
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "nnsuite/error.h"
#include "nnsuite/graph.h"
#include "nnsuite/options.h"
#include "nnsuite/program.h"
#include "nnsuite/shapes.h"
#include "nnsuite/tensor.h"

namespace nnsuite {

class Model;

// Which arrays fit an input although their types or shapes differ.
struct ArrayOptions {
  // Values may change: they become the nearest number of the type, halves to even; integers
  // saturate. Without it, arrays of other numeric types fit if no value changes.
  bool cast = false;
  // Axes of size 1 may be added and removed.
  bool reshape = false;
};

enum class ImageFit : uint8_t {
  kStretch,
  kCrop,  // the middle of the image, scaled to cover the size
};
enum class ImageColor : uint8_t { kRgb, kBgr, kGray };
enum class ImageLayout : uint8_t { kNchw, kNhwc };

// How the pixels of an image file become the elements of an input.
struct ImageOptions {
  std::string size = {};  // "224" or "HEIGHTxWIDTH", where the input leaves it open
  ImageFit fit = ImageFit::kStretch;
  std::optional<ImageColor> color = std::nullopt;    // nullopt: that of the input, or RGB
  std::optional<ImageLayout> layout = std::nullopt;  // nullopt: by the shape of the input
  // An element is (pixel * scale - mean) / std, pixels being 0 to 255. `mean` and `std` have one
  // number, or one for each channel; none: 0 and 1. The scale is 1/255 unless it is set, or 1 for
  // inputs that the model declares as images. Integers are pixels if none of the three is set.
  std::optional<double> scale = std::nullopt;
  std::vector<double> mean = {};
  std::vector<double> std = {};
  static constexpr int64_t kMaxPixels = int64_t{1} << 28;
  int64_t max_pixels = kMaxPixels;
  uint64_t max_work = RunLimits::kAnyWork;  // of decoding, as RunLimits::max_work

  // Whether an option changes numbers.
  bool has_numbers() const { return scale || !mean.empty() || !std.empty(); }
};

struct InputOptions {
  // A file with all inputs by name, or by position as in_0, in_1, ...: .npz or .safetensors; of a
  // model with one input also .npy or .pb. "": none.
  std::string inputs_file = {};
  // "NAME=VALUE": an .npy, .pb, .bin or .raw file, an image, or a literal ("0.5" fills, "[1,2,3]"
  // lists).
  std::vector<std::string> inputs = {};
  std::vector<NamedTensor> tensors = {};  // inputs in memory, by name
  // Of the inputs that are not given; nullopt: 0, and the file must have all inputs.
  std::optional<uint64_t> seed = std::nullopt;
  ArrayOptions arrays = {};
  ImageOptions images = {};
  ReadLimits limits = {};  // of the files
};

struct ModelInputs {
  // With the shapes of the arrays, and names for all inputs and outputs. A symbolic batch that
  // neither an array nor a shape sets is 1.
  Graph graph;
  // By input of the graph; nullopt: not given.
  std::vector<std::optional<Tensor>> arrays;
  // Inputs that are none of the graph: their contents, few integers, decide about sizes or
  // branches, and the graph has them as constants.
  std::vector<std::string> constants;
};

// Reads the inputs and imports the model for them: shapes, and small integers where they decide
// about shapes, are those of the arrays. Errors: those of Model::Import; kUsage, with a table of
// the inputs, for names that match no input, arrays that do not fit, and unknown shapes; those of
// reading files. Messages name the options of nnrun that help.
Result<ModelInputs> ReadInputs(const Model& model, const InputOptions& options,
                               const InputShapes& shapes = {});

// All inputs of a run: the arrays, which are by input of the program, and for the others the
// contents of Program::SeededInputs. kUsage if the number of arrays is not that of the inputs.
Result<std::vector<Tensor>> CompleteInputs(const Program& program,
                                           std::span<const std::optional<Tensor>> arrays,
                                           uint64_t seed = 0);

}  // namespace nnsuite
