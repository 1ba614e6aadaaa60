// Rules of the model: its lists of inputs and outputs, and the order of operations.
#include <map>
#include <set>

#include "validators/nnapi/rules.h"

namespace nn::nnapi {
namespace {

constexpr size_t kNobody = static_cast<size_t>(-1);

void NotEmpty(const Subject& s, Findings& f) {
  const Model& m = s.native();
  if (m.input_indexes.empty()) f.Add(At("inputIndexes"), "the model has no inputs");
  if (m.output_indexes.empty()) f.Add(At("outputIndexes"), "the model has no outputs");
}

void HasOperations(const Subject& s, Findings& f) {
  if (s.operations().empty()) f.Add(At("operations"), "the model has no operations");
}

template <typename Visit>
void EachListed(const Subject& s, const Visit& visit) {
  const auto each = [&](const std::vector<uint32_t>& list, std::string_view name, LifeTime want) {
    for (size_t i = 0; i < list.size(); ++i) visit(list[i], fmt::format("{}[{}]", name, i), want);
  };
  each(s.native().input_indexes, "inputIndexes", LifeTime::kModelInput);
  each(s.native().output_indexes, "outputIndexes", LifeTime::kModelOutput);
}

void ListsInRange(const Subject& s, Findings& f) {
  EachListed(s, [&](uint32_t index, const std::string& path, LifeTime) {
    if (s.FindOperand(index) == nullptr)
      f.Add(At(path), "operand {} of {}", index, s.native().operands.size());
  });
}

// An operand in both lists has the wrong lifetime for one of them: that is ListedOnce's finding.
void ListsHaveLifetime(const Subject& s, Findings& f) {
  std::map<uint32_t, std::set<LifeTime>> wanted;
  EachListed(
      s, [&](uint32_t index, const std::string&, LifeTime want) { wanted[index].insert(want); });
  EachListed(s, [&](uint32_t index, const std::string& path, LifeTime want) {
    const Operand* o = s.FindOperand(index);
    if (o != nullptr && NameOf(o->lifetime) && o->lifetime != want &&
        !wanted[index].contains(o->lifetime))
      f.Add(At(path), "operand {} has lifetime {}, not {}", index, TextOf(o->lifetime),
            TextOf(want));
  });
}

void ListedOnce(const Subject& s, Findings& f) {
  std::set<uint32_t> seen;
  EachListed(s, [&](uint32_t index, const std::string& path, LifeTime) {
    if (!seen.insert(index).second) f.Add(At(path), "operand {} is listed again", index);
  });
}

void AllListed(const Subject& s, Findings& f) {
  std::set<uint32_t> listed;
  EachListed(s, [&](uint32_t index, const std::string&, LifeTime) { listed.insert(index); });
  for (uint32_t i = 0; i < s.native().operands.size(); ++i) {
    const LifeTime lifetime = s.native().operands[i].lifetime;
    // Where there is no list at all, NotEmpty says so.
    const bool lists = (lifetime == LifeTime::kModelInput && !s.native().input_indexes.empty()) ||
                       (lifetime == LifeTime::kModelOutput && !s.native().output_indexes.empty());
    if (lists && !listed.contains(i))
      f.Add(At(OperandPath(i, "lifetime")), "operand {} has lifetime {} but is not listed", i,
            TextOf(lifetime));
  }
}

void IndicesInRange(const Subject& s, Findings& f) {
  for (const OperationAt& op : s.operations()) {
    const auto check = [&](const std::vector<uint32_t>& list, std::string_view name) {
      for (size_t i = 0; i < list.size(); ++i)
        if (s.FindOperand(list[i]) == nullptr)
          f.Add(op.Where(fmt::format("{}[{}]", name, i)), "{} names operand {} of {}", op.Title(),
                list[i], s.native().operands.size());
    };
    check(op.operation->inputs, "inputs");
    check(op.operation->outputs, "outputs");
  }
}

// An input that names no operand may stand for any: so many may be missing.
void ConsumersCounted(const Subject& s, Findings& f) {
  std::vector<uint64_t> count(s.native().operands.size());
  uint64_t strays = 0;
  for (const OperationAt& op : s.operations())
    for (const uint32_t i : op.operation->inputs) ++(i < count.size() ? count[i] : strays);
  for (size_t i = 0; i < count.size(); ++i)
    if (const uint64_t stated = s.native().operands[i].number_of_consumers;
        stated < count[i] || stated > count[i] + strays)
      f.Add(At(OperandPath(i, "numberOfConsumers")), "operand {} states {} consumers and has {}", i,
            stated, count[i]);
}

// The operations that write each operand.
std::vector<std::vector<size_t>> Writers(const Subject& s) {
  std::vector<std::vector<size_t>> writers(s.native().operands.size());
  for (const OperationAt& op : s.operations())
    for (const uint32_t i : op.operation->outputs)
      if (i < writers.size()) writers[i].push_back(static_cast<size_t>(op.index));
  return writers;
}

// True if all outputs are there and name operands: an operand that nobody writes is known to be
// one.
bool WritersAreKnown(const Subject& s) {
  for (const OperationAt& op : s.operations()) {
    const std::vector<uint32_t>& outputs = op.operation->outputs;
    if (op.signature != nullptr && outputs.size() < op.signature->outputs.size()) return false;
    for (const uint32_t i : outputs)
      if (s.FindOperand(i) == nullptr) return false;
  }
  return !s.operations().empty();
}

void OnlyComputedWritten(const Subject& s, Findings& f) {
  for (const OperationAt& op : s.operations())
    for (size_t i = 0; i < op.operation->outputs.size(); ++i) {
      const Operand* o = op.Output(i);
      if (o != nullptr && NameOf(o->lifetime) && !IsComputed(*o))
        f.Add(op.AtOutput(i), "{} writes operand {} of lifetime {}", op.Title(),
              op.operation->outputs[i], TextOf(o->lifetime));
    }
}

void WrittenOnce(const Subject& s, Findings& f) {
  const auto writers = Writers(s);
  const size_t fewest = WritersAreKnown(s) ? 1 : 0;
  for (size_t i = 0; i < writers.size(); ++i) {
    const Operand& o = s.native().operands[i];
    if (IsComputed(o) && (writers[i].size() < fewest || writers[i].size() > 1))
      f.Add(At(OperandPath(i)), "operand {} of lifetime {} is written by {} operations", i,
            TextOf(o.lifetime), writers[i].size());
  }
}

void InOrder(const Subject& s, Findings& f) {
  const auto writers = Writers(s);
  for (const OperationAt& op : s.operations())
    for (size_t i = 0; i < op.operation->inputs.size(); ++i) {
      const uint32_t operand = op.operation->inputs[i];
      if (operand >= writers.size() || !IsComputed(s.native().operands[operand])) continue;
      size_t first = kNobody;
      for (const size_t w : writers[operand]) first = std::min(first, w);
      if (first != kNobody && first >= static_cast<size_t>(op.index))
        f.Add(op.Where(fmt::format("inputs[{}]", i)),
              "{} reads operand {}, which operation {} writes", op.Title(), operand, first);
    }
}

constexpr Rule kRules[] = {
    {{"NNAPI-MODEL-001", Severity::kError, "A model has at least one input and one output.",
      "types.hal, Model.inputIndexes", false, "List what the model takes and gives."},
     NotEmpty},
    {{"NNAPI-MODEL-002", Severity::kError, "Listed inputs and outputs are operands of the model.",
      "types.hal, Model.inputIndexes", true, "Indexes count from 0."},
     ListsInRange},
    {{"NNAPI-MODEL-003", Severity::kError,
      "Listed inputs and outputs have the lifetime MODEL_INPUT or MODEL_OUTPUT.",
      "types.hal, OperandLifeTime", true,
      "Give the operand that lifetime, or take it off the list."},
     ListsHaveLifetime},
    {{"NNAPI-MODEL-004", Severity::kError, "An operand is listed once, as input or as output.",
      "types.hal, Model.inputIndexes", true,
      "Pass an input on through an operation to make it an output."},
     ListedOnce},
    {{"NNAPI-MODEL-005", Severity::kError,
      "Operands of lifetime MODEL_INPUT and MODEL_OUTPUT are listed.", "types.hal, OperandLifeTime",
      true, "List the operand, or make it a TEMPORARY_VARIABLE or a constant."},
     AllListed},
    {{"NNAPI-MODEL-006", Severity::kError, "Operations name operands of the model.",
      "types.hal, Operation", true, "Indexes count from 0."},
     IndicesInRange},
    {{"NNAPI-MODEL-007", Severity::kError,
      "numberOfConsumers is the number of times that operations read the operand.",
      "types.hal, Operand.numberOfConsumers", true,
      "Count the inputs of all operations that name the operand."},
     ConsumersCounted},
    {{"NNAPI-MODEL-008", Severity::kError, "Operations write temporaries and model outputs only.",
      "types.hal, OperandLifeTime", true,
      "Write an operand of lifetime TEMPORARY_VARIABLE instead."},
     OnlyComputedWritten},
    {{"NNAPI-MODEL-009", Severity::kError,
      "Temporaries and model outputs are written by exactly one operation.",
      "types.hal, OperandLifeTime", true,
      "Give each result an operand of its own; remove operands that nobody writes."},
     WrittenOnce},
    {{"NNAPI-MODEL-010", Severity::kError, "Operations stand in the order of execution.",
      "types.hal, Model.operations", true,
      "Sort them; where that cannot be done there is a cycle."},
     InOrder},
    {{"NNAPI-MODEL-011", Severity::kError, "A model has operations.",
      "types.hal, OperandLifeTime.MODEL_OUTPUT", true, "Write each output by an operation."},
     HasOperations},
};

}  // namespace

std::span<const Rule> ModelRules() {
  return kRules;
}

}  // namespace nn::nnapi
