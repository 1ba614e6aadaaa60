// LabelEncoder and CategoryMapper of ai.onnx.ml.
#include <fmt/format.h>

#include <array>
#include <numeric>
#include <span>

#include "formats/onnx/family.h"
#include "formats/onnx/file/tensor.h"
#include "formats/onnx/import/ml.h"
#include "ir/text/number.h"

namespace nn::onnx {
namespace {

constexpr std::string_view kUnusedLabel = "_Unused";  // ONNX's default_string

// The attribute of a list of each type, after "keys_" or "values_", and of a default.
struct LabelType {
  DType dtype;
  std::string_view list;
  std::string_view fallback;
};
constexpr LabelType kLabelTypes[] = {{DType::kString, "strings", "default_string"},
                                     {DType::kI64, "int64s", "default_int64"},
                                     {DType::kF32, "floats", "default_float"}};

const LabelType* FindLabelType(DType dtype) {
  for (const LabelType& t : kLabelTypes)
    if (t.dtype == dtype) return &t;
  return nullptr;  // those of tensors
}

// ==== From ONNX ==================================================================================

Tensor TextsOf(const pb::AttributeProto& a) {
  return Tensor({a.strings_size()}, {a.strings().begin(), a.strings().end()});
}

Tensor FloatsOf(const std::vector<float>& values) {
  return Tensor::Of<float>({static_cast<int64_t>(values.size())}, values);
}

// The list in the only attribute with the prefix "keys_" or "values_".
Result<Tensor> LabelList(const ImportContext& ctx, std::string_view prefix) {
  std::optional<Tensor> found;
  const std::string tensor = fmt::format("{}tensor", prefix);
  if (ctx.HasAttr(tensor)) {
    NN_ASSIGN(found, ctx.TensorAttr(tensor));
    if (found->rank() != 1)
      return ModelError("{} has rank {}; must be a vector", tensor, found->rank());
  }
  for (const LabelType& type : kLabelTypes) {
    const std::string name = fmt::format("{}{}", prefix, type.list);
    const auto* a = ctx.FindAttr(name);
    if (a == nullptr) continue;
    if (found) return ModelError("there is more than one attribute {}*", prefix);
    found = type.dtype == DType::kString ? TextsOf(*a)
            : type.dtype == DType::kI64  ? Tensor::Ints(ctx.Ints(name))
                                         : FloatsOf(ctx.Floats(name));
  }
  if (!found) return ModelError("an attribute {}* is required", prefix);
  return *std::move(found);
}

Tensor TextScalar(std::string text) {
  return Tensor({}, {std::move(text)});
}

// The label of elements that are not keys.
Result<Tensor> DefaultLabel(const ImportContext& ctx, DType dtype) {
  if (ctx.HasAttr("default_tensor")) {
    NN_ASSIGN(const Tensor t, ctx.TensorAttr("default_tensor"));
    if (t.dtype() != dtype || t.elements() != 1)
      return ModelError("default_tensor has {} elements of {}; must have one of {}", t.elements(),
                        DTypeName(t.dtype()), DTypeName(dtype));
    return t.Reshaped({});
  }
  switch (dtype) {
    case DType::kString:
      return TextScalar(ctx.String("default_string", kUnusedLabel));
    case DType::kI64:
      return Tensor::Scalar(ctx.Int("default_int64", -1));
    case DType::kF32:
      return Tensor::Scalar(ctx.Float("default_float", -0.0f));
    default:
      return nn::Number(dtype, IsFloat(dtype) ? -0.0 : -1.0);
  }
}

Status EmitLookup(ImportContext& ctx, Value* x, Tensor keys, Tensor values, Tensor fallback) {
  Value* const table[] = {ctx.Constant(std::move(keys)), ctx.Constant(std::move(values)),
                          ctx.Constant(std::move(fallback))};
  return ctx.Emit("lookup", {x, table[0], table[1], table[2]});
}

Status ImportLabelEncoder2(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  NN_ASSIGN(Tensor keys, LabelList(ctx, "keys_"));
  NN_ASSIGN(Tensor values, LabelList(ctx, "values_"));
  NN_ASSIGN(Tensor fallback, DefaultLabel(ctx, values.dtype()));
  return EmitLookup(ctx, x, std::move(keys), std::move(values), std::move(fallback));
}

// From strings to integers or back, which the input decides.
Status EmitTextLookup(ImportContext& ctx, Tensor texts, Tensor numbers) {
  Value* const x = ctx.input(0);
  if (x->dtype() == DType::kUnknown)
    return UnsupportedError("{} of an unknown element type", ctx.node().op_type());
  NN_ASSIGN(Tensor fallback,
            DefaultLabel(ctx, x->dtype() == DType::kString ? DType::kI64 : DType::kString));
  if (x->dtype() == DType::kString)
    return EmitLookup(ctx, x, std::move(texts), std::move(numbers), std::move(fallback));
  return EmitLookup(ctx, x, std::move(numbers), std::move(texts), std::move(fallback));
}

Status ImportLabelEncoder1(ImportContext& ctx) {
  const auto* classes = ctx.FindAttr("classes_strings");
  if (classes == nullptr) return ModelError("attribute classes_strings is missing");
  std::vector<int64_t> numbers(static_cast<size_t>(classes->strings_size()));
  std::iota(numbers.begin(), numbers.end(), 0);
  return EmitTextLookup(ctx, TextsOf(*classes), Tensor::Ints(numbers));
}

Status ImportCategoryMapper(ImportContext& ctx) {
  const auto* texts = ctx.FindAttr("cats_strings");
  if (texts == nullptr || !ctx.HasAttr("cats_int64s"))
    return ModelError("cats_int64s and cats_strings are both required");
  return EmitTextLookup(ctx, TextsOf(*texts), Tensor::Ints(ctx.Ints("cats_int64s")));
}

// ==== To ONNX ====================================================================================

std::optional<std::string> WhyNotLabelEncoder(const Node& node) {
  for (size_t i = 1; i < node.inputs().size(); ++i)
    if (!node.input(i)->is_constant()) return "the table of a LabelEncoder must be constant";
  if (node.input(1)->constant().elements() == 0) return "a LabelEncoder needs a key";
  return std::nullopt;
}

void SetLabelList(ExportContext& ctx, pb::NodeProto* out, std::string_view prefix,
                  const Tensor& labels) {
  const LabelType* const type = FindLabelType(labels.dtype());
  const std::string name = fmt::format("{}{}", prefix, type == nullptr ? "tensor" : type->list);
  if (type == nullptr)
    ctx.SetTensor(out, name, labels);
  else if (type->dtype == DType::kString)
    SetStrings(out, name, labels.strings());
  else if (type->dtype == DType::kI64)
    SetInts(out, name, labels.ToInts());
  else
    SetFloats(out, name, {labels.As<float>().begin(), labels.As<float>().end()});
}

// Tensors need version 4.
int64_t LabelEncoderVersion(const Node& node) {
  const bool lists = FindLabelType(node.input(1)->dtype()) != nullptr &&
                     FindLabelType(node.input(2)->dtype()) != nullptr;
  return lists ? 2 : 4;
}

Status WriteLabelEncoder(ExportContext& ctx, const Node& node) {
  const Tensor keys = node.input(1)->constant().Aligned();
  const Tensor values = node.input(2)->constant().Aligned();
  const Tensor fallback = node.input(3)->constant().Aligned();
  pb::NodeProto* out =
      ctx.AddNode(node, "LabelEncoder", {{ctx.NameOf(node.output())}, {ctx.NameOf(node.input(0))}});
  const LabelType* const to = FindLabelType(values.dtype());
  out->set_domain(std::string(kMlDomain));
  SetLabelList(ctx, out, "keys_", keys);
  SetLabelList(ctx, out, "values_", values);
  if (to == nullptr) {
    NN_ASSIGN(const Tensor list, fallback.Reshaped({1}));
    ctx.SetTensor(out, "default_tensor", list);
  } else if (to->dtype == DType::kString) {
    SetString(out, to->fallback, fallback.strings()[0]);
  } else if (to->dtype == DType::kI64) {
    SetInt(out, to->fallback, fallback.GetInt(0));
  } else {
    SetFloat(out, to->fallback, fallback.As<float>()[0]);
  }
  return {};
}

constexpr ImportRow kLookupImports[] = {{.op = "LabelEncoder",
                                         .since = 1,
                                         .import = ImportLabelEncoder1,
                                         .inputs = 1,
                                         .domain = kMlDomain},
                                        {.op = "LabelEncoder",
                                         .since = 2,
                                         .import = ImportLabelEncoder2,
                                         .inputs = 1,
                                         .domain = kMlDomain},
                                        {.op = "CategoryMapper",
                                         .since = 1,
                                         .import = ImportCategoryMapper,
                                         .inputs = 1,
                                         .domain = kMlDomain}};

constexpr ExportRow kLookupExports[] = {{.op = "lookup",
                                         .write = WriteLabelEncoder,
                                         .why_not = WhyNotLabelEncoder,
                                         .ml_opset = LabelEncoderVersion}};

}  // namespace

Family LookupFamily() {
  return {.imports = kLookupImports, .exports = kLookupExports};
}

}  // namespace nn::onnx
