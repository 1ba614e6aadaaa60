#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/xml.h"
#include "inspect/layout.h"
#include "inspect/picture.h"

namespace nn::inspect {
namespace {

constexpr double kTitleSize = 12, kRowSize = 10, kLabelSize = 9.5;
constexpr double kRowHeight = 13, kTitleHeight = 22, kPadding = 9;
constexpr double kMargin = 24, kHeader = 78, kPanelGap = 60, kPanelTitle = 26;
constexpr double kMinWidth = 84;

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
  PanelWriter(const Panel& panel, std::string& out) : panel_(panel), out_(out) {
    std::vector<LayoutBox> room;
    for (const Box& b : panel.boxes) {
      sizes_.push_back(SizeOfBox(b));
      room.push_back(sizes_.back());
    }
    // Labels are to the right of the start of the line.
    for (const Line& l : panel.lines)
      room[l.from].width = std::max(room[l.from].width, 2 * (TextWidth(l.label, kLabelSize) + 8));
    std::vector<LayoutEdge> edges;
    for (const Line& l : panel.lines) edges.push_back({l.from, l.to});
    layout_ = LayOut(room, edges);
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
    for (const Repetition& r : panel_.repetitions) WriteFrame(r);
    for (size_t i = 0; i < panel_.lines.size(); ++i) WriteLine(panel_.lines[i], layout_.routes[i]);
    for (size_t i = 0; i < panel_.boxes.size(); ++i) WriteBox(i);
    for (const Line& l : panel_.lines) WriteLabel(l);
    out_ += marks_ + "</g>\n</g>\n";
  }

 private:
  struct Frame {
    double left, top, right, bottom;
  };

  Frame FrameOf(size_t box, double room) const {
    const Point& c = layout_.centers[box];
    const LayoutBox& s = sizes_[box];
    return {c.x - s.width / 2 - room, c.y - s.height / 2 - room, c.x + s.width / 2 + room,
            c.y + s.height / 2 + room};
  }

  static bool Within(const Repetition& r, size_t box) { return box >= r.first && box <= r.last; }

  // Draws a frame around the boxes if it would enclose no others, else a mark on each.
  void WriteFrame(const Repetition& r) {
    constexpr double kRoom = 11;
    Frame f = FrameOf(r.first, kRoom);
    for (size_t i = r.first; i <= r.last; ++i) {
      const Frame b = FrameOf(i, kRoom);
      f = {std::min(f.left, b.left), std::min(f.top, b.top), std::max(f.right, b.right),
           std::max(f.bottom, b.bottom)};
    }
    for (size_t i = 0; i < panel_.lines.size(); ++i)
      if (Within(r, panel_.lines[i].from) && Within(r, panel_.lines[i].to))
        for (const Point& p : layout_.routes[i])
          f = {std::min(f.left, p.x - kRoom), f.top, std::max(f.right, p.x + kRoom), f.bottom};
    bool alone = true;
    for (size_t i = 0; i < panel_.boxes.size() && alone; ++i) {
      if (Within(r, i)) continue;
      const Frame b = FrameOf(i, 0);
      alone = b.right < f.left || b.left > f.right || b.bottom < f.top || b.top > f.bottom;
    }
    if (alone) {
      AddFrame(f, r.times);
    } else {
      for (size_t i = r.first; i <= r.last; ++i) AddFrame(FrameOf(i, 3), r.times);
    }
  }

  // The mark is drawn above the lines.
  void AddFrame(const Frame& f, size_t times) {
    out_ += fmt::format(
        "<rect class=\"r\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
        "rx=\"9\"/>\n",
        f.left, f.top, f.right - f.left, f.bottom - f.top);
    marks_ += fmt::format("<text class=\"m\" x=\"{:.1f}\" y=\"{:.1f}\">× {}</text>\n", f.right + 5,
                          f.top + 16, times);
  }

