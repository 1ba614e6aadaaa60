
// The panel beside the graph: a model, an operator or a group.

function element(tag, attributes, ...children) {
  const out = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {}))
    if (name === 'onclick') out.addEventListener('click', value);
    else out.setAttribute(name, value);
  out.append(...children.filter((child) => child !== null && child !== undefined));
  return out;
}

function table(rows) {
  return element('table', {}, ...rows.map(([name, ...cells]) => element('tr', {},
      element('td', {}, name),
      ...cells.map((cell) => element('td', typeof cell === 'number' ? {class: 'number'} : {},
                                     typeof cell === 'number' ? numberText(cell) : cell)))));
}

function numberText(v) {
  if (typeof v !== 'number') return String(v);
  return Number.isInteger(v) ? v.toLocaleString('en') : String(Number(v.toPrecision(6)));
}

function bytesText(v) {
  const units = ['B', 'KiB', 'MiB', 'GiB'];
  let i = 0;
  while (v >= 1024 && i < 3) {
    v /= 1024;
    ++i;
  }
  return `${i ? v.toFixed(1) : v} ${units[i]}`;
}

const kMetrics = [
  ['multiply_adds', 'multiply-adds', numberText],
  ['parameters', 'parameters', numberText],
  ['traffic', 'bytes read and written', bytesText],
  ['time', 'time', (v) => `${Number(v.toPrecision(3))} ms`],
  ['error', 'error', (v) => v > 0 ? `SNR ${(-20 * Math.log10(v)).toFixed(1)} dB` : 'none'],
];

function section(title, content) {
  return [element('h3', {}, title), content];
}

function findingElement([, severity, rule, message, hint]) {
  return element('div', {class: `finding ${severity}`},
      element('p', {}, element('b', {}, severity), ` ${message} `,
              element('span', {class: 'soft'}, `[${rule}]`)),
      hint ? element('p', {class: 'soft'}, hint) : null);
}

// An element for an operator that selects it.
function operatorLink(view, box) {
  const [, title, , op, hint] = view.panel.boxes[box];
  const name = op >= 0 ? view.model.operators[op].name : hint;
  return element('a', {role: 'button', tabindex: 0, onclick: () => view.page.select(view, {box}, 'show')},
      op >= 0 ? `#${op} ${title}` : title, name && name !== title ? ` ${name}` : '');
}

function histogram({low, high, counts}) {
  const ns = 'http://www.w3.org/2000/svg', most = Math.max(...counts);
  const svg = document.createElementNS(ns, 'svg');
  svg.setAttribute('class', 'bars');
  svg.setAttribute('viewBox', `0 0 ${counts.length} 20`);
  svg.setAttribute('preserveAspectRatio', 'none');
  svg.setAttribute('role', 'img');
  svg.setAttribute('aria-label', `Histogram from ${low} to ${high}: ${counts.join(', ')}`);
  counts.forEach((n, i) => {
    const bar = document.createElementNS(ns, 'rect'), height = most ? (20 * n) / most : 0;
    bar.setAttribute('x', i + 0.08);
    bar.setAttribute('width', 0.84);
    bar.setAttribute('y', 20 - height);
    bar.setAttribute('height', height);
    const title = document.createElementNS(ns, 'title');
    title.textContent = numberText(n);
    bar.append(title);
    svg.append(bar);
  });
  return element('div', {}, svg, element('div', {class: 'ends'}, element('span', {}, numberText(low)),
                                         element('span', {}, numberText(high))));
}

function constantElement(k) {
  const out = element('div', {class: 'constant'}, element('p', {}, element('b', {}, k.name)),
      element('p', {class: 'soft'}, `${k.type}, ${bytesText(k.bytes)}`,
              k.location ? `, ${k.location}` : ''));
  if (k.quantization) out.append(element('p', {class: 'soft quantization'}, k.quantization));
  if (k.problem) out.append(element('p', {class: 'removed'}, k.problem));
  const s = k.statistics;
  if (!s) return out;
  const parts = [];
  if (s.min !== undefined)
    parts.push(`min ${numberText(s.min)}`, `max ${numberText(s.max)}`, `mean ${numberText(s.mean)}`,
               `deviation ${numberText(s.deviation)}`,
               `${numberText(s.zeros)} ${s.zeros === 1 ? 'zero' : 'zeros'}`);
  if (s.nans) parts.push(`${numberText(s.nans)} NaN`);
  if (s.infinities) parts.push(`${numberText(s.infinities)} infinite`);
  out.append(element('p', {}, parts.join(', ')));
  if (s.histogram && s.count > 1) out.append(histogram(s.histogram));
  return out;
}

function operandElements(view, operands, lists) {
  return element('ul', {}, ...operands.map(([name, type, constant], i) => element('li', {},
      element('p', {}, element('span', {class: 'soft'}, `${i}  `), name || '(absent)',
              element('span', {class: 'soft'}, type ? `  ${type}` : '',
                      constant ? '  constant' : '')),
      ...(lists(name) || []).map((box) => element('p', {class: 'soft'}, '→ ', operatorLink(view, box))))));
}

