// Errors as values (nnsuite/error.h), and the functions that create them. Exceptions of third-party
// code are caught where it is called.
//
//   Result<Graph> g = ReadText(src);
//   if (!g) return tl::unexpected(g.error());
//
// or, shorter, with the macros at the end of this file.
#pragma once

#include <fmt/core.h>

#include <tl/expected.hpp>
#include <utility>

#include "nnsuite/error.h"

namespace nn {

using nnsuite::Error;
using nnsuite::ErrorCode;
using nnsuite::ErrorCodeName;
using nnsuite::ExitCode;
using nnsuite::Result;
using nnsuite::Status;

// Factories: `return ParseError("tensor {}: {} bytes, needs {}", name, have, need);`
template <typename... A>
tl::unexpected<Error> MakeError(ErrorCode code, fmt::format_string<A...> f, A&&... a) {
  return tl::unexpected<Error>(Error(code, fmt::format(f, std::forward<A>(a)...)));
}
template <typename... A>
tl::unexpected<Error> UsageError(fmt::format_string<A...> f, A&&... a) {
  return MakeError(ErrorCode::kUsage, f, std::forward<A>(a)...);
}
template <typename... A>
tl::unexpected<Error> IoError(fmt::format_string<A...> f, A&&... a) {
  return MakeError(ErrorCode::kIo, f, std::forward<A>(a)...);
}
template <typename... A>
tl::unexpected<Error> ParseError(fmt::format_string<A...> f, A&&... a) {
  return MakeError(ErrorCode::kParse, f, std::forward<A>(a)...);
}
template <typename... A>
tl::unexpected<Error> ModelError(fmt::format_string<A...> f, A&&... a) {
  return MakeError(ErrorCode::kModel, f, std::forward<A>(a)...);
}
template <typename... A>
tl::unexpected<Error> UnsupportedError(fmt::format_string<A...> f, A&&... a) {
  return MakeError(ErrorCode::kUnsupported, f, std::forward<A>(a)...);
}
template <typename... A>
tl::unexpected<Error> LimitError(fmt::format_string<A...> f, A&&... a) {
  return MakeError(ErrorCode::kLimit, f, std::forward<A>(a)...);
}
template <typename... A>
tl::unexpected<Error> InternalError(fmt::format_string<A...> f, A&&... a) {
  return MakeError(ErrorCode::kInternal, f, std::forward<A>(a)...);
}

}  // namespace nn

#define NN_CONCAT_INNER(a, b) a##b
#define NN_CONCAT(a, b) NN_CONCAT_INNER(a, b)

// Returns the error of `expr` from the enclosing function if it has one.
#define NN_RETURN_IF_ERROR(expr) NN_RETURN_IF_ERROR_INNER(NN_CONCAT(nn_status_, __COUNTER__), expr)
#define NN_RETURN_IF_ERROR_INNER(tmp, expr)                                                    \
  do {                                                                                         \
    if (auto tmp = (expr); !tmp) return ::tl::unexpected<::nn::Error>(std::move(tmp).error()); \
  } while (false)

// NN_ASSIGN(auto x, MakeX()); assigns the value of a Result, or returns its error.
#define NN_ASSIGN(lhs, expr) NN_ASSIGN_INNER(NN_CONCAT(nn_result_, __COUNTER__), lhs, expr)
#define NN_ASSIGN_INNER(tmp, lhs, expr)                                   \
  auto tmp = (expr);                                                      \
  if (!tmp) return ::tl::unexpected<::nn::Error>(std::move(tmp).error()); \
  lhs = *std::move(tmp)
