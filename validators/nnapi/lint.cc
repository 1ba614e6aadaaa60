// Advice on NNAPI models that no published text demands.
#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "validators/nnapi/rules.h"
#include "validators/scales.h"

namespace nn::nnapi {
namespace {

using enum OperationType;

// Bytes between constants that alignment cannot explain.
constexpr uint64_t kGap = 64;

void ScalesUsual(const Subject& s, Findings& f) {
  for (size_t i = 0; i < s.native().operands.size(); ++i) {
    const float scale = s.native().operands[i].scale;
    if (scale > 0 && std::isfinite(scale) && !IsUsualScale(scale))
      f.Add(At(OperandPath(i, "scale")), "operand {} has scale {}", i, scale);
  }
}

// Where a constant lies in its pool.
struct Span {
  uint64_t begin;
  uint64_t end;
  size_t operand;
  bool operator<(const Span& o) const { return std::tie(begin, end) < std::tie(o.begin, o.end); }
};

// Constants and the bytes that they lie in: operandValues, or a pool.
struct Storage {
  std::string path;
  uint64_t size = 0;
  std::vector<Span> spans;  // in the order of their places
};

std::vector<Storage> StoragesOf(const Subject& s) {
  const Model& m = s.native();
  std::vector<Storage> list = {{"operandValues", m.operand_values.size(), {}}};
  for (size_t i = 0; i < m.pools.size(); ++i)
    list.push_back({fmt::format("pools[{}]", i), m.pools[i].bytes.size(), {}});
  for (size_t i = 0; i < m.operands.size(); ++i) {
    const Operand& o = m.operands[i];
    if (!IsConstant(o)) continue;
    const size_t at = o.lifetime == LifeTime::kConstantCopy ? 0 : size_t{o.location.pool_index} + 1;
    if (at < list.size())
      list[at].spans.push_back(
          {o.location.offset, uint64_t{o.location.offset} + o.location.length, i});
  }
  for (Storage& storage : list) std::sort(storage.spans.begin(), storage.spans.end());
  return list;
}

void PoolsUsed(const Subject& s, Findings& f) {
  const std::vector<Storage> list = StoragesOf(s);
  for (size_t i = 1; i < list.size(); ++i)
    if (list[i].spans.empty())
      f.Add(At(list[i].path), "no operand lies in pool {} of {} bytes", i - 1, list[i].size);
}

void BytesUsed(const Subject& s, Findings& f) {
  for (const Storage& storage : StoragesOf(s)) {
    if (storage.spans.empty() && storage.path != "operandValues") continue;  // PoolsUsed
    uint64_t end = 0;
    const auto gap = [&](uint64_t begin) {
      if (begin >= end + kGap)
        f.Add(At(storage.path), "{} bytes at {} of {} belong to no operand", begin - end, end,
              storage.path);
    };
    for (const Span& span : storage.spans) {
      gap(std::min(span.begin, storage.size));
      end = std::max(end, span.end);
    }
    gap(storage.size);
  }
}

void ConstantsApart(const Subject& s, Findings& f) {
  for (const Storage& storage : StoragesOf(s)) {
    const Span* last = nullptr;  // the one that reaches furthest
    for (const Span& span : storage.spans) {
      const bool same = last != nullptr && last->begin == span.begin && last->end == span.end;
      if (last != nullptr && !same && span.begin < last->end && span.begin < span.end)
        f.Add(At(OperandPath(span.operand, "location")),
              "operand {} at {} to {} of {} lies over operand {} at {} to {}", span.operand,
              span.begin, span.end, storage.path, last->operand, last->begin, last->end);
      if (last == nullptr || span.end > last->end) last = &span;
    }
  }
}

void ConstantsAligned(const Subject& s, Findings& f) {
  for (size_t i = 0; i < s.native().operands.size(); ++i) {
    const Operand& o = s.native().operands[i];
    const uint32_t size = ElementSize(o.type);
    if (IsConstant(o) && size > 1 && o.location.offset % size != 0)
      f.Add(At(OperandPath(i, "location.offset")), "operand {} of type {} lies at {}", i,
            TextOf(o.type), o.location.offset);
  }
}

void NothingOem(const Subject& s, Findings& f) {
  for (size_t i = 0; i < s.native().operands.size(); ++i) {
    const OperandType type = s.native().operands[i].type;
    if (type == OperandType::kOem || type == OperandType::kTensorOemByte)
      f.Add(At(OperandPath(i, "type")), "operand {} has type {}", i, TextOf(type));
  }
  for (const OperationAt& op : s.operations())
    if (op.operation->type == kOemOperation)
      f.Add(op.Where("type"), "operation {} has type OEM_OPERATION", op.index);
}

bool IsKnown(const Dims& dims) {
  return std::find(dims.begin(), dims.end(), 0u) == dims.end();
}

// True if shapes of inputs and constant arguments determine the shapes of outputs.
bool Determines(const OperationAt& op) {
  if (op.signature == nullptr) return false;
  for (size_t i = 0; i < op.input_count(); ++i) {
    const Operand* o = op.Input(i);
    if (o == nullptr) continue;
    if (IsTensor(o->type) ? !IsKnown(o->dimensions) : !IsConstant(*o)) return false;
  }
  const Operand* shape = op.operation->type == kReshape ? op.Input(1) : nullptr;
  return shape == nullptr || IsConstant(*shape);
}

void DimensionsGiven(const Subject& s, Findings& f) {
  for (const OperationAt& op : s.operations())
    for (size_t i = 0; i < op.operation->outputs.size(); ++i) {
      const Dims* dims = op.OutputDims(i);
      if (dims != nullptr && !IsKnown(*dims) && Determines(op))
        f.Add(At(OperandPath(op.operation->outputs[i], "dimensions")),
              "operand {} has dimensions {}; {} determines them", op.operation->outputs[i],
              DimsText(*dims), op.Title());
    }
}

void KeysOnce(const Subject& s, Findings& f) {
  std::set<uint32_t> seen;  // operands with keys
  EachOperation(s, kHashtableLookup, [&](const OperationAt& op) {
    if (!seen.insert(op.operation->inputs[1]).second) return;
    const std::vector<int32_t> keys = op.Ints(1);
    if (const auto twice = std::adjacent_find(keys.begin(), keys.end()); twice != keys.end())
      f.Add(op.AtInput(1), "{} has key {} more than once", op.Title(), *twice);
  });
}

void SchemesDefined(const Subject& s, Findings& f) {
  for (const OperationAt& op : s.operations()) {
    if (op.signature == nullptr) continue;
    for (size_t i = 0; i < op.input_count(); ++i)
      if (op.signature->InputAt(i, op.input_count()).kind == Argument::Kind::kScheme &&
          op.Int(i) == 0)
        f.Add(op.AtInput(i), "{} has the padding scheme NONE", op.Title());
  }
}

constexpr Rule kRules[] = {
    Lint("NNAPI-LINT-001", Severity::kWarning, "Scales are normal numbers of at most 10000.",
         "advice on types.hal, Operand.scale", "Look at the ranges that were measured.",
         ScalesUsual),
    Lint("NNAPI-LINT-002", Severity::kNote, "Constants lie in every pool.",
         "advice on types.hal, Model.pools", "Leave out the pool.", PoolsUsed),
    Lint("NNAPI-LINT-003", Severity::kNote,
         "Bytes of operandValues and pools belong to constants, but for fewer than 64 in a row.",
         "advice on types.hal, Model.operandValues", "Write the model again.", BytesUsed),
    Lint("NNAPI-LINT-004", Severity::kWarning,
         "Constants lie apart or in the same place, never partly over each other.",
         "advice on types.hal, Operand.location", "Give each its own bytes.", ConstantsApart),
    Lint("NNAPI-LINT-005", Severity::kWarning, "Offsets of constants are multiples of an element.",
         "advice on types.hal, DataLocation.offset", "Write the model again.", ConstantsAligned),
    Lint("NNAPI-LINT-006", Severity::kWarning, "There are no types and operations of a vendor.",
         "advice on types.hal, OperationType.OEM_OPERATION",
         "Only the vendor's devices run the model.", NothingOem),
    Lint("NNAPI-LINT-007", Severity::kNote,
         "Dimensions are given where inputs and arguments determine them.",
         "advice on types.hal, Operand.dimensions", "Write them: drivers prepare better.",
         DimensionsGiven),
    Lint("NNAPI-LINT-008", Severity::kWarning, "Keys of HASHTABLE_LOOKUP are different.",
         "advice on types.hal, OperationType.HASHTABLE_LOOKUP",
         "Which of the slices is found is left open.", KeysOnce),
    Lint("NNAPI-LINT-009", Severity::kWarning, "Implicit paddings are SAME or VALID.",
         "advice on types.hal, OperationType.CONV_2D", "Say VALID, or give four numbers.",
         SchemesDefined),
};

}  // namespace

std::span<const Rule> LintRules() {
  return kRules;
}

}  // namespace nn::nnapi
