// What an ONNX file holds beside its graph.
#include <algorithm>
#include <set>
#include <tuple>

#include "formats/common/describe/holdings.h"
#include "formats/onnx/export/quant/linear_quant.h"
#include "formats/onnx/file/native.h"
#include "formats/onnx/roles.h"

namespace nn::onnx {
namespace {

constexpr auto kParts = FieldUse::Kind::kParts;
constexpr auto kHeld = FieldUse::Kind::kHeld;

constexpr std::string_view kFunction = "function";

// Not named: a product may become another operator, whose weights have another name.
constexpr const char* kBlocks = "weights in blocks";
constexpr const char* kBlocksLoss =
    "they become numbers of 16 or 32 bits; ONNX models of operator set 21 and later keep them";

constexpr FieldUse kUses[] = {
    {"ModelProto.ir_version"},
    {"ModelProto.producer_name", kHeld, kProducerKind, kNewProducer},
    {"ModelProto.producer_version", kHeld, kProducerKind, kNewProducer},
    {"ModelProto.domain", kHeld, "domain"},
    {"ModelProto.model_version", kHeld, "version"},
    {"ModelProto.doc_string", kHeld, "description"},
    {"ModelProto.graph", kParts},
    {"ModelProto.opset_import"},  // see HoldingsOf
    {"ModelProto.metadata_props", kHeld, "metadata"},
    {"ModelProto.functions", kHeld, kFunction},
    {"GraphProto.node", kParts},
    {"GraphProto.name"},
    {"GraphProto.initializer", kParts},
    {"GraphProto.doc_string", kHeld, "documentation"},
    {"GraphProto.input", kParts},
    {"GraphProto.output", kParts},
    {"GraphProto.value_info", kParts},
    {"GraphProto.sparse_initializer", kParts},
    {"GraphProto.metadata_props", kHeld, "metadata"},
    {"ValueInfoProto.name"},
    {"ValueInfoProto.type", kParts},
    {"ValueInfoProto.doc_string", kHeld, "documentation"},
    {"ValueInfoProto.metadata_props", kHeld, "metadata"},
    {"NodeProto.input"},
    {"NodeProto.output"},
    {"NodeProto.name"},
    {"NodeProto.op_type"},
    {"NodeProto.attribute", kParts},
    {"NodeProto.doc_string", kHeld, "documentation"},
    {"NodeProto.domain"},
    {"NodeProto.overload"},
    {"NodeProto.metadata_props", kHeld, "metadata"},
    {"AttributeProto.name"},
    {"AttributeProto.doc_string", kHeld, "documentation"},
    {"AttributeProto.type"},
    {"AttributeProto.ref_attr_name"},
    {"AttributeProto.f"},
    {"AttributeProto.i"},
    {"AttributeProto.s"},
    {"AttributeProto.t", kParts},
    {"AttributeProto.g", kParts},
    {"AttributeProto.tp", kParts},
    {"AttributeProto.sparse_tensor", kParts},
    {"AttributeProto.floats"},
    {"AttributeProto.ints"},
    {"AttributeProto.strings"},
    {"AttributeProto.tensors", kParts},
    {"AttributeProto.graphs", kParts},
    {"AttributeProto.type_protos", kParts},
    {"AttributeProto.sparse_tensors", kParts},
    {"TensorProto.dims"},
    {"TensorProto.data_type"},
    {"TensorProto.segment"},
    {"TensorProto.float_data"},
    {"TensorProto.int32_data"},
    {"TensorProto.string_data"},
    {"TensorProto.int64_data"},
    {"TensorProto.name"},
    {"TensorProto.doc_string", kHeld, "documentation"},
    {"TensorProto.raw_data"},
    {"TensorProto.double_data"},
    {"TensorProto.uint64_data"},
    {"TensorProto.external_data"},  // see HoldingsOf
    {"TensorProto.data_location"},
    {"TensorProto.metadata_props", kHeld, "metadata"},
    {"SparseTensorProto.values", kParts},
    {"SparseTensorProto.indices", kParts},
    {"SparseTensorProto.dims"},
    {"TypeProto.value", kParts},
    {"TypeProto.denotation", kHeld, "denotation"},
    {"Tensor.elem_type"},
    {"Tensor.shape", kParts},
    {"SparseTensor.elem_type"},
    {"SparseTensor.shape", kParts},
    {"Sequence.elem_type", kParts},
    {"Map.key_type"},
    {"Map.value_type", kParts},
    {"Optional.elem_type", kParts},
    {"Opaque.domain"},
    {"Opaque.name"},
    {"TensorShapeProto.dim", kParts},
    {"Dimension.value"},
    {"Dimension.denotation", kHeld, "denotation"},
};

// The weights that the node has in blocks; "" if there are none.
std::string_view BlocksOf(const pb::NodeProto& node) {
  const std::string_view domain = NormalDomain(node.domain());
  if (domain == kMicrosoft && node.op_type() == "MatMulNBits" && node.input_size() > 1)
    return node.input(1);
  const bool has_blocks =
      domain.empty() && node.op_type() == "DequantizeLinear" && node.input_size() > 0 &&
      std::ranges::any_of(node.attribute(),
                          [](const auto& a) { return a.name() == "block_size" && a.i() > 0; });
  return has_blocks ? std::string_view(node.input(0)) : std::string_view();
}

// What the graph refers to.
struct Used {
  std::set<std::string_view> blocks;
  std::set<std::string_view> domains, files;
  std::set<std::pair<std::string_view, std::string_view>> operators;

