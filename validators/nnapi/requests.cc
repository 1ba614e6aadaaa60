// Rules of a request: one run of the model, which the .nnapi.json form can have beside it.
#include <algorithm>
#include <tuple>
#include <utility>

#include "base/checked_math.h"
#include "validators/nnapi/rules.h"

namespace nn::nnapi {
namespace {

// An argument with the operand that it is for; nullptr if there is none.
struct ArgumentAt {
  const RequestArgument& argument;
  const Operand* operand;
  uint32_t index;  // of the operand
  bool output;
  std::string path;  // request.inputs[3]

  Location At(std::string_view field = {}) const {
    return nn::At(fmt::format("{}{}{}", path, field.empty() ? "" : ".", field));
  }
};

template <typename Visit>
void EachArgument(const Subject& s, const Visit& visit) {
  const Model& m = s.native();
  if (!m.request) return;
  const auto each = [&](const std::vector<RequestArgument>& list,
                        const std::vector<uint32_t>& indexes, bool output) {
    for (size_t i = 0; i < list.size(); ++i) {
      const uint32_t index = i < indexes.size() ? indexes[i] : UINT32_MAX;
      visit(ArgumentAt{list[i], s.FindOperand(index), index, output,
                       fmt::format("request.{}[{}]", output ? "outputs" : "inputs", i)});
    }
  };
  each(m.request->inputs, m.input_indexes, false);
  each(m.request->outputs, m.output_indexes, true);
}

void ArgumentsForAll(const Subject& s, Findings& f) {
  const Model& m = s.native();
  if (!m.request) return;
  const auto check = [&](std::string_view what, size_t has, size_t wants) {
    if (has != wants)
      f.Add(At(fmt::format("request.{}", what)), "the request has {} {}, the model has {}", has,
            what, wants);
  };
  check("inputs", m.request->inputs.size(), m.input_indexes.size());
  check("outputs", m.request->outputs.size(), m.output_indexes.size());
}

void NothingWithoutValue(const Subject& s, Findings& f) {
  EachArgument(s, [&](const ArgumentAt& a) {
    if (!a.argument.has_no_value) return;
    if (a.argument.location != DataLocation())
      f.Add(a.At("location"), "an argument without a value has a location");
    if (!a.argument.dimensions.empty())
      f.Add(a.At("dimensions"), "an argument without a value has dimensions {}",
            DimsText(a.argument.dimensions));
  });
}

void OmittedIsOptional(const Subject& s, Findings& f) {
  if (!s.native().request) return;
  // By operand: the first input that needs its value.
  std::vector<std::pair<const OperationAt*, size_t>> needs(s.native().operands.size());
  for (const OperationAt& op : s.operations())
    for (size_t i = 0; op.signature != nullptr && i < op.input_count(); ++i)
      if (const uint32_t operand = op.operation->inputs[i];
          operand < needs.size() && needs[operand].first == nullptr &&
          !op.signature->InputAt(i, op.input_count()).optional)
        needs[operand] = {&op, i};
  EachArgument(s, [&](const ArgumentAt& a) {
    if (!a.argument.has_no_value || a.output || a.operand == nullptr) return;
    if (const auto& [op, input] = needs[a.index]; op != nullptr)
      f.Add(a.At("hasNoValue"), "operand {} has no value; {} needs one", a.index,
            op->InputTitle(input));
  });
}

void ArgumentsInPool(const Subject& s, Findings& f) {
  EachArgument(s, [&](const ArgumentAt& a) {
    const DataLocation& l = a.argument.location;
    const std::vector<uint64_t>& pools = s.native().request->pool_sizes;
    if (a.argument.has_no_value) return;
    if (l.pool_index >= pools.size())
      f.Add(a.At("location.poolIndex"), "the argument lies in pool {} of {}", l.pool_index,
            pools.size());
    else if (!InRange(l.offset, l.length, pools[l.pool_index]))
      f.Add(a.At("location"), "the argument lies at {} with {} bytes, outside of {}", l.offset,
            l.length, pools[l.pool_index]);
  });
}

void DimensionsKept(const Subject& s, Findings& f) {
  EachArgument(s, [&](const ArgumentAt& a) {
    const Dims& dims = a.argument.dimensions;
    if (a.operand != nullptr && !a.argument.has_no_value && !dims.empty() &&
        !Agree(dims, a.operand->dimensions))
      f.Add(a.At("dimensions"), "the argument is {}, operand {} of the model {}", DimsText(dims),
            a.index, DimsText(a.operand->dimensions));
  });
}

bool HasOpen(const Dims& dims) {
  return std::find(dims.begin(), dims.end(), 0u) != dims.end();
}

void DimensionsComplete(const Subject& s, Findings& f) {
  EachArgument(s, [&](const ArgumentAt& a) {
    const Dims& dims = a.argument.dimensions;
    if (a.argument.has_no_value) return;
    if (HasOpen(dims))
      f.Add(a.At("dimensions"), "the argument has dimensions {}", DimsText(dims));
    else if (dims.empty() && a.operand != nullptr && HasOpen(a.operand->dimensions))
      f.Add(a.At("dimensions"), "the argument has no dimensions, operand {} of the model {}",
            a.index, DimsText(a.operand->dimensions));
  });
}

void LengthsFit(const Subject& s, Findings& f) {
  EachArgument(s, [&](const ArgumentAt& a) {
    if (a.operand == nullptr || a.argument.has_no_value) return;
    const Dims& given = a.argument.dimensions;
    const Dims& dims = given.empty() ? a.operand->dimensions : given;
    uint64_t bytes = ElementSize(a.operand->type);
    for (const uint32_t d : dims)
      if (__builtin_mul_overflow(bytes, d, &bytes)) return;
    if (bytes != 0 && a.argument.location.length != bytes)
      f.Add(a.At("location.length"), "the argument has {} bytes; type and dimensions need {}",
            a.argument.location.length, bytes);
  });
}

// Where the data of an argument lie.
struct Place {
  uint64_t pool;
  uint64_t begin;
  uint64_t end;
  bool output;
  std::string path;
};

void OutputsApart(const Subject& s, Findings& f) {
  std::vector<Place> places;
  EachArgument(s, [&](const ArgumentAt& a) {
    const DataLocation& l = a.argument.location;
    if (!a.argument.has_no_value && l.length != 0)
      places.push_back({l.pool_index, l.offset, uint64_t{l.offset} + l.length, a.output, a.path});
  });
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return std::tie(a.pool, a.begin) < std::tie(b.pool, b.begin);
  });
  // Of those before, the one that reaches furthest, and the output that does.
  const Place* any = nullptr;
  const Place* output = nullptr;
  for (const Place& p : places) {
    const Place* before = p.output ? any : output;
    if (before != nullptr && before->pool == p.pool && p.begin < before->end)
      f.Add(At(p.output ? p.path : before->path), "{} at {} to {} of pool {} lies over {}", p.path,
            p.begin, p.end, p.pool, before->path);
    const auto further = [&](const Place* than) {
      return than == nullptr || than->pool != p.pool || p.end > than->end;
    };
    if (further(any)) any = &p;
    if (p.output && further(output)) output = &p;
  }
}

