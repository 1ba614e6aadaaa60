'use strict';

// Positions of boxes and lines. The library has arranged the items of each group in layers and
// aligned them (Arrangement in inspect/picture/layout.h); that does not depend on sizes. Sizes do, and which
// groups are open, so the page packs the columns: as PlaceVertices and PointsOf in lib/inspect.

const kPadding = 14;  // around the items of an open group
const kHeader = 22;   // its title

// Arcs between neighboring columns, in topological order of their left columns. They depend only on
// the order of the layers.
function columnArcs(group, k) {
  const column = group.columns[k], size = column.length;
  const left = [], right = [];  // vertices
  for (const layer of group.layers) {
    const row = k % 2 === 1 ? layer.slice().reverse() : layer;
    for (let i = 0; i + 1 < row.length; ++i) {
      left.push(row[i]);
      right.push(row[i + 1]);
    }
  }
  const start = new Int32Array(size + 1), waiting = new Int32Array(size);
  for (let a = 0; a < left.length; ++a) {
    ++start[column[left[a]] + 1];
    ++waiting[column[right[a]]];
  }
  for (let v = 0; v < size; ++v) start[v + 1] += start[v];
  const byColumn = new Int32Array(left.length), next = start.slice();
  for (let a = 0; a < left.length; ++a) byColumn[next[column[left[a]]]++] = a;
  const order = [], isRight = waiting.map((n) => (n > 0 ? 1 : 0));
  for (let v = 0; v < size; ++v) if (column[v] === v && waiting[v] === 0) order.push(v);
  for (let i = 0; i < order.length; ++i)
    for (let a = start[order[i]]; a < start[order[i] + 1]; ++a)
      if (--waiting[column[right[byColumn[a]]]] === 0) order.push(column[right[byColumn[a]]]);
  return {column, left, right, start, byColumn, order, isRight};
}

// Packs columns to the left, then moves them right as far as their neighbors allow.
function packColumns(arcs, gap) {
  const {column, left, right, start, byColumn, order, isRight} = arcs;
  const x = new Float64Array(column.length);
  for (const v of order)
    for (let i = start[v]; i < start[v + 1]; ++i) {
      const a = byColumn[i], to = column[right[a]];
      x[to] = Math.max(x[to], x[v] + gap(left[a], right[a]));
    }
  for (let i = order.length; i-- > 0;) {
    const v = order[i];
    if (start[v] === start[v + 1] || !isRight[v]) continue;
    let limit = Infinity;
    for (let k = start[v]; k < start[v + 1]; ++k) {
      const a = byColumn[k];
      limit = Math.min(limit, x[column[right[a]]] - gap(left[a], right[a]));
    }
    x[v] = Math.max(x[v], limit);
  }
  for (let v = 0; v < x.length; ++v) x[v] = x[column[v]];
  return x;
}

// The centers of the vertices, from 0 on, and the width of all.
function placeVertices(group, widths, gaps) {
  const boxes = group.slots, size = group.columns[0].length;
  const width = (v) => (v < boxes ? widths[v] : 0);
  const gap = (a, b) =>
      (width(a) + width(b)) / 2 + (a >= boxes || b >= boxes ? gaps.line : gaps.box);
  const extent = (x) => {
    let low = Infinity, high = -Infinity;
    for (let v = 0; v < size; ++v) {
      low = Math.min(low, x[v] - width(v) / 2);
      high = Math.max(high, x[v] + width(v) / 2);
    }
    return {low, high};
  };
  group.arcs ||= [0, 1, 2, 3].map((k) => columnArcs(group, k));
  const xs = group.arcs.map((arcs, k) => {
    const x = packColumns(arcs, gap);
    return k % 2 === 1 ? x.map((v) => -v) : x;
  });
  const extents = xs.map(extent);
  let narrow = extents[0];
  for (const e of extents) if (e.high - e.low < narrow.high - narrow.low) narrow = e;
  const shifts = extents.map((e, k) => (k % 2 === 0 ? narrow.low - e.low : narrow.high - e.high));
  const out = new Float64Array(size);
  for (let v = 0; v < size; ++v) {
    const four = xs.map((x, k) => x[v] + shifts[k]).sort((a, b) => a - b);
    out[v] = (four[1] + four[2]) / 2;
  }
  const all = extent(out);
  return {x: out.map((v) => v - all.low), width: all.high - all.low};
}

