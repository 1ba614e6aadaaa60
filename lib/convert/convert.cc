#include "convert/convert.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "base/thread_pool.h"
#include "convert/edits.h"
#include "convert/kept_states.h"
#include "convert/layer_steps.h"
#include "convert/remedy.h"
#include "convert/shrink.h"
#include "convert/written_check.h"
#include "ir/op_def.h"
#include "ops/control/region.h"
#include "ops/math/random.h"
#include "passes/float32.h"
#include "passes/passes.h"
#include "passes/ports.h"
#include "passes/qdq.h"
#include "passes/simplify.h"
#include "passes/weights.h"

namespace nn {
namespace {

// The error, with the path of the source.
tl::unexpected<Error> InInput(const Error& error, const ConvertOptions& o) {
  return tl::unexpected<Error>(o.input.empty() ? error : error.In(o.input));
}

ExportOptions OutputOf(const ConvertOptions& o) {
  ExportOptions options = o.output;
  std::string& file = options.external_data.file;
  file = PlainRelativePath(file).value_or(file);
  return options;
}

int64_t CountOf(const Graph& graph, std::string_view op) {
  return CountNodes(graph, [&](const Node& node) { return node.Is(op); });
}

// Applies ConvertOptions::fuse.
Status FuseIdioms(Graph& graph, const Format& format, const ConvertOptions& o,
                  RewriteCounts& rewrites) {
  if (!o.fuse && !o.allow_rounding) return {};
  NN_RETURN_IF_ERROR(FoldConstants(graph));
  const auto is_one = [&](const Node& node) { return IsOneOperator(node, format, o.output.opset); };
  return FuseIdiomsFor(*format.target, graph, IdiomScope::kAll, &rewrites, is_one);
}

Result<int> FoldNorms(Graph& graph, const ConvertOptions& o) {
  if (!o.fold_batch_norm && !o.allow_rounding) return 0;
  return FoldBatchNorms(graph);
}

void AddRewrites(const RewriteCounts& rewrites, Conversion& out) {
  for (const auto& [rewrite, count] : rewrites) {
    const auto same =
        std::ranges::find_if(out.rewrites, [&, &key = rewrite](const AppliedRewrite& r) {
          return r.op == key.first && r.rewrite == key.second;
        });
    if (same != out.rewrites.end())
      same->count += count;
    else
      out.rewrites.push_back({std::string(rewrite.first), std::string(rewrite.second), count});
  }
}

// Simplifies, fuses and folds before numbers get fewer bits: afterwards, conversions between the
// types separate the operators.
Status ReduceBeforeRounding(Graph& graph, const Format& format, const ConvertOptions& o,
                            Conversion& out) {
  RewriteCounts rewrites;
  // Weights that the source stores in 16 bits are constants for what follows.
  NN_RETURN_IF_ERROR(FoldConstants(graph));
  if (o.simplify) NN_RETURN_IF_ERROR(Simplify(graph, &rewrites));
  NN_ASSIGN(out.batch_norms_folded, FoldNorms(graph, o));
  NN_RETURN_IF_ERROR(FuseIdioms(graph, format, o, rewrites));
  AddRewrites(rewrites, out);
  return {};
}

// Legalizes the graph for the format and collects the unsupported nodes, those of the import first.
Status Fit(Graph& graph, const Format& format, const ConvertOptions& o, InterfaceAxes& axes,
           Conversion& out) {
  RewriteCounts rewrites;
  NN_RETURN_IF_ERROR(FuseIdioms(graph, format, o, rewrites));
  if (format.lower != nullptr) NN_RETURN_IF_ERROR(format.lower(graph, o.output, &rewrites));
  if (o.unroll) NN_RETURN_IF_ERROR(UnrollLayers(graph, *format.target, *o.unroll, rewrites));
  bool is_legal = false;
  if (o.simplify) {
    NN_ASSIGN(is_legal, SimplifyFor(*format.target, graph, axes, rewrites));
  }
  Status fit;
  if (!is_legal) fit = FitTo(*format.target, graph, axes, out.unsupported, &rewrites);
  // Legalization may have added what is redundant.
  if (o.simplify && !is_legal && fit && out.unsupported.empty())
    NN_RETURN_IF_ERROR(RemoveRedundant(graph, &rewrites));
  AddRewrites(rewrites, out);
  if (fit) return {};
  if (out.unsupported.empty()) return fit;
  out.rest_unchecked = fit.error().message();
  return {};
}

std::optional<Graph> CloneOf(const std::optional<Graph>& graph) {
  return graph ? std::optional(graph->Clone()) : std::nullopt;
}

// Facts about the source graph, taken so that the graph need not stay in memory.
struct SourceSummary {
  explicit SourceSummary(const Graph& graph)
      : interface(InterfaceOf(graph)), batch_norms(CountOf(graph, "batch_norm")) {}

