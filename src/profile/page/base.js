// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// What all pages share: elements, units, colours, tabs, sortable tables, ranges that zoom, curves.
'use strict';

// ---- Elements ----

// element('td', {class: 'name'}, 'text', another): attributes that are functions are listeners.
function element(tag, attributes, ...children) {
  const svg = ['svg', 'path', 'rect', 'line', 'text', 'g', 'title', 'circle'].includes(tag);
  const made = svg ? document.createElementNS('http://www.w3.org/2000/svg', tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (typeof value === 'function') made.addEventListener(name, value);
    else if (value !== undefined && value !== null && value !== false) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// ---- Units ----

function inUnits(value, units, step) {
  let at = 0;
  while (Math.abs(value) >= step && at + 1 < units.length) { value /= step; ++at; }
  const size = Math.abs(value);
  return value.toFixed(at === 0 && Number.isInteger(value) || size >= 100 ? 0 : size >= 10 ? 1 : 2) + ' ' + units[at];
}
const formatTime = (ns) => inUnits(ns, ['ns', 'µs', 'ms', 's'], 1000);
const formatBytes = (n) => inUnits(n, ['B', 'KiB', 'MiB', 'GiB', 'TiB'], 1024);
const formatCount = (n) => inUnits(n, ['', 'K', 'M', 'G', 'T', 'P'], 1000).trim();

// Steps of 1, 2 or 5 times a power of ten: about `count` of them between the two.
function ticks(begin, end, count) {
  const raw = Math.max((end - begin) / count, Number.MIN_VALUE);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw);
  const places = [];
  for (let at = Math.ceil(begin / step); at * step <= end; ++at) places.push(at * step);
  return places;
}

// The same for bytes: steps of 1, 2 or 5 times a power of ten of KiB, MiB or GiB.
function byteTicks(end, count) {
  const unit = 1024 ** Math.max(0, Math.floor(Math.log(Math.max(end, 1)) / Math.log(1024)));
  return ticks(0, end / unit, count).map((at) => at * unit);
}

// The same name has the same colour on every page.
function colorOf(name) {
  let hash = 2166136261;
  for (let i = 0; i < name.length; ++i) hash = Math.imul(hash ^ name.charCodeAt(i), 16777619);
  hash ^= hash >>> 15;
  const hues = [212, 28, 152, 268, 340, 48, 186, 98, 300, 8, 230, 130];
  const hue = hues[(hash >>> 0) % hues.length] + ((hash >>> 8) % 13) - 6;
  return `hsl(${hue} ${46 + ((hash >>> 16) % 18)}% ${58 + ((hash >>> 20) % 10)}%)`;
}

// ---- The tip ----

function showTip(event, title, ...lines) {
  let tip = document.getElementById('tip');
  if (!tip) document.body.append(tip = element('div', {id: 'tip'}));
  tip.replaceChildren(element('b', {}, title), ...lines.filter(Boolean).map((line) => element('div', {}, line)));
  tip.hidden = false;
  const {width, height} = tip.getBoundingClientRect();
  tip.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - width - 8)) + 'px';
  tip.style.top = Math.max(4, event.clientY + 16 + height > innerHeight ? event.clientY - height - 10
                                                                       : event.clientY + 16) + 'px';
}
function hideTip() {
  const tip = document.getElementById('tip');
  if (tip) tip.hidden = true;
}

// ---- Header and tabs ----

// facts: [[label, text, warns]].
function pageHeader(title, facts) {
  document.body.append(element('header', {}, element('h1', {}, title),
    ...facts.map(([label, text, warns]) =>
      element('span', {class: warns ? 'fact warn' : 'fact'}, label + ' ', element('b', {}, text)))));
}

