#include "formats/coreml/program/text/print.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/text.h"
#include "base/text/unicode.h"
#include "formats/coreml/program/import/values.h"
#include "formats/coreml/program/spec/signature.h"
#include "formats/coreml/program/spec/words.h"
#include "formats/coreml/program/text/lexer.h"
#include "ir/tensor.h"

namespace nn::coreml::program {
namespace {

class Printer {
 public:
  explicit Printer(const PayloadTable& payloads) : payloads_(payloads) {}

  Status Run(const mil::Program& program);
  std::string Take() { return std::move(out_); }

 private:
  using NamedTypes = google::protobuf::RepeatedPtrField<mil::NamedValueType>;
  using NamedValues = google::protobuf::RepeatedPtrField<mil::NamedValue>;

  Status Function(const std::string& name, const mil::Function& function);
  Status Operation(const mil::Operation& operation);
  Status Blocks(const mil::Operation& operation);
  // The operations of a block in braces, and its results.
  Status Body(const mil::Block& block);
  Status Typed(const mil::NamedValueType& named);
  Status Arguments(const mil::Operation& operation);
  Status Attributes(const NamedValues& attributes);
  Status Binding(const mil::Argument::Binding& binding);
  Status Name(const std::string& name);

  Status TypeText(const mil::ValueType& type);
  Status TensorType(const mil::TensorType& type);
  Status Size(const mil::Dimension& dimension);
  Status ElementType(mil::DataType type);

  // TYPE(CONTENTS)
  Status Value(const mil::Value& value);
  Status Contents(const mil::Value& value);
  // A value in a list, tuple or dictionary, whose type is there.
  Status Entry(const mil::Value& value, const mil::ValueType& type);
  Status TensorContents(const mil::TensorType& type, const mil::TensorValue& value);
  // The elements, one text each.
  Result<std::vector<std::string>> Elements(mil::DataType type, const mil::TensorValue& value);
  Result<std::vector<std::string>> ElementsInBytes(mil::DataType type,
                                                   const mil::TensorValue& value);
  // Of floats, doubles and bytes.
  Blob BytesOf(const mil::TensorValue& value) const;
  // Nested lists of elements along the axes from `axis` on.
  Status Nested(const mil::TensorType& type, int axis, const std::vector<std::string>& elements,
                size_t& next);

  // `each` for entries, with commas.
  template <typename List, typename Each>
  Status Listed(const List& list, const Each& each);
  // The same between two characters.
  template <typename List, typename Each>
  Status Entries(char open, char close, const List& list, const Each& each);
  // A new line, as far to the right as braces around it demand.
  void NewLine() { out_.append("\n").append(indent_, ' '); }

