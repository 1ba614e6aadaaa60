
// A model in a canvas: which groups are open, what is visible of them, and what is selected. Only
// what is inside the canvas is drawn.

const kFont = 'Helvetica, Arial, "Liberation Sans", sans-serif';
const kTitleFont = `bold 12px ${kFont}`, kRowFont = `10px ${kFont}`, kLabelFont = `9.5px ${kFont}`;
const kTextScale = 0.3;  // smaller text is not legible

class View {
  constructor(model, canvas, page) {
    this.model = model;
    this.canvas = canvas;
    this.page = page;
    this.context = canvas.getContext('2d');
    this.widths = new Map();  // of texts
    this.x = this.y = 0;      // of the graph at the left top corner
    this.scale = 1;
    this.selected = null;     // {box} or {group}
    this.heat = '';
    this.marks = new Map();   // operator: "removed", "added" or "changed"
    this.findings = new Map();
    for (const f of model.findings)
      if (f[0] !== null)
        this.findings.set(f[0], [...(this.findings.get(f[0]) || []), f]);
    for (const panel of model.panels) this.preparePanel(panel);
    this.showPanel(0);
  }

  preparePanel(panel) {
    panel.boxOf = new Map();  // by operator
    panel.boxes.forEach((b, i) => b[3] >= 0 && panel.boxOf.set(b[3], i));
    panel.linesOf = panel.boxes.map(() => []);
    panel.labels = new Map();  // of boxes
    panel.lines.forEach(([from, to, , label], l) => {
      panel.linesOf[from].push(l);
      if (to !== from) panel.linesOf[to].push(l);
      if (label) panel.labels.set(from, [...(panel.labels.get(from) || []), label]);
    });
    panel.places = [];
    panel.groups.forEach((g, i) => {
      g.index = i;
      g.open = Boolean(g.open);
      g.all = false;  // repetitions: all are shown, not only the first one
      g.items.forEach((item, k) => {
        if (item >= 0) {
          panel.places[item] = {group: g, item: k};
        } else {
          panel.groups[-item].parent = g;
          panel.groups[-item].place = k;
        }
      });
    });
  }

  showPanel(index) {
    this.panel = this.model.panels[index] || {boxes: [], lines: [], groups: []};
    this.selected = null;
    this.layOut();
  }

  // ---- Layout

  textWidth(text, font) {
    const key = font + text;
    let width = this.widths.get(key);
    if (width === undefined) {
      this.context.font = font;
      this.widths.set(key, width = this.context.measureText(text).width);
    }
    return width;
  }

  sizeOfBox(index) {
    const [, title, rows] = this.panel.boxes[index];
    let w = this.textWidth(title, kTitleFont) + 20;
    for (const row of rows) w = Math.max(w, this.textWidth(row, kRowFont) + 18);
    w = Math.max(w, 84);
    let room = w;
    for (const label of this.panel.labels.get(index) || [])
      room = Math.max(room, 2 * (this.textWidth(label, kLabelFont) + 8));
    return {w, room, h: 22 + (rows.length ? rows.length * 13 + 5 : 0), into: 0, outOf: 0};
  }

  sizeOfGroup(group) {
    if (group.size) return group.size;
    const title = this.textWidth(group.title, kTitleFont) + 34;
    if (!group.open) {
      const w = Math.max(110, title, this.textWidth(group.contents, kRowFont) + 18);
      return group.size = {w, room: w, h: 40, into: 0, outOf: 0};
    }
    const once = group.times && !group.all;
    group.sizes = (once ? group.items.slice(0, 1) : group.items)
        .map((item) => (item >= 0 ? this.sizeOfBox(item) : this.sizeOfGroup(this.panel.groups[-item])));
    const size = once ? layOutFirst(group, group.sizes[0])
                      : layOutGroup(group, group.sizes, this.model.gaps);
    // The title may need more room than the items.
    const wide = Math.max(size.w, title + 20), shift = (wide - size.w) / 2;
    if (shift > 0) {
      for (const c of group.centers) if (c) c[0] += shift;
      for (const path of group.paths) for (const p of path) p[0] += shift;
    }
    const port = (k) => (group.ports ? group.centers[group.items.length + k][0] - wide / 2 : 0);
    return group.size = {w: wide, room: wide, h: size.h, into: port(0), outOf: port(1)};
  }

  // Forgets the sizes of a group and of those around it.
  resize(group) {
    for (let g = group; g; g = g.parent) g.size = null;
  }

