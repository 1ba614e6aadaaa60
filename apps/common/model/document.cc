#include "apps/common/model/document.h"

#include <fmt/core.h>

#include <cctype>
#include <cstddef>

#include "base/json/xml.h"
#include "base/text/text.h"

namespace nn::app {
namespace {

// Renders the blocks of a document, in order.
class Form {
 public:
  virtual ~Form() = default;
  virtual void operator()(const Heading& heading) = 0;
  virtual void operator()(const Paragraph& paragraph) = 0;
  virtual void operator()(const Table& table) = 0;

  void AddBlocks(const Document& document) {
    for (const auto& block : document.blocks)
      std::visit([this](const auto& b) { (*this)(b); }, block);
  }
  std::string Take() { return std::move(out_); }

 protected:
  template <typename... A>
  void Add(fmt::format_string<A...> f, A&&... a) {
    out_ += fmt::format(f, std::forward<A>(a)...);
  }

 private:
  std::string out_;
};

class Markdown : public Form {
 public:
  explicit Markdown(const Document& document) {
    Add("# {}\n", EscapeMarkdown(document.title));
    AddBlocks(document);
  }
  void operator()(const Heading& heading) override {
    Add("\n{:#>{}} {}\n", "", heading.level, EscapeMarkdown(heading.text));
  }
  void operator()(const Paragraph& paragraph) override {
    Add("\n{}\n", EscapeMarkdown(paragraph.text));
  }
  void operator()(const Table& table) override {
    const std::vector<size_t> shown = table.ShownColumns();
    Add("\n|");
    for (const size_t i : shown) Add(" {} |", EscapeMarkdown(table.columns()[i].title));
    Add("\n|");
    for (const size_t i : shown)
      Add("{}", table.columns()[i].align == Align::kRight ? "---:|" : "---|");
    for (size_t row = 0; row < table.rows(); ++row) {
      Add("\n|");
      for (const size_t i : shown) Add(" {} |", EscapeMarkdown(table.Cell(row, i)));
    }
    Add("\n");
  }
};

// No script can run and nothing is loaded, even if an escape were missing.
constexpr std::string_view kHead = R"(<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<style>
body { font: 15px/1.5 sans-serif; color: #222; max-width: 76em; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.5em; } h2 { font-size: 1.2em; margin-top: 1.6em; } h3 { font-size: 1em; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { border: 1px solid #ccc; padding: 0.25em 0.6em; text-align: left; vertical-align: top; }
th { background: #f3f3f3; } td { overflow-wrap: anywhere; }
.number { text-align: right; white-space: nowrap; }
</style>
)";

class Html : public Form {
 public:
  explicit Html(const Document& document) {
    const std::string title = Escaped(document.title);
    Add("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n{}<title>{}</title>\n</head>\n<body>\n",
        kHead, title);
    Add("<h1>{}</h1>\n", title);
    AddBlocks(document);
    Add("</body>\n</html>\n");
  }
  void operator()(const Heading& heading) override {
    Add("<h{0}>{1}</h{0}>\n", heading.level, Escaped(heading.text));
  }
  void operator()(const Paragraph& paragraph) override {
    Add("<p>{}</p>\n", Escaped(paragraph.text));
  }
  void operator()(const Table& table) override {
    const std::vector<size_t> shown = table.ShownColumns();
    const auto add_row = [&](std::string_view tag, const auto& text) {
      Add("<tr>");
      for (const size_t i : shown)
        Add("<{}{}>{}</{}>", tag,
            table.columns()[i].align == Align::kRight ? " class=\"number\"" : "", Escaped(text(i)),
            tag);
      Add("</tr>\n");
    };
    Add("<table>\n");
    add_row("th", [&](size_t i) { return std::string_view(table.columns()[i].title); });
    for (size_t row = 0; row < table.rows(); ++row)
      add_row("td", [&](size_t i) { return table.Cell(row, i); });
    Add("</table>\n");
  }

 private:
  static std::string Escaped(std::string_view text) { return EscapeXml(EscapeControls(text)); }
};

bool IsWordCharacter(std::string_view text, size_t i) {
  return i < text.size() && std::isalnum(static_cast<unsigned char>(text[i])) != 0;
}

}  // namespace

std::string EscapeMarkdown(std::string_view raw) {
  const std::string text = EscapeControls(raw);
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    // Underscores within words are literal, and brackets unless a link follows.
    const bool within_word =
        c == '_' && i > 0 && IsWordCharacter(text, i - 1) && IsWordCharacter(text, i + 1);
    const bool link = c == ']' && i + 1 < text.size() && (text[i + 1] == '(' || text[i + 1] == '[');
    if ((std::string_view("\\`*_<|&~$").find(c) != std::string_view::npos && !within_word) || link)
      out += '\\';
    out += c;
  }
  return out;
}

std::string MarkdownText(const Document& document) {
  return Markdown(document).Take();
}

std::string HtmlText(const Document& document) {
  return Html(document).Take();
}

}  // namespace nn::app
