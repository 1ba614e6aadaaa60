#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file/file_descriptor.h"
#include "base/file/staging.h"
#include "base/text/text.h"
#include "base/thread_pool.h"
#include "convert/convert.h"
#include "convert/convert_options.h"
#include "convert/edits/edits.h"
#include "convert/edits/graph_edits.h"
#include "convert/edits/kept_states.h"
#include "convert/edits/layer_steps.h"
#include "convert/edits/node_pattern.h"
#include "convert/edits/port_options.h"
#include "convert/place/place_model.h"
#include "convert/place/staged_model.h"
#include "convert/place/written.h"
#include "convert/place/written_check.h"
#include "convert/quantize/shrink.h"
#include "convert/verify/remedy.h"
#include "ir/op_def.h"
#include "ops/control/region.h"
#include "ops/math/random.h"
#include "passes/core/passes.h"
#include "passes/core/ports.h"
#include "passes/qdq/qdq.h"
#include "passes/simplify/simplify.h"
#include "passes/types/float32.h"
#include "rewrite/declared_shapes.h"
#include "rewrite/weights.h"

namespace nn {
namespace {

int64_t CountOf(const Graph& graph, std::string_view op) {
  return CountNodes(graph, [&](const Node& node) { return node.Is(op); });
}

// What the written graph must be legal for.
const Target& TargetFor(const Format& format, const ConvertJob& o) {
  return TargetOf(format, OutputOf(o));
}

// Applies ConvertOptions::fuse; the number of idioms that are fused for its sake: those that the
// target lacks are fused without it.
Result<uint64_t> FuseIdioms(Graph& graph, const Format& format, const ConvertJob& o,
                            RewriteCounts& rewrites) {
  if (!o.fuse && !o.allow_rounding) return 0;
  NN_RETURN_IF_ERROR(FoldConstants(graph));
  const ExportOptions output = OutputOf(o);
  const auto is_one = [&](const Node& node) { return IsOneOperator(node, format, output); };
  NN_RETURN_IF_ERROR(FuseIdiomsFor(TargetFor(format, o), graph, IdiomScope::kLacked, &rewrites));
  RewriteCounts more;
  NN_RETURN_IF_ERROR(FuseIdiomsFor(TargetFor(format, o), graph, IdiomScope::kAll, &more, is_one));
  uint64_t fused = 0;
  for (const auto& [rewrite, count] : more) {
    rewrites[rewrite] += count;
    fused += count;
  }
  return fused;
}

Result<int> FoldNorms(Graph& graph, const ConvertJob& o) {
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
Status ReduceBeforeRounding(Graph& graph, const Format& format, const ConvertJob& o,
                            uint64_t& fused, Conversion& out) {
  RewriteCounts rewrites;
  // Weights that the source stores in 16 bits are constants for what follows.
  NN_RETURN_IF_ERROR(FoldConstants(graph));
  if (o.simplify) NN_RETURN_IF_ERROR(Simplify(graph, &rewrites));
  NN_ASSIGN(out.batch_norms_folded, FoldNorms(graph, o));
  NN_ASSIGN(fused, FuseIdioms(graph, format, o, rewrites));
  AddRewrites(rewrites, out);
  return {};
}

// Legalizes the graph for the format and collects the unsupported nodes, those of the import first.
Status Fit(Graph& graph, const Format& format, const ConvertJob& o, InterfaceAxes& axes,
           uint64_t& fused, Conversion& out) {
  RewriteCounts rewrites;
  NN_ASSIGN(const uint64_t more, FuseIdioms(graph, format, o, rewrites));
  fused += more;
  NN_RETURN_IF_ERROR(format.writer.Lower(graph, OutputOf(o), &rewrites));
  if (o.unroll) NN_RETURN_IF_ERROR(UnrollLayers(graph, TargetFor(format, o), *o.unroll, rewrites));
  bool is_legal = false;
  if (o.simplify) {
    NN_ASSIGN(is_legal, SimplifyFor(TargetFor(format, o), graph, axes, rewrites));
  }
  Status fit;
  if (!is_legal) fit = FitTo(TargetFor(format, o), graph, axes, out.unsupported, &rewrites);
  // Legalization may have added what is redundant.
  if (o.simplify && !is_legal && fit && out.unsupported.empty())
    NN_RETURN_IF_ERROR(RemoveRedundant(graph, &rewrites));
  AddRewrites(rewrites, out);
  return fit;
}

// The results of operators that are unsupported have no known types, which lets the operators after
// them fail: the former are what is wrong. The error itself if there are none, or if it is another
// one, such as a limit.
Status LeaveUnchecked(const Error& error, Conversion& out) {
  const bool follows = error.code() == ErrorCode::kUnsupported || error.code() == ErrorCode::kModel;
  if (out.unsupported.empty() || !follows) return tl::unexpected(error);
  out.rest_unchecked = error.message();
  return {};
}

// Facts about the source graph, taken so that the graph need not stay in memory.
struct SourceSummary {
  explicit SourceSummary(const Graph& graph)
      : interface(InterfaceOf(graph)), batch_norms(CountOf(graph, "batch_norm")) {}

  Interface interface;
  int64_t batch_norms = 0;
};

// Adds the inputs and outputs whose axes were permuted, and those whose integers were shifted.
void AddPortChanges(const SourceSummary& source, const Graph& fitted, const InterfaceAxes& axes,
                    std::vector<PortChange>& out) {
  const auto change = [](PortChange::Kind kind, PortSide side, const TypedPort& from,
                         const Port& to) {
    return PortChange{kind, side, from.name, from.type.ToString(), to.value->type().ToString()};
  };
  const auto add_moved = [&](PortSide side, const std::vector<TypedPort>& from,
                             const std::vector<Port>& to, const std::vector<AxisMap>& maps) {
    for (size_t i = 0; i < maps.size(); ++i) {
      if (maps[i].IsIdentity()) continue;
      out.push_back(change(PortChange::Kind::kMoved, side, from[i], to[i]));
      out.back().axes = maps[i].from();
    }
  };
  const auto add_shifted = [&](PortSide side, const std::vector<TypedPort>& from,
                               const std::vector<Port>& to, const std::vector<int64_t>& offsets) {
    for (size_t i = 0; i < offsets.size(); ++i) {
      if (offsets[i] == 0) continue;
      out.push_back(change(PortChange::Kind::kShifted, side, from[i], to[i]));
      out.back().offset = offsets[i];
    }
  };
  const Interface& before = source.interface;
  add_moved(PortSide::kInput, before.inputs, fitted.inputs(), axes.inputs);
  add_moved(PortSide::kOutput, before.outputs, fitted.outputs(), axes.outputs);
  add_shifted(PortSide::kInput, before.inputs, fitted.inputs(), axes.input_offsets);
  add_shifted(PortSide::kOutput, before.outputs, fitted.outputs(), axes.output_offsets);
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
  const auto add = [&](PortSide side, const std::vector<TypedPort>& from,
                       const std::vector<Port>& to) {
    for (size_t i = 0; i < to.size(); ++i)
      if (from[i].type.quantized())
        out.port_changes.push_back({PortChange::Kind::kDequantized, side, from[i].name,
                                    from[i].type.ToString(), to[i].value->type().ToString()});
  };
  add(PortSide::kInput, before.inputs, graph.inputs());
  add(PortSide::kOutput, before.outputs, graph.outputs());
  return true;
}

// Whether the format cannot hold the branches and loops of the graph: its operators are only
// listed, whatever their types.
bool IsOnlyListed(const Graph& graph, const Format& format, const ConvertJob& o) {
  return IsDecidedByRuns(graph) && !TargetFor(format, o).takes_regions;
}

// kUsage for an option about what the source does not have: types, states, layers, operators.
// Those that were not imported may have it.
Status CheckSourceOptions(const Graph& source, const ConvertJob& o, const Conversion& out) {
  if (!out.unsupported.empty()) return {};
  if (o.dequantize && out.hybrids == 0 && !IsQuantized(source) && !HasBlocks(source))
    return UsageError("--dequantize has no effect: the model is not quantized");
  if (o.float32 && !HasOtherFloats(source))
    return UsageError(
        "--float32 has no effect: the model has no numbers in float16, bfloat16 or float64");
  if (o.states && out.states.empty())
    return UsageError("--states has no effect: the model has no states");
  const auto is_layer = [](const Node& n) { return n.op().category == Category::kRecurrent; };
  if (o.unroll && CountNodes(source, is_layer) == 0)
    return UsageError("--unroll has no effect: the model has no recurrent layers");
  const auto keeps = NodesMatching(o.keep_float32);
  if (keeps && CountNodes(source, keeps) == 0)
    return UsageError(
        "--keep-float32 has no effect: no operator of the model has such a name, output or type");
  return {};
}

// kUsage for an option that should have changed operators, and did not.
Status CheckReductions(const ConvertJob& o, uint64_t fused, const Conversion& out) {
  if (o.fold_batch_norm && out.batch_norms_folded == 0)
    return UsageError(
        "--fold-batch-norm has no effect: no batch normalization follows a convolution alone, with "
        "constants");
  if (o.fuse && fused == 0)
    return UsageError(
        "--fuse has no effect: the model has no decomposed function that the format has as one "
        "operator");
  return {};
}

// What a writer refuses, with the options that help, if there are any.
tl::unexpected<Error> WithRemedy(const Error& error, const std::string& remedy) {
  if (remedy.empty()) return tl::unexpected(error);
  return UnsupportedError("{}; {}", error.message(), remedy);
}

// The model that ConvertOptions::edits apply to; a graph is one of the target.
ModelToEdit Edited(const GraphSource& from, const Format& format, const ConvertJob& o) {
  ModelToEdit model = {from.format == nullptr ? format : *from.format,
                       o.input,
                       o.input_shapes,
                       o.batch,
                       o.carry,
                       o.limits,
                       {}};
  model.verification.limits = o.verification.limits;
  model.verification.threads = o.verification.threads;
  return model;
}

// Applies ConvertOptions::edits; false if the edited graph computes something else, or if it cannot
// be edited because operators are unsupported. Sets the steps of the verification of the edited
// model.
Result<bool> EditSource(Graph& source, const GraphSource& from, const Format& format,
                        const ConvertJob& o, std::vector<RunStep>& steps, Conversion& out) {
  std::optional<Graph> before;
  if (o.verify && !o.dry_run && out.unsupported.empty() && !IsOnlyListed(source, format, o))
    before = source.Clone();
  const Result<std::vector<GraphEdit>> edits =
      o.hooks.edit ? o.hooks.edit(source)
                   : ApplyGraphEdits(o.edits, Edited(from, format, o), source);
  if (!edits) {
    NN_RETURN_IF_ERROR(LeaveUnchecked(edits.error(), out));
    return false;
  }
  out.source = InterfaceOf(source);
  for (const GraphEdit& edit : *edits) {
    out.edits.insert(out.edits.end(), edit.notes.begin(), edit.notes.end());
    if (!edit.steps.empty()) steps = edit.steps;
  }
  if (!before || edits->empty()) return true;
  NN_ASSIGN(out.edit_verification, VerifyEdits(*edits, *before, source, RunsOf(o)));
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
                          : s.options.zeros > 0    ? "sparse weights"
                          : s.options.block > 0    ? "quantized blocks of weights"
                          : s.weights_only         ? "quantized weights"
                                                   : "quantized operators");
}

// kUnsupported for numbers that overflow in spite of OutOfRange().
Status CheckFinite(const Verification& verification, DType type) {
  const auto is_finite = [](const QuantizedOutputDrift& d) {
    return std::isfinite(d.max_absolute);
  };
  if (!verification.quantized || std::ranges::all_of(verification.quantized->outputs, is_finite))
    return {};
  return UnsupportedError(
      "an output is infinite or not a number in {} where the model's is not; keep operators in "
      "float32 (--keep-float32), use --bf16, or --weights-only",
      DTypeName(type));
}

// Whether nothing that was asked for rounds.
bool KeepsBits(const ConvertJob& o) {
  return o.simplify && !o.allow_rounding && !o.fuse && !o.fold_batch_norm && !o.dequantize &&
         !o.float32 && !o.half && !o.quantize && o.opset == 0;
}

// Contents of inputs that have moved from these places.
void MoveContents(const std::vector<const Value*>& before, const Graph& graph, RunStep& step) {
  const auto contents = std::exchange(step.contents, {});
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const auto from = std::ranges::find(before, graph.inputs()[i].value) - before.begin();
    if (const auto it = contents.find(static_cast<size_t>(from)); it != contents.end())
      step.contents.emplace(i, it->second);
  }
}

// A conversion in progress: each step leaves the graph for the next one, and what it did in the
// result.
class GraphConversion {
 public:
  GraphConversion(ImportedModel imported, const GraphSource& from, const Format& format,
                  const ConvertJob& o)
      : from_(from),
        format_(format),
        o_(o),
        runs_(o.verify && !o.dry_run),
        source_(std::move(imported.graph)),
        states_(std::move(imported.states)) {
    out_.unsupported = std::move(imported.unsupported);
    out_.hybrids = imported.hybrids;
    out_.notes = std::move(imported.notes);
  }

