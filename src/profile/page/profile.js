
// ---- The page of a profile ----
// DATA is made by src/profile/page_data.cpp: Note [Data of the page] says what its numbers mean.

const FIELDS = 6;
const KIND = Object.fromEntries(DATA.kinds.map((name, i) => [name, i]));
const textOf = (i) => DATA.texts[i];

// ---- Timeline ----

const ROW = 18;

// The spans of a track as drawing needs them.
class Track {
  constructor({name, group, spans}, number) {
    Object.assign(this, {name, group, spans, number, count: spans.length / FIELDS});
    this.depth = 1;
    for (let i = 0; i < spans.length; i += FIELDS) this.depth = Math.max(this.depth, spans[i + 4] + 1);
    // Names of ranges are texts of the program; others have the colour of their name.
    this.names = {};
  }
  color(i) {
    const name = this.spans[i + 2];
    return this.names[name] ??= colorOf(textOf(name));
  }
  // The first span that does not begin before a time; spans are sorted by their begins.
  from(time) {
    let low = 0, high = this.count;
    while (low < high) {
      const mid = (low + high) >> 1;
      if (this.spans[mid * FIELDS] < time) low = mid + 1; else high = mid;
    }
    return low * FIELDS;
  }
  // The span at a time and depth, or -1.
  find(time, depth) {
    const {spans} = this;
    for (let i = this.from(time + 1) - FIELDS; i >= 0; i -= FIELDS) {
      if (spans[i + 4] === depth) return time <= spans[i] + spans[i + 1] ? i : -1;
      if (spans[i + 4] < depth && time > spans[i] + spans[i + 1]) return -1;  // after its outer span
    }
    return -1;
  }
  // Where an arrow of this time ends: at the innermost span that begins then.
  depthAt(time) {
    let depth = 0;
    for (let i = this.from(time); i < this.spans.length && this.spans[i] === time; i += FIELDS)
      depth = this.spans[i + 4];
    return depth;
  }
}

class Timeline {
  constructor(section) {
    this.range = new ZoomRange(0, DATA.span);
    this.tracks = DATA.tracks.map((track, i) => new Track(track, i));
    this.wanted = '';
    this.chosen = null;
    this.axis = element('svg', {class: 'axis'});
    this.arrows = element('canvas', {class: 'arrows'});
    this.holder = element('div', {class: 'tracks'});
    const search = element('input', {type: 'search', placeholder: 'find a name',
      input: () => { this.wanted = search.value.toLowerCase(); this.draw(); }});
    this.showArrows = element('input', {type: 'checkbox', checked: '', change: () => this.draw()});
    const hasArrows = DATA.arrows.length > 0;
    section.append(element('div', {class: 'tools'}, search,
      element('button', {click: () => this.range.reset()}, 'whole'),
      hasArrows ? element('label', {}, this.showArrows, ' arrows from launch to kernel') : null,
      element('span', {}, 'wheel: zoom · drag: move · double click: whole · click: keep the arrows of a span')));
    section.append(this.axis, this.holder);
    this.build();
    new ResizeObserver(() => this.draw()).observe(this.holder);
    this.range.changed(() => this.draw());
  }

  build() {
    let group = null;
    for (const track of this.tracks) {
      if (track.group !== group)
        this.holder.append(element('div', {class: 'group'}, group = track.group));
      const canvas = element('canvas', {class: 'spans', 'data-track': track.name,
        pointermove: (event) => this.hover(track, event), pointerleave: hideTip,
        click: (event) => { this.chosen = this.under(track, event); this.draw(); }});
      canvas.style.height = track.depth * ROW + 4 + 'px';
      this.range.attach(canvas);
      track.canvas = canvas;
      this.holder.append(element('div', {class: 'row'}, element('div', {class: 'label', title: track.name}, track.name),
                                 canvas));
    }
    if (!this.tracks.length) this.holder.append(element('div', {class: 'empty'}, 'nothing was recorded'));
    this.holder.append(this.arrows);
  }