// sections: [[id, title, build(section)]]. A section is built when it is first shown; the hash of the address
// chooses the first one, `all` shows every section below each other (for print).
function pageTabs(sections) {
  const bar = element('nav', {role: 'tablist'});
  const main = element('main');
  const built = new Set();
  const show = (wanted) => {
    for (const [id, , build] of sections) {
      const section = document.getElementById(id);
      const shown = wanted === 'all' || id === wanted;
      section.hidden = !shown;
      document.getElementById('tab-' + id).setAttribute('aria-selected', shown);
      if (shown && !built.has(id)) { built.add(id); build(section); }
    }
  };
  for (const [id, title] of sections) {
    bar.append(element('button', {id: 'tab-' + id, role: 'tab', click: () => { location.hash = id; show(id); }}, title));
    main.append(element('section', {id, hidden: ''}));
  }
  document.body.append(bar, main);
  const named = location.hash.slice(1);
  show(named === 'all' || sections.some(([id]) => id === named) ? named : sections[0][0]);
  // The hash names a tab: a browser that scrolls to the section of that name would hide the header.
  if (named !== 'all') addEventListener('load', () => requestAnimationFrame(() => scrollTo(0, 0)));
}

// ---- Tables ----

// columns: [{title, value(row), text(row), bar, dot}]; `bar` draws the share of the largest value. Returns an element
// with a method filter(text).
function sortableTable(columns, rows, first) {
  const body = element('tbody');
  const heads = columns.map((column, i) => element('th', {click: () => order(i)}, column.title));
  let by = -1, down = true, wanted = '';
  const most = columns.map((c) => c.bar ? rows.reduce((m, row) => Math.max(m, c.value(row)), 0) : 0);
  const cell = (column, i, row) => {
    const text = column.text ? column.text(row) : String(column.value(row));
    const made = element('td', {title: i === 0 ? text : null});
    if (column.dot) made.append(element('span', {class: 'dot', style: 'background:' + colorOf(column.dot(row))}));
    if (column.bar && most[i] > 0)
      made.append(element('span', {class: 'bar', style: `width:${(60 * column.value(row) / most[i]).toFixed(1)}px`}));
    made.append(text);
    return made;
  };
  const fill = () => body.replaceChildren(...rows
    .filter((row) => String(columns[0].value(row)).toLowerCase().includes(wanted))
    .map((row) => element('tr', {}, ...columns.map((c, i) => cell(c, i, row)))));
  const order = (i) => {
    down = by === i ? !down : i !== 0;
    by = i;
    const value = columns[i].value;
    rows.sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1);
    });
    heads.forEach((head, k) => k === i ? head.dataset.order = down ? 'down' : 'up' : delete head.dataset.order);
    fill();
  };
  const table = element('table', {}, element('thead', {}, element('tr', {}, ...heads)), body);
  order(first);
  const holder = element('div', {class: 'scroll'}, table);
  holder.filter = (text) => { wanted = text.toLowerCase(); fill(); };
  return holder;
}

// ---- A range that the wheel zooms and the pointer drags ----

class ZoomRange {
  constructor(begin, end) {
    Object.assign(this, {least: begin, most: end, begin, end, listeners: []});
  }
  changed(listener) { this.listeners.push(listener); listener(); }
  set(begin, end) {
    const least = Math.max((this.most - this.least) * 1e-7, 1);
    const size = Math.min(Math.max(end - begin, least), this.most - this.least);
    this.begin = Math.min(Math.max(begin, this.least), this.most - size);
    this.end = this.begin + size;
    if (!this.waiting) {
      this.waiting = true;
      requestAnimationFrame(() => { this.waiting = false; this.listeners.forEach((listener) => listener()); });
    }
  }
  reset() { this.set(this.least, this.most); }
  zoom(factor, at) { this.set(at - (at - this.begin) * factor, at + (this.end - at) * factor); }
  place(x, width) { return this.begin + (this.end - this.begin) * x / width; }

