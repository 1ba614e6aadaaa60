#include "convert/convert_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "convert/edits/graph_edits.h"
#include "convert/quantize/quantize_text.h"
#include "formats/format_options.h"
#include "formats/input_texts.h"

namespace nn {
namespace {

using OptionTexts = std::vector<std::string>;
using OptionFields = std::vector<OptionField>;

// Limit of options: steps of --unroll, which are written one by one.
constexpr int64_t kMaxSteps = 65536;
// Limit of options: samples of calibrate-seeded in the C, C++ and Python libraries.
constexpr int64_t kMaxSamples = 100000;

void AppendFields(OptionFields more, OptionFields& fields) {
  for (OptionField& field : more) fields.push_back(std::move(field));
}

// A shape with symbols is an edit.
OptionField InputShapeOption() {
  return ComputedOption<nnsuite::ConvertOptions, OptionTexts>(
      "input-shape",
      {.help =
           "Shape of an input, such as NAME:1,3,224,224, or with symbols, NAME:N,3,h,w: a symbol "
           "opens a size that the model fixes, or renames a symbol; equal symbols are equal sizes; "
           "repeatable",
       .value = "NAME:SHAPE",
       .group = kShapeGroup,
       .effects = kChangesGraph},
      [](const nnsuite::ConvertOptions& o) {
        OptionTexts texts = TextsOf(o.input_shapes);
        texts.insert(texts.end(), o.edits.symbol_shapes.begin(), o.edits.symbol_shapes.end());
        return std::optional(std::move(texts));
      },
      [](nnsuite::ConvertOptions& o, const OptionTexts& texts) -> Status {
        OptionTexts sizes;
        for (const std::string& text : texts)
          (HasSymbols(text) ? o.edits.symbol_shapes : sizes).push_back(text);
        NN_ASSIGN(InputShapes shapes, InputShapesOf("--input-shape", sizes));
        o.input_shapes.merge(shapes);
        return {};
      });
}

// Contents of inputs, which are no texts: see nnsuite_options_set_fixed_input.
OptionField FixedInputOption() {
  return ComputedOption<nnsuite::ConvertOptions, OptionTexts>(
      "fix-input", {.effects = kChangesGraph | kOneModel, .surfaces = 0},
      [](const nnsuite::ConvertOptions& o) {
        OptionTexts names;
        for (const auto& [name, tensor] : o.fixed_inputs) names.push_back(name);
        return std::optional(std::move(names));
      },
      [](nnsuite::ConvertOptions&, const OptionTexts&) { return Status(); });
}

OptionFields InterfaceOptions() {
  return {
      InputShapeOption(),
      Option<&nnsuite::ConvertOptions::batch>("batch", BatchFacts(kShapeGroup, kChangesGraph)),
      LengthOption<&nnsuite::ConvertOptions::lengths>(LengthFacts(kShapeGroup, kChangesGraph)),
      FixedInputOption(),
      Option<&nnsuite::ConvertOptions::clipped_inputs>(
          "clip-input",
          {.help =
               "Clip an input to these bounds, which shows that integers stay within those that "
               "float32 represents, for formats that compute with float32; repeatable",
           .value = "NAME=MIN,MAX",
           .group = kShapeGroup,
           .effects = kChangesGraph | kOneModel}),
      Option<&nnsuite::ConvertOptions::renamed_inputs>(
          "rename-input",
          {.help =
               "Rename an input; repeatable. All names change at once; if nothing else changes and "
               "OUT has the format of IN, the model is not imported",
           .value = "OLD=NEW",
           .group = kShapeGroup,
           .effects = kChangesNames | kOneModel}),
      Option<&nnsuite::ConvertOptions::renamed_outputs>(
          "rename-output", {.help = "Rename an output; repeatable; see --rename-input",
                            .value = "OLD=NEW",
                            .group = kShapeGroup,
                            .effects = kChangesNames | kOneModel}),
  };
}

OptionFields GraphEditOptions() {
  return {
      Option<&nnsuite::ConvertOptions::edits, &nnsuite::GraphEdits::merge>(
          "merge", {.help = "Append this model: outputs of IN feed its inputs. Other inputs and "
                            "outputs of both stay",
                    .value = "FILE",
                    .group = kEditGroup,
                    .effects = kChangesGraph | kOneModel}),
      Option<&nnsuite::ConvertOptions::edits, &nnsuite::GraphEdits::connections>(
          "connect", {.help = "With --merge: an output of IN and the input that it feeds; "
                              "repeatable; default: the only output and the only input",
                      .value = "OUTPUT=INPUT",
                      .group = kEditGroup}),
      Option<&nnsuite::ConvertOptions::edits, &nnsuite::GraphEdits::batch>(
          "set-batch",
          {.help =
               "Batch of all inputs: a size, or a symbol, which leaves it open. Also for models "
               "that fix it: shapes, slices and constants that hold the old size follow; exit "
               "code 3 with the name of an operator that cannot",
           .value = "N|NAME",
           .group = kEditGroup,
           .effects = kChangesGraph}),
      Option<&nnsuite::ConvertOptions::edits, &nnsuite::GraphEdits::preprocess>(
          "preprocess",
          {.help = "Put preprocessing before an input: u8 (it becomes bytes), resize=HxW[:bilinear|"
                   "nearest] (it gets this size), bgr (from RGB), scale=, mean=, std=, bias= (one "
                   "number, or one for each channel): (pixel * scale - mean) / std + bias, with a "
                   "scale of 1/255 for u8; nchw or nhwc, if the layout is not clear; repeatable",
           .value = "INPUT:SETTING,...",
           .group = kEditGroup,
           .effects = kChangesGraph | kOneModel}),
      Option<&nnsuite::ConvertOptions::edits, &nnsuite::GraphEdits::layouts>(
          "layout",
          {.help = "Give an input or output another layout by a transpose; the present one is the "
                   "layout of the operators around it, or stated, as in nchw:nhwc; repeatable",
           .value = "NAME=nhwc|nchw",
           .group = kEditGroup,
           .effects = kChangesGraph | kOneModel}),
      Option<&nnsuite::ConvertOptions::edits, &nnsuite::GraphEdits::cache_length>(
          "cache-length",
          {.help = "With --carry: the elements of a state whose size is open. One that grows with "
                   "each run, such as the cache of a decoder, becomes a buffer of N elements",
           .value = "N",
           .group = kEditGroup,
           .effects = kChangesGraph | kOneModel,
           .least = 1,
           .most = std::numeric_limits<int32_t>::max(),
           .needs = {"carry"}}),
  };
}

OptionFields OperatorOptions() {
  return {
      Option<&nnsuite::ConvertOptions::function>("function",
                                                 FunctionFacts(kOperatorGroup, kChangesGraph)),
      Option<&nnsuite::ConvertOptions::opset>("opset",
                                              {.help = "ONNX operator set version to write",
                                               .value = "N",
                                               .group = kOperatorGroup,
                                               .effects = kChangesGraph}),
      Option<&nnsuite::ConvertOptions::core_ml>(
          "core-ml", {.help = "Core ML: the kind of model, network or program (an ML Program); "
                              "default: a program as .mlpackage, a network otherwise",
                      .value = "KIND",
                      .group = kOperatorGroup,
                      .effects = kChangesFile}),
      Option<&nnsuite::ConvertOptions::deployment_target>(
          "deployment-target",
          {.help = "ML Programs: the oldest system that is to run OUT, iOS15 to iOS26; default: "
                   "the oldest that has all its operations",
           .value = "SYSTEM",
           .group = kOperatorGroup,
           .effects = kChangesGraph}),
      Option<&nnsuite::ConvertOptions::fold_batch_norm>(
          "fold-batch-norm",
          {.help = "Fold batch normalizations into the weights of the preceding convolutions: "
                   "faster, but rounds differently",
           .group = kOperatorGroup,
           .effects = kChangesGraph}),
      Option<&nnsuite::ConvertOptions::fuse>(
          "fuse",
          {.help = "Fuse functions that exporters decompose (GELU, layer normalization, ...) into "
                   "one operator wherever the format has it: faster, but rounds differently. By "
                   "default, only if the format lacks an operator of the decomposition",
           .group = kOperatorGroup,
           .effects = kChangesGraph}),
      Option<&nnsuite::ConvertOptions::simplify>(
          "simplify",
          {.help =
               "Remove redundant computation: fold constants and shapes, drop dead and duplicate "
               "operators and identities, join transposes, reshapes, casts and slices. If OUT has "
               "the format of IN, its version, metadata and interface stay. Alone, it fails if an "
               "output changes a bit; with another format or arithmetic, the tolerance applies",
           .group = kOperatorGroup,
           .effects = kChangesGraph}),
      Option<&nnsuite::ConvertOptions::allow_rounding>(
          "allow-rounding", {.help = "With --simplify: also --fold-batch-norm and --fuse; outputs "
                                     "may differ within the tolerance",
                             .group = kOperatorGroup,
                             .needs = {"simplify"}}),
      Option<&nnsuite::ConvertOptions::unroll>(
          "unroll",
          {.help = "Recurrent layers that the format cannot hold: write up to N time steps one by "
                   "one (without it, 256 over both directions), and set a number of steps that the "
                   "model leaves open to N",
           .value = "N",
           .group = kOperatorGroup,
           .effects = kChangesGraph,
           .least = 1,
           .most = kMaxSteps}),
      Option<&nnsuite::ConvertOptions::states>(
          "states",
          {.help = "TensorFlow Lite: the states of layers become inputs and outputs of OUT, and so "
                   "do resource variables, as in other formats; without it, states of layers begin "
                   "each run anew",
           .group = kOperatorGroup,
           .effects = kChangesGraph}),
      Option<&nnsuite::ConvertOptions::carry>(
          "carry", {.help = "ML Programs: the input IN and the output OUT become a state, which "
                            "begins as 0: IN gets the value of OUT in the run before; repeatable",
                    .value = "OUT=IN",
                    .group = kOperatorGroup,
                    .effects = kChangesGraph | kOneModel}),
      Option<&nnsuite::ConvertOptions::rewrite>(
          "rewrite", {.help = "Import IN and write it again, even if a copy would suffice",
                      .group = kOperatorGroup,
                      .effects = kChangesGraph}),
  };
}

// --fp16 and --bf16.
OptionField HalfTypeOption(std::string_view name, nnsuite::DType type, std::string_view help,
                           std::vector<std::string_view> excludes) {
  return ComputedOption<nnsuite::ConvertOptions, bool>(
      name,
      {.help = help,
       .group = kNumberGroup,
       .effects = kChangesGraph,
       .excludes = std::move(excludes)},
      [type](const nnsuite::ConvertOptions& o) {
        return std::optional(o.half && o.half->type == type);
      },
      [type](nnsuite::ConvertOptions& o, const bool&) {
        if (!o.half) o.half.emplace();
        o.half->type = type;
        return Status();
      });
}

OptionFields NumberOptions() {
  return {
      Option<&nnsuite::ConvertOptions::dequantize>(
          "dequantize",
          {.help = "Convert a quantized model as a float model: quantized weights, inputs and "
                   "outputs become float32; the report shows the difference from the quantized "
                   "model",
           .group = kNumberGroup,
           .effects = kChangesGraph}),
      Option<&nnsuite::ConvertOptions::float32>(
          "float32",
          {.help = "Compute in float32 what the model computes in float16, bfloat16 or float64: "
                   "constants, inputs and outputs become float32; the report shows the difference "
                   "from the model",
           .group = kNumberGroup,
           .effects = kChangesGraph}),
      HalfTypeOption("fp16", nnsuite::DType::kF16,
                     "Compute in float16 what the model computes in float32, except operators that "
                     "have no float16 form in OUT, or whose numbers are out of range in the "
                     "verification. Inputs and outputs stay. The report shows the difference from "
                     "the model",
                     {"bf16", "quantize"}),
      HalfTypeOption("bf16", nnsuite::DType::kBF16, "The same in bfloat16", {"fp16", "quantize"}),
      Option<&nnsuite::ConvertOptions::half, &nnsuite::HalfOptions::weights_only>(
          "weights-only",
          {.help = "With --fp16, --bf16: store the weights in 16 bits, and compute in float32",
           .group = kNumberGroup,
           .needs = {"fp16", "bf16"}}),
      Option<&nnsuite::ConvertOptions::half, &nnsuite::HalfOptions::interface>(
          "half-interface", {.help = "With --fp16, --bf16: also inputs and outputs",
                             .group = kNumberGroup,
                             .needs = {"fp16", "bf16"},
                             .excludes = {"weights-only"}}),
      Option<&nnsuite::ConvertOptions::keep_float32>(
          "keep-float32",
          {.help = "With --fp16, --bf16, --quantize: operators that stay in float32, with their "
                   "weights: a name, the name of an output, or a type such as Softmax; * and ? "
                   "match any characters; repeatable",
           .value = "PATTERN",
           .group = kNumberGroup,
           .needs = {"fp16", "bf16", "quantize"}}),
  };
}

// What a quantization needs besides its form.
OptionFacts OfQuantization(OptionFacts facts) {
  facts.group = kQuantizeGroup;
  facts.needs = {"quantize"};
  return facts;
}

OptionFields QuantizationOptions() {
  return {
      Option<&nnsuite::ConvertOptions::quantize, &nnsuite::QuantizeOptions::form>(
          "quantize",
          {.help =
               "Quantize a float32 model. int8: operators compute with 8-bit integers, as "
               "TensorFlow Lite's specification says; ONNX models have QuantizeLinear and "
               "DequantizeLinear around them; needs --calibrate. weights-int8 and weights-int4: "
               "only weights are integers, with a scale for each output channel or block of BLOCK "
               "weights; operators compute in float32. weights-lutN: weights are one of 2^N "
               "numbers of a table (Core ML). weights-sparse:PART: the smallest weights become 0, "
               "and are left out (ML Programs). The report shows the signal-to-noise ratio (SNR) "
               "of every quantized value",
           .value = "FORM",
           .group = kQuantizeGroup,
           .effects = kChangesGraph}),
      Option<&nnsuite::ConvertOptions::quantize, &nnsuite::QuantizeOptions::seeded>(
          "calibrate-seeded", OfQuantization({.help = "Samples of random numbers",
                                              .value = "N",
                                              .surfaces = kInBindings,
                                              .least = 0,
                                              .most = kMaxSamples})),
      Option<&nnsuite::ConvertOptions::quantize, &nnsuite::QuantizeOptions::method>(
          "calibrate-method",
          OfQuantization(
              {.help = "With --quantize int8: the range of a value. minmax: all numbers of the "
                       "samples; percentile[:P]: the middle P percent (99.99); entropy: the most "
                       "similar distribution; mse: the smallest squared error",
               .value = "METHOD",
               .shows_default = true})),
      Option<&nnsuite::ConvertOptions::quantize, &nnsuite::QuantizeOptions::symmetric>(
          "symmetric", OfQuantization({.help = "With --quantize int8: zero points are 0, except "
                                               "those that the specification fixes"})),
      Option<&nnsuite::ConvertOptions::quantize, &nnsuite::QuantizeOptions::per_tensor>(
          "per-tensor",
          OfQuantization({.help = "With --quantize: one scale for all weights of a tensor"})),
      Option<&nnsuite::ConvertOptions::quantize, &nnsuite::QuantizeOptions::bias_correction>(
          "bias-correction", OfQuantization({.help = "With --quantize: change biases so that the "
                                                     "means of all channels over the samples "
                                                     "stay"})),
      Option<&nnsuite::ConvertOptions::quantize, &nnsuite::QuantizeOptions::equalize>(
          "equalize",
          OfQuantization({.help = "With --quantize: scale the channels between two convolutions so "
                                  "that their weights have equal ranges (cross-layer "
                                  "equalization)"})),
      Option<&nnsuite::ConvertOptions::quantize, &nnsuite::QuantizeOptions::integer_interface>(
          "integer-interface",
          OfQuantization({.help = "With --quantize int8: inputs and outputs are integers, too, "
                                  "where an integer operator takes or computes them"})),
  };
}

OptionFields FileOptions() {
  OptionFields fields = OptionsWithin<&nnsuite::ConvertOptions::external_data>(ExternalDataTable());
  fields.push_back(Option<&nnsuite::ConvertOptions::infer_shapes>(
      "infer-shapes", {.help = "State the inferred types and shapes of all values in the ONNX file "
                               "(value_info)",
                       .group = kFileGroup,
                       .effects = kChangesFile}));
  fields.push_back(Option<&nnsuite::ConvertOptions::dry_run>(
      "dry-run", {.help = "Write nothing; list all operators that cannot be converted (exit code 3 "
                          "if any)",
                  .group = kFileGroup,
                  .effects = kNoResult}));
  return fields;
}

}  // namespace

OptionTable ConvertOptionTable() {
  static const OptionFields fields = [] {
    OptionFields out = {Option<&nnsuite::ConvertOptions::format>(
        "to", {.help = "Format to write, if the extension does not determine it; json: a dump; "
                       "all, with --dry-run: every format",
               .value = "FORMAT"})};
    AppendFields(InterfaceOptions(), out);
    AppendFields(GraphEditOptions(), out);
    AppendFields(OperatorOptions(), out);
    AppendFields(NumberOptions(), out);
    AppendFields(QuantizationOptions(), out);
    AppendFields(FileOptions(), out);
    out.push_back(ComputedOption<nnsuite::ConvertOptions, bool>(
        "no-verify",
        {.help = "Do not run both models to compare their outputs", .group = kVerifyGroup},
        [](const nnsuite::ConvertOptions& o) { return std::optional(!o.verify); },
        [](nnsuite::ConvertOptions& o, const bool& off) {
          o.verify = !off;
          return Status();
        }));
    AppendFields(OptionsWithin<&nnsuite::ConvertOptions::verification>(VerifyOptionTable()), out);
    return out;
  }();
  return fields;
}

Status CheckFormatOptions(const nnsuite::ConvertOptions& o, const Format& target) {
  ExportOptions options;
  options.core_ml = o.core_ml;
  options.deployment_target = o.deployment_target;
  return target.writer.CheckOptions(options);
}

Status CheckConvertOptions(const nnsuite::ConvertOptions& o, const Format& target) {
  NN_RETURN_IF_ERROR(CheckGraphEdits(o.edits, o.batch));
  if (o.half && o.quantize)
    return UsageError("a model is quantized or computes in 16 bits, not both");
  if (!o.keep_float32.empty() && !o.half && !o.quantize)
    return UsageError("operators to keep in float32 need a quantization or 16 bits");
  if (o.half && o.half->type != nnsuite::DType::kF16 && o.half->type != nnsuite::DType::kBF16)
    return UsageError("{} is not a floating-point type of 16 bits",
                      nnsuite::DTypeName(o.half->type));
  if (o.quantize) NN_RETURN_IF_ERROR(QuantizeSettingsOf(*o.quantize, target));
  if (o.unroll && (*o.unroll < 1 || *o.unroll > kMaxSteps))
    return UsageError("{} steps cannot be unrolled, only 1 to {}", *o.unroll, kMaxSteps);
  return {};
}

const OptionField* FirstOptionWith(unsigned effects, const nnsuite::ConvertOptions& options) {
  static const nnsuite::ConvertOptions defaults;
  for (const OptionField* field : ChangedOptions(ConvertOptionTable(), &options, &defaults))
    if (field->Has(effects)) return field;
  return nullptr;
}

}  // namespace nn
