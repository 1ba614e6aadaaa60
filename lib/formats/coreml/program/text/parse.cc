#include "formats/coreml/program/text/parse.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/text/text.h"
#include "base/text/unicode.h"
#include "formats/coreml/program/import/values.h"
#include "formats/coreml/program/spec/signature.h"
#include "formats/coreml/program/text/lexer.h"
#include "ir/tensor.h"

namespace nn::coreml::program {
namespace {

// Limit of Core ML: bytes of the types of all entries of lists, tuples and dictionaries of an ML
// Program as text. The text has the type of the entries once, and the program once for each.
constexpr size_t kMaxEntryTypes = size_t{16} << 20;

// Whether elements of a type have the value of a number. Reals are rounded. Numbers are read as
// doubles, so that integers have 53 bits.
bool HasNumber(DType dtype, double number) {
  if (!IsInteger(dtype)) return true;
  constexpr auto kLargest = static_cast<double>(int64_t{1} << std::numeric_limits<double>::digits);
  return number == std::trunc(number) && std::abs(number) <= kLargest &&
         number >= static_cast<double>(MinInteger(dtype)) &&
         number <= static_cast<double>(MaxInteger(dtype));
}

class Parser {
 public:
  Parser(std::string_view text, mil::Program& program) : lexer_(text), program_(program) {}

  Status Run();

 private:
  Status Function();
  Status Operation(mil::Block& block);
  Status Attributes(google::protobuf::RepeatedPtrField<mil::NamedValue>* to);
  Status Arguments(mil::Operation& operation);
  Status Blocks(mil::Operation& operation);
  Status Body(mil::Block& block);
  Status Binding(mil::Argument& argument);
  Status NamedTypes(google::protobuf::RepeatedPtrField<mil::NamedValueType>* to);

  Status ParseType(mil::ValueType& type);
  Status TensorType(mil::TensorType& type);
  Status Dimension(mil::Dimension& dimension);
  Result<mil::DataType> ElementType();
  // TYPE(CONTENTS)
  Status Value(mil::Value& value);
  // Contents of the type that the value has.
  Status Contents(mil::Value& value);
  Status BlobFile(mil::Value& value);
  Status TensorContents(const mil::TensorType& type, mil::TensorValue& value);
  // The elements of lists in lists, one for each axis, up to their end.
  Status Elements(mil::DataType type, std::vector<double>& numbers, std::vector<std::string>& texts,
                  int axes);
  // `each` for entries between two characters, with commas.
  template <typename Each>
  Status Entries(char open, char close, const Each& each);

