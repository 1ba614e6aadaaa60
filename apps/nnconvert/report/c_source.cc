#include "apps/nnconvert/report/c_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <filesystem>
#include <iterator>

#include "apps/common/program.h"
#include "base/file/file.h"
#include "base/text/text.h"
#include "formats/common/describe/micro.h"

namespace nn::app {
namespace {

bool IsIdentifier(std::string_view name) {
  const auto is_word = [](char c) {
    return c == '_' || (std::isalnum(static_cast<unsigned char>(c)) != 0);
  };
  return !name.empty() && std::ranges::all_of(name, is_word) &&
         std::isdigit(static_cast<unsigned char>(name[0])) == 0;
}

// Of C (ISO/IEC 9899:2024, 6.4.1) and C++ (ISO/IEC 14882:2020, 5.11, with the alternative tokens of
// 5.5), and the name of the program's start. The declaration is for both languages.
constexpr std::string_view kReserved =
    " _Alignas _Alignof _Atomic _BitInt _Bool _Complex _Decimal128 _Decimal32 _Decimal64 "
    "_Generic _Imaginary _Noreturn _Static_assert _Thread_local alignas alignof and and_eq "
    "asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class "
    "co_await co_return co_yield compl concept const const_cast consteval constexpr "
    "constinit continue decltype default delete do double dynamic_cast else enum explicit "
    "export extern false float for friend goto if inline int long main mutable namespace "
    "new noexcept not not_eq nullptr operator or or_eq private protected public register "
    "reinterpret_cast requires restrict return short signed sizeof static static_assert "
    "static_cast struct switch template this thread_local throw true try typedef typeid "
    "typename typeof typeof_unqual union unsigned using virtual void volatile wchar_t "
    "while xor xor_eq ";

bool IsReserved(std::string_view name) {
  return !name.empty() && kReserved.find(fmt::format(" {} ", name)) != std::string_view::npos;
}

// A line that nothing in the text can end or continue.
std::string CommentOf(std::string_view text) {
  return "// " + EscapeControls(text) + ".\n";
}

std::string IdentifierOf(const std::string& path) {
  std::string name = std::filesystem::path(path).stem().string();
  for (char& c : name)
    if (!IsIdentifier({&c, 1}) && std::isdigit(static_cast<unsigned char>(c)) == 0) c = '_';
  return IsIdentifier(name) ? name : "model_" + name;
}

std::string UpperCase(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

// The macros for microcontrollers.
std::string MicroMacros(const MicroModel& micro, const std::string& prefix) {
  std::string out = fmt::format(
      "\n// Bytes of the tensors in the arena of TensorFlow Lite for Microcontrollers; kernels and "
      "the\n// interpreter need more.\n#define {}_TENSOR_ARENA_BYTES {}u\n",
      prefix, micro.arena_bytes);
  std::string calls, missing;
  for (const MicroModel::Operator& op : micro.operators)
    if (op.registration.empty())
      missing += (missing.empty() ? "" : ", ") + Escape(op.name);
    else
      calls += fmt::format(" \\\n    (resolver).{}();", op.registration);
  out += fmt::format(
      "\n// tflite::MicroMutableOpResolver<{0}_OPERATORS> resolver;\n"
      "// {0}_REGISTER_OPERATORS(resolver);\n#define {0}_OPERATORS {1}\n",
      prefix, micro.operators.size());
  if (!missing.empty()) out += CommentOf("The resolver has no method for: " + missing);
  return out +
         fmt::format("#define {}_REGISTER_OPERATORS(resolver) \\\n  do {{{} \\\n  }} while (0)\n",
                     prefix, calls);
}

std::string Header(const ReadModel& model, uint64_t bytes, const std::string& name) {
  const std::string prefix = UpperCase(name);
  std::string out = fmt::format(
      "// {} model, written by nnconvert {}.\n#ifndef {}_H\n#define {}_H\n\n#ifdef "
      "__cplusplus\nextern \"C\" {{\n#endif\n\n#define {}_SIZE {}u\nextern const unsigned char "
      "{}[{}_SIZE];\n",
      model.format->label, Version(), prefix, prefix, prefix, bytes, name, prefix);
  if (const auto micro = model.format->describer.MicroModelOf(*model.model))
    out += *micro ? MicroMacros(**micro, prefix) : "\n" + CommentOf(micro->error().message());
  return out + fmt::format("\n#ifdef __cplusplus\n}}\n#endif\n\n#endif  // {}_H\n", prefix);
}

void WriteArray(const Blob& file, AtomicFile& out) {
  constexpr size_t kPerLine = 16;
  std::string line;
  for (size_t i = 0; i < file.size(); i += kPerLine) {
    line = "   ";
    for (size_t k = i; k < std::min<size_t>(i + kPerLine, file.size()); ++k)
      fmt::format_to(std::back_inserter(line), " 0x{:02x},",
                     std::to_integer<unsigned>(file.data()[k]));
    line += '\n';
    out.Write(line);
  }
}

}  // namespace

bool IsCSourcePath(std::string_view path) {
  return path.ends_with(".c") || path.ends_with(".cc") || path.ends_with(".cpp");
}

Status CheckCSource(const CSourceOptions& o, const std::string& path) {
  if (!o.name.empty() && !IsIdentifier(o.name))
    return UsageError("--c-name {}: is no identifier of C", Quote(o.name));
  if (IsReserved(o.name)) return UsageError("--c-name {}: is a reserved word", o.name);
  if (const std::string name = IdentifierOf(path); o.name.empty() && IsReserved(name))
    return UsageError("{}: the array cannot be named {}, a reserved word; choose with --c-name",
                      Quote(path), name);
  // The source includes the header by its name, in quotes.
  const std::string file = std::filesystem::path(path).filename().string();
  if (Escape(file) != file)
    return UsageError(
        "{}: a name of C source has no quotes, backslashes, control characters or invalid UTF-8",
        Quote(path));
  if (!std::has_single_bit(o.alignment) || o.alignment > 65536)
    return UsageError("--c-align {}: must be a power of two, up to 65536", o.alignment);
  const auto is_plain = [](char c) { return c > ' ' && c < 127 && c != '"' && c != '\\'; };
  if (!std::ranges::all_of(o.section, is_plain))
    return UsageError("--c-section {}: is no name of a section", Quote(o.section));
  return {};
}

Result<std::string> WriteCSource(const ReadModel& model, const Blob& file, const std::string& path,
                                 const CSourceOptions& options) {
  const std::string name = options.name.empty() ? IdentifierOf(path) : options.name;
  const std::filesystem::path header = std::filesystem::path(path).replace_extension(".h");
  NN_ASSIGN(AtomicFile declaration, AtomicFile::Create(header.string()));
  declaration.Write(Header(model, file.size(), name));
  NN_ASSIGN(AtomicFile source, AtomicFile::Create(path));
  source.Write(fmt::format("// Written by nnconvert {}.\n#include \"{}\"\n\n", Version(),
                           header.filename().string()));
  source.Write(fmt::format(
      "#if defined(__cplusplus)\nalignas({0})\n#elif defined(__STDC_VERSION__) && "
      "__STDC_VERSION__ >= 201112L\n_Alignas({0})\n#else\n__attribute__((aligned({0})))\n#endif\n",
      options.alignment));
  if (!options.section.empty())
    source.Write(fmt::format("__attribute__((section(\"{}\")))\n", options.section));
  source.Write(fmt::format("const unsigned char {}[{}_SIZE] = {{\n", name, UpperCase(name)));
  WriteArray(file, source);
  source.Write("};\n");
  NN_RETURN_IF_ERROR(declaration.Commit());
  NN_RETURN_IF_ERROR(source.Commit());
  return header.filename().string();
}

}  // namespace nn::app
