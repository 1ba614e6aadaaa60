
// The page: the views, the search, and the keys.

const kMostResults = 200;

class Page {
  constructor(data) {
    this.data = data;
    this.get = (id) => document.getElementById(id);
    this.setTheme(matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
    this.views = data.models.map((model) => this.addView(model));
    this.current = this.views[0];
    if (data.diff) this.addDiff(data.diff);
    this.get('title').textContent = data.models.map((m) => m.path.split('/').pop()).join('  ↔  ');
    this.addControls();
    addEventListener('resize', () => this.views.forEach((v) => v.draw()));
    this.views.forEach((v) => v.home());
    this.show();
  }

  addView(model) {
    const canvas = element('canvas', {tabindex: 0, role: 'application', 'aria-label': `Graph of ${model.title}`});
    const frame = element('div', {class: 'view'}, canvas);
    if (this.data.models.length > 1) frame.append(element('span', {class: 'caption'}, model.path));
    this.get('views').append(frame);
    const view = new View(model, canvas, this);
    this.addPointer(view);
    canvas.addEventListener('focus', () => this.current = view);
    canvas.addEventListener('keydown', (event) => this.onKey(view, event));
    return view;
  }

  // ---- What is shown

  select(view, selected, move) {
    this.current = view;
    view.select(selected, move);
    const other = this.views.find((v) => v !== view);
    if (other) {
      const box = selected && selected.box !== undefined ? this.counterpart(view, selected.box) : undefined;
      other.select(box === undefined ? null : {box}, move === undefined ? 'center' : move);
    }
    this.show();
  }

  toggle(view, group) {
    view.toggle(group);
    view.select({group});
    this.show();
  }

  show() {
    const view = this.current, s = view.selected;
    const content = !s ? modelDetails(view)
        : s.group ? groupDetails(view, s.group) : operatorDetails(view, s.box);
    this.get('details').replaceChildren(...content);
    this.get('details').scrollTop = 0;
    const heading = this.get('details').querySelector('h2');
    if (s) this.get('status').textContent = heading ? heading.textContent : '';
  }

  setTheme(theme) {
    document.documentElement.dataset.theme = theme;
    this.colors = readColors();
    this.get('theme').textContent = theme === 'dark' ? 'Light' : 'Dark';
    for (const v of this.views || []) v.draw();
    if (this.current) this.show();
  }

  setHeat(metric) {
    this.get('heat').value = metric;
    for (const v of this.views) {
      v.heat = metric;
      v.draw();
    }
  }

  // ---- Controls

  addControls() {
    const on = (id, act) => this.get(id).addEventListener('click', act);
    on('fit', () => this.views.forEach((v) => v.fit()));
    on('in', () => this.current.zoom(1.25));
    on('out', () => this.current.zoom(0.8));
    on('open', () => this.views.forEach((v) => v.setAll(true)));
    on('close', () => this.views.forEach((v) => v.setAll(false)));
    on('theme', () => this.setTheme(this.colors.dark ? 'light' : 'dark'));
    const {models} = this.data;
    for (const [metric, name] of kMetrics)
      if (models.some((m) => m.operators.some((op) => op[metric] > 0)))
        this.get('heat').append(element('option', {value: metric}, `Color: ${name}`));
    this.get('heat').addEventListener('change', (e) => this.setHeat(e.target.value));
    const panels = this.get('panel');
    if (models.length === 1 && models[0].panels.length > 1) {
      panels.hidden = false;
      models[0].panels.forEach((p, i) => panels.append(element('option', {value: i}, p.title || 'main graph')));
      panels.addEventListener('change', () => this.showPanel(Number(panels.value)));
    }
    this.addSearch();
    document.addEventListener('keydown', (event) => {
      if (event.target === document.body) this.onKey(this.current, event);
      if (event.key === 'Enter' && event.target.matches('a[role="button"]')) event.target.click();
    });
  }

  showPanel(index) {
    this.get('panel').value = index;
    this.current.showPanel(index);
    this.current.home();
    this.show();
  }

  onKey(view, event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const arrows = {ArrowUp: 'up', ArrowDown: 'down', ArrowLeft: 'left', ArrowRight: 'right'};
    const acts = {
      '/': () => this.get('search').focus(),
      '+': () => view.zoom(1.25),
      '=': () => view.zoom(1.25),
      '-': () => view.zoom(0.8),
      f: () => view.fit(),
      0: () => view.fit(),
      h: () => view.home(),
      e: () => view.setAll(true),
      c: () => view.setAll(false),
      t: () => this.setTheme(this.colors.dark ? 'light' : 'dark'),
      n: () => this.nextDifference(1),
      p: () => this.nextDifference(-1),
      Escape: () => this.select(view, null),
    };
    const group = view.selected && view.selected.group;
    if (arrows[event.key]) {
      const next = view.neighbor(arrows[event.key]);
      if (next) this.select(view, next, 'show');
    } else if ((event.key === 'Enter' || event.key === ' ') && group) {
      this.toggle(view, group);
    } else if (acts[event.key]) {
      acts[event.key]();
    } else {
      return;
    }
    event.preventDefault();
  }

  // Drags move the graph, two fingers scale it, clicks select.
  addPointer(view) {
    const {canvas} = view, pointers = new Map();
    let moved = 0, spread = 0;
    const at = (e) => [e.offsetX, e.offsetY];
    canvas.addEventListener('pointerdown', (e) => {
      pointers.set(e.pointerId, at(e));
      if (e.isTrusted) canvas.setPointerCapture(e.pointerId);
      if (pointers.size === 1) moved = 0;
      spread = 0;
    });
    canvas.addEventListener('pointermove', (e) => {
      const last = pointers.get(e.pointerId), now = at(e);
      if (!last) {
        const over = view.hit(...now);
        canvas.style.cursor = over ? 'pointer' : 'grab';
        return;
      }
      pointers.set(e.pointerId, now);
      moved += Math.abs(now[0] - last[0]) + Math.abs(now[1] - last[1]);
      if (pointers.size === 2) {
        const [[ax, ay], [bx, by]] = [...pointers.values()], next = Math.hypot(ax - bx, ay - by);
        if (spread) view.zoom(next / spread, (ax + bx) / 2, (ay + by) / 2);
        spread = next;
      } else if (moved > 4) {
        view.x -= (now[0] - last[0]) / view.scale;
        view.y -= (now[1] - last[1]) / view.scale;
        view.draw();
      }
    });
    const end = (e) => pointers.delete(e.pointerId);
    canvas.addEventListener('pointercancel', end);
    canvas.addEventListener('pointerup', (e) => {
      end(e);
      if (moved > 4) return;
      const hit = view.hit(...at(e));
      if (hit && hit.toggle) this.toggle(view, hit.group);
      else this.select(view, hit && (hit.group ? {group: hit.group} : {box: hit.box}));
    });
    canvas.addEventListener('dblclick', (e) => {
      const hit = view.hit(...at(e));
      if (hit && hit.group && !hit.toggle) this.toggle(view, hit.group);
    });
    canvas.addEventListener('wheel', (e) => {
      e.preventDefault();
      const unit = e.deltaMode === 1 ? 16 : 1;
      if (e.ctrlKey || e.metaKey) {
        view.zoom(Math.exp(-e.deltaY * unit * 0.01), ...at(e));
      } else {
        view.x += ((e.shiftKey ? e.deltaY : e.deltaX) * unit) / view.scale;
        view.y += ((e.shiftKey ? 0 : e.deltaY) * unit) / view.scale;
        view.draw();
      }
    }, {passive: false});
  }

  // ---- Search

  addSearch() {
    const input = this.get('search'), list = this.get('results');
    input.addEventListener('input', () => this.showResults(input.value));
    input.addEventListener('focus', () => input.value && this.showResults(input.value));
    input.addEventListener('blur', () => setTimeout(() => this.hideResults(), 150));
    input.addEventListener('keydown', (e) => {
      const step = {ArrowDown: 1, ArrowUp: -1}[e.key];
      if (step) this.chooseResult(this.chosen + step);
      else if (e.key === 'Enter') this.takeResult(this.chosen);
      else if (e.key === 'Escape') this.current.canvas.focus();
      else return;
      e.preventDefault();
    });
    list.addEventListener('pointerdown', (e) => {
      const item = e.target.closest('li');
      if (item && item.dataset.number) this.takeResult(Number(item.dataset.number));
      e.preventDefault();
    });
  }

  find(text) {
    this.get('search').value = text;
    this.get('search').focus();
    this.showResults(text);
  }

  // Operators whose number, type, name, values or constants contain the text, exact matches first.
  matches(text) {
    const {panel, model} = this.current, wanted = text.toLowerCase(), exact = [], out = [];
    panel.boxes.forEach(([, title, , index, hint], box) => {
      const op = model.operators[index];
      const names = !op ? [title, hint]
          : [op.op, op.name, `#${index}`, ...op.outputs.map((o) => o[0]),
             ...(op.constants || []).map((k) => k.name)];
      if (names.some((name) => name.toLowerCase() === wanted)) exact.push({box});
      else if (names.some((name) => name.toLowerCase().includes(wanted))) out.push({box});
    });
    const groups = panel.groups.filter((g) => g.index > 0 && !g.times &&
                                              g.title.toLowerCase().includes(wanted));
    return [...exact, ...groups.map((group) => ({group})), ...out];
  }

  showResults(text) {
    const list = this.get('results');
    this.results = text.trim() ? this.matches(text.trim()) : [];
    const items = this.results.slice(0, kMostResults).map((result, i) => {
      const {panel, model} = this.current, box = result.box !== undefined && panel.boxes[result.box];
      const op = box && model.operators[box[3]];
      const label = !box ? `group ${result.group.title}`
          : op ? `#${box[3]} ${op.op} ${op.name || (op.outputs[0] || [''])[0]}` : `${box[1]}`;
      return element('li', {role: 'option', 'data-number': i}, label);
    });
    const rest = this.results.length - items.length;
    if (rest > 0) items.push(element('li', {class: 'more'}, `and ${numberText(rest)} more`));
    if (text.trim() && !items.length) items.push(element('li', {class: 'more'}, 'nothing found'));
    list.replaceChildren(...items);
    list.hidden = !items.length;
    this.get('search').setAttribute('aria-expanded', String(!list.hidden));
    this.chooseResult(0);
  }

  chooseResult(number) {
    const items = [...this.get('results').querySelectorAll('[data-number]')];
    this.chosen = Math.max(0, Math.min(items.length - 1, number));
    items.forEach((item, i) => item.setAttribute('aria-selected', String(i === this.chosen)));
    if (items[this.chosen]) items[this.chosen].scrollIntoView({block: 'nearest'});
  }

  takeResult(number) {
    const result = (this.results || [])[number];
    if (!result) return;
    this.hideResults();
    this.select(this.current, result, 'center');
    this.current.canvas.focus();
  }

  hideResults() {
    this.get('results').hidden = true;
    this.get('search').setAttribute('aria-expanded', 'false');
  }

  // ---- Differences

  addDiff(diff) {
    this.pairs = [new Map(diff.pairs), new Map(diff.pairs.map(([a, b]) => [b, a]))];
    this.changes = [new Map(), new Map()];  // fields and texts by operator
    const [a, b] = this.views;
    this.differences = [];  // a view and an operator, in the order of the first model
    const add = (view, op, mark, text) => {
      if (op === null) return;
      const changes = this.changes[this.views.indexOf(view)];
      if (!view.marks.has(op)) view.marks.set(op, mark);
      changes.set(op, [...(changes.get(op) || []), ...text]);
    };
    for (const op of diff.removed) add(a, op, 'removed', [['only in this model', '', '']]);
    for (const op of diff.added) add(b, op, 'added', [['only in this model', '', '']]);
    for (const [x, y, fields] of diff.changed) {
      add(a, x, 'changed', fields);
      add(b, y, 'changed', fields);
    }
    for (const [x, y, text] of diff.weights) {
      add(a, x, 'changed', [[text, '', '']]);
      add(b, y, 'changed', [[text, '', '']]);
    }
    for (const op of [...a.marks.keys()].sort((x, y) => x - y)) this.differences.push([a, op]);
    for (const op of [...b.marks.keys()].sort((x, y) => x - y))
      if (!this.pairs[1].has(op) || b.marks.get(op) === 'added') this.differences.push([b, op]);
  }

  counterpart(view, box) {
    if (!this.pairs) return undefined;
    const side = this.views.indexOf(view), other = this.views[1 - side];
    const [kind, title, , op] = view.panel.boxes[box];
    if (op >= 0) return other.panel.boxOf.get(this.pairs[side].get(op));
    const same = other.panel.boxes.findIndex((b) => b[3] < 0 && b[0] === kind && b[1] === title);
    return same < 0 ? undefined : same;
  }

  nextDifference(step) {
    if (!this.differences || !this.differences.length) return;
    const count = this.differences.length;
    this.difference = ((this.difference ?? (step > 0 ? -1 : 0)) + step + count) % count;
    this.showDifference(this.difference);
  }

  showDifference(number) {
    this.difference = number;
    const [view, op] = this.differences[number], box = view.panel.boxOf.get(op);
    if (box !== undefined) this.select(view, {box}, 'center');
  }

  // Of an operator.
  diffDetails(view, op) {
    const changes = this.changes && this.changes[this.views.indexOf(view)].get(op);
    if (!changes) return [];
    return changes.map(([what, a, b]) => element('p', {class: view.marks.get(op)},
        a || b ? `${what}: ${a || '-'} → ${b || '-'}` : what));
  }

  // Of the models.
  diffSummary() {
    if (!this.differences) return [];
    const {diff} = this.data, out = [];
    const links = this.differences.slice(0, 500).map(([view, op], i) => element('li', {},
        element('a', {role: 'button', tabindex: 0, class: view.marks.get(op),
                      onclick: () => this.showDifference(i)},
            `${view.marks.get(op)}: #${op} ${view.model.operators[op].op} ${view.model.operators[op].name}`)));
    out.push(...section(links.length ? `Operators that differ: ${this.differences.length}`
                                     : `No operator differs; ${diff.pairs.length} are in both`,
                        element('ul', {}, ...links)));
    if (diff.facts.length)
      out.push(...section('Models', table(diff.facts.map(([what, a, b]) => [what, `${a || '-'} → ${b || '-'}`]))));
    return out;
  }
}

const page = new Page(JSON.parse(document.getElementById('data').textContent));
// For tests: the milliseconds from the start of the navigation to the first picture.
page.views.forEach(drawView);
document.documentElement.dataset.ready = Math.round(performance.now());
