// Documents in Markdown and HTML.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/text/table.h"

namespace nn::app {

// Texts may have any contents: both forms escape markup and control characters.
struct Heading {
  int level;  // 2: below the title
  std::string text;
};
struct Paragraph {
  std::string text;
};

struct Document {
  std::string title;
  std::vector<std::variant<Heading, Paragraph, Table>> blocks;

  void AddHeading(int level, std::string text) {
    blocks.emplace_back(Heading{level, std::move(text)});
  }
  void AddParagraph(std::string text) { blocks.emplace_back(Paragraph{std::move(text)}); }
  void AddTable(Table table) { blocks.emplace_back(std::move(table)); }
};

// GitHub Flavored Markdown.
std::string MarkdownText(const Document& document);
// One HTML page without scripts or references to other files.
std::string HtmlText(const Document& document);

// The text with the characters escaped that Markdown interprets within a line or a table cell.
std::string EscapeMarkdown(std::string_view text);

}  // namespace nn::app