  // Wheel with ctrl (or alone with `always`) zooms at the pointer, a sideways wheel or a drag pans, a double click
  // resets. `left` is where the drawing begins in the element.
  attach(target, left = 0, always = true) {
    const where = (event) => {
      const box = target.getBoundingClientRect();
      return this.place(event.clientX - box.left - left, box.width - left);
    };
    target.addEventListener('wheel', (event) => {
      const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
      if (!sideways && !always && !event.ctrlKey) return;
      event.preventDefault();
      const size = this.end - this.begin;
      if (sideways) this.set(this.begin + event.deltaX / 800 * size, this.end + event.deltaX / 800 * size);
      else this.zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300))), where(event));
    }, {passive: false});
    target.addEventListener('pointerdown', (down) => {
      if (down.button !== 0) return;
      const width = target.getBoundingClientRect().width - left;
      const [begin, size] = [this.begin, this.end - this.begin];
      const move = (event) => {
        const by = (down.clientX - event.clientX) / width * size;
        this.set(begin + by, begin + by + size);
      };
      addEventListener('pointermove', move);
      addEventListener('pointerup', () => removeEventListener('pointermove', move), {once: true});
    });
    target.addEventListener('dblclick', () => this.reset());
  }
}

// ---- A curve in steps ----

// times and values: arrays of the same length, sorted by time. Follows `range`; the tip tells the value under the
// pointer. Returns the element.
function stepCurve(times, values, range, {height = 180, color = css('--accent'), text = formatBytes,
                                          time = formatTime} = {}) {
  const left = 76, bottom = 22, top = 8;
  const svg = element('svg', {class: 'chart curve', height});
  const most = values.reduce((m, v) => Math.max(m, v), 0) || 1;
  const y = (value) => top + (height - top - bottom) * (1 - value / most);
  const index = (at) => {  // the last point that is not later
    let low = 0, high = times.length;
    while (low < high) { const mid = (low + high) >> 1; if (times[mid] <= at) low = mid + 1; else high = mid; }
    return low - 1;
  };
  const draw = () => {
    const width = svg.clientWidth || 1000;
    const x = (t) => left + (t - range.begin) / (range.end - range.begin) * (width - left);
    const first = Math.max(index(range.begin), 0), last = index(range.end);
    // Several points of one pixel become its least and its largest value.
    let path = '', pixel = -1, low = 0, high = 0, now = times.length ? values[first] : 0;
    path = `M${left},${y(now).toFixed(1)}`;
    const flush = () => {
      if (pixel >= 0) path += `H${pixel}V${y(low).toFixed(1)}V${y(high).toFixed(1)}V${y(now).toFixed(1)}`;
    };
    for (let i = first; i <= last; ++i) {
      const at = Math.max(left, Math.round(x(times[i])));
      if (at !== pixel) { flush(); pixel = at; low = high = now; }
      now = values[i];
      low = Math.min(low, now);
      high = Math.max(high, now);
    }
    flush();
    path += `H${width}`;
    const base = y(0).toFixed(1);
    svg.replaceChildren(
      ...(text === formatBytes ? byteTicks(most, 4) : ticks(0, most, 4)).flatMap((v) => [
        element('line', {class: 'grid', x1: left, x2: width, y1: y(v), y2: y(v)}),
        element('text', {x: left - 8, y: y(v) + 4, 'text-anchor': 'end'}, text(v))]),
      ...ticks(range.begin, range.end, 8).filter((t) => x(t) < width - 24).map((t) =>
        element('text', {x: x(t), y: height - 6, 'text-anchor': 'middle'}, time(t))),
      element('path', {d: path + `V${base}H${left}Z`, fill: color, opacity: .16}),
      element('path', {d: path, fill: 'none', stroke: color, 'stroke-width': 1.4}));
    svg.dataset.points = last - first + 1;
  };
  svg.addEventListener('pointermove', (event) => {
    const box = svg.getBoundingClientRect();
    const at = range.place(event.clientX - box.left - left, box.width - left);
    const i = index(at);
    if (i >= 0) showTip(event, text(values[i]), 'at ' + time(at));
  });
  svg.addEventListener('pointerleave', hideTip);
  range.attach(svg, left, false);
  new ResizeObserver(draw).observe(svg);
  range.changed(draw);
  return svg;
}