  Result<Conversion> Run() {
    NN_ASSIGN(const bool edited, Edit());
    if (!edited) return std::move(out_);
    NN_RETURN_IF_ERROR(Prepare());
    NN_ASSIGN(const bool changed, ChangeNumbers());
    if (!changed) return std::move(out_);
    if (o_.unroll) NN_RETURN_IF_ERROR(BindLayerSteps(source_, TargetFor(format_, o_), *o_.unroll));
    NN_ASSIGN(const bool fits, FitCopy());
    if (!fits) return std::move(out_);
    NN_RETURN_IF_ERROR(Place());
    return std::move(out_);
  }

 private:
  // False if the edited graph computes something else.
  Result<bool> Edit() {
    NamePorts(source_);
    out_.source = InterfaceOf(source_);
    if (!EditsGraph(o_)) return true;
    return EditSource(source_, from_, format_, o_, verification_.steps, out_);
  }

  // Sets the states apart that the written model keeps: those of a source of its format, and those
  // of ConvertOptions::carry.
  Status TakeStates() {
    const bool keeps = format_.writer.KeepsStates(OutputOf(o_));
    if (!o_.carry.empty() && !keeps)
      return UsageError(
          "--carry is for ML Programs, which keep states; nnrun --carry passes the "
          "values of other models on");
    std::vector<ModelState> kept;
    const bool is_own = o_.frame != nullptr || (keeps && from_.format == &format_);
    if (is_own && !o_.states) std::swap(kept, states_);
    const size_t own = kept.size();
    NN_RETURN_IF_ERROR(AddCarriedStates(source_, o_.carry, states_, kept));
    for (const ModelState& s : std::span(kept).subspan(own))
      out_.notes.push_back(fmt::format("input {} and output {} are a state of the model",
                                       Quote(s.input), Quote(s.output)));
    std::vector<const Value*> inputs;
    for (const Port& p : source_.inputs()) inputs.push_back(p.value);
    NN_ASSIGN(kept_, TakeKeptStates(source_, kept));
    for (RunStep& step : verification_.steps) MoveContents(inputs, source_, step);
    verification_.states = kept_.size();
    states_.insert(states_.end(), kept.begin(), kept.end());
    return {};
  }