  const PayloadTable& payloads_;
  std::string out_;
  int depth_ = 0;
  size_t indent_ = 0;
};

template <typename List, typename Each>
Status Printer::Listed(const List& list, const Each& each) {
  bool is_first = true;
  for (const auto& entry : list) {
    if (!is_first) out_ += ", ";
    is_first = false;
    NN_RETURN_IF_ERROR(each(entry));
  }
  return {};
}

template <typename List, typename Each>
Status Printer::Entries(char open, char close, const List& list, const Each& each) {
  out_ += open;
  NN_RETURN_IF_ERROR(Listed(list, each));
  out_ += close;
  return {};
}

// Names of the notation have no other characters.
Status Printer::Name(const std::string& name) {
  const auto is_fit = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '@';
  };
  if (name.empty() || !std::ranges::all_of(name, is_fit))
    return UnsupportedError("the text form has no name {}", Quote(name));
  out_ += name;
  return {};
}

// ---- Types --------------------------------------------------------------------------------------

Status Printer::ElementType(mil::DataType type) {
  const auto* const word = std::ranges::find(kTypes, type, &TypeWord::type);
  if (word == std::end(kTypes))
    return UnsupportedError("the text form has no element type {}", TypeName(type));
  out_ += word->name;
  return {};
}

Status Printer::Size(const mil::Dimension& dimension) {
  if (dimension.has_constant()) {
    if (dimension.constant().size() > uint64_t{INT64_MAX})
      return UnsupportedError("size {} is too large", dimension.constant().size());
    out_ += std::to_string(dimension.constant().size());
    return {};
  }
  if (!dimension.has_unknown() || dimension.unknown().variadic())
    return UnsupportedError("the text form has no shapes of any rank, and no missing sizes");
  out_ += '?';
  return {};
}

Status Printer::TensorType(const mil::TensorType& type) {
  if (type.rank() != type.dimensions_size() || !type.attributes().empty())
    return UnsupportedError("the text form has no tensors of any rank, or with attributes");
  if (type.rank() == 0) return ElementType(type.datatype());
  out_ += "tensor<";
  NN_RETURN_IF_ERROR(ElementType(type.datatype()));
  out_ += ", ";
  NN_RETURN_IF_ERROR(
      Entries('[', ']', type.dimensions(), [&](const mil::Dimension& d) { return Size(d); }));
  out_ += '>';
  return {};
}

Status Printer::TypeText(const mil::ValueType& type) {
  const Nesting nesting(depth_);
  if (nesting.is_too_deep()) return UnsupportedError("types are nested too deeply");
  switch (type.type_case()) {
    case mil::ValueType::kTensorType:
      NN_RETURN_IF_ERROR(TensorType(type.tensortype()));
      break;
    case mil::ValueType::kListType:
      out_ += "list<";
      NN_RETURN_IF_ERROR(TypeText(type.listtype().type()));
      out_ += ", ";
      NN_RETURN_IF_ERROR(Size(type.listtype().length()));
      out_ += '>';
      break;
    case mil::ValueType::kStateType:
      out_ += "state<";
      NN_RETURN_IF_ERROR(TypeText(type.statetype().wrappedtype()));
      out_ += '>';
      break;
    case mil::ValueType::kTupleType:
      out_ += "tuple";
      NN_RETURN_IF_ERROR(Entries('<', '>', type.tupletype().types(),
                                 [&](const mil::ValueType& t) { return TypeText(t); }));
      break;
    case mil::ValueType::kDictionaryType:
      out_ += "dict<";
      NN_RETURN_IF_ERROR(TypeText(type.dictionarytype().keytype()));
      out_ += ", ";
      NN_RETURN_IF_ERROR(TypeText(type.dictionarytype().valuetype()));
      out_ += '>';
      break;
    default:
      return UnsupportedError("a value has no type");
  }
  return {};
}

// ---- Values -------------------------------------------------------------------------------------

std::string StringText(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? "\\n" : std::string(1, c);
  }
  return out + '"';
}

// Hexadecimal, which is exact.
std::string FloatText(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return fmt::format("{:a}", value);
}

// Integers are read as numbers of 53 bits.
Result<std::string> IntegerText(int64_t value) {
  constexpr int64_t kLargest = int64_t{1} << std::numeric_limits<double>::digits;
  if (value < -kLargest || value > kLargest)
    return UnsupportedError("the text form has no integer {}", value);
  return std::to_string(value);
}

template <typename List>
Result<std::vector<std::string>> IntegerTexts(const List& list) {
  std::vector<std::string> out;
  for (const auto value : list) {
    NN_ASSIGN(out.emplace_back(), IntegerText(static_cast<int64_t>(value)));
  }
  return out;
}

// The field that has the elements of a type.
mil::TensorValue::ValueCase FieldOf(mil::DataType type) {
  switch (type) {
    case mil::STRING:
      return mil::TensorValue::kStrings;
    case mil::BOOL:
      return mil::TensorValue::kBools;
    case mil::FLOAT32:
      return mil::TensorValue::kFloats;
    case mil::FLOAT64:
      return mil::TensorValue::kDoubles;
    case mil::INT16:
    case mil::UINT16:
    case mil::INT32:
      return mil::TensorValue::kInts;
    case mil::INT64:
    case mil::UINT64:
      return mil::TensorValue::kLongInts;
    default:
      return mil::TensorValue::kBytes;
  }
}