function operatorDetails(view, box) {
  const [kind, title, , index, hint] = view.panel.boxes[box], out = [];
  const ends = (side) => (name) => view.panel.linesOf[box]
      .map((l) => view.panel.lines[l])
      .filter((line) => line[2] === name && line[1 - side] === box && line[side] !== box)
      .map((line) => line[side]);
  if (index < 0) {
    const other = kind === view.model.kinds.length - 1 ? 0 : 1;
    out.push(element('h2', {}, hint || title), element('p', {class: 'soft'}, view.model.kinds[kind][0]));
    const boxes = view.panel.linesOf[box].map((l) => view.panel.lines[l][other]);
    return [...out, ...section(other ? 'Used by' : 'Computed by', element('ul', {},
        ...boxes.slice(0, 200).map((b) => element('li', {}, operatorLink(view, b)))))];
  }
  const op = view.model.operators[index];
  out.push(element('h2', {}, `#${index} ${op.op}`), element('p', {}, op.name));
  if (op.scope) out.push(element('p', {class: 'soft'}, `in ${op.scope}`));
  out.push(...view.page.diffDetails(view, index));
  const findings = view.findings.get(index) || [];
  out.push(...findings.map(findingElement));
  if (op.attributes)
    out.push(...section('Attributes', table(op.attributes.map(
        ([name, value]) => [name, element('code', {}, value)]))));
  if (op.inputs.length) out.push(...section('Inputs', operandElements(view, op.inputs, ends(0))));
  if (op.outputs.length) out.push(...section('Outputs', operandElements(view, op.outputs, ends(1))));
  const costs = kMetrics.filter(([metric]) => op[metric] !== undefined);
  if (costs.length)
    out.push(...section('Cost', table(costs.map(([metric, name, text]) => [name, text(op[metric])]))));
  if (op.constants)
    out.push(...section('Constants', element('div', {}, ...op.constants.map(constantElement))));
  return out;
}

// Operators of boxes [first, end) by type.
function typeCounts(view, first, end) {
  const counts = new Map();
  for (let b = first; b < end; ++b) {
    const op = view.panel.boxes[b][3];
    if (op < 0) continue;
    const type = view.model.operators[op].op;
    counts.set(type, (counts.get(type) || 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1]);
}

function typeTable(view, first, end) {
  return table(typeCounts(view, first, end).map(([type, n]) => [element('a', {role: 'button', tabindex: 0,
      onclick: () => view.page.find(type)}, type), n]));
}

function sumTable(view, first, end) {
  const rows = [];
  for (const [metric, name, text] of kMetrics) {
    const sum = costOf(view, metric, first, end);
    if (sum > 0) rows.push([name, text(sum)]);
  }
  return rows.length ? section('Cost', table(rows)) : [];
}

function groupDetails(view, group) {
  const page = view.page, open = group.times ? group.all : group.open;
  const label = !group.open ? 'Open' : !group.times ? 'Close' : open ? 'Show once' : 'Show all';
  const findings = [];
  for (let b = group.first; b < group.end && findings.length < 50; ++b)
    for (const f of view.findings.get(view.panel.boxes[b][3]) || [])
      findings.push(element('div', {}, operatorLink(view, b), findingElement(f)));
  return [
    element('h2', {}, group.title),
    element('p', {class: 'soft'}, group.times ? `${group.times} repetitions of equal operators; ` : '',
            `${numberText(group.end - group.first)} operators`),
    element('p', {}, element('button', {onclick: () => page.toggle(view, group)}, label)),
    ...findings, ...sumTable(view, group.first, group.end),
    ...section('Operators', typeTable(view, group.first, group.end)),
  ];
}

const kHelp = [
  ['/', 'find'], ['↑ ↓', 'along the lines'], ['← →', 'to the sides'], ['Enter', 'open or close a group'],
  ['e  c', 'open or close all groups'], ['+ −', 'larger, smaller'], ['f', 'fit'], ['h', 'top of the graph'],
  ['t', 'light or dark'], ['Esc', 'the model'],
];

function modelDetails(view) {
  const {model, panel, page} = view, general = model.findings.filter((f) => f[0] === null);
  const inSomeOp = model.findings.length - general.length;
  const out = [element('h2', {}, model.title), element('p', {class: 'soft'}, model.subtitle)];
  if (model.path !== model.title) out.push(element('p', {class: 'soft'}, model.path));
  out.push(...page.diffSummary(view));
  out.push(...general.map(findingElement));
  if (inSomeOp) {
    const boxes = [...view.findings.keys()].map((op) => panel.boxOf.get(op)).filter((b) => b !== undefined);
    out.push(...section(`Findings: ${inSomeOp}`, element('ul', {}, ...boxes.slice(0, 100).map((b) =>
        element('li', {}, operatorLink(view, b))))));
  }
  out.push(...sumTable(view, 0, panel.boxes.length));
  if (model.other_time)
    out.push(element('p', {class: 'soft'}, `and ${Number(model.other_time.toPrecision(3))} ms in steps of no operator`));
  out.push(...section('Operators', typeTable(view, 0, panel.boxes.length)));
  const kinds = [...new Set(panel.boxes.filter((b) => b[3] >= 0).map((b) => b[0]))].sort((a, b) => a - b);
  out.push(...section('Colors', element('ul', {}, ...kinds.map((kind) => {
    const [fill, border] = kindColors(model, kind, page.colors), swatch = element('span', {class: 'swatch'});
    swatch.style.background = fill;
    swatch.style.borderColor = border;
    return element('li', {}, swatch, model.kinds[kind][0]);
  }))));
  const keys = page.views.length > 1 ? [...kHelp, ['n  p', 'next or previous difference']] : kHelp;
  return [...out, ...section('Keys', table(keys.map(([key, what]) => [element('kbd', {}, key), what])))];
}
