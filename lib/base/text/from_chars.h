// std::from_chars for all numbers. The C++ library of clang has it for integers only.
#pragma once

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdlib>
#include <string>
#include <system_error>

namespace nn {

// The same by strtof and strtod, in the "C" locale.
template <std::floating_point T>
std::from_chars_result RealFromChars(const char* first, const char* last, T& value) {
  // What only strtod accepts: space and a plus sign in front, and hexadecimal digits.
  if (first == last || *first == '+' || std::isspace(static_cast<unsigned char>(*first)) != 0)
    return {first, std::errc::invalid_argument};
  const std::string text(first,
                         std::find_if(first, last, [](char c) { return c == 'x' || c == 'X'; }));
  char* end = nullptr;
  errno = 0;
  T number;
  if constexpr (std::same_as<T, float>)
    number = std::strtof(text.c_str(), &end);
  else
    number = std::strtod(text.c_str(), &end);
  const char* const after = first + (end - text.c_str());
  if (after == first) return {first, std::errc::invalid_argument};
  // Subnormal numbers that are rounded are errors of strtod only.
  if (errno == ERANGE && (number == 0 || std::isinf(number)))
    return {after, std::errc::result_out_of_range};
  value = number;
  return {after, std::errc()};
}

template <typename T>
std::from_chars_result FromChars(const char* first, const char* last, T& value) {
#ifndef __cpp_lib_to_chars
  if constexpr (std::floating_point<T>)
    return RealFromChars(first, last, value);
  else
#endif
    return std::from_chars(first, last, value);
}

}  // namespace nn