  under(track, event) {
    const box = track.canvas.getBoundingClientRect();
    const at = track.find(this.range.place(event.clientX - box.left, box.width),
                          Math.floor((event.clientY - box.top - 2) / ROW));
    return at < 0 ? null : {track, at};
  }
  hover(track, event) {
    const found = this.under(track, event);
    if (!found) return hideTip();
    const [begin, duration, name, kind, , detail] = track.spans.slice(found.at, found.at + FIELDS);
    showTip(event, textOf(name), `${DATA.kinds[kind]} · ${formatTime(duration)} · from ${formatTime(begin)}`,
            textOf(detail));
  }

  draw() {
    for (const track of this.tracks) this.drawTrack(track);
    this.drawAxis();
    this.drawArrows();
  }
  drawAxis() {
    const width = this.axis.clientWidth - 151;
    const {begin, end} = this.range;
    const places = ticks(begin, end, Math.max(width / 120, 2));
    this.axis.replaceChildren(...places.filter((at) => (at - begin) / (end - begin) * width < width - 24).map((at) =>
      element('text', {x: 151 + (at - begin) / (end - begin) * width, y: 15, 'text-anchor': 'middle'}, formatTime(at))));
  }
  context(canvas, width, height) {
    const scale = devicePixelRatio || 1;
    canvas.width = Math.max(1, Math.round(width * scale));
    canvas.height = Math.max(1, Math.round(height * scale));
    const context = canvas.getContext('2d');
    context.scale(scale, scale);
    return context;
  }

  drawTrack(track) {
    const {canvas, spans} = track;
    const width = canvas.clientWidth, height = track.depth * ROW + 4;
    const context = this.context(canvas, width, height);
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'middle';
    const {begin, end} = this.range;
    const scale = width / (end - begin);
    const last = new Float64Array(track.depth).fill(-1);  // the right end of what is drawn at each depth
    let drawn = 0;
    for (let i = 0; i < spans.length && spans[i] < end; i += FIELDS) {
      const left = (spans[i] - begin) * scale, depth = spans[i + 4];
      const right = left + Math.max(spans[i + 1] * scale, .6);
      if (right < 0 || right < last[depth] + .4) continue;
      last[depth] = right;
      ++drawn;
      this.drawSpan(context, track, i, Math.max(left, -2), Math.min(right, width + 2), depth);
    }
    canvas.dataset.spans = track.count;
    canvas.dataset.drawn = drawn;
  }
  drawSpan(context, track, i, left, right, depth) {
    const name = textOf(track.spans[i + 2]), y = 2 + depth * ROW;
    const found = !this.wanted || name.toLowerCase().includes(this.wanted);
    context.globalAlpha = found ? 1 : .18;
    context.fillStyle = track.spans[i + 3] === KIND.range ? css('--line') : track.color(i);
    context.fillRect(left, y, Math.max(right - left - .5, .6), ROW - 2);
    if (right - left > 26) {
      context.fillStyle = track.spans[i + 3] === KIND.range ? css('--text') : '#15191f';
      context.save();
      context.beginPath();
      context.rect(left, y, right - left - 3, ROW - 2);
      context.clip();
      context.fillText(name, Math.max(left, 0) + 4, y + ROW / 2 - .5);
      context.restore();
    }
    const {chosen} = this;
    if (chosen && chosen.track === track && chosen.at === i) {
      context.strokeStyle = css('--text');
      context.lineWidth = 1.5;
      context.strokeRect(left + .5, y + .5, right - left - 1, ROW - 3);
    }
    context.globalAlpha = 1;
  }