Blob Printer::BytesOf(const mil::TensorValue& value) const {
  const auto of = [&](const google::protobuf::Message& list) {
    return Fields(list, payloads_).Bytes("values");
  };
  if (value.has_floats()) return of(value.floats());
  return value.has_doubles() ? of(value.doubles()) : of(value.bytes());
}

Result<std::vector<std::string>> Printer::ElementsInBytes(mil::DataType type,
                                                          const mil::TensorValue& value) {
  const DType dtype = DTypeOf(type);
  const int bits = DTypeBits(dtype);
  if (bits < 8 || bits != BitsOf(type))
    return UnsupportedError("the text form has no constants of {}", TypeName(type));
  const Blob bytes = BytesOf(value);
  const auto count = static_cast<int64_t>(bytes.size() * 8) / bits;
  NN_ASSIGN(const Tensor tensor, Tensor::Make(dtype, {count}, bytes));
  NN_ASSIGN(TensorBuilder again, TensorBuilder::Create(dtype, {count}));
  std::vector<std::string> out;
  for (int64_t i = 0; i < count; ++i) {
    const double number = tensor.GetDouble(i);
    again.SetDouble(i, number);
    out.push_back(IsFloat(dtype) ? FloatText(number) : std::to_string(tensor.GetInt(i)));
  }
  if (!again.Finish().Identical(tensor))
    return UnsupportedError("the text form has one NaN; a constant has another");
  return out;
}

Result<std::vector<std::string>> Printer::Elements(mil::DataType type,
                                                   const mil::TensorValue& value) {
  std::vector<std::string> out;
  switch (value.value_case()) {
    case mil::TensorValue::kStrings:
      for (const std::string& text : value.strings().values()) out.push_back(StringText(text));
      return out;
    case mil::TensorValue::kBools:
      for (const bool b : value.bools().values()) out.emplace_back(b ? "true" : "false");
      return out;
    case mil::TensorValue::kInts:
      return IntegerTexts(value.ints().values());
    case mil::TensorValue::kLongInts:
      return IntegerTexts(value.longints().values());
    default:
      return ElementsInBytes(type, value);
  }
}

Status Printer::Nested(const mil::TensorType& type, int axis,
                       const std::vector<std::string>& elements, size_t& next) {
  if (axis == type.dimensions_size()) {
    if (next == elements.size()) return ModelError("a constant has too few elements");
    out_ += elements[next++];
    return {};
  }
  const Nesting nesting(depth_);
  if (nesting.is_too_deep()) return UnsupportedError("values are nested too deeply");
  out_ += '[';
  const uint64_t size = type.dimensions(axis).constant().size();
  for (uint64_t i = 0; i < size; ++i) {
    if (i > 0) out_ += ", ";
    // Lists of empty lists would be long without elements.
    if (next == elements.size()) return ModelError("a constant has too few elements");
    NN_RETURN_IF_ERROR(Nested(type, axis + 1, elements, next));
  }
  out_ += ']';
  return {};
}

Status Printer::TensorContents(const mil::TensorType& type, const mil::TensorValue& value) {
  const auto has_size = [](const mil::Dimension& d) { return d.has_constant(); };
  if (!std::ranges::all_of(type.dimensions(), has_size))
    return UnsupportedError("the shape of a constant is not known");
  std::vector<std::string> elements;
  if (value.value_case() != mil::TensorValue::VALUE_NOT_SET) {
    if (value.value_case() != FieldOf(type.datatype()))
      return UnsupportedError("the text form has other elements for {}", TypeName(type.datatype()));
    NN_ASSIGN(elements, Elements(type.datatype(), value));
  }
  // Nothing is stored for a constant without elements.
  const bool is_empty = value.value_case() == mil::TensorValue::VALUE_NOT_SET;
  if (elements.empty() && (!is_empty || FieldOf(type.datatype()) == mil::TensorValue::kBytes))
    return UnsupportedError("the text form has no constants of {} without elements",
                            TypeName(type.datatype()));
  size_t next = 0;
  if (elements.empty()) {
    out_ += "[]";
    return ElementsOf(type) == 0 ? Status() : ModelError("a constant has no elements");
  }
  NN_RETURN_IF_ERROR(Nested(type, 0, elements, next));
  return next == elements.size() ? Status() : ModelError("a constant has too many elements");
}

