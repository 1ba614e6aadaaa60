// Converts model files and verifies the result. A conversion imports the model, legalizes the graph
// for the target format, writes the model, reads the written files again, validates and imports
// them, and runs both models on the same inputs. Nothing at the target changes before all of this
// succeeded.
//
//   ConvertJob job;
//   job.input = "model.onnx";
//   job.output = "model.tflite";
//   NN_ASSIGN(const Conversion done, ConvertFile(*FindFormat("tflite"), job));
//   if (!done.written) ...  // see done.unsupported and done.verification
//
// Messages of errors name the options of nnconvert that help.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
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

// What the caller of a conversion does in it. Callbacks are called on the calling thread.
struct ConvertHooks {
  // Edits the imported graph as ConvertOptions::edits do (passes/interface/edits.h), in their
  // place. The edited graph is compared with the imported one; Conversion::source describes the
  // edited one. Null: no edit but those.
  std::function<Result<std::vector<GraphEdit>>(Graph&)> edit = nullptr;
  // Changes the graph before it is legalized, after PreparePorts(). All inputs and outputs have
  // names by then. The written model is compared with the changed graph. Null: no change.
  std::function<Status(Graph&)> prepare = nullptr;
  // Contents for ConvertOptions::fixed_inputs (InputSettings::constants), which depend on the
  // graph. Null: none.
  std::function<Result<std::map<size_t, Tensor>>(const Graph&)> constants = nullptr;
  // The samples of a quantization (CalibrationOptions::samples). Null: QuantizeOptions::seeded.
  std::function<Status(const Graph&, const std::function<Status(VerifyInputs)>&)> samples = nullptr;
  VerifyHooks verify = {};
  OtherName other_name = nullptr;  // null: not reported
  WriteProgress write_progress = nullptr;
};

// A conversion: the options, the paths, and what the caller does. The tensors of the options (the
// contents of fixed inputs, the samples of a quantization, the inputs of a verification) have the
// type of the interface, so that the hooks hand them on.
struct ConvertJob : nnsuite::ConvertOptions {
  // The path of the source, also for messages; "-" is standard input.
  std::string input = {};
  std::string output = {};  // "-" is standard output
  std::string producer_version = {};
  // The source is a changed model, which the file at `input` does not have.
  bool edited = false;
  // With `simplify`, within a format: a model that would not have fewer operators is copied
  // instead, unless it breaks a rule of its format. For jobs whose other options change nothing.
  bool copy_unless_fewer = false;
  // ExportOptions::frame; WithinFormat() sets it.
  std::shared_ptr<const NativeModel> frame = nullptr;
  ConvertHooks hooks = {};

  // The error, with the path of the source.
  Error InInput(const Error& error) const;
};

// The parts of a job as the steps of a conversion take them. They refer to the job.
ExportOptions OutputOf(const ConvertJob& job);
InputSettings InputsOf(const ConvertJob& job);
VerifyOptions RunsOf(const ConvertJob& job);
// Of a job with ConvertOptions::quantize.
Result<QuantizeSettings> QuantizationOf(const ConvertJob& job, const Format& target);

// Whether ConvertOptions::edits or the hook edits the imported graph.
bool EditsGraph(const ConvertJob& job);

// What ConvertGraph() is told of the file that its graph is from; by default, there is none.
struct GraphSource {
  const Format* format = nullptr;
  std::vector<Holding> holdings = {};  // for Conversion::holdings
  uint64_t operators = 0;              // OperatorsOf() it; only for ConvertOptions::simplify
  // Whether the caller copies the file if the written one would not have fewer operators.
  bool may_copy = false;
  // May be called on another thread, while the caller waits.
  SourceError error = [] { return std::optional<Finding>(); };
  // Imports the file with other settings than InputsOf() the job, for remedies that may let the
  // import do what it could not. Null: not possible, or something besides PreparePorts() changes
  // the graph.
  std::function<Result<ImportedModel>(const InputSettings&)> import_again = nullptr;
};

using nnsuite::PortChange;
using nnsuite::PortSide;