  // An arrow belongs to the chosen span if it begins or ends in it.
  isChosen(i) {
    if (!this.chosen) return false;
    const {track, at} = this.chosen, begin = track.spans[at], end = begin + track.spans[at + 1];
    return [0, 2].some((k) => DATA.arrows[i + k] === track.number && DATA.arrows[i + k + 1] >= begin &&
                              DATA.arrows[i + k + 1] <= end);
  }
  drawArrows() {
    const first = this.tracks.find((track) => track.canvas);
    const width = first ? first.canvas.clientWidth : 0, height = this.holder.clientHeight;
    Object.assign(this.arrows.style, {width: width + 'px', height: height + 'px'});
    const context = this.context(this.arrows, width, height);
    const {begin, end} = this.range;
    const shown = [];
    for (let i = 0; i < DATA.arrows.length; i += 4)
      if (DATA.arrows[i + 3] >= begin && DATA.arrows[i + 1] <= end) shown.push(i);
    const all = this.showArrows.checked && shown.length <= 600;
    const top = this.holder.getBoundingClientRect().top;
    const place = (number, time) => {
      const track = this.tracks[number];
      const box = track.canvas.getBoundingClientRect();
      return [(time - begin) / (end - begin) * width, box.top - top + 2 + track.depthAt(time) * ROW + ROW / 2];
    };
    let drawn = 0;
    for (const i of shown) {
      const chosen = this.isChosen(i);
      if (!chosen && (!all || this.chosen)) continue;
      ++drawn;
      const [x, y] = place(DATA.arrows[i], DATA.arrows[i + 1]), [u, v] = place(DATA.arrows[i + 2], DATA.arrows[i + 3]);
      context.strokeStyle = context.fillStyle = css('--accent');
      context.globalAlpha = chosen ? 1 : Math.max(.14, Math.min(.5, 30 / shown.length));
      context.lineWidth = chosen ? 1.6 : 1;
      context.beginPath();
      context.moveTo(x, y);
      context.bezierCurveTo(x, y + (v - y) / 2, u, y + (v - y) / 2, u, v);
      context.stroke();
      context.beginPath();
      context.moveTo(u, v);
      context.lineTo(u - 3, v - 7);
      context.lineTo(u + 3, v - 7);
      context.fill();
    }
    this.arrows.dataset.arrows = DATA.arrows.length / 4;
    this.arrows.dataset.drawn = drawn;
  }
}

// ---- Flame graph ----

class Flame {
  constructor(section) {
    this.trail = [DATA.flame];
    this.line = element('div', {class: 'tools trail'});
    this.svg = element('svg', {class: 'flame'});
    section.append(this.line, this.svg);
    new ResizeObserver(() => this.draw()).observe(this.svg);
    this.draw();
  }
  draw() {
    const root = this.trail[this.trail.length - 1];
    const width = this.svg.clientWidth || 1000;
    const boxes = [];
    let depth = 0;
    const visit = (node, left, level, path) => {
      const size = node[2] / root[2] * width;
      if (size < .5) return;
      depth = Math.max(depth, level + 1);
      boxes.push([node, left, size, level, path]);
      let at = left;
      for (const inner of node[4]) {
        visit(inner, at, level + 1, [...path, inner]);
        at += inner[2] / root[2] * width;
      }
    };
    if (root[2] > 0) visit(root, 0, 0, [root]);
    this.svg.setAttribute('height', Math.max(depth * 20, 20));
    this.svg.replaceChildren(...boxes.flatMap((box) => this.box(box, root)));
    this.svg.dataset.boxes = boxes.length;
    this.showTrail(root);
  }
  box([node, left, size, level, path], root) {
    const whole = node === DATA.flame;
    const name = whole ? 'all threads' : textOf(node[0]);
    const rect = element('rect', {x: left.toFixed(2), y: level * 20, width: size.toFixed(2), height: 19, rx: 2,
      fill: whole ? css('--line') : colorOf(name),
      pointermove: (event) => showTip(event, name,
        `${formatTime(node[2])} · ${(100 * node[2] / DATA.flame[2]).toFixed(1)} % of all` +
        (whole ? '' : ` · ${node[3]} times · ${DATA.kinds[node[1]]}`)),
      pointerleave: hideTip,
      click: () => {
        this.trail = node === root ? this.trail.slice(0, Math.max(1, this.trail.length - 1))
                                   : [...this.trail, ...path.slice(1)];
        hideTip();
        this.draw();
      }});
    const room = Math.floor((size - 8) / 6.2);
    if (room < 3) return [rect];
    const label = name.length > room ? name.slice(0, room - 1) + '…' : name;
    return [rect, element('text', {x: left + 4, y: level * 20 + 13.5, fill: whole ? css('--text') : null}, label)];
  }
  showTrail(root) {
    const names = this.trail.map((node, i) => i === 0 ? 'all threads' : textOf(node[0]));
    this.line.replaceChildren(...names.flatMap((name, i) => [
      element('a', {click: () => { this.trail = this.trail.slice(0, i + 1); this.draw(); }}, name),
      i + 1 < names.length ? ' › ' : ` · ${formatTime(root[2])} · a click enters a box, another click on it leaves`]));
  }
}