  layOut() {
    this.scene = {boxes: [], frames: [], lines: [], w: 0, h: 0};
    if (!this.panel.groups.length) return;
    const root = this.panel.groups[0], size = this.sizeOfGroup(root);
    this.scene.w = size.w;
    this.scene.h = size.h;
    this.place(root, 0, 0);
    this.findNeighbors();
    this.draw();
  }

  place(group, left, top) {
    group.left = left;
    group.top = top;
    const {boxes, frames, lines} = this.scene;
    if (group.index > 0) frames.push({x: left, y: top, w: group.size.w, h: group.size.h, group});
    group.edges.forEach((edge, e) => {
      const path = group.paths[e].map(([x, y]) => [x + left, y + top]);
      if (!path.length) return;
      // Lines end at the frames of open groups, and go on inside.
      if (edge[0] === group.items.length && path[0][1] > top) path.unshift([path[0][0], top]);
      const bottom = top + group.size.h, last = path[path.length - 1];
      if (edge[1] === group.items.length + 1 && last[1] < bottom) path.push([last[0], bottom]);
      const item = group.items[edge[1]];
      const ends = item !== undefined && (item >= 0 || !this.panel.groups[-item].open);
      lines.push({path, edge, box: bounds(path), ends});
    });
    group.sizes.forEach((size, k) => {
      const [cx, cy] = group.centers[k], item = group.items[k];
      const x = left + cx - size.w / 2, y = top + cy - size.h / 2;
      const inner = item < 0 && this.panel.groups[-item];
      if (inner && inner.open) {
        this.place(inner, x, y);
      } else {
        boxes.push({x, y, w: size.w, h: size.h, index: item, group: inner});
      }
    });
  }

  // ---- Groups

  // What stands for a box: itself, or the closed group around it; null in a hidden repetition.
  visibleOf(box) {
    const groups = [];
    let at = this.panel.places[box];
    for (let g = at.group; g; g = g.parent) groups.unshift(g);
    for (let i = 0; i < groups.length; ++i) {
      if (!groups[i].open) return {group: groups[i]};
      const place = groups[i + 1] ? groups[i + 1].place : at.item;
      if (groups[i].times && !groups[i].all && place > 0) return null;
    }
    return {box};
  }

  toggle(group) {
    if (group.index === 0) return;
    // What was clicked stays where it is.
    const before = [group.left, group.top];
    if (group.times && group.open) group.all = !group.all;
    else group.open = !group.open;
    this.resize(group);
    this.layOut();
    if (before[0] !== undefined && group.left !== undefined) {
      this.x += group.left - before[0];
      this.y += group.top - before[1];
    }
    this.draw();
  }

  setAll(open) {
    for (const g of this.panel.groups) {
      if (g.index > 0 && !g.times) g.open = open;
      // A repetition is closed by closing what is repeated.
      if (g.times) [g.open, g.all] = [true, open];
      g.size = null;
    }
    this.layOut();
    this.home();
  }

  // Opens what hides a box or group.
  reveal({box, group}) {
    let at = box !== undefined ? this.panel.places[box] : {group: group.parent, item: group.place};
    let changed = false;
    for (let g = at.group, item = at.item; g; item = g.place, g = g.parent) {
      if (!g.open || (g.times && item > 0 && !g.all)) changed = true;
      g.open = true;
      if (g.times && item > 0) g.all = true;
      if (changed) g.size = null;
    }
    if (changed) this.resize(at.group);
    if (changed) this.layOut();
  }

  rectOf(selected) {
    if (!selected) return null;
    if (selected.group && selected.group.open)
      return this.scene.frames.find((f) => f.group === selected.group);
    return this.scene.boxes.find((b) => (selected.group ? b.group === selected.group
                                                        : !b.group && b.index === selected.box));
  }

  // ---- Selection and movement

  select(selected, move) {
    this.selected = selected;
    if (selected) this.reveal(selected);
    this.findNeighbors();
    const r = move && this.rectOf(selected);
    if (r) this.moveTo(r, move === 'center');
    this.draw();
  }

  findNeighbors() {
    this.touching = new Set();  // lines of the panel
    if (!this.selected) return;
    const {box, group} = this.selected;
    const inside = (b) => (group ? b >= group.first && b < group.end : b === box);
    const [first, end] = group ? [group.first, group.end] : [box, box + 1];
    for (let b = first; b < end; ++b)
      for (const l of this.panel.linesOf[b]) {
        const [from, to] = this.panel.lines[l];
        if (inside(from) !== inside(to)) this.touching.add(l);
      }
  }

