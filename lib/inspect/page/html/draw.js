
// Drawing of a View.

function mix(a, b, part) {
  const parse = (c) => [1, 3, 5].map((i) => parseInt(c.slice(i, i + 2), 16));
  const [x, y] = [parse(a), parse(b)];
  return '#' + x.map((v, i) => Math.round(v + (y[i] - v) * part).toString(16).padStart(2, '0')).join('');
}

// The colors of the theme.
function readColors() {
  const style = getComputedStyle(document.documentElement);
  const out = {};
  for (const name of ['back', 'text', 'soft', 'accent', 'line', 'frame', 'frame-border', 'error',
                      'warning', 'note', 'removed', 'added', 'changed'])
    out[name] = style.getPropertyValue('--' + name).trim();
  out.dark = document.documentElement.dataset.theme === 'dark';
  return out;
}

// The kinds of inputs and outputs come last; their boxes are dark.
function kindColors(model, kind, colors) {
  const [, fill, border] = model.kinds[kind];
  if (kind >= model.kinds.length - 2)
    return colors.dark ? ['#c9d3df', '#c9d3df', '#14171b'] : [fill, border, '#ffffff'];
  return colors.dark ? [mix(colors.back, border, 0.38), mix(border, '#ffffff', 0.15), colors.text]
                     : [fill, border, '#1c1c1c'];
}

function heatColors(part, colors) {
  const p = Math.sqrt(part);
  if (colors.dark) return [mix('#333b44', '#e0651a', p), mix('#6b7683', '#ffa15c', p), '#f3f5f8'];
  return [mix('#fbfaf8', '#e8590c', p), mix('#a9afb7', '#a33c00', p), p > 0.75 ? '#ffffff' : '#1c1c1c'];
}

// Of boxes [first, end): the sum, or the largest error.
function costOf(view, metric, first, end) {
  let all = 0;
  for (let b = first; b < end; ++b) {
    const op = view.panel.boxes[b][3];
    const cost = op >= 0 ? view.model.operators[op][metric] || 0 : 0;
    all = metric === 'error' ? Math.max(all, cost) : all + cost;
  }
  return all;
}

function groupCost(view, group) {
  group.costs ||= {};
  return group.costs[view.heat] ??= costOf(view, view.heat, group.first, group.end);
}

// The mark of a difference, and the findings, of boxes [first, end).
function notesOf(view, first, end) {
  let mark = '', count = 0, worst = '';
  for (let b = first; b < end; ++b) {
    const op = view.panel.boxes[b][3];
    mark ||= view.marks.get(op) || '';
    for (const f of view.findings.get(op) || []) {
      ++count;
      if (f[1] === 'error' || !worst || (f[1] === 'warning' && worst === 'note')) worst = f[1];
    }
  }
  return {mark, count, worst};
}

function drawView(view) {
  const {canvas, context: c, scene, scale} = view, colors = view.page.colors;
  const [w, h] = view.size(), ratio = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
    canvas.width = Math.round(w * ratio);
    canvas.height = Math.round(h * ratio);
  }
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.fillStyle = colors.back;
  c.fillRect(0, 0, w, h);
  const s = ratio * scale;
  c.setTransform(s, 0, 0, s, -view.x * s, -view.y * s);
  const seen = {x0: view.x, y0: view.y, x1: view.x + w / scale, y1: view.y + h / scale};
  const visible = (x0, y0, x1, y1) =>
      x1 >= seen.x0 && x0 <= seen.x1 && y1 >= seen.y0 && y0 <= seen.y1;
  view.drawn = 0;
  const frames = scene.frames.filter((f) => visible(f.x, f.y, f.x + f.w, f.y + f.h));
  for (const f of frames) drawFrame(view, f, colors);
  drawLines(view, colors, visible);
  let most = 0;
  if (view.heat) {
    for (const b of scene.boxes)
      most = Math.max(most, b.group ? groupCost(view, b.group)
                                    : costOf(view, view.heat, b.index, b.index + 1));
  }
  for (const b of scene.boxes)
    if (visible(b.x, b.y, b.x + b.w, b.y + b.h + 16)) drawBox(view, b, colors, most);
  for (const f of frames) drawFrameTitle(view, f, colors);
  canvas.dataset.drawn = view.drawn;
}

