// Converts models and verifies the result. A conversion imports the model, legalizes the graph for
// the target format, writes the model, reads the written files again, validates and imports them,
// and runs both models on the same inputs. Nothing at the target changes before all of this
// has succeeded.
//
//   nnsuite::Result<nnsuite::Conversion> done = nnsuite::ConvertFile("m.onnx", "m.tflite");
//   if (!done) ...
//   if (!done->written) ...  // see done->unsupported and done->verification
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "nnsuite/dtype.h"
#include "nnsuite/error.h"
#include "nnsuite/options.h"
#include "nnsuite/progress.h"
#include "nnsuite/tensor.h"
#include "nnsuite/unsupported_node.h"

namespace nnsuite {

class Model;

struct VerifyOptions {
  uint64_t seed = 0;  // run i has inputs of seed + i
  uint64_t runs = 3;
  // The largest accepted difference of an element of a float output is atol plus rtol times the
  // largest magnitude in that output. Quantized outputs are measured by the real numbers that they
  // represent, and may differ by one step more; all others must be equal.
  double atol = 1e-6;
  double rtol = 1e-5;
  RunLimits limits = {};  // of each run of either model
  size_t threads = 0;     // of each run; 0: one per processor. The results do not depend on it
  // Shapes of inputs, by name, for the runs only.
  std::map<std::string, std::vector<int64_t>> input_shapes = {};
  // The contents of all inputs, by position, a set for each run, in place of `runs` runs on
  // generated inputs.
  std::vector<std::vector<Tensor>> inputs = {};
};

// Weights, and unless `weights_only` also operators, in a floating-point type of 16 bits.
struct HalfOptions {
  DType type = DType::kF16;   // or kBF16
  bool weights_only = false;  // operators compute in float32
  bool interface = false;     // inputs and outputs are of the type, too
};

// Weights, and for the form "int8" also operators, in integers of 8 bits or less.
struct QuantizeOptions {
  // "int8", "weights-int8", "weights-int4", "weights-lutN" with N from 1 to 8, or
  // "weights-sparse:PART" with the part of each tensor's weights that becomes 0. ":BLOCK" after one
  // of weights-int8 and weights-int4: so many weights share a scale.
  std::string form = "int8";
  std::string method = "minmax";   // of int8: or "percentile:P", "entropy", "mse"
  bool symmetric = false;          // zero points are 0, except those that the specification fixes
  bool per_tensor = false;         // one scale for all weights of a tensor
  bool bias_correction = false;    // keeps the means of all channels over the samples
  bool equalize = false;           // equalizes the ranges of weights between two convolutions
  bool integer_interface = false;  // inputs and outputs are integers where operators have them
  // Samples of the model's inputs, by position, for int8 and `bias_correction`; without them,
  // `seeded` samples of random numbers, whose ranges are rarely those of real data.
  std::vector<std::vector<Tensor>> samples = {};
  uint64_t seeded = 0;
};

// Edits of a model's inputs and outputs, in the order in which they apply, with the texts of
// nnconvert's options. The edited model is verified against the model of the file, and the written
// one against the edited one.
struct GraphEdits {
  // A model file that is appended: outputs of the model feed its inputs. Other inputs and outputs
  // of both stay.
  std::string merge = {};
  // "OUTPUT=INPUT"; none: the only output feeds the only input.
  std::vector<std::string> connections = {};
  // "NAME:N,3,h,w": a symbol opens a size that the model fixes, or renames a symbol.
  std::vector<std::string> symbol_shapes = {};
  // A size or a symbol for the batch of all inputs, also of models that fix it.
  std::string batch = {};
  // "INPUT:SETTING,..." with the settings u8, resize=HxW[:bilinear|nearest], bgr, scale=, mean=,
  // std=, bias=, nchw and nhwc: (pixel * scale - mean) / std + bias is computed before the input.
  std::vector<std::string> preprocess = {};
  // "NAME=nhwc", or with the present layout, "NAME=nchw:nhwc": a transpose at an input or output.
  std::vector<std::string> layouts = {};
  // The elements of a state of ConvertOptions::carry whose size is open. One that grows with each
  // run, such as the cache of a decoder, becomes a buffer of this size.
  std::optional<int64_t> cache_length = std::nullopt;
};

struct ConvertOptions {
  std::string format = {};  // FormatInfo::name of the target; "": by the extension of its path
  ReadLimits limits = {};   // of the source
  // The function of a source that has several (ML Programs); "": the one that runs by default.
  std::string function = {};
  // Shapes of inputs, by name, and the batch (Graph::SetInputShapes, SetBatch).
  std::map<std::string, std::vector<int64_t>> input_shapes = {};
  std::optional<int64_t> batch = std::nullopt;
  // The number of elements of inputs that are sequences, by name; std::nullopt: an optional input
  // has no value.
  std::map<std::string, std::optional<int64_t>> lengths = {};
  GraphEdits edits = {};
  // Inputs, by name, that become constants with these contents, whose types and shapes must be
  // those of the inputs. They may decide about branches, trip counts and sizes.
  std::map<std::string, Tensor> fixed_inputs = {};
  // "NAME=MIN,MAX": an input is clipped to these bounds, which shows that integers stay within
  // those that float32 represents.
  std::vector<std::string> clipped_inputs = {};
  // "OLD=NEW". All names change at once.
  std::vector<std::string> renamed_inputs = {};
  std::vector<std::string> renamed_outputs = {};
  int64_t opset = 0;  // ONNX operator set version; 0: the lowest that fits
  // Core ML: the kind of model, "network" or "program" (an ML Program); "": the latter as
  // .mlpackage, the former otherwise.
  std::string core_ml = {};
  // Of an ML Program: the oldest system that is to run it, "iOS15" to "iOS26"; "": the oldest that
  // has all its operations.
  std::string deployment_target = {};
  ExternalData external_data = {};
  bool infer_shapes = false;  // ONNX: states the types and shapes of all values
  // Folds batch normalizations into the convolutions before them, which rounds differently. The
  // verification compares with the unfolded model.
  bool fold_batch_norm = false;
  // Fuses functions that exporters decompose (GELU, layer normalization, and others) into one
  // operator wherever the target has it, which rounds differently. Without it, they are fused only
  // if the target lacks an operator of the decomposition.
  bool fuse = false;
  // Removes redundant operators; outputs keep their bits unless `allow_rounding`, which also does
  // what `fold_batch_norm` and `fuse` do.
  bool simplify = false;
  bool allow_rounding = false;
  // The verification compares the written model with the changed one.
  std::optional<HalfOptions> half = std::nullopt;
  std::optional<QuantizeOptions> quantize = std::nullopt;  // excludes `half`
  // Patterns (fnmatch) for names and types of operators, and names of their results, that `half`
  // and `quantize` leave in float32.
  std::vector<std::string> keep_float32 = {};
  // Turns a quantized model into a float one first: quantized weights and biases are stored as
  // floats, quantized inputs and outputs become float32. The verification compares with that float
  // model.
  bool dequantize = false;
  // Computes in float32 what the model computes in float16, bfloat16 or float64: constants, inputs
  // and outputs of these types become float32. The verification compares with that model.
  bool float32 = false;
  // Recurrent layers that the format cannot hold are written step by step if they have at most this
  // many steps, 1 to 65,536, and a number of steps that the model leaves open is set to it.
  // std::nullopt: up to 256 steps over both directions, and open numbers stay.
  std::optional<int64_t> unroll = std::nullopt;
  // The states of layers (variable tensors of TensorFlow Lite) become inputs and outputs, and so do
  // resource variables, as in other formats. Without it, layers begin with their initial values.
  bool states = false;
  // "OUT=IN": the input IN gets the value of the output OUT in the run before, and the written
  // model passes it on itself, as a state (ML Programs).
  std::vector<std::string> carry = {};
  // Imports and writes a model also if nothing but names and the form of the file changes and its
  // format stays, so that a copy would do.
  bool rewrite = false;
  bool dry_run = false;  // exports the model, but writes, validates and runs nothing
  bool verify = true;    // whether to run both models
  VerifyOptions verification = {};
  // Told of "runs" and "bytes". If it ends the conversion, existing files are unchanged.
  ProgressCallback progress = nullptr;
};

enum class PortSide : uint8_t { kInput, kOutput };

// "input", "output".
std::string_view PortSideName(PortSide side);

// An input or output whose type in the written model is not that of the source.
struct PortChange {
  enum class Kind : uint8_t {
    // Float32 instead of quantized (ConvertOptions::dequantize).
    kDequantized,
    // Its axes are permuted, possibly without some axes of size 1: axis k is axis axes[k] of the
    // source. If a scalar of the source became a vector of one element, axes[0] is -1.
    kMoved,
    // The integers of a quantized port are those of the source plus `offset`. The zero point is
    // shifted as well, so the real numbers are the same.
    kShifted,
  };

