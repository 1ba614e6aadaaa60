// Converts model files and verifies the result. A conversion imports the model, legalizes the graph
// for the target format, writes the model, reads the written files again, validates and imports
// them, and runs both models on the same inputs. Nothing at the target changes before all of this
// succeeded.
//
//   ConvertOptions options;
//   options.input = "model.onnx";
//   options.output.path = "model.tflite";
//   NN_ASSIGN(const Conversion done, ConvertFile(*FindFormat("tflite"), options));
//   if (!done.written) ...  // see done.unsupported and done.verification
//
// Messages of errors name the options of nnconvert that help.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "convert/edits/interface.h"
#include "convert/place/accounts.h"
#include "convert/place/place_model.h"
#include "convert/place/written.h"
#include "convert/quantize/quantize_source.h"
#include "convert/verify/verify.h"
#include "formats/format.h"
#include "formats/given_inputs.h"
#include "ir/graph.h"
#include "nnsuite/convert.h"
#include "passes/interface/edits.h"
#include "passes/types/half.h"
#include "rewrite/legalize.h"

namespace nn {

// The largest ConvertOptions::unroll.
inline constexpr int64_t kMaxUnroll = 65536;

struct ConvertOptions {
  // The path of the source, also for messages; "-" is standard input.
  std::string input;
  ReadLimits limits;  // of the source
  // Shapes that `prepare` will bind, and inputs that become constants: they may decide about
  // control flow.
  InputSettings inputs;
  ExportOptions output;  // the path may be "-", standard output
  // Edits the imported graph before everything else (passes/interface/edits.h). The edited graph is
  // compared with the imported one; Conversion::source describes the edited one. Within a format,
  // its version stays. Null: no edit.
  std::function<Result<std::vector<GraphEdit>>(Graph&)> edit = nullptr;
  // Changes the graph before it is legalized: binds shapes (passes/core/ports.h), renames
  // inputs and outputs, which all have names by then (NamePorts), applies passes. The written model
  // is compared with the changed graph. Null: no change.
  std::function<Status(Graph&)> prepare = nullptr;
  // Folds batch normalizations into the convolutions before them (FoldBatchNorms), which rounds
  // differently. The verification compares with the unfolded model.
  bool fold_batch_norm = false;
  // Fuses idioms (passes/idioms/idioms.h) wherever the target has the operator; without it, only
  // where the target lacks an operator of the idiom.
  bool fuse = false;
  // Removes redundant operators (passes/simplify/simplify.h), which changes no bit of a result: if
  // it is all that changes a model in its own format, each output must keep its bits. Within a
  // format, its version stays.
  bool simplify = false;
  // With `simplify`, within a format: a model that would not have fewer operators is copied
  // instead, unless it breaks a rule of its format. For callers whose other options change nothing.
  bool copy_unless_fewer = false;
  // With `simplify`: also what rounds differently, `fold_batch_norm` and `fuse`; outputs may differ
  // within the tolerance.
  bool allow_rounding = false;
  // Turns a quantized model into a float one (Dequantize() in passes/qdq/qdq.h) after `prepare`.
  // The written model is verified against the float model, and that is compared with the quantized
  // one (Verification::quantized).
  bool dequantize = false;
  // Computes in float32 what the model computes in f16, bf16 or f64 (passes/types/float32.h).
  // Compared as with `dequantize`.
  bool float32 = false;
  // Stores weights, and computes, in 16 bits (passes/types/half.h). Operators whose numbers are out
  // of range in a run of the verification stay in float32. Within a format, its version stays. The
  // written model is verified against the changed graph, and that is compared with the model as
  // with `dequantize`. Formats that compute in float32 only take `weights_only`.
  std::optional<HalfOptions> half = std::nullopt;
  // Stores weights, or computes, with integers of 8 bits or less. Verified and compared as with
  // `half`.
  std::optional<QuantizeSettings> quantize = std::nullopt;
  // Recurrent layers that the format lacks are written step by step if they have at most this many
  // steps, 1 to kMaxUnroll, and a number of steps that the inputs leave open is set to it
  // (convert/edits/layer_steps.h). Nullopt: up to kMaxUnrolledSteps, and open numbers stay.
  std::optional<int64_t> unroll = std::nullopt;
  // The states of layers become inputs and outputs, and so do resource variables, as in other
  // formats. Without it, layers begin each run with their initial values.
  bool states = false;
  // The source is a changed model, which the file at `input` does not have.
  bool edited = false;
  bool dry_run = false;  // exports the model, but writes, validates and runs nothing
  bool verify = true;    // whether to run both models
  VerifyOptions verification;
  OtherName other_name = nullptr;  // null: not reported
  WriteProgress write_progress = nullptr;