// Lines are vertical within layers and bend between them. Those to and from a vertex end at `into` and
// `outOf` beside its center.
function routePoints(route, group, x, bands, sizes) {
  const points = [];
  const add = (px, py) => {
    const last = points[points.length - 1];
    if (!last || last[0] !== px || last[1] !== py) points.push([px, py]);
  };
  route.forEach((v, i) => {
    const band = bands[group.layerOf[v]], size = sizes[v];
    const half = size ? size.h / 2 : 0, middle = (band[0] + band[1]) / 2;
    const above = x[v] + (size ? size.into : 0), below = x[v] + (size ? size.outOf : 0);
    if (i > 0) add(above, band[0]);
    if (size) add(i === 0 ? below : above, middle + (i === 0 ? half : -half));
    if (i + 1 < route.length) add(below, band[1]);
  });
  return points;
}

// Lays out an open group whose items have sizes. Sets `centers` of the items (and of the points
// where lines enter and leave), `paths` of the edges, relative to the group, and its size.
function layOutGroup(group, sizes, gaps) {
  if (!group.layerOf) {
    group.slots = group.items.length + (group.ports ? 2 : 0);
    group.layerOf = new Int32Array(group.columns[0].length);
    group.layers.forEach((layer, l) => layer.forEach((v) => group.layerOf[v] = l));
  }
  const point = {h: 0, room: 0, into: 0, outOf: 0};
  const all = group.ports ? [...sizes, point, point] : sizes;
  const {x, width} = placeVertices(group, all.map((size) => size.room), gaps);
  const bands = [];
  let y = 0;
  for (const layer of group.layers) {
    let tallest = 0;
    for (const v of layer) if (v < group.slots) tallest = Math.max(tallest, all[v].h);
    bands.push([y, y + tallest]);
    y += tallest + gaps.layer;
  }
  const height = bands.length ? bands[bands.length - 1][1] : 0;
  // The points where lines enter and leave are on the frame, unless boxes are beside them.
  const flat = (band) => group.ports && bands.length > 2 && band[0] === band[1];
  const dx = kPadding, dy = bands.length && flat(bands[0]) ? 0 : kHeader + kPadding;
  const bottom = bands.length && flat(bands[bands.length - 1]) ? 0 : kPadding;
  group.centers = [];
  for (let v = 0; v < group.slots; ++v) {
    const band = bands[group.layerOf[v]];
    group.centers.push([x[v] + dx, (band[0] + band[1]) / 2 + dy]);
  }
  group.paths = group.routes.map(
      (route) =>
          routePoints(route, group, x, bands, all).map(([px, py]) => [px + dx, py + dy]));
  group.edges.forEach((edge, e) => {
    const route = group.routes[e];
    if (route.length && route[route.length - 1] !== edge[1]) group.paths[e].reverse();
  });
  return {w: width + 2 * dx, h: dy + height + bottom};
}

// A group of repetitions that shows the first one only.
function layOutFirst(group, size) {
  const w = size.room + 2 * kPadding, x = w / 2;
  const top = kHeader + kPadding, bottom = top + size.h, end = bottom + kPadding;
  const into = x + size.into, outOf = x + size.outOf, count = group.items.length;
  group.centers = [[x, top + size.h / 2]];
  group.paths = group.edges.map(([from, to]) => {
    if (from === count && to === 0) return [[into, 0], [into, top]];
    if (to === count + 1 && from === count - 1) return [[outOf, bottom], [outOf, end]];
    return [];
  });
  group.centers[count] = [into, 0];
  group.centers[count + 1] = [outOf, end];
  return {w, h: end};
}