  // Applies the options about states and ports.
  Status Prepare() {
    NN_RETURN_IF_ERROR(TakeStates());
    out_.source = WithoutStates(InterfaceOf(source_), kept_.size());
    passed_ = PassedStates(source_, std::move(states_));
    for (const auto& [s, type] : passed_) out_.states.push_back({s.name, s.input, s.output});
    out_.random_nodes = CountNodes(source_, IsRandom);
    names_ = NamesOf(source_.inputs());
    NN_RETURN_IF_ERROR(PreparePorts(source_, o_));
    if (o_.hooks.prepare) NN_RETURN_IF_ERROR(o_.hooks.prepare(source_));
    return CheckSourceOptions(source_, o_, out_);
  }

  // Keeps the graph as it is, which the changed one is compared with.
  void KeepUnchanged() {
    if (runs_ && !unchanged_) unchanged_ = source_.Clone();
  }

  // Applies the options that change element types and weights; false if an operator does not allow
  // it.
  Result<bool> ChangeNumbers() {
    if (IsOnlyListed(source_, format_, o_)) return true;
    if (o_.dequantize) NN_RETURN_IF_ERROR(ForgetBlocks(source_));
    if (o_.dequantize && IsQuantized(source_)) {
      if (out_.hybrids == 0) KeepUnchanged();
      NN_ASSIGN(const bool done, DequantizeSource(source_, out_));
      if (!done) return false;
    }
    if (o_.float32 && HasOtherFloats(source_)) {
      if (out_.hybrids == 0) KeepUnchanged();
      NN_RETURN_IF_ERROR(ComputeInFloat32(source_));
    }
    if (!o_.half && !o_.quantize) return true;
    KeepUnchanged();
    NN_RETURN_IF_ERROR(ReduceBeforeRounding(source_, format_, o_, fused_, out_));
    // A frame declares the types of states.
    const size_t states = o_.frame == nullptr ? kept_.size() : 0;
    if (o_.half) NN_RETURN_IF_ERROR(HalveSource(source_, format_, o_, states, verification_, out_));
    if (o_.quantize) {
      NN_ASSIGN(quantization_, QuantizationOf(o_, format_));
      NN_ASSIGN(out_.quantize, QuantizeSource(source_, TargetFor(format_, o_), quantization_,
                                              verification_, runs_));
    }
    return true;
  }