constexpr Rule kRules[] = {
    {{"NNAPI-REQUEST-001", Severity::kError,
      "A request has an argument for each input and each output of the model.",
      "types.hal, Request.inputs", true, "Give one for each, in their order."},
     ArgumentsForAll},
    {{"NNAPI-REQUEST-002", Severity::kError,
      "Arguments without a value have a location of zeros and no dimensions.",
      "types.hal, RequestArgument.hasNoValue", true, "Leave out location and dimensions."},
     NothingWithoutValue},
    {{"NNAPI-REQUEST-003", Severity::kError, "Only optional inputs of operations have no value.",
      "types.hal, RequestArgument.hasNoValue", true, "Give a value."},
     OmittedIsOptional},
    {{"NNAPI-REQUEST-004", Severity::kError, "Arguments lie inside a pool of the request.",
      "types.hal, RequestArgument.location", true, "Check poolIndex, offset and length."},
     ArgumentsInPool},
    {{"NNAPI-REQUEST-005", Severity::kError,
      "Arguments keep the rank and the sizes that the model has.",
      "types.hal, RequestArgument.dimensions", true,
      "A request may only tell sizes that the model leaves open."},
     DimensionsKept},
    {{"NNAPI-REQUEST-006", Severity::kError, "Model and request together give all dimensions.",
      "types.hal, RequestArgument.dimensions", true, "Give all sizes in the argument."},
     DimensionsComplete},
    {{"NNAPI-REQUEST-007", Severity::kError,
      "The length of an argument is that of its type and dimensions.",
      "types.hal, DataLocation.length", true,
      "It is the product of the dimensions and the bytes of an element."},
     LengthsFit},
    {{"NNAPI-REQUEST-008", Severity::kError, "Outputs lie over no input and no other output.",
      "types.hal, Request", false, "Give each output its own bytes."},
     OutputsApart},
};

}  // namespace

std::span<const Rule> RequestRules() {
  return kRules;
}

}  // namespace nn::nnapi