  Lexer lexer_;
  mil::Program& program_;
  int depth_ = 0;
  size_t entry_types_ = 0;  // bytes
};

template <typename Each>
Status Parser::Entries(char open, char close, const Each& each) {
  NN_RETURN_IF_ERROR(lexer_.Expect(open));
  if (lexer_.Take(close)) return {};
  do {
    NN_RETURN_IF_ERROR(each());
  } while (lexer_.Take(','));
  return lexer_.Expect(close);
}

// ---- Types --------------------------------------------------------------------------------------

Result<mil::DataType> Parser::ElementType() {
  const auto type = TypeNamed(lexer_.SeenName());
  if (!type) return lexer_.Fail("expected an element type");
  NN_RETURN_IF_ERROR(lexer_.Name());
  return *type;
}

Status Parser::Dimension(mil::Dimension& dimension) {
  if (lexer_.Take('?')) {
    dimension.mutable_unknown();
    return {};
  }
  NN_ASSIGN(const int64_t size, lexer_.Integer());
  if (size < 0) return lexer_.Fail("a size is negative");
  dimension.mutable_constant()->set_size(static_cast<uint64_t>(size));
  return {};
}

Status Parser::TensorType(mil::TensorType& type) {
  NN_RETURN_IF_ERROR(lexer_.Expect('<'));
  NN_ASSIGN(const mil::DataType element, ElementType());
  type.set_datatype(element);
  NN_RETURN_IF_ERROR(lexer_.Expect(','));
  NN_RETURN_IF_ERROR(Entries('[', ']', [&] { return Dimension(*type.add_dimensions()); }));
  type.set_rank(type.dimensions_size());
  return lexer_.Expect('>');
}

Status Parser::ParseType(mil::ValueType& type) {
  const Nesting nesting(depth_);
  if (nesting.is_too_deep()) return lexer_.Refuse("types are nested too deeply");
  const auto inner = [&](mil::ValueType& t) -> Status {
    NN_RETURN_IF_ERROR(lexer_.Expect('<'));
    return ParseType(t);
  };
  const std::string_view kind = lexer_.SeenName();
  if (TypeNamed(kind)) {
    NN_ASSIGN(const mil::DataType element, ElementType());
    type.mutable_tensortype()->set_datatype(element);
  } else if (kind == "tensor") {
    NN_RETURN_IF_ERROR(lexer_.Name());
    NN_RETURN_IF_ERROR(TensorType(*type.mutable_tensortype()));
  } else if (kind == "state") {
    NN_RETURN_IF_ERROR(lexer_.Name());
    NN_RETURN_IF_ERROR(inner(*type.mutable_statetype()->mutable_wrappedtype()));
    NN_RETURN_IF_ERROR(lexer_.Expect('>'));
  } else if (kind == "list") {
    NN_RETURN_IF_ERROR(lexer_.Name());
    NN_RETURN_IF_ERROR(inner(*type.mutable_listtype()->mutable_type()));
    NN_RETURN_IF_ERROR(lexer_.Expect(','));
    NN_RETURN_IF_ERROR(Dimension(*type.mutable_listtype()->mutable_length()));
    NN_RETURN_IF_ERROR(lexer_.Expect('>'));
  } else if (kind == "tuple") {
    NN_RETURN_IF_ERROR(lexer_.Name());
    NN_RETURN_IF_ERROR(
        Entries('<', '>', [&] { return ParseType(*type.mutable_tupletype()->add_types()); }));
  } else if (kind == "dict") {
    NN_RETURN_IF_ERROR(lexer_.Name());
    NN_RETURN_IF_ERROR(inner(*type.mutable_dictionarytype()->mutable_keytype()));
    NN_RETURN_IF_ERROR(lexer_.Expect(','));
    NN_RETURN_IF_ERROR(ParseType(*type.mutable_dictionarytype()->mutable_valuetype()));
    NN_RETURN_IF_ERROR(lexer_.Expect('>'));
  } else {
    return lexer_.Fail("expected a type");
  }
  return {};
}

// ---- Values -------------------------------------------------------------------------------------

Status Parser::Value(mil::Value& value) {
  NN_RETURN_IF_ERROR(ParseType(*value.mutable_type()));
  NN_RETURN_IF_ERROR(lexer_.Expect('('));
  if (lexer_.SeenName() == "BLOBFILE")
    NN_RETURN_IF_ERROR(BlobFile(value));
  else
    NN_RETURN_IF_ERROR(Contents(value));
  return lexer_.Expect(')');
}

// BLOBFILE(path = "@model_path/weights/weight.bin", offset = 64), both with types.
Status Parser::BlobFile(mil::Value& value) {
  NN_RETURN_IF_ERROR(lexer_.Name());
  const auto member = [&]() -> Status {
    NN_ASSIGN(const std::string_view name, lexer_.Name());
    NN_RETURN_IF_ERROR(lexer_.Expect('='));
    mil::ValueType type;
    NN_RETURN_IF_ERROR(ParseType(type));
    NN_RETURN_IF_ERROR(lexer_.Expect('('));
    if (name == "path") {
      NN_ASSIGN(*value.mutable_blobfilevalue()->mutable_filename(), lexer_.String());
    } else if (name == "offset") {
      NN_ASSIGN(const int64_t offset, lexer_.Integer());
      if (offset < 0) return lexer_.Fail("the offset is negative");
      value.mutable_blobfilevalue()->set_offset(static_cast<uint64_t>(offset));
    } else {
      return lexer_.Refuse(fmt::format("BLOBFILE has an unknown member {}", Quote(name)));
    }
    return lexer_.Expect(')');
  };
  return Entries('(', ')', member);
}

Status Parser::Elements(mil::DataType type, std::vector<double>& numbers,
                        std::vector<std::string>& texts, int axes) {
  if (lexer_.Sees('[')) {
    if (axes == 0) return lexer_.Fail("the value has more axes than its type");
    const Nesting nesting(depth_);
    if (nesting.is_too_deep()) return lexer_.Refuse("values are nested too deeply");
    return Entries('[', ']', [&] { return Elements(type, numbers, texts, axes - 1); });
  }
  if (type == mil::STRING) {
    NN_ASSIGN(texts.emplace_back(), lexer_.String());
  } else if (type == mil::BOOL) {
    NN_ASSIGN(const std::string_view word, lexer_.Name());
    if (word != "true" && word != "false") return lexer_.Fail("expected true or false");
    numbers.push_back(word == "true" ? 1 : 0);
  } else {
    NN_ASSIGN(numbers.emplace_back(), lexer_.Real());
    if (!HasNumber(DTypeOf(type), numbers.back()))
      return lexer_.Fail(fmt::format("there is no {} in {}", numbers.back(), TypeName(type)));
  }
  return {};
}

Status Parser::TensorContents(const mil::TensorType& type, mil::TensorValue& value) {
  std::vector<double> numbers;
  std::vector<std::string> texts;
  const mil::DataType element = type.datatype();
  NN_RETURN_IF_ERROR(Elements(element, numbers, texts, type.dimensions_size()));
  const auto count = ElementsOf(type);
  if (!count) return lexer_.Fail("the type of a constant has no number of elements");
  const size_t given = element == mil::STRING ? texts.size() : numbers.size();
  if (given != *count)
    return lexer_.Fail(fmt::format("{} elements for a type that has {}", given, *count));
  switch (element) {
    case mil::STRING:
      for (std::string& t : texts) value.mutable_strings()->add_values(std::move(t));
      return {};
    case mil::BOOL:
      for (const double v : numbers) value.mutable_bools()->add_values(v != 0);
      return {};
    case mil::FLOAT32:
      for (const double v : numbers) value.mutable_floats()->add_values(static_cast<float>(v));
      return {};
    case mil::FLOAT64:
      for (const double v : numbers) value.mutable_doubles()->add_values(v);
      return {};
    case mil::INT16:
    case mil::UINT16:
    case mil::INT32:
      for (const double v : numbers) value.mutable_ints()->add_values(static_cast<int32_t>(v));
      return {};
    case mil::INT64:
    case mil::UINT64:
      for (const double v : numbers) value.mutable_longints()->add_values(static_cast<int64_t>(v));
      return {};
    default:
      break;
  }
  const DType dtype = DTypeOf(element);
  if (DTypeBits(dtype) < 8 || DTypeBits(dtype) != BitsOf(element))
    return lexer_.Refuse(fmt::format("constants of {} are unsupported", TypeName(element)));
  NN_ASSIGN(TensorBuilder out, TensorBuilder::Create(dtype, {static_cast<int64_t>(given)}));
  for (size_t i = 0; i < given; ++i) out.SetDouble(static_cast<int64_t>(i), numbers[i]);
  const Tensor tensor = out.Finish();
  value.mutable_bytes()->set_values(tensor.blob().data(), tensor.byte_size());
  return {};
}

Status Parser::Contents(mil::Value& value) {
  const Nesting nesting(depth_);
  if (nesting.is_too_deep()) return lexer_.Refuse("values are nested too deeply");
  const mil::ValueType& type = value.type();
  mil::Value::ImmediateValue& immediate = *value.mutable_immediatevalue();
  const auto entry = [&](const mil::ValueType& t, mil::Value& v) -> Status {
    entry_types_ += t.ByteSizeLong();
    if (entry_types_ > kMaxEntryTypes) return lexer_.Refuse("the entries have too many types");
    *v.mutable_type() = t;
    return Contents(v);
  };
  switch (type.type_case()) {
    case mil::ValueType::kTensorType:
      NN_RETURN_IF_ERROR(TensorContents(type.tensortype(), *immediate.mutable_tensor()));
      break;
    case mil::ValueType::kListType:
      immediate.mutable_list();
      NN_RETURN_IF_ERROR(Entries('[', ']', [&] {
        return entry(type.listtype().type(), *immediate.mutable_list()->add_values());
      }));
      break;
    case mil::ValueType::kTupleType: {
      int i = 0;
      NN_RETURN_IF_ERROR(Entries('(', ')', [&]() -> Status {
        if (i == type.tupletype().types_size()) return lexer_.Fail("the tuple has more entries");
        return entry(type.tupletype().types(i++), *immediate.mutable_tuple()->add_values());
      }));
      break;
    }
    case mil::ValueType::kDictionaryType:
      immediate.mutable_dictionary();
      NN_RETURN_IF_ERROR(Entries('{', '}', [&]() -> Status {
        auto& pair = *immediate.mutable_dictionary()->add_values();
        NN_RETURN_IF_ERROR(lexer_.Expect('{'));
        NN_RETURN_IF_ERROR(entry(type.dictionarytype().keytype(), *pair.mutable_key()));
        NN_RETURN_IF_ERROR(lexer_.Expect(','));
        NN_RETURN_IF_ERROR(entry(type.dictionarytype().valuetype(), *pair.mutable_value()));
        return lexer_.Expect('}');
      }));
      break;
    default:
      return lexer_.Refuse("constants of this type are unsupported");
  }
  return {};
}

// ---- Operations ---------------------------------------------------------------------------------

Status Parser::Attributes(google::protobuf::RepeatedPtrField<mil::NamedValue>* to) {
  if (!lexer_.Sees('[')) return {};
  return Entries('[', ']', [&]() -> Status {
    NN_ASSIGN(const std::string_view name, lexer_.Name());
    NN_RETURN_IF_ERROR(lexer_.Expect('='));
    mil::NamedValue& attribute = *to->Add();
    attribute.set_key(std::string(name));
    return Value(*attribute.mutable_value());
  });
}

// A name, or a value with its type.
Status Parser::Binding(mil::Argument& argument) {
  const std::string_view word = lexer_.SeenName();
  Lexer ahead = lexer_;
  NN_RETURN_IF_ERROR(ahead.Name());
  const bool is_value = ahead.Sees('<') || (TypeNamed(word) && ahead.Sees('('));
  if (is_value) return Value(*argument.add_arguments()->mutable_value());
  lexer_ = ahead;
  argument.add_arguments()->set_name(std::string(word));
  return {};
}

// Blocks are the last argument: (TYPE NAME, ...) BODY, one after the other.
Status Parser::Blocks(mil::Operation& operation) {
  const Nesting nesting(depth_);
  if (nesting.is_too_deep()) return lexer_.Refuse("blocks are nested too deeply");
  while (lexer_.Sees('(')) {
    mil::Block& block = *operation.add_blocks();
    NN_RETURN_IF_ERROR(NamedTypes(block.mutable_inputs()));
    NN_RETURN_IF_ERROR(Body(block));
  }
  return {};
}

Status Parser::Arguments(mil::Operation& operation) {
  return Entries('(', ')', [&]() -> Status {
    if (lexer_.Sees('(')) return Blocks(operation);
    NN_ASSIGN(const std::string_view name, lexer_.Name());
    NN_RETURN_IF_ERROR(lexer_.Expect('='));
    auto& input = *operation.add_inputs();
    input.set_key(std::string(name));
    mil::Argument& argument = *input.mutable_value();
    if (!lexer_.Sees('(')) return Binding(argument);
    return Entries('(', ')', [&] { return Binding(argument); });
  });
}

// TYPE NAME, ... = OPERATION(NAME = ARGUMENT, ...)[NAME = VALUE, ...];
Status Parser::Operation(mil::Block& block) {
  mil::Operation& operation = *block.add_operations();
  // An operation without results begins with its name.
  Lexer ahead = lexer_;
  NN_RETURN_IF_ERROR(ahead.Name());
  if (!ahead.Sees('(')) {
    do {
      mil::NamedValueType& result = *operation.add_outputs();
      NN_RETURN_IF_ERROR(ParseType(*result.mutable_type()));
      NN_ASSIGN(const std::string_view name, lexer_.Name());
      result.set_name(std::string(name));
    } while (lexer_.Take(','));
    NN_RETURN_IF_ERROR(lexer_.Expect('='));
  }
  NN_ASSIGN(const std::string_view type, lexer_.Name());
  operation.set_type(std::string(type));
  NN_RETURN_IF_ERROR(Arguments(operation));
  NN_RETURN_IF_ERROR(Attributes(operation.mutable_attributes()));
  return lexer_.Expect(';');
}

Status Parser::NamedTypes(google::protobuf::RepeatedPtrField<mil::NamedValueType>* to) {
  return Entries('(', ')', [&]() -> Status {
    mil::NamedValueType& named = *to->Add();
    NN_RETURN_IF_ERROR(ParseType(*named.mutable_type()));
    NN_ASSIGN(const std::string_view name, lexer_.Name());
    named.set_name(std::string(name));
    return {};
  });
}

// { OPERATIONS } -> (NAME, ...)
Status Parser::Body(mil::Block& block) {
  NN_RETURN_IF_ERROR(lexer_.Expect('{'));
  while (!lexer_.Take('}')) NN_RETURN_IF_ERROR(Operation(block));
  NN_RETURN_IF_ERROR(lexer_.Expect("->"));
  return Entries('(', ')', [&]() -> Status {
    NN_ASSIGN(const std::string_view output, lexer_.Name());
    block.add_outputs(std::string(output));
    return {};
  });
}

// func NAME<OPSET>(TYPE NAME, ...) [ATTRIBUTES] BODY;
Status Parser::Function() {
  NN_RETURN_IF_ERROR(lexer_.Expect("func"));
  NN_ASSIGN(const std::string_view name, lexer_.Name());
  NN_RETURN_IF_ERROR(lexer_.Expect('<'));
  const std::string target(lexer_.SeenName());
  std::string opset;
  for (size_t i = 0; i < kOpsets; ++i)
    if (LowerCase(NameOf(static_cast<Opset>(i))) == target)
      opset = FileNameOf(static_cast<Opset>(i));
  if (opset.empty())
    return lexer_.Refuse(fmt::format("the operation set {} is unknown", Quote(target)));
  NN_RETURN_IF_ERROR(lexer_.Name());
  NN_RETURN_IF_ERROR(lexer_.Expect('>'));
  auto& named = *program_.add_functions();
  named.set_key(std::string(name));
  mil::Function& function = *named.mutable_value();
  function.set_opset(opset);
  NN_RETURN_IF_ERROR(NamedTypes(function.mutable_inputs()));
  NN_RETURN_IF_ERROR(Attributes(function.mutable_attributes()));
  auto& specialization = *function.add_block_specializations();
  specialization.set_key(opset);
  NN_RETURN_IF_ERROR(Body(*specialization.mutable_value()));
  return lexer_.Expect(';');
}

Status Parser::Run() {
  NN_RETURN_IF_ERROR(lexer_.Expect("program"));
  NN_RETURN_IF_ERROR(lexer_.Expect('('));
  NN_ASSIGN(const double version, lexer_.Real());
  if (version < 1 || version >= 2)
    return lexer_.Refuse(fmt::format("version {} of the text form is unsupported", version));
  NN_RETURN_IF_ERROR(lexer_.Expect(')'));
  program_.set_version(1);
  NN_RETURN_IF_ERROR(Attributes(program_.mutable_attributes()));
  NN_RETURN_IF_ERROR(lexer_.Expect('{'));
  while (!lexer_.Take('}')) NN_RETURN_IF_ERROR(Function());
  if (!lexer_.AtEnd()) return lexer_.Fail("expected the end of the text");
  return {};
}

}  // namespace

Status ParseProgram(std::string_view text, mil::Program& program) {
  return Parser(text, program).Run();
}

}  // namespace nn::coreml::program
