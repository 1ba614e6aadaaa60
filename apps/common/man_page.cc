#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "apps/common/completion.h"

namespace nn::app {
namespace {

// Text in roff: backslashes and hyphens are escaped, and lines do not begin with a control
// character.
std::string Roff(std::string_view text) {
  std::string out;
  bool begins = true;
  for (const char c : text) {
    if (begins && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
    begins = c == '\n';
  }
  return out;
}

std::string Upper(std::string text) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

std::string Bold(std::string_view text) {
  return "\\fB" + Roff(text) + "\\fR";
}

std::string Italic(std::string_view text) {
  return "\\fI" + Roff(text) + "\\fR";
}

// A line may break after each of them.
std::string Choices(const std::vector<std::string>& choices) {
  std::vector<std::string> words;
  for (const std::string& c : choices) words.push_back(Roff(c));
  return fmt::format("{}", fmt::join(words, "|\\:"));
}

std::string OptionText(const OptionEntry& o) {
  std::string head;
  for (const std::string& name : o.names) {
    head += (head.empty() ? "" : ", ") + Bold(name);
    if (!o.value.empty()) head += " " + (o.choices.empty() ? Italic(o.value) : Choices(o.choices));
  }
  if (o.names.empty()) head = Italic(o.positional);
  std::string text = Roff(o.description);
  if (!o.description.empty() && !o.description.ends_with('.')) text += ".";
  if (!o.default_value.empty()) text += " The default is " + Roff(o.default_value) + ".";
  return ".TP\n" + head + "\n" + text + "\n";
}

std::string Synopsis(const CLI::App& app, const std::vector<OptionEntry>& options) {
  std::string out = Bold(app.get_name()) + " [" + Italic("OPTIONS") + "]";
  for (const OptionEntry& o : options)
    if (o.names.empty()) out += " [" + Italic(o.positional) + "]" + (o.repeated ? "..." : "");
  return out;
}

}  // namespace

std::string ManPage(const CLI::App& app, std::string_view version, std::string_view uri) {
  const std::vector<OptionEntry> options = OptionEntries(app);
  const std::string name = app.get_name();
  std::string brief = app.get_description();
  if (brief.ends_with('.')) brief.pop_back();
  std::string out =
      fmt::format(".TH {} 1 \"\" \"nnsuite {}\" \"nnsuite\"\n", Upper(name), Roff(version)) +
      fmt::format(".SH NAME\n{} \\- {}\n", name, Roff(brief)) +
      fmt::format(".SH SYNOPSIS\n{}\n", Synopsis(app, options));
  std::string group;
  for (const OptionEntry& o : options) {
    const std::string heading = o.names.empty() ? "ARGUMENTS" : o.group;
    if (heading != group) out += fmt::format(".SH \"{}\"\n", Roff(Upper(heading)));
    group = heading;
    out += OptionText(o);
  }
  out += ".SH NOTES\n.nf\n" + Roff(app.get_footer()) + "\n.fi\n";
  if (!uri.empty()) out += ".SH SEE ALSO\n" + Roff(uri) + "\n";
  return out;
}

}  // namespace nn::app