Status Printer::Entry(const mil::Value& value, const mil::ValueType& type) {
  if (value.type().SerializeAsString() != type.SerializeAsString())
    return UnsupportedError("the text form has one type for all entries");
  if (!value.has_immediatevalue() || !value.docstring().empty())
    return UnsupportedError("the text form has no entries in weight files, or with documentation");
  return Contents(value);
}

Status Printer::Contents(const mil::Value& value) {
  const Nesting nesting(depth_);
  if (nesting.is_too_deep()) return UnsupportedError("values are nested too deeply");
  const mil::ValueType& type = value.type();
  const mil::Value::ImmediateValue& immediate = value.immediatevalue();
  if (type.has_tensortype() && immediate.has_tensor()) {
    NN_RETURN_IF_ERROR(TensorContents(type.tensortype(), immediate.tensor()));
  } else if (type.has_listtype() && immediate.has_list()) {
    NN_RETURN_IF_ERROR(Entries('[', ']', immediate.list().values(), [&](const mil::Value& v) {
      return Entry(v, type.listtype().type());
    }));
  } else if (type.has_tupletype() && immediate.has_tuple()) {
    int i = 0;
    NN_RETURN_IF_ERROR(
        Entries('(', ')', immediate.tuple().values(), [&](const mil::Value& v) -> Status {
          if (i == type.tupletype().types_size())
            return ModelError("a tuple has more values than types");
          return Entry(v, type.tupletype().types(i++));
        }));
  } else if (type.has_dictionarytype() && immediate.has_dictionary()) {
    NN_RETURN_IF_ERROR(
        Entries('{', '}', immediate.dictionary().values(),
                [&](const mil::DictionaryValue::KeyValuePair& pair) -> Status {
                  out_ += '{';
                  NN_RETURN_IF_ERROR(Entry(pair.key(), type.dictionarytype().keytype()));
                  out_ += ", ";
                  NN_RETURN_IF_ERROR(Entry(pair.value(), type.dictionarytype().valuetype()));
                  out_ += '}';
                  return {};
                }));
  } else {
    return UnsupportedError("a constant does not have the contents of its type");
  }
  return {};
}

Status Printer::Value(const mil::Value& value) {
  if (!value.docstring().empty())
    return UnsupportedError("the text form has no documentation of values");
  NN_RETURN_IF_ERROR(TypeText(value.type()));
  out_ += '(';
  if (value.has_blobfilevalue()) {
    const auto& file = value.blobfilevalue();
    if (file.offset() > uint64_t{INT64_MAX})
      return UnsupportedError("offset {} is too large", file.offset());
    out_ += fmt::format("BLOBFILE(path = string({}), offset = uint64({}))",
                        StringText(file.filename()), file.offset());
  } else {
    NN_RETURN_IF_ERROR(Contents(value));
  }
  out_ += ')';
  return {};
}

// ---- Operations ---------------------------------------------------------------------------------

Status Printer::Attributes(const NamedValues& attributes) {
  if (attributes.empty()) return {};
  return Entries('[', ']', attributes, [&](const mil::NamedValue& attribute) -> Status {
    NN_RETURN_IF_ERROR(Name(attribute.key()));
    out_ += " = ";
    return Value(attribute.value());
  });
}

Status Printer::Binding(const mil::Argument::Binding& binding) {
  return binding.has_value() ? Value(binding.value()) : Name(binding.name());
}

Status Printer::Typed(const mil::NamedValueType& named) {
  NN_RETURN_IF_ERROR(TypeText(named.type()));
  out_ += ' ';
  return Name(named.name());
}

Status Printer::Body(const mil::Block& block) {
  if (!block.attributes().empty())
    return UnsupportedError("the text form has no attributes of blocks");
  out_ += " {";
  indent_ += 4;
  for (int i = 0; i < block.operations_size(); ++i)
    if (auto done = Operation(block.operations(i)); !done)
      return tl::unexpected(
          done.error().In(fmt::format("operation {} ({})", i, Escape(block.operations(i).type()))));
  indent_ -= 4;
  NewLine();
  out_ += "} -> ";
  return Entries('(', ')', block.outputs(),
                 [&](const std::string& output) { return Name(output); });
}