function roundRect(c, x, y, w, h, r) {
  c.beginPath();
  c.roundRect(x, y, w, h, r);
}

function drawFrame(view, f, colors) {
  const c = view.context, selected = view.selected && view.selected.group === f.group;
  ++view.drawn;
  roundRect(c, f.x, f.y, f.w, f.h, 8);
  c.fillStyle = colors.frame;
  c.fill();
  c.setLineDash(f.group.times ? [6, 4] : []);
  c.lineWidth = selected ? 2.5 : 1;
  c.strokeStyle = selected ? colors.accent : colors['frame-border'];
  c.stroke();
  c.setLineDash([]);
}

// Above lines and boxes.
function drawFrameTitle(view, f, colors) {
  const c = view.context;
  const title = f.group.title, sign = f.group.times ? (f.group.all ? '−' : '+') : '−';
  // From afar, titles grow as far as there is room.
  let size = Math.max(12, Math.min(13 / view.scale, f.h * 0.4));
  const width = view.textWidth(title, kTitleFont) + 24;
  size = Math.min(size, Math.max(12, (12 * (f.w - 12)) / width));
  if (size * view.scale < 5) return;
  c.font = `bold ${size}px ${kFont}`;
  c.textAlign = 'left';
  c.lineWidth = 4;
  c.strokeStyle = colors.frame;
  c.fillStyle = f.group.times ? colors.text : colors.soft;
  c.strokeText(`${sign}  ${title}`, f.x + 8, f.y + 4 + size * 0.9);
  c.fillText(`${sign}  ${title}`, f.x + 8, f.y + 4 + size * 0.9);
}

function drawLines(view, colors, visible) {
  const c = view.context, {scene, touching, scale} = view;
  const shown = [], strong = [];
  for (const line of scene.lines) {
    if (!line.path.length || !visible(...line.box)) continue;
    (touching.size && line.edge[2].some((l) => touching.has(l)) ? strong : shown).push(line);
  }
  view.drawn += shown.length + strong.length;
  for (const [lines, color, width] of [[shown, colors.line, 1.2], [strong, colors.accent, 2.4]]) {
    c.strokeStyle = c.fillStyle = color;
    c.lineWidth = Math.max(width, 0.7 / scale);
    c.beginPath();
    for (const {path} of lines) tracePath(c, path);
    c.stroke();
    if (scale < 0.25) continue;
    c.beginPath();
    for (const {path, ends} of lines) {
      if (!ends) continue;
      const [x, y] = path[path.length - 1];
      c.moveTo(x, y);
      c.lineTo(x - 3.2, y - 7);
      c.lineTo(x + 3.2, y - 7);
    }
    c.fill();
  }
  drawUnrouted(view, colors);
}

// Lines that are too long for the layout: drawn for the selected operator only.
function drawUnrouted(view, colors) {
  const c = view.context, from = view.rectOf(view.selected);
  if (!from || view.selected.group) return;
  const routed = new Set();
  for (const line of view.scene.lines) for (const l of line.edge[2]) routed.add(l);
  c.strokeStyle = colors.accent;
  c.setLineDash([5, 4]);
  c.beginPath();
  for (const l of view.touching) {
    if (routed.has(l)) continue;
    const [a, b] = view.panel.lines[l], other = a === view.selected.box ? b : a;
    const shown = view.visibleOf(other), to = shown && view.rectOf(shown);
    if (!to) continue;
    const down = a === view.selected.box;
    c.moveTo(from.x + from.w / 2, from.y + (down ? from.h : 0));
    c.lineTo(to.x + to.w / 2, to.y + (down ? 0 : to.h));
  }
  c.stroke();
  c.setLineDash([]);
}

