#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "base/json/xml.h"
#include "inspect/picture/groups.h"
#include "inspect/picture/layout.h"
#include "inspect/picture/nested.h"
#include "inspect/picture/picture.h"

namespace nn::inspect {
namespace {

constexpr double kTitleSize = 12, kRowSize = 10, kLabelSize = 9.5;
constexpr double kRowHeight = 13, kTitleHeight = 22, kPadding = 9;
constexpr double kMargin = 24, kHeader = 78, kPanelGap = 60, kPanelTitle = 26;
constexpr double kMinWidth = 84, kFrameTitleSize = 13, kFrameHeader = 22;

// Widths in units of the font size, for Helvetica, with a margin for wider fonts.
double CharWidth(char c) {
  constexpr std::string_view kNarrow = "ijlI.,:;'|! ", kSlim = "frt()[]{}-/\"*";
  constexpr std::string_view kWide = "mwMW%@";
  if (kNarrow.find(c) != std::string_view::npos) return 0.32;
  if (kSlim.find(c) != std::string_view::npos) return 0.40;
  if (kWide.find(c) != std::string_view::npos) return 0.95;
  return c >= 'A' && c <= 'Z' ? 0.74 : 0.61;
}

double TextWidth(std::string_view text, double size) {
  double width = 0;
  for (const char c : text)
    if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) width += CharWidth(c);
  return width * size;
}

bool IsPort(const Box& box) {
  return box.kind == BoxKind::kInput || box.kind == BoxKind::kOutput;
}

LayoutBox SizeOfBox(const Box& box) {
  double width = TextWidth(box.title, kTitleSize) * 1.06 + 2 * kPadding;
  for (const std::string& row : box.rows)
    width = std::max(width, TextWidth(row, kRowSize) + 2 * kPadding);
  const double rows = static_cast<double>(box.rows.size());
  return {std::max(width, kMinWidth), kTitleHeight + (rows > 0 ? rows * kRowHeight + 5 : 0)};
}

class PanelWriter {
 public:
  PanelWriter(const Panel& panel, bool expand, std::string& out)
      : panel_(panel), out_(out), groups_(GroupsOf(panel)) {
    if (expand)
      for (Group& g : groups_) g.open = true;
    // Labels are to the right of the start of the line.
    std::vector<double> labels(panel.boxes.size(), 0);
    for (const Line& l : panel.lines)
      labels[l.from] = std::max(labels[l.from], 2 * (TextWidth(l.label, kLabelSize) + 8));
    NestedSizes sizes;
    sizes.box = [&](size_t box) {
      const LayoutBox size = SizeOfBox(panel.boxes[box]);
      return NestedSizes::Size{size, std::max(size.width, labels[box])};
    };
    sizes.closed = [&](const Group& group) {
      const LayoutBox size = SizeOfBox(ClosedBox(group));
      return NestedSizes::Size{size, size.width};
    };
    sizes.title = [&](const Group& group) {
      return TextWidth(GroupTitle(groups_, group), kFrameTitleSize) * 1.1 + 2 * kPadding;
    };
    sizes.header = kFrameHeader;
    layout_ = LayOutNested(groups_, sizes, expand);
    FindBoxes();
  }

  double width() const {
    return std::max(layout_.width, TextWidth(panel_.title, kTitleSize) * 1.1);
  }
  double height() const { return layout_.height + kPanelTitle; }

  void Write(double x, double y) {
    out_ += fmt::format("<g transform=\"translate({:.1f} {:.1f})\">\n", x, y);
    if (!panel_.title.empty())
      out_ += fmt::format("<text class=\"t\" x=\"0\" y=\"0\">{}</text>\n", EscapeXml(panel_.title));
    out_ += fmt::format("<g transform=\"translate(0 {:.1f})\">\n", kPanelTitle / 2);
    for (const NestedLayout::Frame& f : layout_.frames) WriteFrame(f);
    for (const NestedLayout::Line& l : layout_.lines) WriteLine(l);
    for (const NestedLayout::Frame& f : layout_.frames) WriteFrameTitle(f);
    for (const NestedLayout::Box& b : layout_.boxes)
      b.is_group ? WriteClosed(b) : WriteBox(panel_.boxes[b.index], b);
    for (const Line& l : panel_.lines) WriteLabel(l);
    out_ += "</g>\n</g>\n";
  }

 private:
  static constexpr size_t kHidden = std::numeric_limits<size_t>::max();

  Box ClosedBox(const Group& group) const {
    return {BoxKind::kOther, GroupTitle(groups_, group), {GroupContents(panel_, group)}, {}};
  }

  // What stands for each box of the panel.
  void FindBoxes() {
    shown_.assign(panel_.boxes.size(), kHidden);
    for (size_t i = 0; i < layout_.boxes.size(); ++i) {
      const NestedLayout::Box& b = layout_.boxes[i];
      if (!b.is_group) {
        shown_[b.index] = i;
        continue;
      }
      const Group& group = groups_[b.index];
      std::fill(shown_.begin() + static_cast<std::ptrdiff_t>(group.first),
                shown_.begin() + static_cast<std::ptrdiff_t>(group.end), i);
    }
  }