  // Makes the graph to write; false, with a remedy, if the format cannot hold it.
  Result<bool> FitCopy() {
    const SourceSummary summary(source_);
    std::set<DType> narrow;
    if (!o_.float32 && !o_.half && !o_.dequantize) narrow = NarrowWeights(source_);
    // Only the verification runs the source, and remedies are tried on it.
    has_source_ = runs_ || HasRemedies(source_, o_);
    of_import_ = out_.unsupported;
    if (has_source_)
      fitted_ = source_.Clone();
    else
      std::swap(fitted_, source_);
    int folded = 0;
    if (const Status fits = FitGraph(folded); !fits)
      NN_RETURN_IF_ERROR(LeaveUnchecked(fits.error(), out_));
    if (!out_.unsupported.empty()) {
      out_.remedy = RemedyFor(out_.unsupported.size());
      return false;
    }
    NN_RETURN_IF_ERROR(CheckReductions(o_, fused_, out_));
    NN_RETURN_IF_ERROR(StoreNarrowWeights(fitted_, TargetFor(format_, o_), narrow));
    if (o_.half) NN_RETURN_IF_ERROR(CheckHalved(fitted_, format_, OutputOf(o_), {*o_.half}));
    output_ = WithPlainNames(OutputOf(o_));
    if (!kept_.empty()) {
      NN_ASSIGN(output_.frame, FrameWithStates(output_.frame, kept_, fitted_, axes_, written_));
    }
    Describe(summary, folded);
    return true;
  }

