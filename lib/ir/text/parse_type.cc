#include "ir/text/parse_type.h"

#include <fmt/core.h>

#include <memory>
#include <utility>
#include <vector>

#include "ir/text/text.h"

namespace nn {
namespace {

// After the opening bracket.
Result<Dims> DimsRest(Lexer& lex) {
  Dims dims;
  NN_RETURN_IF_ERROR(ListRest(lex, [&]() -> Status {
    auto d = Dim::Parse(lex.DimText());
    if (!d) return lex.Fail(d.error().message());
    dims.push_back(*d);
    return {};
  }));
  return dims;
}

Result<std::shared_ptr<const Quant>> ParseQuant(Lexer& lex) {
  auto q = std::make_shared<Quant>();
  do {
    const std::string_view key = lex.Word();
    NN_RETURN_IF_ERROR(lex.Expect('='));
    if (key == "axis") {
      NN_ASSIGN(const int64_t axis, ToInt(lex, lex.Number()));
      q->axis = static_cast<int>(axis);
    } else if (key == "zp") {
      NN_ASSIGN(q->zero_points, Numbers<int64_t>(lex));
    } else if (key == "scale" || key == "min" || key == "max") {
      auto& list = key == "scale" ? q->scales : key == "min" ? q->min : q->max;
      NN_ASSIGN(list, Numbers<float>(lex));
    } else {
      return lex.Fail("expected axis, scale, zp, min or max");
    }
  } while (lex.Take(','));
  NN_RETURN_IF_ERROR(lex.Expect('}'));
  if (q->scales.empty()) return lex.Fail("quantization has no scale");
  return std::shared_ptr<const Quant>(std::move(q));
}

}  // namespace

Result<Dims> ParseDims(Lexer& lex) {
  NN_RETURN_IF_ERROR(lex.Expect('['));
  return DimsRest(lex);
}

Result<Type> ParseTypeAt(Lexer& lex) {
  Type type;
  const std::string_view name = lex.Word();
  if (lex.Take('?') && name.empty()) {
    type.dtype = DType::kUnknown;
  } else if (const auto dtype = ParseDType(name)) {
    type.dtype = *dtype;
  } else {
    return lex.Fail(fmt::format("\"{}\" is not an element type", name));
  }
  NN_RETURN_IF_ERROR(lex.Expect('['));
  if (lex.Take('*')) {
    NN_RETURN_IF_ERROR(lex.Expect(']'));
  } else {
    NN_ASSIGN(type.dims, DimsRest(lex));
  }
  if (lex.Take('{')) {
    NN_ASSIGN(type.quant, ParseQuant(lex));
  }
  return type;
}

Result<Type> ParseType(std::string_view text) {
  Lexer lex(text);
  NN_ASSIGN(Type type, ParseTypeAt(lex));
  if (!lex.AtEnd()) return lex.Fail("unexpected text after the type");
  return type;
}

}  // namespace nn