  Interface interface;
  int64_t batch_norms = 0;
};

// The inputs and outputs whose axes were permuted.
std::vector<MovedPort> MovedPorts(const SourceSummary& source, const Graph& fitted,
                                  const InterfaceAxes& axes) {
  std::vector<MovedPort> out;
  const auto add = [&](std::string_view kind, const std::vector<TypedPort>& from,
                       const std::vector<Port>& to, const std::vector<AxisMap>& maps) {
    for (size_t i = 0; i < maps.size(); ++i)
      if (!maps[i].IsIdentity())
        out.push_back({std::string(kind), from[i].name, from[i].type.ToString(),
                       to[i].value->type().ToString(), maps[i].from()});
  };
  add("input", source.interface.inputs, fitted.inputs(), axes.inputs);
  add("output", source.interface.outputs, fitted.outputs(), axes.outputs);
  return out;
}

// The inputs and outputs whose integers were shifted.
std::vector<ShiftedPort> ShiftedPorts(const SourceSummary& source, const Graph& fitted,
                                      const InterfaceAxes& axes) {
  std::vector<ShiftedPort> out;
  const auto add = [&](std::string_view kind, const std::vector<TypedPort>& from,
                       const std::vector<Port>& to, const std::vector<int64_t>& offsets) {
    for (size_t i = 0; i < offsets.size(); ++i)
      if (offsets[i] != 0)
        out.push_back({std::string(kind), from[i].name, from[i].type.ToString(),
                       to[i].value->type().ToString(), offsets[i]});
  };
  add("input", source.interface.inputs, fitted.inputs(), axes.input_offsets);
  add("output", source.interface.outputs, fitted.outputs(), axes.output_offsets);
  return out;
}

// Dequantizes the graph; false if it has nodes without a float form, which are unsupported.
Result<bool> DequantizeSource(Graph& graph, Conversion& out) {
  const Interface before = InterfaceOf(graph);
  NN_ASSIGN(const std::vector<UnsupportedNode> refused, Dequantize(graph));
  for (const UnsupportedNode& node : refused)
    if (node.op != "opaque") out.unsupported.push_back(node);
  if (!refused.empty()) {
    out.rest_unchecked = "the model cannot be dequantized";
    return false;
  }
  const auto add = [&](std::string_view kind, const std::vector<TypedPort>& from,
                       const std::vector<Port>& to) {
    for (size_t i = 0; i < to.size(); ++i)
      if (from[i].type.quantized())
        out.dequantized_ports.push_back({std::string(kind), from[i].name, from[i].type.ToString(),
                                         to[i].value->type().ToString()});
  };
  add("input", before.inputs, graph.inputs());
  add("output", before.outputs, graph.outputs());
  return true;
}

// Whether the format cannot hold the branches and loops of the graph: its operators are only
// listed, whatever their types.
bool IsOnlyListed(const Graph& graph, const Format& format) {
  return IsDecidedByRuns(graph) && !format.target->takes_regions;
}

// kUsage for an option about what the source does not have: types, states, layers, operators.
// Those that were not imported may have it.
Status CheckSourceOptions(const Graph& source, const ConvertOptions& o, const Conversion& out) {
  if (!out.unsupported.empty()) return {};
  if (o.dequantize && out.hybrids == 0 && !IsQuantized(source))
    return UsageError("--dequantize has no effect: the model is not quantized");
  if (o.float32 && !HasOtherFloats(source))
    return UsageError(
        "--float32 has no effect: the model has no numbers in float16, bfloat16 or float64");
  if (o.states && out.states.empty())
    return UsageError("--states has no effect: the model has no states");
  const auto is_layer = [](const Node& n) { return n.op().category == Category::kRecurrent; };
  if (o.unroll && CountNodes(source, is_layer) == 0)
    return UsageError("--unroll has no effect: the model has no recurrent layers");
  std::function<bool(const Node&)> keeps;
  if (o.half) keeps = o.half->keeps;
  if (o.quantize) keeps = o.quantize->options.keeps;
  if (keeps && CountNodes(source, keeps) == 0)
    return UsageError(
        "--keep-float32 has no effect: no operator of the model has such a name, output or type");
  return {};
}

// Applies ConvertOptions::edit; false if the edited graph computes something else.
Result<bool> EditSource(Graph& source, const Format& format, const ConvertOptions& o,
                        Conversion& out) {
  std::optional<Graph> before;
  if (o.verify && !o.dry_run && out.unsupported.empty() && !IsOnlyListed(source, format))
    before = source.Clone();
  NN_ASSIGN(const std::vector<GraphEdit> edits, o.edit(source));
  out.source = InterfaceOf(source);
  for (const GraphEdit& edit : edits)
    out.edits.insert(out.edits.end(), edit.notes.begin(), edit.notes.end());
  if (!before || edits.empty()) return true;
  NN_ASSIGN(out.edit_verification, VerifyEdits(edits, *before, source, o.verification));
  return out.edit_verification->passed;
}

// A format without quantized types may have another form of weights, which is smaller than the
// float32 numbers of the graph; none has blocks.
Status CheckPacked(const Graph& graph, const FileImage& image, const Format& format,
                   const QuantizeSettings& s) {
  uint64_t written = 0;
  for (const Blob& part : image.parts) written += part.size();
  for (const SideFile& side : image.side_files) written += side.size();
  const uint64_t numbers = ConstantBytesOf(graph);
  if (s.options.block == 0 && written < numbers) return {};
  return UnsupportedError("{} models cannot be written with {}", format.label,
                          s.options.table_bits > 0 ? "weights in lookup tables"
                          : s.options.block > 0    ? "quantized blocks of weights"
                          : s.weights_only         ? "quantized weights"
                                                   : "quantized operators");
}

// The operators that a file lists, subgraphs included; 0 if it has no list.
uint64_t OperatorsOf(const ReadModel& read) {
  const auto summary = read.format->summarize(*read.model);
  return summary ? summary->operators.size() : 0;
}

// Frees a model that only ErrorOfSource() needs, if that can read it again.
void Release(ReadModel& read, const std::string& path) {
  std::error_code error;
  const bool lasts = path != "-" && (std::filesystem::is_regular_file(path, error) ||
                                     std::filesystem::is_directory(path, error));
  if (lasts) read.model.reset();
}

std::optional<Finding> ErrorOfSource(const ReadModel& read, const ConvertOptions& o) {
  if (read.model != nullptr) return FirstError(read);
  const auto again = ReadModelFile(o.input, o.limits);
  return again ? FirstError(*again) : std::nullopt;
}

// Checks and verifies the written model; false if the outputs drift.
Result<bool> IsSound(const StagedModel& staged, const SourceError& source_error, Graph source,
                     std::optional<Graph> quantized, const InterfaceAxes& axes,
                     const std::vector<ModelState>& states, const Format& format,
                     const ConvertOptions& o, Conversion& out) {
  if (!o.verify) {
    NN_ASSIGN(const ReadModel written, ReadWritten(staged.Read(), format, source_error));
    NN_RETURN_IF_ERROR(CheckWritten(written, source_error));
    return true;
  }
  WrittenCheck check(staged, format, source_error,
                     o.verification.threads != 1 && AvailableProcessors() > 1);
  bool is_imported = false;
  const auto import_converted = [&]() -> Result<Graph> {
    is_imported = true;
    NN_ASSIGN(ImportedModel imported,
              check.Import(states.empty() ? StatePorts::kNone : StatePorts::kResources));
    NN_RETURN_IF_ERROR(CheckInitialValues(states, imported.states));
    NamePorts(imported.graph);
    out.converted = WithoutStates(InterfaceOf(imported.graph), states.size());
    return std::move(imported.graph);
  };
  auto verification = VerifyConversion(std::move(source), import_converted, axes, o.verification,
                                       std::move(quantized));
  // A flaw of the written model is reported first, as if it had been looked for first.
  NN_RETURN_IF_ERROR(check.Finish());
  if (!verification && !is_imported) NN_RETURN_IF_ERROR(import_converted());
  NN_ASSIGN(out.verification, std::move(verification));
  // Numbers that overflow in spite of OutOfRange().
  const auto is_finite = [](const QuantizedOutputDrift& d) {
    return std::isfinite(d.max_absolute);
  };
  if (o.half && out.verification->quantized &&
      !std::ranges::all_of(out.verification->quantized->outputs, is_finite))
    return UnsupportedError(
        "an output is infinite or not a number in {} where the model's is not; keep operators in "
        "float32 (--keep-float32), use --bf16, or --weights-only",
        DTypeName(o.half->type));
  if (o.keeps_bits)
    out.verification->passed =
        out.verification->passed &&
        std::ranges::all_of(out.verification->outputs,
                            [](const OutputDrift& d) { return d.worst.identical; });
  return out.verification->passed;
}

// Writes the files of a copy, unless it is a dry run.
Result<Conversion> PlaceCopy(const MakeImage& make,
                             const std::function<Result<bool>(const StagedModel&)>& is_sound,
                             const ConvertOptions& o) {
  const auto make_copy = [&](const ExportOptions& options) -> Result<FileImage> {
    auto image = make(options);
    if (!image) return InInput(image.error(), o);
    return image;
  };
  const ExportOptions output = OutputOf(o);
  Conversion out;
  if (o.dry_run) {
    NN_RETURN_IF_ERROR(make_copy(output));
    return out;
  }
  NN_ASSIGN(out.written, PlaceModel(make_copy, output, is_sound, o.other_name, o.write_progress));
  return out;
}

// Whether all ports that were renamed have the requested names. Other names may change too: those
// that a format gives to unnamed and equally named ports depend on the rest.
bool AreRenamed(const std::vector<std::string>& before, const std::vector<std::string>& wanted,
                const std::vector<std::string>& after) {
  if (after.size() != before.size()) return false;
  for (size_t i = 0; i < before.size(); ++i)
    if (wanted[i] != before[i] && after[i] != wanted[i]) return false;
  return true;
}

// A copy that was read again.
Result<ReadModel> ReadCopy(const ReadModel& read, const StagedModel& staged,
                           const ConvertOptions& o) {
  return ReadWritten(staged.Read(o.limits), *read.format, [&] { return FirstError(read); });
}

// The rule that a copy breaks; nullopt if there is none, or if the source breaks one, too.
std::optional<Finding> NewFlaw(const ReadModel& read, const ReadModel& written) {
  auto flaw = FirstError(written);
  if (flaw && FirstError(read)) flaw.reset();
  return flaw;
}

// Checks that a renamed copy has the names, and breaks a rule only if the source does.
Status CheckRenamed(const ReadModel& read, const StagedModel& staged, const PortNames& names,
                    const ConvertOptions& o) {
  NN_ASSIGN(const ReadModel written, ReadCopy(read, staged, o));
  NN_ASSIGN(const PortNames before, read.format->port_names(*read.model));
  NN_ASSIGN(const PortNames after, written.format->port_names(*written.model));
  if (!AreRenamed(before.inputs, names.inputs, after.inputs) ||
      !AreRenamed(before.outputs, names.outputs, after.outputs))
    return UnsupportedError(
        "the names cannot be changed in place, because other parts of the file share them");
  if (const auto flaw = NewFlaw(read, written))
    return UsageError("with the new names, the model violates rule {}: {}", flaw->rule,
                      flaw->message);
  return {};
}

// Checks that the types which were added to a copy break a rule only if the source does.
Status CheckTyped(const ReadModel& read, const StagedModel& staged, const ConvertOptions& o) {
  NN_ASSIGN(const ReadModel written, ReadCopy(read, staged, o));
  if (const auto flaw = NewFlaw(read, written))
    return UnsupportedError("with the inferred types, the model violates rule {}: {}", flaw->rule,
                            flaw->message);
  return {};
}

}  // namespace

Result<ImportedModel> ImportForConversion(const ReadModel& read, const ConvertOptions& o) {
  InputSettings inputs = o.inputs;
  inputs.states = o.states ? StatePorts::kAll : StatePorts::kResources;
  return ImportWith(read, inputs, o.dequantize);
}

std::function<Result<ImportedModel>(const InputSettings&)> ImportsAgain(const ReadModel& read,
                                                                        const ConvertOptions& o) {
  if (o.edit || o.quantize || o.half) return nullptr;
  return [&read, &o](const InputSettings& inputs) -> Result<ImportedModel> {
    ConvertOptions other;
    other.inputs = inputs;
    other.states = o.states;
    other.dequantize = o.dequantize;
    if (read.model != nullptr) return ImportForConversion(read, other);
    NN_ASSIGN(const ReadModel again, ReadModelFile(o.input, o.limits));
    return ImportForConversion(again, other);
  };
}

namespace {

// Whether nothing that was asked for rounds.
bool IsOnlySimplified(const ConvertOptions& o) {
  return o.simplify && !o.allow_rounding && !o.fuse && !o.fold_batch_norm && !o.dequantize &&
         !o.float32 && !o.half && !o.quantize && o.output.opset == 0;
}

// The first operator set of ONNX with scales along an axis, and with integers of 4 bits.
int64_t LeastOpset(const ConvertOptions& o) {
  if (!o.quantize) return 0;
  return o.quantize->weights_only && o.quantize->options.type == DType::kI4 ? 21 : 13;
}

// A model that breaks a rule is written again rather than copied with its flaw; nullopt if it
// breaks none, or if it cannot be written.
std::optional<Conversion> WriteSound(const ReadModel& read, const SourceError& source_error,
                                     const Format& format, ConvertOptions o) {
  const auto flaw = FirstError(read);
  if (!flaw) return std::nullopt;
  o.most_operators.reset();
  auto imported = ImportForConversion(read, o);
  if (!imported) return std::nullopt;
  auto done = ConvertGraph(*std::move(imported), source_error, format, o);
  if (!done || !done->written) return std::nullopt;
  done->edits.push_back(fmt::format("written again, not copied: the source violates rule {}: {}",
                                    flaw->rule, flaw->message));
  return *std::move(done);
}

}  // namespace

Result<Conversion> ConvertModel(ReadModel read, const Format& format, const ConvertOptions& o) {
  ConvertOptions framed = o;
  const bool keeps_version = o.simplify || o.half || o.quantize || o.edit;
  const bool is_same = read.format == &format;
  if (is_same && format.frame != nullptr) {
    auto frame = format.frame(*read.model);
    if (!frame) return InInput(frame.error(), o);
    framed.output.frame = std::move(frame->model);
    if (keeps_version && o.output.opset == 0)
      framed.output.opset = std::max(frame->opset, LeastOpset(o));
  }
  if (!o.dry_run) framed.holdings = HoldingsOf(read);
  framed.source_format = read.format;
  auto imported = ImportForConversion(read, o);
  if (!imported) return InInput(imported.error(), o);
  const uint64_t operators = o.simplify ? OperatorsOf(read) : 0;
  framed.keeps_bits = is_same && IsOnlySimplified(o);
  framed.import_again = ImportsAgain(read, o);
  const bool may_copy = is_same && o.simplify && o.copy_unless_fewer && !o.dry_run;
  if (may_copy) framed.most_operators = operators == 0 ? 0 : operators - 1;
  if (!may_copy && !o.edited) Release(read, o.input);
  const SourceError source_error = [&] { return ErrorOfSource(read, o); };
  NN_ASSIGN(Conversion done, ConvertGraph(*std::move(imported), source_error, format, framed));
  if (may_copy && !done.written && done.unsupported.empty() && !done.verification) {
    auto sound = WriteSound(read, source_error, format, framed);
    if (!sound) {
      NN_ASSIGN(done, CopyModel(read, o));
      done.operators = OperatorCount{operators, operators};
      done.copied = true;
      return done;
    }
    done = *std::move(sound);
  }
  if (done.operators) done.operators->before = operators;
  return done;
}

Result<Conversion> ConvertGraph(ImportedModel imported, const SourceError& source_error,
                                const Format& format, const ConvertOptions& o) {
  if (o.unroll && (*o.unroll < 1 || *o.unroll > kMaxUnroll))
    return UsageError("{} steps cannot be unrolled, only 1 to {}", *o.unroll, kMaxUnroll);
  Conversion out;
  out.unsupported = std::move(imported.unsupported);
  out.hybrids = imported.hybrids;
  Graph source = std::move(imported.graph);
  NamePorts(source);
  out.source = InterfaceOf(source);
  const bool runs = o.verify && !o.dry_run;
  if (o.edit) {
    NN_ASSIGN(const bool is_sound, EditSource(source, format, o, out));
    if (!is_sound) return out;
  }
  std::vector<KeptState> kept;
  if (o.output.frame != nullptr && !o.states) kept = TakeKeptStates(source, imported.states);
  out.source = WithoutStates(InterfaceOf(source), kept.size());
  for (const ModelState& s : imported.states) out.states.push_back({s.name, s.input, s.output});
  out.random_nodes = CountNodes(source, IsRandom);
  const std::vector<std::string> names = NamesOf(source.inputs());  // that options have
  if (o.prepare) NN_RETURN_IF_ERROR(o.prepare(source));
  std::optional<Graph> quantized;
  const bool only_listed = IsOnlyListed(source, format);
  NN_RETURN_IF_ERROR(CheckSourceOptions(source, o, out));
  if (!only_listed && o.dequantize && IsQuantized(source)) {
    if (runs && out.hybrids == 0) quantized = source.Clone();
    NN_ASSIGN(const bool done, DequantizeSource(source, out));
    if (!done) return out;
  }
  if (!only_listed && o.float32 && HasOtherFloats(source)) {
    if (runs && !quantized && out.hybrids == 0) quantized = source.Clone();
    NN_RETURN_IF_ERROR(ComputeInFloat32(source));
  }
  if (!only_listed && (o.half || o.quantize)) {
    if (runs && !quantized) quantized = source.Clone();
    NN_RETURN_IF_ERROR(ReduceBeforeRounding(source, format, o, out));
  }
  if (!only_listed && o.half) NN_RETURN_IF_ERROR(HalveSource(source, format, o, out));
  if (!only_listed && o.quantize) {
    NN_ASSIGN(out.quantize,
              QuantizeSource(source, *format.target, *o.quantize, o.verification, runs));
  }
  if (o.unroll) NN_RETURN_IF_ERROR(BindLayerSteps(source, *format.target, *o.unroll));
  const SourceSummary summary(source);
  const bool is_narrow = !o.float32 && !o.half && !o.dequantize && StoresNarrowWeights(source);
  // Only the verification runs the source, and remedies are tried on it.
  const bool needs_source = runs || HasRemedies(source, o);
  const std::vector<UnsupportedNode> of_import = out.unsupported;
  Graph fitted;
  if (needs_source)
    fitted = source.Clone();
  else
    std::swap(fitted, source);
  // Shape annotations of the source file are not written.
  NN_RETURN_IF_ERROR(ForgetDeclaredShapes(fitted));
  InterfaceAxes axes;
  NN_ASSIGN(const int folded, FoldNorms(fitted, o));
  out.batch_norms_folded += folded;
  NN_RETURN_IF_ERROR(Fit(fitted, format, o, axes, out));
  if (!out.unsupported.empty()) {
    for (size_t i = 0; needs_source && i < names.size(); ++i) source.RenameInput(i, names[i]);
    out.remedy = RemedyOf(source, format, out.unsupported.size(), of_import, o);
    return out;
  }
  if (is_narrow) NN_RETURN_IF_ERROR(StoreNarrowWeights(fitted, *format.target));
  if (o.half) NN_RETURN_IF_ERROR(CheckHalved(fitted, format, *o.half));
  ExportOptions output = OutputOf(o);
  std::vector<ModelState> states;
  if (!kept.empty()) {
    NN_ASSIGN(output.frame, FrameWithStates(output.frame, kept, fitted, axes, states));
  }
  out.converted = WithoutStates(InterfaceOf(fitted), states.size());
  out.moved_ports = MovedPorts(summary, fitted, axes);
  out.shifted_ports = ShiftedPorts(summary, fitted, axes);
  out.transposes = TransposesOf(fitted);
  // Fused idioms may have added some.
  out.batch_norms_lowered =
      std::max<int64_t>(0, summary.batch_norms - folded - CountOf(fitted, "batch_norm"));
  const bool packs_weights = o.quantize && !IsQuantized(fitted);
  const auto make = [&](const ExportOptions& options) -> Result<FileImage> {
    auto image = format.write(fitted, options);
    if (image && packs_weights)
      NN_RETURN_IF_ERROR(CheckPacked(fitted, *image, format, *o.quantize));
    return image;
  };
  const auto is_sound = [&](const StagedModel& staged) -> Result<bool> {
    if (o.simplify || !o.holdings.empty()) {
      NN_ASSIGN(const ReadModel written, staged.Read());
      out.holdings = AccountFor(o.holdings, HoldingsOf(written), o.source_format == &format);
      if (o.simplify) out.operators = OperatorCount{0, OperatorsOf(written)};
      if (o.most_operators && out.operators->after > *o.most_operators) return false;
    }
    const bool last = !staged.needs_names();  // no further attempt
    if (last) fitted = Graph();
    if (last)
      return IsSound(staged, source_error, std::move(source), std::move(quantized), axes, states,
                     format, o, out);
    return IsSound(staged, source_error, source.Clone(), CloneOf(quantized), axes, states, format,
                   o, out);
  };
  if (o.dry_run) {
    NN_RETURN_IF_ERROR(make(output));
    return out;
  }
  NN_ASSIGN(out.written, PlaceModel(make, output, is_sound, o.other_name, o.write_progress));
  return out;
}

Result<Conversion> ConvertFile(const Format& format, const ConvertOptions& o) {
  NN_ASSIGN(ReadModel read, ReadModelFile(o.input, o.limits));
  return ConvertModel(std::move(read), format, o);
}

Result<Conversion> CopyModel(const ReadModel& read, const ConvertOptions& o) {
  const auto make = [&](const ExportOptions& options) {
    return read.format->save(*read.model, options);
  };
  const auto is_sound = [&](const StagedModel& staged) -> Result<bool> {
    if (o.output.value_info) NN_RETURN_IF_ERROR(CheckTyped(read, staged, o));
    if (o.edited) NN_RETURN_IF_ERROR(ReadCopy(read, staged, o));
    return true;
  };
  return PlaceCopy(make, is_sound, o);
}

Result<Conversion> RenameModel(const ReadModel& read, const PortNames& names,
                               const ConvertOptions& o) {
  const auto make = [&](const ExportOptions& options) {
    return read.format->rename(*read.model, names, options);
  };
  const auto is_sound = [&](const StagedModel& staged) -> Result<bool> {
    NN_RETURN_IF_ERROR(CheckRenamed(read, staged, names, o));
    return true;
  };
  return PlaceCopy(make, is_sound, o);
}

}  // namespace nn