  // What would leave fewer than `unsupported` operators, in terms of the source's names.
  std::string RemedyFor(size_t unsupported) {
    for (size_t i = 0; has_source_ && i < names_.size(); ++i) source_.RenameInput(i, names_[i]);
    return RemedyOf(source_, format_, unsupported, of_import_, from_, o_);
  }

  // `folded`: batch normalizations into convolutions.
  Status FitGraph(int& folded) {
    // Shape annotations of the source file are not written.
    NN_RETURN_IF_ERROR(FitDeclaredShapes(fitted_, TargetFor(format_, o_)));
    NN_ASSIGN(folded, FoldNorms(fitted_, o_));
    out_.batch_norms_folded += folded;
    out_.batch_norms_foldable = CountFoldableNorms(fitted_);
    return Fit(fitted_, format_, o_, axes_, fused_, out_);
  }

  void Describe(const SourceSummary& summary, int folded) {
    out_.converted = WithoutStates(InterfaceOf(fitted_), written_.size());
    AddPortChanges(summary, fitted_, axes_, out_.port_changes);
    if (fitted_.inputs().size() == names_.size()) DescribeInitialValues();
    out_.transposes = TransposesOf(fitted_);
    // Fused idioms may have added some.
    out_.batch_norms_lowered =
        std::max<int64_t>(0, summary.batch_norms - folded - CountOf(fitted_, "batch_norm"));
  }