  void Add(const google::protobuf::Message& part) {
    if (const auto* node = dynamic_cast<const pb::NodeProto*>(&part)) AddNode(*node);
    if (const auto* tensor = dynamic_cast<const pb::TensorProto*>(&part))
      for (const auto& entry : tensor->external_data())
        if (entry.key() == "location") files.insert(entry.value());
  }
  void AddNode(const pb::NodeProto& node) {
    domains.insert(NormalDomain(node.domain()));
    blocks.insert(BlocksOf(node));
    operators.insert({NormalDomain(node.domain()), node.op_type()});
  }
  // The operators that functions use, of which those of nodes inside attributes are not looked at:
  // they belong to an operator of the graph in any case.
  void AddBodies(const pb::ModelProto& m) {
    for (size_t before = 0; before != operators.size();) {
      before = operators.size();
      for (const pb::FunctionProto& f : m.functions())
        if (Calls(f))
          for (const pb::NodeProto& node : f.node()) AddNode(node);
    }
  }
  bool Calls(const pb::FunctionProto& f) const {
    return operators.contains({NormalDomain(f.domain()), f.name()});
  }
};

}  // namespace

std::vector<Holding> OnnxDescriber::HoldingsOf(const NativeModel& native) const {
  const pb::ModelProto& m = ModelOf(native).proto;
  Used used;
  std::vector<Holding> out =
      nn::HoldingsOf(m, kUses, [&](const google::protobuf::Message& part) { used.Add(part); });
  used.AddBodies(m);
  auto function = m.functions().begin();
  for (Holding& h : out)
    if (h.kind == kFunction && used.Calls(*function++)) h.becomes = "the operators of its body";
  for (const auto& set : m.opset_import()) {
    const std::string_view domain = NormalDomain(set.domain());
    if (!domain.empty() && !used.domains.contains(domain))
      out.push_back(
          {"operator set", std::string(domain), DigestOf(std::to_string(set.version())), ""});
  }
  for (const pb::TensorProto& tensor : m.graph().initializer())
    if (!tensor.name().empty() && used.blocks.contains(tensor.name()))
      out.push_back({kBlocks, "", "", "", kBlocksLoss});
  for (const std::string_view file : used.files)
    out.push_back({"external file", std::string(file), "", "the data of its tensors"});
  return out;
}

}  // namespace nn::onnx