// ---- Tables ----

function operatorColumns(rows) {
  const has = (field) => rows.some((row) => row[field]);
  const whole = rows.reduce((sum, row) => sum + Math.max(row.self_time, 0), 0) || 1;
  const rate = (row, field) => row.kernel_time > 0 ? row[field] / row.kernel_time : 0;
  const number = (value) => value ? value.toFixed(value < 10 ? 2 : 1) : '–';
  const column = (title, value, text, more) => ({title, value, text: (row) => text(value(row)), ...more});
  return [
    {title: 'Name', value: (row) => row.name, dot: (row) => row.name},
    {title: 'Kind', value: (row) => row.kind},
    has('shapes') ? {title: 'Shapes', value: (row) => JSON.stringify(row.shapes || '').replace(/^""$/, '')} : null,
    column('Self', (row) => row.self_time, formatTime, {bar: true}),
    column('Self %', (row) => 100 * row.self_time / whole, (v) => v.toFixed(1) + ' %'),
    column('Total', (row) => row.total_time, formatTime),
    column('Average', (row) => row.total_time / Math.max(row.count, 1), formatTime),
    {title: 'Calls', value: (row) => row.count},
    has('device_time') ? column('Device', (row) => row.device_time, formatTime) : null,
    has('allocated') ? column('Memory', (row) => row.allocated, (v) => v ? formatBytes(v) : '–') : null,
    has('flops') ? column('FLOP', (row) => row.flops, (v) => v ? formatCount(v) : '–') : null,
    has('flops') ? column('GFLOP/s', (row) => rate(row, 'flops'), number) : null,
    has('bytes') ? column('Bytes', (row) => row.bytes, (v) => v ? formatBytes(v) : '–') : null,
    has('bytes') ? column('GB/s', (row) => rate(row, 'bytes'), number) : null,
    has('floor_time') ? column('Of roof', (row) => row.kernel_time > 0 ? 100 * row.floor_time / row.kernel_time : 0,
                               (v) => v ? v.toFixed(1) + ' %' : '–') : null,
  ].filter(Boolean);
}

function buildTable(rows) {
  return (section) => {
    const table = sortableTable(operatorColumns(rows), rows, 3 + (rows.some((row) => row.shapes) ? 0 : -1));
    const search = element('input', {type: 'search', placeholder: 'find a name', input: () => table.filter(search.value)});
    section.append(element('div', {class: 'tools'}, search, element('span', {}, `${rows.length} rows`),
      ...DATA.roofs.map((roof) => element('span', {}, `roof of ${roof.device}: ${formatCount(roof.flops)}FLOP/s, ` +
        `${formatCount(roof.bytes)}B/s`))), table);
  };
}

// ---- Memory ----

function buildMemory(section) {
  const range = new ZoomRange(0, DATA.span);
  for (const {device, peak, times, bytes} of DATA.memory) {
    section.append(element('div', {class: 'panel'},
      element('h2', {}, device, element('span', {}, `peak ${formatBytes(peak)}`)),
      stepCurve(times, bytes, range, {height: 240})));
  }
  section.append(element('div', {class: 'tools'}, 'ctrl and wheel: zoom · drag: move · double click: whole'));
}

const spans = DATA.tracks.reduce((sum, track) => sum + track.spans.length / FIELDS, 0);
pageHeader('Tessera profile', [
  ['time', formatTime(DATA.span)], ['spans', String(spans)], ['threads and streams', String(DATA.tracks.length)],
  ...(DATA.arrows.length ? [['arrows', String(DATA.arrows.length / 4)]] : []),
  ...DATA.memory.map((curve) => [`peak memory of ${curve.device}`, formatBytes(curve.peak)]),
  ...(DATA.lost ? [['lost events', String(DATA.lost), true]] : []),
]);
pageTabs([
  ['timeline', 'Timeline', (section) => new Timeline(section)],
  ['flame', 'Flame graph', (section) => new Flame(section)],
  ['operators', 'Operators', buildTable(DATA.ops)],
  ['kernels', 'Kernels', buildTable(DATA.kernels)],
  ...(DATA.memory.length ? [['memory', 'Memory', buildMemory]] : []),
]);