// Applications of one rewrite to one operator, which made the graph fit the target.
struct AppliedRewrite {
  std::string op;  // in the graph
  std::string rewrite;
  uint64_t count = 0;
};

// A state that the application keeps, by the names of its input and output before PreparePorts().
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
  std::vector<PortChange> port_changes;  // by kind, inputs first
  int64_t hybrids = 0;  // hybrid kernels converted to float operators (ImportedModel::hybrids)
  std::vector<PassedState> states;  // that are inputs and outputs of the model
  int64_t random_nodes = 0;         // of the source: other implementations draw different numbers
  std::vector<TransposeNode> transposes;  // of the written graph
  std::vector<AppliedRewrite> rewrites;   // by operator
  // Of the source and of the written model, if it is simplified and written.
  std::optional<OperatorCount> operators;
  std::optional<HalfSummary> half;
  std::vector<std::string> out_of_range;  // operators that stay in float32 for that reason
  std::optional<QuantizeOutcome> quantize;
  uint64_t bytes_before = 0;                 // of the files of the source, if it is quantized
  bool copied = false;                       // for ConvertJob::copy_unless_fewer
  bool copy = false;                         // the model was not imported (ConvertOrCopy())
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

// Reads the source and converts it to `format`, which may be that of the source. Unsupported nodes
// and outputs that drift are results, not errors. Errors are those of ReadModelFile,
// ModelImporter::Import, ModelWriter::Write, PlaceModel, VerifyConversion and the callbacks, and
// those of ReadWritten and the related functions (convert/place/written.h) if the written model is
// not sound. kUsage for an option that has no effect on the model.
//
// Callbacks are called on the calling thread. May be called concurrently, even for the same target,
// which then has the files of one of the conversions.
Result<Conversion> ConvertFile(const Format& format, const ConvertJob& job);

// The same for a model that was read from `job.input`. If that is a regular file or a folder,
// the model is freed after its import, and read again with `job.limits` if the written model
// has a flaw. If `input` is empty, messages have no path.
Result<Conversion> ConvertModel(ReadModel model, const Format& format, const ConvertJob& job);

// Whether nothing but names and the form of the file changes, and ConvertOptions::rewrite is not
// set: the model need not be imported.
bool IsCopy(const ReadModel& model, const Format& format, const ConvertJob& job);
// ConvertModel(), but CopyModel() or RenameModel() if IsCopy(). A model that is only simplified is
// copied if it would not have fewer operators.
Result<Conversion> ConvertOrCopy(ReadModel model, const Format& format, ConvertJob job);

// The graph of a model, as the options require it. kUsage for options that ask for what the model
// of the file has (CheckSourceEffects()).
Result<ImportedModel> ImportForConversion(const ReadModel& model, const ConvertJob& job);
// Both must outlive the result. The model may be freed: it is read again if need be.
GraphSource SourceOf(const ReadModel& model, const ConvertJob& job);
// The job; with the frame of the model if `format` is its own, and with its version if the options
// keep it. Errors are those of ModelWriter::FrameOf.
Result<ConvertJob> WithinFormat(const ReadModel& model, const Format& format,
                                const ConvertJob& job);

// The same for a graph. `input`, `limits` and the contents of fixed inputs do not apply.
Result<Conversion> ConvertGraph(ImportedModel imported, const GraphSource& from,
                                const Format& format, const ConvertJob& job);

// Copies a model that was read from `job.input`: writes it in its own format, without importing
// or verifying it (ModelWriter::Save). With ConvertOptions::infer_shapes, the copy is read and
// checked again, as is a copy of an edited model. Of the job, only `output`, `external_data`,
// `infer_shapes`, `edited`, `limits`, `dry_run` and the hooks about files apply, and of the result,
// only `written`.
Result<Conversion> CopyModel(const ReadModel& model, const ConvertJob& job);

// The same with other names for the inputs and outputs (ModelEditor::Rename), in the order of
// ModelDescriber::PortNamesOf. The written model is read again with `job.limits`: kUsage if it
// breaks a rule of its format and the source breaks none, as with a name that the format does not
// allow.
Result<Conversion> RenameModel(const ReadModel& model, const PortNames& names,
                               const ConvertJob& job);

}  // namespace nn