  // The inputs are those of the source.
  void DescribeInitialValues() {
    for (size_t i = 0; i < passed_.size(); ++i) {
      const auto at = std::ranges::find(names_, passed_[i].state.input);
      if (at == names_.end()) continue;
      const auto port = static_cast<size_t>(at - names_.begin());
      if (auto initial = PassedInitial(passed_[i], fitted_.inputs()[port].value->type(),
                                       axes_.inputs[port], axes_.input_offsets[port]))
        out_.states[i].initial = *std::move(initial);
    }
  }

  // Writes, checks and verifies the files, and moves them into place.
  Status Place() {
    const bool packs_weights = o_.quantize && !IsQuantized(fitted_);
    const auto make = [&](const ExportOptions& options) -> Result<FileImage> {
      auto image = format_.writer.Write(fitted_, options);
      // What would help is tried without the states that the model is to keep.
      const bool tries = has_source_ && kept_.empty();
      if (!image && tries && image.error().code() == ErrorCode::kUnsupported)
        return WithRemedy(image.error(), RemedyFor(1));
      if (image && packs_weights)
        NN_RETURN_IF_ERROR(CheckPacked(fitted_, *image, format_, quantization_));
      if (image && !noted_)
        out_.notes.insert(out_.notes.end(), image->notes.begin(), image->notes.end());
      noted_ = true;
      return image;
    };
    if (o_.dry_run) {
      NN_ASSIGN(const FileImage image, make(output_));
      return from_.holdings.empty() ? Status() : AccountUnplaced(image);
    }
    const auto is_sound = [&](const StagedModel& staged) { return IsSound(staged); };
    NN_ASSIGN(out_.written,
              PlaceModel(make, output_, is_sound, o_.hooks.other_name, o_.hooks.write_progress));
    return {};
  }

  void Account(const ReadModel& written) {
    out_.holdings = AccountFor(from_.holdings, HoldingsOf(written), from_.format == &format_);
  }

  // The same for a model that has no place.
  Status AccountUnplaced(const FileImage& image) {
    if (!image.is_folder) {
      auto model = format_.reader.Read(image.Contents(), output_.path, {});
      if (!model) return tl::unexpected(model.error());
      Account({&format_, *std::move(model)});
      return {};
    }
    NN_ASSIGN(const std::string temporary, TemporaryFolder());
    const auto folder = StagingFolder::Create(temporary);
    if (!folder) return IoError("{}: {}", temporary, ErrnoText(folder.error()));
    // The name selects the form.
    std::filesystem::path name(output_.path);
    if (!name.has_filename()) name = name.parent_path();
    NN_ASSIGN(const StagedModel staged,
              StagedModel::Write(
                  image, (std::filesystem::path(folder->path()) / name.filename()).string()));
    NN_ASSIGN(const ReadModel written, staged.Read());
    Account(written);
    return {};
  }