  size() {
    return [this.canvas.clientWidth || 1, this.canvas.clientHeight || 1];
  }

  moveTo(r, center) {
    const [w, h] = this.size(), s = this.scale, margin = 40 / s;
    const fits = r.x - margin >= this.x && r.x + r.w + margin <= this.x + w / s &&
        r.y - margin >= this.y && r.y + r.h + margin <= this.y + h / s;
    if (fits && !center) return;
    if (center && s < 0.5) this.scale = 0.8;
    this.x = r.x + r.w / 2 - w / this.scale / 2;
    this.y = r.y + Math.min(r.h, h / this.scale) / 2 - h / this.scale / 2;
  }

  zoom(factor, px, py) {
    const [w, h] = this.size(), cx = px ?? w / 2, cy = py ?? h / 2;
    const next = Math.min(4, Math.max(0.005, this.scale * factor));
    this.x += cx / this.scale - cx / next;
    this.y += cy / this.scale - cy / next;
    this.scale = next;
    this.draw();
  }

  fit() {
    const [w, h] = this.size();
    this.scale = Math.min(1, (w - 24) / this.scene.w, (h - 24) / this.scene.h);
    this.x = this.scene.w / 2 - w / this.scale / 2;
    this.y = this.scene.h / 2 - h / this.scale / 2;
    this.draw();
  }

  // The top of the graph, legible.
  home() {
    const [w] = this.size(), root = this.panel.groups[0];
    this.scale = Math.min(1, Math.max(0.55, (w - 24) / this.scene.w));
    const first = this.scene.boxes.reduce((a, b) => (a && a.y <= b.y ? a : b), null);
    const middle = first && root ? first.x + first.w / 2 : this.scene.w / 2;
    this.x = (this.scene.w * this.scale <= w ? this.scene.w / 2 : middle) - w / this.scale / 2;
    this.y = -8;
    this.draw();
  }

  // The nearest box or frame title at a point of the canvas.
  hit(px, py) {
    const x = this.x + px / this.scale, y = this.y + py / this.scale;
    const within = (r, h) => x >= r.x && x <= r.x + r.w && y >= r.y && y <= r.y + h;
    for (let i = this.scene.boxes.length; i-- > 0;) {
      const b = this.scene.boxes[i];
      if (!within(b, b.h)) continue;
      if (b.group) return {group: b.group, toggle: x < b.x + 24};
      return {box: b.index};
    }
    for (let i = this.scene.frames.length; i-- > 0;) {
      const f = this.scene.frames[i];
      if (within(f, kHeader + 4)) return {group: f.group, toggle: x < f.x + 24};
    }
    return null;
  }

  // The box in a direction: along lines up and down, in the layer to the sides.
  neighbor(direction) {
    const from = this.rectOf(this.selected);
    if (!from) {
      const first = this.scene.boxes.reduce((a, b) => (a && a.y <= b.y ? a : b), null);
      return first && (first.group ? {group: first.group} : {box: first.index});
    }
    const ends = new Set();  // boxes at the other end of lines
    const down = direction === 'down', side = direction === 'left' || direction === 'right';
    for (const l of this.touching) {
      const [a, b] = this.panel.lines[l];
      const {box, group} = this.selected;
      const leaves = group ? a >= group.first && a < group.end : a === box;
      if (leaves === down) ends.add(leaves ? b : a);
    }
    const cx = from.x + from.w / 2, cy = from.y + from.h / 2;
    let best = null, least = Infinity;
    for (const b of this.scene.boxes) {
      if (b === from) continue;
      const dx = b.x + b.w / 2 - cx, dy = b.y + b.h / 2 - cy;
      if (side) {
        if (Math.abs(dy) > (b.h + from.h) / 2 || (direction === 'left') !== dx < 0) continue;
      } else if (b.group ? ![...ends].some((e) => e >= b.group.first && e < b.group.end)
                         : !ends.has(b.index)) {
        continue;
      }
      const distance = Math.abs(dx) + Math.abs(dy);
      if (distance < least) [best, least] = [b, distance];
    }
    return best && (best.group ? {group: best.group} : {box: best.index});
  }

  draw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      drawView(this);
    });
  }
}

function bounds(path) {
  let x0 = Infinity, y0 = Infinity, x1 = -Infinity, y1 = -Infinity;
  for (const [x, y] of path) {
    x0 = Math.min(x0, x);
    x1 = Math.max(x1, x);
    y0 = Math.min(y0, y);
    y1 = Math.max(y1, y);
  }
  return [x0, y0, x1, y1];
}