  Kind kind = Kind::kDequantized;
  PortSide side = PortSide::kInput;
  std::string name;
  std::string from;  // types: "i8[1, 10]{scale=0.5, zp=0}"
  std::string to;
  std::vector<int> axes = {};
  int64_t offset = 0;
};

// One output, over all runs of the verification.
struct OutputDrift {
  std::string name;
  std::string type;         // "f32", or "i64 -> i32" if the converted model has another type
  double max_absolute = 0;  // the largest difference, and over the output's largest magnitude
  double relative = 0;
  std::string text;  // of the run with the largest difference, as text
};

struct Verification {
  std::vector<uint64_t> seeds;
  // Sizes of symbols chosen for these runs only, one for each shape that was run.
  std::vector<std::pair<std::string, std::vector<int64_t>>> symbols;
  std::vector<OutputDrift> outputs;  // in the order of the source's outputs
  bool passed = true;                // all outputs agree in all runs
};

// The files of a model that are in place.
struct WrittenModel {
  uint64_t bytes = 0;  // of the model file, or of all files of a folder
  // Names relative to the folder of the model file, and bytes; none if the model is a folder.
  std::vector<std::pair<std::string, uint64_t>> side_files;
};

struct Conversion {
  // The unsupported nodes. If there are any, nothing is written.
  std::vector<UnsupportedNode> unsupported;
  std::vector<std::string> edits;  // what ConvertOptions::edits changed, a text each
  // Of the edits. If it did not pass, nothing is written.
  std::optional<Verification> edit_verification;
  std::vector<PortChange> port_changes;      // by kind, inputs first
  std::optional<Verification> verification;  // nullopt: not verified
  // The files in place; nullopt if there are unsupported nodes, the verification did not pass, or
  // ConvertOptions::dry_run is set.
  std::optional<WrittenModel> written;
  // All of this and more, as nnconvert --format json prints it, without the digests of files
  // (schemas/nnconvert-report.schema.json).
  std::string report;
  // The exit code of nnconvert: 0, 1 if the verification did not pass, 3 for unsupported nodes.
  int exit_code = 0;
};

// Converts the model at `input` ("-": standard input) to `output` ("-": standard output; requires
// ConvertOptions::format). Unsupported nodes and outputs that drift are results, not errors.
// Errors: those of Model::Read and Model::Import; kUsage for options that do not fit the model or
// the format; kIo if the files cannot be written; kLimit; kModel if the source violates the rules
// of its format and the written model therefore cannot be sound. Existing files are unchanged on
// error. Messages name the options of nnconvert that help.
//
// May be called concurrently, even for the same target, which then has the files of one of the
// conversions.
Result<Conversion> ConvertFile(const std::string& input, const std::string& output,
                               const ConvertOptions& options = {});

// The same for a model in memory.
Result<Conversion> ConvertModel(const Model& model, const std::string& output,
                                const ConvertOptions& options = {});

class Graph;

// The same for a graph, which is not changed. ConvertOptions::limits does not apply.
Result<Conversion> ConvertGraph(const Graph& graph, const std::string& output,
                                const ConvertOptions& options = {});

}  // namespace nnsuite