  // The error, with the path of the source.
  Error InInput(const Error& error) const;
};

// What ConvertGraph() is told of the file that its graph is from; by default, there is none.
struct GraphSource {
  const Format* format = nullptr;
  std::vector<Holding> holdings = {};  // for Conversion::holdings
  uint64_t operators = 0;              // OperatorsOf() it; only for ConvertOptions::simplify
  // Whether the caller copies the file if the written one would not have fewer operators.
  bool may_copy = false;
  // May be called on another thread, while the caller waits.
  SourceError error = [] { return std::optional<Finding>(); };
  // Imports the file with other settings than ConvertOptions::inputs, for remedies that may let the
  // import do what it could not. Null: not possible, or something besides ConvertOptions::prepare
  // changes the graph.
  std::function<Result<ImportedModel>(const InputSettings&)> import_again = nullptr;
};

using nnsuite::DequantizedPort;
using nnsuite::MovedPort;
using nnsuite::ShiftedPort;

// Applications of one rewrite to one operator, which made the graph fit the target.
struct AppliedRewrite {
  std::string op;  // in the graph
  std::string rewrite;
  uint64_t count = 0;
};

// A state that the application keeps, by the names of its input and output before
// ConvertOptions::prepare.
struct PassedState {
  std::string name, input, output;
  // What the input is before the first run, in the type and axes that are written: one number for
  // all elements (a scalar), or all of them. Nullopt if the graph has not been written.
  std::optional<Tensor> initial = std::nullopt;
};

// Operators of a file.
struct OperatorCount {
  uint64_t before = 0, after = 0;
};

struct Conversion {
  // The model as its file declares it, or after the edits.
  Interface source;
  std::vector<std::string> edits;  // GraphEdit::notes
  std::vector<std::string> notes;  // ImportedModel::notes
  // Of the edits. If it did not pass, nothing is written.
  std::optional<Verification> edit_verification;
  // The written model: as it was read back, if it was verified, else as it was to be written. Empty
  // if there are unsupported nodes.
  Interface converted;
  // The unsupported nodes, those of the import first. If there are any, nothing is written.
  std::vector<UnsupportedNode> unsupported;
  std::string rest_unchecked;  // why some operators were not checked; empty if all were
  std::string remedy;  // what would leave fewer unsupported nodes; empty if nothing is known
  std::vector<DequantizedPort> dequantized_ports;
  int64_t hybrids = 0;  // hybrid kernels converted to float operators (ImportedModel::hybrids)
  std::vector<PassedState> states;  // that are inputs and outputs of the model
  int64_t random_nodes = 0;         // of the source: other implementations draw different numbers
  std::vector<MovedPort> moved_ports;
  std::vector<ShiftedPort> shifted_ports;
  std::vector<TransposeNode> transposes;  // of the written graph
  std::vector<AppliedRewrite> rewrites;   // by operator
  // Of the source and of the written model, if it is simplified and written.
  std::optional<OperatorCount> operators;
  std::optional<HalfSummary> half;
  std::vector<std::string> out_of_range;  // operators that stay in float32 for that reason
  std::optional<QuantizeOutcome> quantize;
  uint64_t bytes_before = 0;                 // of the files of the source, if it is quantized
  bool copied = false;                       // for ConvertOptions::copy_unless_fewer
  int batch_norms_folded = 0;                // into convolutions
  int64_t batch_norms_lowered = 0;           // to product and sum
  int64_t batch_norms_foldable = 0;          // that ConvertOptions::fold_batch_norm would fold
  std::optional<Verification> verification;  // nullopt: not verified
  // Of the source, if a model was written that is no copy of the file.
  Accounts holdings;
  // The files in place; nullopt if there are unsupported nodes, the verification did not pass, or
  // ConvertOptions::dry_run is set.
  std::optional<WrittenModel> written;
};

// Reads the source and converts it to `format`, which must have a writer (Format::write) and may be
// that of the source. Unsupported nodes and outputs that drift are results, not errors. Errors are
// those of ReadModelFile, Format::import, Format::write, PlaceModel, VerifyConversion and the
// callbacks, and those of ReadWritten and the related functions (convert/place/written.h) if the
// written model is not sound. kUsage for an option that has no effect on the model.
//
// Callbacks are called on the calling thread. May be called concurrently, even for the same target,
// which then has the files of one of the conversions.
Result<Conversion> ConvertFile(const Format& format, const ConvertOptions& options);

// The same for a model that was read from `options.input`. If that is a regular file or a folder,
// the model is freed after its import, and read again with `options.limits` if the written model
// has a flaw. If `input` is empty, messages have no path.
Result<Conversion> ConvertModel(ReadModel model, const Format& format,
                                const ConvertOptions& options);

// The graph of a model, as the options require it. kUsage for options that ask for what the model
// of the file has (CheckSourceEffects()).
Result<ImportedModel> ImportForConversion(const ReadModel& model, const ConvertOptions& options);
// Both must outlive the result. The model may be freed: it is read again if need be.
GraphSource SourceOf(const ReadModel& model, const ConvertOptions& options);
// ConvertOptions::output; with the frame of the model if `format` is its own, and with its version
// if the options keep it. Errors are those of Format::frame.
Result<ExportOptions> OutputWithin(const ReadModel& model, const Format& format,
                                   const ConvertOptions& options);

// The same for a graph. The options `input`, `inputs` and `limits` do not apply.
Result<Conversion> ConvertGraph(ImportedModel imported, const GraphSource& from,
                                const Format& format, const ConvertOptions& options);

// Copies a model that was read from `options.input`: writes it in its own format, without importing
// or verifying it (Format::save). With ExportOptions::value_info, the copy is read and checked
// again, as is a copy of an edited model. Of the options, only `output`, `edited`, `limits`,
// `dry_run` and `other_name` apply,
// and of the result, only `written`.
Result<Conversion> CopyModel(const ReadModel& model, const ConvertOptions& options);

// The same with other names for the inputs and outputs (Format::rename), in the order of
// Format::port_names. The written model is read again with `options.limits`: kUsage if it breaks a
// rule of its format and the source breaks none, as with a name that the format does not allow.
Result<Conversion> RenameModel(const ReadModel& model, const PortNames& names,
                               const ConvertOptions& options);

}  // namespace nn
