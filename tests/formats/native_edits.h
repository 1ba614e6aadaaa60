// Native edits (ModelEditor::FlowOf, ModelEditor::Apply) in tests.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "formats/common/edit/native_edit.h"
#include "formats/format.h"
#include "ir/graph.h"
#include "ir/tensor.h"

namespace nn::test {

// The model of a dump; a failed REQUIRE if it is none.
ReadModel FromDump(const std::string& text);
// Imported; a failed REQUIRE if that ends with an error.
ImportedModel ImportDump(const std::string& text);
// The member "model" of the dump of a model.
Json DumpOf(const ReadModel& read);

NativeFlow FlowOrFail(const ReadModel& read);
// The position of a value; a failed REQUIRE if there is none.
size_t ValueAt(const NativeFlow& flow, const std::string& name);

// Everything stays.
NativeEdit IdentityOf(const NativeFlow& flow);
// The operators that the outputs need, back to the inputs. `types`: of the inputs.
NativeEdit PieceOf(const NativeFlow& flow, const std::vector<std::string>& inputs,
                   const std::vector<std::string>& outputs,
                   const std::map<std::string, Type>& types = {});

ReadModel EditOrFail(const ReadModel& read, const NativeEdit& edit);
// The message of the error of an edit; a failed REQUIRE if there is none.
std::string EditError(const ReadModel& read, const NativeEdit& edit);

PortNames PortsOf(const ReadModel& read);

// "/subgraphs/0/name: a -> b": the fields that differ; a failed REQUIRE if the models cannot be
// compared.
std::vector<std::string> DifferencesOf(const ReadModel& a, const ReadModel& b);

// The rules that the model breaks, except for those that `source` breaks.
std::vector<std::string> BrokenRules(const ReadModel& read, const ReadModel* source = nullptr);

Tensor TensorOf(DType dtype, const std::vector<int64_t>& dims, const std::vector<double>& values);

struct ModelRun {
  std::map<std::string, Tensor> inputs, outputs;  // by name
};
// Runs the model; inputs that `values` does not have are seeded.
Result<ModelRun> RunModel(const ReadModel& read, const std::map<std::string, Tensor>& values = {});

bool SameBits(const Tensor& a, const Tensor& b);

// Cuts the model in two between its operators, at up to `most` places: the outputs of the second
// part on those of the first are those of the model, and neither breaks a rule that the model does
// not break, besides those in `known`. Returns the number of places; cuts that the format refuses
// do not count.
int CheckCuts(const ReadModel& read, const std::set<std::string>& known = {}, size_t most = 6);

// Runs CheckCuts, and the identity, for all models and graphs in the repository that the format can
// have. `known` is by file. Returns the number of cuts.
int CheckCutsOfAll(std::string_view format,
                   const std::map<std::string, std::set<std::string>>& known = {});

}  // namespace nn::test