  void WriteFrame(const NestedLayout::Frame& f) {
    out_ += fmt::format(
        "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
        "rx=\"9\"/>\n",
        groups_[f.group].times > 0 ? "r" : "f", f.x, f.y, f.width, f.height);
  }

  void WriteFrameTitle(const NestedLayout::Frame& f) {
    const Group& group = groups_[f.group];
    out_ += fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
                        group.times > 0 ? "m" : "n", f.x + 9, f.y + 16,
                        EscapeXml(GroupTitle(groups_, group)));
  }

  void WriteLine(const NestedLayout::Line& line) {
    const std::vector<Point>& route = line.route;
    if (route.empty()) {
      for (const size_t l : line.lines) WriteStub(panel_.lines[l]);
      return;
    }
    std::string path = fmt::format("M{:.1f} {:.1f}", route[0].x, route[0].y);
    for (size_t i = 1; i < route.size(); ++i) {
      const Point &a = route[i - 1], &b = route[i];
      const bool straight = std::abs(a.x - b.x) < 0.5;
      // Straight runs become one segment.
      if (straight && i + 1 < route.size() && std::abs(route[i + 1].x - b.x) < 0.5) continue;
      const double middle = (a.y + b.y) / 2;
      if (straight)
        path += fmt::format("V{:.1f}", b.y);
      else
        path += fmt::format("C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}", a.x, middle, b.x, middle,
                            b.x, b.y);
    }
    out_ += fmt::format("<path class=\"e\" d=\"{}\"{}><title>{}</title></path>\n", path,
                        line.ends ? " marker-end=\"url(#a)\"" : "",
                        EscapeXml(panel_.lines[line.lines[0]].name));
  }

  std::string TitleOf(const NestedLayout::Box& b) const {
    return b.is_group ? GroupTitle(groups_, groups_[b.index]) : panel_.boxes[b.index].title;
  }

  // Draws stubs at both ends of a line that is too long to route.
  void WriteStub(const Line& line) {
    if (shown_[line.from] == kHidden || shown_[line.to] == kHidden) return;
    const NestedLayout::Box &from = layout_.boxes[shown_[line.from]],
                            &to = layout_.boxes[shown_[line.to]];
    const double bottom = from.y + from.height;
    out_ += fmt::format(
        "<path class=\"s\" d=\"M{0:.1f} {1:.1f}v10\"/>\n"
        "<text class=\"l\" x=\"{0:.1f}\" y=\"{2:.1f}\" text-anchor=\"end\">to {3}</text>\n"
        "<path class=\"s\" d=\"M{4:.1f} {5:.1f}v10\" marker-end=\"url(#a)\"/>\n"
        "<text class=\"l\" x=\"{4:.1f}\" y=\"{6:.1f}\" text-anchor=\"end\">from {7}</text>\n",
        from.x + 8, bottom, bottom + 18, EscapeXml(TitleOf(to)), to.x + 8, to.y - 10, to.y - 13,
        EscapeXml(TitleOf(from)));
  }

  void WriteLabel(const Line& line) {
    if (line.label.empty() || shown_[line.from] == kHidden) return;
    const NestedLayout::Box& b = layout_.boxes[shown_[line.from]];
    if (b.is_group) return;
    const int already = labels_[line.from]++;
    // The second label of an operator with several results goes to the left; there is no room for
    // more.
    if (already > 1) return;
    out_ += fmt::format("<text class=\"l\" x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>\n",
                        b.x + b.width / 2 + (already == 0 ? 5 : -5), b.y + b.height + 12,
                        already == 0 ? "" : " text-anchor=\"end\"", EscapeXml(line.label));
  }

  // A pile.
  void WriteClosed(const NestedLayout::Box& b) {
    out_ += fmt::format(
        "<rect class=\"c\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
        "rx=\"6\"/>\n",
        b.x + 4, b.y + 4, b.width, b.height);
    WriteBox(ClosedBox(groups_[b.index]), b);
  }

  void WriteBox(const Box& box, const NestedLayout::Box& at) {
    const BoxColors& colors = ColorsOf(box.kind);
    out_ += fmt::format(
        "<g><title>{}</title><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
        "rx=\"{}\" fill=\"{}\" stroke=\"{}\"/>",
        EscapeXml(box.hint), at.x, at.y, at.width, at.height, IsPort(box) ? 11 : 6, colors.fill,
        colors.border);
    const double x = at.x + at.width / 2;
    out_ += fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>",
                        IsPort(box) ? "p" : "o", x, at.y + 15.5, EscapeXml(box.title));
    double y = at.y + kTitleHeight + 8;
    for (const std::string& row : box.rows) {
      out_ += fmt::format("<text class=\"d\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", x, y,
                          EscapeXml(row));
      y += kRowHeight;
    }
    out_ += "</g>\n";
  }

  const Panel& panel_;
  std::string& out_;
  std::vector<Group> groups_;
  NestedLayout layout_;
  std::vector<size_t> shown_;  // by box: in layout_.boxes, or kHidden
  std::map<size_t, int> labels_;
};