function tracePath(c, path) {
  c.moveTo(path[0][0], path[0][1]);
  for (let i = 1; i < path.length; ++i) {
    const [ax, ay] = path[i - 1], [bx, by] = path[i];
    const middle = (ay + by) / 2;
    if (Math.abs(ax - bx) < 0.5) c.lineTo(bx, by);
    else c.bezierCurveTo(ax, middle, bx, middle, bx, by);
  }
}

function drawBox(view, b, colors, most) {
  const c = view.context, {model, panel, scale} = view;
  ++view.drawn;
  const [first, end] = b.group ? [b.group.first, b.group.end] : [b.index, b.index + 1];
  let [fill, border, text] = b.group
      ? [colors.frame, colors['frame-border'], colors.text]
      : kindColors(model, panel.boxes[b.index][0], colors);
  const port = !b.group && panel.boxes[b.index][3] < 0;
  if (view.heat && most > 0 && !port) {
    const cost = b.group ? groupCost(view, b.group) : costOf(view, view.heat, first, end);
    [fill, border, text] = heatColors(cost / most, colors);
  }
  const {mark, count, worst} = notesOf(view, first, end);
  const selected = view.selected &&
      (b.group ? view.selected.group === b.group : view.selected.box === b.index);
  if (b.group) {  // a pile
    roundRect(c, b.x + 4, b.y + 4, b.w, b.h, 7);
    c.fillStyle = fill;
    c.fill();
    c.lineWidth = 1;
    c.strokeStyle = border;
    c.stroke();
  }
  roundRect(c, b.x, b.y, b.w, b.h, port ? 11 : 6);
  c.fillStyle = fill;
  c.fill();
  c.lineWidth = selected ? 3 : mark ? 3 : 1.1;
  c.strokeStyle = selected ? colors.accent : mark ? colors[mark] : border;
  c.stroke();
  if (mark && selected) {
    roundRect(c, b.x - 4, b.y - 4, b.w + 8, b.h + 8, 9);
    c.strokeStyle = colors[mark];
    c.stroke();
  }
  if (scale >= kTextScale) drawTexts(view, b, text, colors);
  if (count > 0) {
    const r = Math.max(7, 4 / scale);
    c.beginPath();
    c.arc(b.x + b.w, b.y, r, 0, 7);
    c.fillStyle = colors[worst] || colors.note;
    c.fill();
    c.fillStyle = colors.back;
    c.font = `bold ${r * 1.4}px ${kFont}`;
    c.textAlign = 'center';
    c.fillText(String(count), b.x + b.w, b.y + r * 0.5);
  }
}

function drawTexts(view, b, text, colors) {
  const c = view.context;
  c.textAlign = 'center';
  c.fillStyle = text;
  c.font = kTitleFont;
  const x = b.x + b.w / 2;
  if (b.group) {
    c.fillText(b.group.title, x + 7, b.y + 16);
    c.textAlign = 'left';
    c.fillText('+', b.x + 8, b.y + 16);
    c.textAlign = 'center';
    c.font = kRowFont;
    c.fillText(b.group.contents, x, b.y + 31);
    return;
  }
  const [, title, rows] = view.panel.boxes[b.index];
  c.fillText(title, x, b.y + 15.5);
  c.font = kRowFont;
  rows.forEach((row, i) => c.fillText(row, x, b.y + 30 + 13 * i));
  c.font = kLabelFont;
  c.fillStyle = colors.soft;
  // The second label of an operator with several results goes to the left.
  (view.panel.labels.get(b.index) || []).slice(0, 2).forEach((label, i) => {
    c.textAlign = i === 0 ? 'left' : 'right';
    c.lineWidth = 3;
    c.strokeStyle = colors.back;
    c.strokeText(label, x + (i === 0 ? 5 : -5), b.y + b.h + 12);
    c.fillText(label, x + (i === 0 ? 5 : -5), b.y + b.h + 12);
  });
}
