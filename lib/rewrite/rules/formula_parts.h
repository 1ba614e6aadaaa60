// The parts of a formula (formula.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rewrite/rules/formula.h"

namespace nn {

struct Formula::Expression {
  enum class Kind : uint8_t {
    kNumber,
    kOperand,     // by index; a number in conditions
    kDefinition,  // by index
    kAttribute,   // of the head's operator, by name
    kWord,        // an enumerator, a type, or `dtype`
    kList,        // of numbers, the value of an attribute
    kTypes,       // a condition: the names of types and groups of types are its words
    kCall,        // of an operator
  };
  Kind kind = Kind::kNumber;
  std::string name;
  double number = 0;
  size_t index = 0;
  bool is_number = false;  // whether it consists of numbers only
  std::vector<Expression> operands;
  struct Attribute;
  std::vector<Attribute> attrs;
};

struct Formula::Expression::Attribute {
  std::string name;
  Expression value;
};

struct Formula::Definition {
  std::string name;
  Expression value;
};

// Adds the indices of the operands in an expression, each once.
void AddOperands(const Formula::Expression& e, std::vector<size_t>& out);

// What an operator of the language computes for numbers; nullopt for other operators.
std::optional<double> NumberOf(std::string_view op, const std::vector<double>& x);

}  // namespace nn