  // False if the outputs drift, or if a copy of the source is better.
  Result<bool> IsSound(const StagedModel& staged) {
    NN_ASSIGN(ReadModel written, ReadWritten(staged.Read(), format_, from_.error));
    if (!from_.holdings.empty()) Account(written);
    if (o_.simplify) {
      out_.operators = OperatorCount{from_.operators, OperatorsOf(written)};
      if (from_.may_copy && out_.operators->after >= std::max<uint64_t>(from_.operators, 1))
        return false;
    }
    if (!o_.verify) {
      NN_RETURN_IF_ERROR(CheckWritten(written, from_.error));
      return true;
    }
    if (staged.needs_names())  // there may be further attempts
      return Verify(std::move(written), source_.Clone(),
                    unchanged_ ? std::optional(unchanged_->Clone()) : std::nullopt);
    fitted_ = Graph();
    return Verify(std::move(written), std::move(source_), std::move(unchanged_));
  }

  Result<bool> Verify(ReadModel written, Graph source, std::optional<Graph> unchanged) {
    WrittenCheck check(std::move(written), from_.error,
                       o_.verification.threads != 1 && AvailableProcessors() > 1);
    bool is_imported = false;
    const auto import_converted = [&]() -> Result<Graph> {
      is_imported = true;
      NN_ASSIGN(ImportedModel imported,
                check.Import(written_.empty() ? StatePorts::kNone : StatePorts::kResources));
      NN_RETURN_IF_ERROR(CheckInitialValues(written_, imported.states));
      NamePorts(imported.graph);
      out_.converted = WithoutStates(InterfaceOf(imported.graph), written_.size());
      return std::move(imported.graph);
    };
    auto verification = VerifyConversion(std::move(source), import_converted, axes_, verification_,
                                         std::move(unchanged));
    // A flaw of the written model is reported first, as if it had been looked for first.
    NN_RETURN_IF_ERROR(check.Finish());
    if (!verification && !is_imported) NN_RETURN_IF_ERROR(import_converted());
    NN_ASSIGN(out_.verification, std::move(verification));
    if (o_.half) NN_RETURN_IF_ERROR(CheckFinite(*out_.verification, o_.half->type));
    bool& passed = out_.verification->passed;
    // Another format, version or arithmetic may round.
    if (from_.format == &format_ && KeepsBits(o_))
      passed = passed && std::ranges::all_of(out_.verification->outputs, [](const OutputDrift& d) {
                 return d.worst.identical;
               });
    return passed;
  }

  const GraphSource& from_;
  const Format& format_;
  const ConvertJob& o_;
  VerifyOptions verification_ = RunsOf(o_);
  const bool runs_;                // the models run
  QuantizeSettings quantization_;  // for ConvertOptions::quantize
  Graph source_;
  std::optional<Graph> unchanged_;          // before ChangeNumbers()
  std::vector<ModelState> states_;          // of the source, until Prepare()
  std::vector<KeptState> passed_;           // that are ports of the application
  std::vector<KeptState> kept_;             // the others
  std::vector<ModelState> written_;         // kept_, in the written graph
  std::vector<std::string> names_;          // of the inputs, as options have them
  Graph fitted_;                            // to write
  bool has_source_ = false;                 // source_ is not what became fitted_
  std::vector<UnsupportedNode> of_import_;  // which the import could not hold
  uint64_t fused_ = 0;                      // idioms, for ConvertOptions::fuse
  InterfaceAxes axes_;                      // of fitted_
  ExportOptions output_;
  bool noted_ = false;  // FileImage::notes are in out_
  Conversion out_;
};

}  // namespace

Result<Conversion> ConvertGraph(ImportedModel imported, const GraphSource& from,
                                const Format& format, const ConvertJob& o) {
  NN_RETURN_IF_ERROR(CheckConvertOptions(o, format));
  NN_RETURN_IF_ERROR(CheckFormatOptions(o, format));
  return GraphConversion(std::move(imported), from, format, o).Run();
}

}  // namespace nn
