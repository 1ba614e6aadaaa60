// An operation of an ML Program that is being written, with its inputs by name.
//
//   return ctx.Add("softmax").In("x", node.input(0)).Int("axis", axis).To(node);
//
// Numbers, strings and optional inputs that are not given become constants, as in the files of
// other writers: their element types and defaults are those of the definition (program/spec/*.spec)
// of the operation set that is written. The first error is kept and returned by To() and Helper().
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "coreml_mil.pb.h"
#include "formats/coreml/program/spec/signature.h"
#include "ir/graph.h"

namespace nn::coreml::program {

namespace mil = pb::mil;

class ExportContext;

class OperationWriter {
 public:
  // Must not outlive the context. kUnsupported later if the operation set has no such operation.
  OperationWriter(ExportContext& ctx, std::string_view type);

  // A value of the graph; nothing if it is null.
  OperationWriter& In(std::string_view input, const Value* value);
  // The result of a helper.
  OperationWriter& In(std::string_view input, const std::string& name);
  // An input that is a list.
  OperationWriter& List(std::string_view input, std::span<const Value* const> values);
  // Constants: operations of their own, but parts of a compressed constant. A number has the
  // element type that the definition gives the input: that of another input, or one of those that
  // it lists.
  OperationWriter& Const(std::string_view input, const Tensor& tensor);
  // A part of a compressed constant: elements of less than 8 bits, as they are packed.
  OperationWriter& Packed(std::string_view input, const Tensor& bytes, mil::DataType type,
                          const std::vector<int64_t>& dims);
  OperationWriter& Number(std::string_view input, double number);
  OperationWriter& Int(std::string_view input, int64_t number);
  OperationWriter& Ints(std::string_view input, const std::vector<int64_t>& numbers);
  OperationWriter& Bool(std::string_view input, bool flag);
  OperationWriter& Bools(std::string_view input, const std::vector<bool>& flags);
  OperationWriter& Text(std::string_view input, std::string_view text);

  // Whether the definition of the operation set has the input.
  bool Takes(std::string_view input) const;

  // Ends it: the results are the outputs of the node, or the first `count` of them.
  Status To(const Node& node, size_t count = SIZE_MAX);
  // Ends it: the results have these names, which must be new.
  Status To(std::span<const std::string> names, std::span<const Type> types, const Node& source);
  // Ends it with one result of this type, for further operations, and returns its name.
  Result<std::string> Helper(const Type& type, const Node& source);

  // For operations with blocks.
  mil::Operation& operation() { return mil_; }

 private:
  // Whether the definition has the input; keeps the error if it has not.
  bool Accept(std::string_view input);
  mil::Argument::Binding* AddBinding(std::string_view input);
  OperationWriter& Bind(std::string_view input, const std::string& name);
  Status AddConstant(std::string_view input, const Tensor& tensor, mil::DataType type);
  OperationWriter& BindNumber(std::string_view input, double number);
  // kUnsupported if the definition gives it none.
  Result<mil::DataType> TypeOfInput(std::string_view input, double number) const;
  Status FillDefaults();
  void Keep(const Error& error);

  ExportContext& ctx_;
  const Definition* definition_;
  mil::Operation mil_;
  std::optional<Error> error_;
};

}  // namespace nn::coreml::program