  void WriteLine(const Line& line, const std::vector<Point>& route) {
    if (route.empty()) {
      WriteStub(line);
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
    out_ +=
        fmt::format("<path class=\"e\" d=\"{}\" marker-end=\"url(#a)\"><title>{}</title></path>\n",
                    path, EscapeXml(line.name));
  }

  // Draws stubs at both ends of a line that is too long to route.
  void WriteStub(const Line& line) {
    const Frame from = FrameOf(line.from, 0), to = FrameOf(line.to, 0);
    const double x = from.left + 8, y = to.left + 8;
    out_ += fmt::format(
        "<path class=\"s\" d=\"M{0:.1f} {1:.1f}v10\"/>\n"
        "<text class=\"l\" x=\"{0:.1f}\" y=\"{2:.1f}\" text-anchor=\"end\">to {3}</text>\n"
        "<path class=\"s\" d=\"M{4:.1f} {5:.1f}v10\" marker-end=\"url(#a)\"/>\n"
        "<text class=\"l\" x=\"{4:.1f}\" y=\"{6:.1f}\" text-anchor=\"end\">from {7}</text>\n",
        x, from.bottom, from.bottom + 18, EscapeXml(panel_.boxes[line.to].title), y, to.top - 10,
        to.top - 13, EscapeXml(panel_.boxes[line.from].title));
  }

  void WriteLabel(const Line& line) {
    if (line.label.empty()) return;
    const Point& c = layout_.centers[line.from];
    const int already = labels_[line.from]++;
    // The second label of an operator with several results goes to the left; there is no room for
    // more.
    if (already > 1) return;
    out_ += fmt::format("<text class=\"l\" x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>\n",
                        c.x + (already == 0 ? 5 : -5), c.y + sizes_[line.from].height / 2 + 12,
                        already == 0 ? "" : " text-anchor=\"end\"", EscapeXml(line.label));
  }

  void WriteBox(size_t i) {
    const Box& box = panel_.boxes[i];
    const Frame f = FrameOf(i, 0);
    const BoxColors& colors = ColorsOf(box.kind);
    out_ += fmt::format(
        "<g><title>{}</title><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
        "rx=\"{}\" fill=\"{}\" stroke=\"{}\"/>",
        EscapeXml(box.hint), f.left, f.top, f.right - f.left, f.bottom - f.top,
        IsPort(box) ? 11 : 6, colors.fill, colors.border);
    const double x = layout_.centers[i].x;
    out_ += fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>",
                        IsPort(box) ? "p" : "o", x, f.top + 15.5, EscapeXml(box.title));
    double y = f.top + kTitleHeight + 8;
    for (const std::string& row : box.rows) {
      out_ += fmt::format("<text class=\"d\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", x, y,
                          EscapeXml(row));
      y += kRowHeight;
    }
    out_ += "</g>\n";
  }

  const Panel& panel_;
  std::string& out_;
  std::vector<LayoutBox> sizes_;
  Layout layout_;
  std::map<size_t, int> labels_;
  std::string marks_;
};

constexpr std::string_view kStyle =
    "<style>text{font-family:Helvetica,Arial,\"Liberation Sans\",sans-serif}"
    ".h{font-size:17px;font-weight:bold;fill:#222}.u{font-size:11px;fill:#555}"
    ".t{font-size:13px;font-weight:bold;fill:#333}"
    ".o{font-size:12px;font-weight:bold;fill:#1c1c1c;text-anchor:middle}"
    ".p{font-size:12px;font-weight:bold;fill:#fff;text-anchor:middle}"
    ".d{font-size:10px;fill:#333;text-anchor:middle}"
    ".l{font-size:9.5px;fill:#4a5563;paint-order:stroke;stroke:#fff;stroke-width:3px}"
    ".m{font-size:15px;font-weight:bold;fill:#4a5563;paint-order:stroke;stroke:#fff;"
    "stroke-width:4px}.g{font-size:10.5px;fill:#333}"
    ".e{fill:none;stroke:#77818e;stroke-width:1.2}.s{fill:none;stroke:#77818e}"
    ".r{fill:#f5f7fa;stroke:#9aa4b1;stroke-dasharray:5 4}</style>\n"
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

}  // namespace

std::string PictureSvg(const Picture& picture) {
  std::string body;
  std::vector<PanelWriter> writers;
  writers.reserve(picture.panels.size());
  double width = 0, height = 0;
  for (const Panel& p : picture.panels) {
    writers.emplace_back(p, body);
    width += writers.back().width() + kPanelGap;
    height = std::max(height, writers.back().height());
  }
  // Room for the marks beside frames.
  width = kMargin * 2 + std::max(0.0, width - kPanelGap) + 46;
  const double legend = WriteLegend(picture, 56, body);
  const double head = std::max(TextWidth(picture.title, 17) * 1.1, TextWidth(picture.subtitle, 11));
  const double content = width;
  width = std::max({width, legend + kMargin, head + 2 * kMargin});
  double x = kMargin + (width - content) / 2 + 23;
  for (PanelWriter& w : writers) {
    w.Write(x, kHeader + kMargin);
    x += w.width() + kPanelGap;
  }
  height += kHeader + 2 * kMargin;
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