Status Printer::Blocks(const mil::Operation& operation) {
  const Nesting nesting(depth_);
  if (nesting.is_too_deep()) return UnsupportedError("blocks are nested too deeply");
  indent_ += 4;
  for (const mil::Block& block : operation.blocks()) {
    NewLine();
    NN_RETURN_IF_ERROR(Entries('(', ')', block.inputs(),
                               [&](const mil::NamedValueType& input) { return Typed(input); }));
    NN_RETURN_IF_ERROR(Body(block));
  }
  indent_ -= 4;
  return {};
}

Status Printer::Arguments(const mil::Operation& operation) {
  out_ += '(';
  NN_RETURN_IF_ERROR(Listed(operation.inputs(), [&](const mil::Operation::Input& input) -> Status {
    NN_RETURN_IF_ERROR(Name(input.key()));
    out_ += " = ";
    const auto& bindings = input.value().arguments();
    if (bindings.size() == 1) return Binding(bindings[0]);
    return Entries('(', ')', bindings, [&](const mil::Argument::Binding& b) { return Binding(b); });
  }));
  if (!operation.blocks().empty()) {
    if (!operation.inputs().empty()) out_ += ',';
    NN_RETURN_IF_ERROR(Blocks(operation));
  }
  out_ += ')';
  return {};
}

Status Printer::Operation(const mil::Operation& operation) {
  NewLine();
  NN_RETURN_IF_ERROR(Listed(operation.outputs(),
                            [&](const mil::NamedValueType& result) { return Typed(result); }));
  if (!operation.outputs().empty()) out_ += " = ";
  NN_RETURN_IF_ERROR(Name(operation.type()));
  NN_RETURN_IF_ERROR(Arguments(operation));
  NN_RETURN_IF_ERROR(Attributes(operation.attributes()));
  out_ += ';';
  return {};
}

Status Printer::Function(const std::string& name, const mil::Function& function) {
  const auto opset = OpsetNamed(function.opset());
  if (!opset) return UnsupportedError("the operation set {} is unknown", Quote(function.opset()));
  if (function.block_specializations_size() != 1 ||
      function.block_specializations(0).key() != function.opset())
    return UnsupportedError("the text form has one block, for the operation set of the function");
  const mil::Block& block = function.block_specializations(0).value();
  if (!block.inputs().empty())
    return UnsupportedError("the text form has no inputs of the block of a function");
  indent_ = 4;
  NewLine();
  out_ += "func ";
  NN_RETURN_IF_ERROR(Name(name));
  out_ += fmt::format("<{}>", LowerCase(NameOf(*opset)).value_or(std::string()));
  NN_RETURN_IF_ERROR(Entries('(', ')', function.inputs(),
                             [&](const mil::NamedValueType& input) { return Typed(input); }));
  if (!function.attributes().empty()) out_ += "\n        ";
  NN_RETURN_IF_ERROR(Attributes(function.attributes()));
  NN_RETURN_IF_ERROR(Body(block));
  out_ += ';';
  return {};
}

Status Printer::Run(const mil::Program& program) {
  if (program.version() != 1)
    return UnsupportedError("version {} of a program has no text form", program.version());
  if (!program.docstring().empty())
    return UnsupportedError("the text form has no documentation of the program");
  out_ += "program(1.0)\n";
  NN_RETURN_IF_ERROR(Attributes(program.attributes()));
  if (!program.attributes().empty()) out_ += '\n';
  out_ += '{';
  for (const auto& function : program.functions())
    if (auto done = Function(function.key(), function.value()); !done)
      return tl::unexpected(done.error().In("function " + Quote(function.key())));
  out_ += "\n}\n";
  return {};
}

}  // namespace

Result<std::string> PrintProgram(const mil::Program& program, const PayloadTable& payloads) {
  Printer printer(payloads);
  NN_RETURN_IF_ERROR(printer.Run(program));
  return printer.Take();
}

}  // namespace nn::coreml::program