constexpr std::string_view kStyle =
    "<style>text{font-family:Helvetica,Arial,\"Liberation Sans\",sans-serif}"
    ".h{font-size:17px;font-weight:bold;fill:#222}.u{font-size:11px;fill:#555}"
    ".t{font-size:13px;font-weight:bold;fill:#333}"
    ".o{font-size:12px;font-weight:bold;fill:#1c1c1c;text-anchor:middle}"
    ".p{font-size:12px;font-weight:bold;fill:#fff;text-anchor:middle}"
    ".d{font-size:10px;fill:#333;text-anchor:middle}"
    ".l{font-size:9.5px;fill:#4a5563;paint-order:stroke;stroke:#fff;stroke-width:3px}"
    ".m{font-size:13px;font-weight:bold;fill:#2f3b4a;paint-order:stroke;stroke:#f5f7fa;"
    "stroke-width:4px}.n{font-size:12px;font-weight:bold;fill:#5a6572;paint-order:stroke;"
    "stroke:#f5f7fa;stroke-width:4px}.g{font-size:10.5px;fill:#333}"
    ".e{fill:none;stroke:#77818e;stroke-width:1.2}.s{fill:none;stroke:#77818e}"
    ".r{fill:#f5f7fa;stroke:#9aa4b1;stroke-dasharray:5 4}.f{fill:#f5f7fa;stroke:#b9c1cb}"
    ".c{fill:#fff;stroke:#555}</style>\n"
    "<defs><marker id=\"a\" viewBox=\"0 0 8 8\" refX=\"7.5\" refY=\"4\" markerWidth=\"6.5\" "
    "markerHeight=\"6.5\" orient=\"auto\"><path d=\"M0 0.8L8 4L0 7.2z\" fill=\"#77818e\"/>"
    "</marker></defs>\n";

// Draws the legend: operator kinds that occur, with colors. Returns its width.
double WriteLegend(const Picture& picture, double y, std::string& out) {
  std::set<BoxKind> kinds;
  for (const Panel& p : picture.panels)
    for (const Box& b : p.boxes)
      if (!IsPort(b)) kinds.insert(b.kind);
  double x = kMargin;
  for (const BoxKind kind : kinds) {
    const BoxColors& c = ColorsOf(kind);
    out += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"11\" height=\"11\" rx=\"2.5\" fill=\"{}\" "
        "stroke=\"{}\"/><text class=\"g\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
        x, y, c.fill, c.border, x + 16, y + 9.5, c.name);
    x += 16 + TextWidth(c.name, 10.5) + 16;
  }
  return x;
}

// Where panels are, from left to right in rows.
struct Shelves {
  std::vector<Point> places;
  double width = 0;
  double height = 0;
};

// Rows as wide as the widest panel, or as a page that is not much wider than high.
Shelves Arranged(const std::vector<PanelWriter>& panels) {
  double area = 0, widest = 0, highest = 0;
  for (const PanelWriter& p : panels) {
    area += (p.width() + kPanelGap) * (p.height() + kPanelGap);
    widest = std::max(widest, p.width());
    highest = std::max(highest, p.height());
  }
  const double limit = std::max({widest, 1.5 * std::sqrt(area), area / (highest + 1)});
  Shelves out;
  double x = 0, y = 0, row = 0;
  for (const PanelWriter& p : panels) {
    if (x > 0 && x + p.width() > limit) {
      y += row + kPanelGap;
      x = row = 0;
    }
    out.places.push_back({x, y});
    x += p.width() + kPanelGap;
    row = std::max(row, p.height());
    out.width = std::max(out.width, x - kPanelGap);
  }
  out.height = y + row;
  return out;
}

}  // namespace

std::string PictureSvg(const Picture& picture, bool expand) {
  std::string body;
  std::vector<PanelWriter> writers;
  writers.reserve(picture.panels.size());
  for (const Panel& p : picture.panels) writers.emplace_back(p, expand, body);
  const Shelves shelves = Arranged(writers);
  double width = kMargin * 2 + shelves.width;
  const double legend = WriteLegend(picture, 56, body);
  const double head = std::max(TextWidth(picture.title, 17) * 1.1, TextWidth(picture.subtitle, 11));
  const double content = width;
  width = std::max({width, legend + kMargin, head + 2 * kMargin});
  for (size_t i = 0; i < writers.size(); ++i)
    writers[i].Write(kMargin + (width - content) / 2 + shelves.places[i].x,
                     kHeader + kMargin + shelves.places[i].y);
  const double height = shelves.height + kHeader + 2 * kMargin;
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
             "viewBox=\"0 0 {0:.0f} {1:.0f}\">\n",
             width, height) +
         std::string(kStyle) +
         fmt::format(
             "<rect width=\"{:.0f}\" height=\"{:.0f}\" fill=\"#fff\"/>\n"
             "<text class=\"h\" x=\"{}\" y=\"28\">{}</text>\n"
             "<text class=\"u\" x=\"{}\" y=\"46\">{}</text>\n",
             width, height, kMargin, EscapeXml(picture.title), kMargin,
             EscapeXml(picture.subtitle)) +
         body + "</svg>\n";
}

}  // namespace nn::inspect
