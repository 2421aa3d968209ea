// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The memory viewer: DATA is a snapshot of one allocator, see docs/guide/memory.md.

const BEFORE = 'before the recording';
const OUTSIDE = 'outside every operation';
const MOST_BANDS = 14;
const MOST_EVENTS = 500;

// ---- Who holds a block ----

const operationOf = (entry) => entry.operation === undefined ? null : DATA.operations[entry.operation];
const stackOf = (entry) => entry.stack === undefined ? [] : DATA.stacks[entry.stack];
const nameOf = (entry) => (operationOf(entry) || {name: OUTSIDE}).name;
// Without the folders of the file.
const placeOf = (entry) => (stackOf(entry)[0] || '').replace(/^\S*\//, '');

const GROUPS = {
  'operation and place': (entry) => nameOf(entry) + (placeOf(entry) ? ' at ' + placeOf(entry) : ''),
  operation: nameOf,
  'path of operations': (entry) => (operationOf(entry) || {path: OUTSIDE}).path,
  place: (entry) => placeOf(entry) || OUTSIDE,
  'dtype and shape': (entry) => entry.tensor || 'no tensor',
  thread: (entry) => entry.thread ? 'thread ' + entry.thread : BEFORE,
  stream: (entry) => entry.stream ? 'stream 0x' + entry.stream.toString(16) : 'default stream',
};

function detailsOf(entry) {
  const operation = operationOf(entry);
  return [operation && operation.path !== operation.name ? operation.path : null, entry.tensor, stackOf(entry).join('\n')];
}

// ---- Bytes over time ----

// The blocks that were there when the first event of the ring happened: those that are freed without having been
// allocated, and those that live without it.
function blocksOfTheStart() {
  const known = new Map();  // address -> its allocation in the ring
  const start = [];
  for (const event of DATA.history) {
    if (event.action === 'alloc') known.set(event.address, event);
    if (event.action !== 'free_requested') continue;
    if (!known.delete(event.address)) start.push(event);
  }
  const live = DATA.live.filter((block) => !known.has(block.address));
  return start.concat(live);
}

// Bytes of each group after each event. {times, names, values: one array for each name, total, reserved}
function timeline(group) {
  const events = DATA.history.filter((e) => ['alloc', 'free_requested', 'segment_alloc', 'segment_free'].includes(e.action));
  const start = blocksOfTheStart();
  const liveBytes = DATA.live.reduce((sum, block) => sum + block.size, 0);
  const unknown = DATA.recording.running ? Math.max(0, DATA.stats['requested_bytes.all.current'] - liveBytes) : 0;
  const now = new Map([[BEFORE, unknown]]), peak = new Map([[BEFORE, unknown]]);
  const add = (name, bytes) => {
    now.set(name, (now.get(name) || 0) + bytes);
    peak.set(name, Math.max(peak.get(name) || 0, now.get(name)));
  };
  const nameOfStart = (block) => block.operation === undefined && block.thread === undefined ? BEFORE : group(block);
  for (const block of start) add(nameOfStart(block), block.size);
  const before = new Map(now);
  const owner = new Map(start.map((block) => [block.address, nameOfStart(block)]));
  const changes = events.map((event) => {
    if (event.action === 'alloc') {
      owner.set(event.address, group(event));
      add(group(event), event.size);
      return [group(event), event.size];
    }
    if (event.action !== 'free_requested') return [null, 0];
    const name = owner.get(event.address) || BEFORE;
    add(name, -event.size);
    return [name, -event.size];
  });
  const names = [...peak.keys()].filter((name) => peak.get(name) > 0).sort((a, b) => peak.get(b) - peak.get(a));
  const shown = names.slice(0, MOST_BANDS);
  if (names.length > MOST_BANDS) shown.push('others');
  const place = new Map(names.map((name, i) => [name, Math.min(i, MOST_BANDS)]));
  const values = shown.map(() => new Float64Array(events.length + 1));
  const total = new Float64Array(events.length + 1), reserved = new Float64Array(events.length + 1);
  const current = shown.map(() => 0);
  for (const [name, bytes] of before) if (place.has(name)) current[place.get(name)] += bytes;
  let held = DATA.stats['reserved_bytes.all.current'];
  for (const e of events) held -= e.action === 'segment_alloc' ? e.size : e.action === 'segment_free' ? -e.size : 0;
  const write = (i) => {
    let sum = 0;
    current.forEach((bytes, k) => { values[k][i] = bytes; sum += bytes; });
    total[i] = sum;
    reserved[i] = held;
  };
  write(0);
  events.forEach((event, i) => {
    const [name, bytes] = changes[i];
    if (name !== null && place.has(name)) current[place.get(name)] += bytes;
    if (event.action === 'segment_alloc') held += event.size;
    if (event.action === 'segment_free') held -= event.size;
    write(i + 1);
  });
  const first = events.length ? events[0].time_ns : 0;
  const times = [0, ...events.map((event) => event.time_ns - first)];
  return {times, names: shown, values, total, reserved, events, first};
}

function lastBefore(times, at) {
  let low = 0, high = times.length;
  while (low < high) { const mid = (low + high) >> 1; if (times[mid] <= at) low = mid + 1; else high = mid; }
  return Math.max(low - 1, 0);
}

// Of the points of each pixel, the one with the largest total: so no peak is lost.
function pixels(data, range, width) {
  const picked = [];
  let pixel = -1;
  const last = lastBefore(data.times, range.end);
  for (let i = lastBefore(data.times, range.begin); i <= last; ++i) {
    const at = Math.max(0, Math.floor((data.times[i] - range.begin) / (range.end - range.begin) * width));
    if (at !== pixel) { picked.push({at, i}); pixel = at; }
    else if (data.total[i] > data.total[picked[picked.length - 1].i]) picked[picked.length - 1].i = i;
  }
  if (picked.length) picked.push({at: width, i: last});
  return picked;
}

// Round numbers of bytes are powers of two.
function byteTicks(most) {
  const step = 2 ** Math.ceil(Math.log2(most / 5));
  return Array.from({length: Math.floor(most / step) + 1}, (_, i) => i * step);
}

function bandChart(data, range) {
  const height = 380, left = 76, bottom = 22, top = 8;
  const svg = element('svg', {class: 'chart bands', height});
  const most = data.total.reduce((m, v) => Math.max(m, v), 1);
  const y = (bytes) => top + (height - top - bottom) * (1 - bytes / most);
  const draw = () => {
    const width = Math.max((svg.clientWidth || 1100) - left, 50);
    const points = pixels(data, range, width);
    const floor = points.map(() => 0);
    const bands = data.names.map((name, k) => {
      const lower = floor.slice();
      points.forEach(({i}, p) => { floor[p] += data.values[k][i]; });
      if (!points.some((point, p) => floor[p] > lower[p])) return null;
      let path = '';
      points.forEach(({at}, p) => {
        path += p === 0 ? `M${left + at},${y(floor[0]).toFixed(1)}` : `H${left + at}V${y(floor[p]).toFixed(1)}`;
      });
      for (let p = points.length - 1; p >= 0; --p) {
        path += `L${left + points[p].at},${y(lower[p]).toFixed(1)}`;
        if (p > 0) path += `V${y(lower[p - 1]).toFixed(1)}`;
      }
      return element('path', {class: 'band', d: path + 'Z', fill: bandColor(name)});
    });
    let held = '';
    points.forEach(({at, i}, p) => {
      const where = Math.max(y(data.reserved[i]), top).toFixed(1);
      held += p === 0 ? `M${left + at},${where}` : `H${left + at}V${where}`;
    });
    svg.replaceChildren(
      ...byteTicks(most).flatMap((v) => [
        element('line', {class: 'grid', x1: left, x2: left + width, y1: y(v), y2: y(v)}),
        element('text', {x: left - 8, y: y(v) + 4, 'text-anchor': 'end'}, formatBytes(v))]),
      ...ticks(range.begin, range.end, 8).map((t) => element('text',
        {x: left + (t - range.begin) / (range.end - range.begin) * width, y: height - 6, 'text-anchor': 'middle'},
        formatTime(t))),
      ...bands.filter(Boolean), element('path', {class: 'reserved', d: held}));
    svg.dataset.bands = bands.filter(Boolean).length;
  };
  svg.addEventListener('pointermove', (event) => {
    const box = svg.getBoundingClientRect();
    const at = range.place(event.clientX - box.left - left, box.width - left);
    const i = lastBefore(data.times, at);
    const wanted = (1 - (event.clientY - box.top - top) / (height - top - bottom)) * most;
    let below = 0;
    const k = data.names.findIndex((name, n) => (below += data.values[n][i]) > wanted);
    const lines = [`${formatBytes(data.total[i])} in use, ${formatBytes(data.reserved[i])} held from the device`,
      'at ' + formatTime(at)];
    if (k < 0) return showTip(event, 'in use', ...lines);
    const sample = sampleOf(data.names[k]);
    showTip(event, data.names[k] + ': ' + formatBytes(data.values[k][i]), ...lines, ...(sample ? detailsOf(sample) : []));
  });
  svg.addEventListener('pointerleave', hideTip);
  range.attach(svg, left);
  new ResizeObserver(draw).observe(svg);
  range.changed(draw);
  return svg;
}

let currentGroup = DATA.stacks.length ? 'operation and place' : 'operation';
const samples = new Map();

// The largest holders have colours that are far apart, in the order of the bands; others that of their name.
const PALETTE = ['#4c78c8', '#e0803a', '#4fa35b', '#c9504f', '#8a67c4', '#3aa6b0', '#d2a52b', '#c8659e', '#7d8b46', '#5f8fe0',
  '#a5673f', '#57b894', '#9a4f7a', '#6f7fa8'];
const ranks = new Map();
function bandColor(name) {
  if (name === BEFORE || name === 'others') return css('--line');
  return ranks.has(name) ? PALETTE[ranks.get(name) % PALETTE.length] : colorOf(name);
}
function rankBands() {
  ranks.clear();
  if (DATA.history.length === 0) return;
  timeline(GROUPS[currentGroup]).names.forEach((name) => {
    if (name !== BEFORE && name !== 'others') ranks.set(name, ranks.size);
  });
}
function sampleOf(name) {
  if (samples.size === 0) {
    for (const event of DATA.history.concat(DATA.live)) {
      if (event.action && event.action !== 'alloc') continue;
      const key = GROUPS[currentGroup](event);
      if (!samples.has(key)) samples.set(key, event);
    }
  }
  return samples.get(name);
}

function buildTimeline(section) {
  const chooser = element('select', {id: 'group', change: () => fill(chooser.value)},
    ...Object.keys(GROUPS).map((name) => element('option', {value: name, selected: name === currentGroup ? '' : null}, name)));
  const holder = element('div');
  const fill = (name) => {
    currentGroup = name;
    samples.clear();
    rankBands();
    const data = timeline(GROUPS[name]);
    if (data.events.length === 0) {
      holder.replaceChildren(element('div', {class: 'empty'}, 'Nothing was recorded. Start a recording before the work ' +
        'that you want to look at.'));
      return;
    }
    const range = new ZoomRange(0, Math.max(data.times[data.times.length - 1], 1));
    holder.replaceChildren(
      element('div', {class: 'panel'}, element('h2', {}, 'Bytes in use', element('span', {},
        'as they were asked for; dashed: held from the device; wheel zooms, drag moves, double click resets')), bandChart(data, range)),
      element('div', {class: 'legend'}, ...data.names.map((band) => element('span', {class: 'entry', title: band},
        element('span', {class: 'dot', style: 'background:' + bandColor(band)}), band))));
  };
  section.append(element('div', {class: 'tools'}, 'Holders by', chooser), holder);
  fill(currentGroup);
}

// ---- Segments ----

function buildMap(section) {
  const live = DATA.live.slice().sort((a, b) => a.address - b.address);
  const byAddress = new Map(live.map((block) => [block.address, block]));
  const segments = DATA.segments.slice().sort((a, b) => a.address - b.address);
  const largest = segments.reduce((m, s) => Math.max(m, s.total_size), 1);
  const group = GROUPS[currentGroup];
  section.append(element('p', {class: 'note'}, 'Each bar is a piece of memory that the allocator holds from the device, ' +
    'as long as it is large; the squares in it are blocks, coloured by holder. Hatched: free. Grey: in use since before ' +
    'the recording. Segments of small blocks of the CPU (thread lists) show the blocks that were recorded.'));
  const hatch = element('svg', {width: 0, height: 0, style: 'position:absolute'});
  hatch.innerHTML = '<defs><pattern id="free-hatch" width="6" height="6" patternUnits="userSpaceOnUse" ' +
    'patternTransform="rotate(45)"><rect width="2" height="6" fill="' + css('--line') + '"></rect></pattern></defs>';
  section.append(hatch);
  for (const segment of segments) {
    const inside = segment.blocks || live
      .filter((b) => b.address >= segment.address && b.address < segment.address + segment.total_size)
      .map((b) => ({address: b.address, size: b.size, requested_size: b.size, state: 'active_allocated'}));
    const used = inside.filter((b) => b.state === 'active_allocated').reduce((sum, b) => sum + b.size, 0);
    const scale = 1000 / segment.total_size;
    const svg = element('svg', {viewBox: '0 0 1000 26', preserveAspectRatio: 'none',
      style: `width:${Math.max(100 * segment.total_size / largest, 2)}%`});
    svg.append(element('rect', {class: 'whole', x: 0, y: 0, width: 1000, height: 26}));
    for (const block of inside) {
      const owner = byAddress.get(block.address);
      const lent = block.state === 'active_allocated';
      const kind = lent ? 'block' : block.state === 'inactive' ? 'free' : 'pending';
      svg.append(element('rect', {
        class: kind, x: (block.address - segment.address) * scale, y: 0, width: Math.max(block.size * scale, .4), height: 26,
        style: lent ? 'fill:' + (owner ? bandColor(group(owner)) : css('--faint')) : null,
        pointermove: (event) => showTip(event,
          (lent ? (owner ? group(owner) : BEFORE) : kind === 'free' ? 'free' : 'freed; a stream still uses it') + ': ' +
            formatBytes(block.size),
          '0x' + block.address.toString(16) + (lent ? `, asked for ${formatBytes(block.requested_size)}` : ''),
          ...(owner ? detailsOf(owner) : [])),
        pointerleave: hideTip}));
    }
    const share = (100 * used / segment.total_size).toFixed(0) + ' % in use';
    section.append(element('div', {class: 'segment'},
      element('div', {class: 'label'}, element('b', {}, formatBytes(segment.total_size)), ' ' + segment.segment_type +
        (segment.stream ? ', stream 0x' + segment.stream.toString(16) : '') + ', ' + share + ', 0x' + segment.address.toString(16)),
      svg));
  }
  if (segments.length === 0) section.append(element('div', {class: 'empty'}, 'The allocator holds no memory.'));
}

// ---- Holders ----

function buildHolders(section) {
  const holders = new Map();
  for (const block of DATA.live) {
    const key = `${block.operation} ${block.stack}`;
    const holder = holders.get(key) || {bytes: 0, count: 0, sample: block};
    holder.bytes += block.size;
    holder.count += 1;
    if (block.size > holder.sample.size) holder.sample = block;
    holders.set(key, holder);
  }
  const rows = [...holders.values()].sort((a, b) => b.bytes - a.bytes);
  const known = rows.reduce((sum, row) => sum + row.bytes, 0);
  const unknown = Math.max(0, DATA.stats['requested_bytes.all.current'] - known);
  if (rows.length === 0) {
    section.append(element('div', {class: 'empty'}, DATA.recording.running
      ? 'No block that is in use was recorded.' : 'The recording has ended, so nothing is known of the blocks in use.'));
    return;
  }
  section.append(element('p', {class: 'note'}, `${formatBytes(known)} in use by ${rows.length} holders; ` +
    `${formatBytes(unknown)} since before the recording. A holder is all blocks that one operation asked for at one ` +
    'place; a click shows its stack.'));
  const most = rows[0].bytes;
  const body = element('tbody');
  for (const row of rows.slice(0, 1000)) {
    const details = element('tr', {hidden: ''}, element('td', {class: 'wide', colspan: 6},
      detailsOf(row.sample).filter(Boolean).join('\n')));
    const made = element('tr', {class: 'holder', click: () => {
      details.hidden = !details.hidden;
      made.classList.toggle('opened', !details.hidden);
    }},
      element('td', {}, element('span', {class: 'dot', style: 'background:' + bandColor(GROUPS[currentGroup](row.sample))}),
        nameOf(row.sample)),
      element('td', {}, element('span', {class: 'bar', style: `width:${(90 * row.bytes / most).toFixed(1)}px`}),
        formatBytes(row.bytes)),
      element('td', {}, String(row.count)),
      element('td', {}, formatBytes(row.sample.size)),
      element('td', {class: 'left'}, row.sample.tensor || ''),
      element('td', {class: 'left cut'}, placeOf(row.sample)));
    body.append(made, details);
  }
  section.append(element('div', {class: 'scroll'}, element('table', {id: 'holders-table'}, element('thead', {}, element('tr', {},
    ...['Operation', 'Bytes', 'Blocks', 'Largest', 'Its tensor', 'Place'].map((title, i) =>
      element('th', {class: i > 3 ? 'left' : null}, title)))), body)));
}

// ---- Events ----

function buildEvents(section) {
  const first = DATA.history.length ? DATA.history[0].time_ns : 0;
  const text = (e) => [e.action, nameOf(e), (operationOf(e) || {path: ''}).path, e.tensor || '', stackOf(e).join(' '),
    '0x' + e.address.toString(16), e.thread || ''].join(' ').toLowerCase();
  const texts = DATA.history.map(text);
  const body = element('tbody');
  const count = element('span', {id: 'matches'});
  const fill = (wanted) => {
    const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
    const found = [];
    let matches = 0;
    texts.forEach((line, i) => {
      if (!words.every((word) => line.includes(word))) return;
      if (++matches <= MOST_EVENTS) found.push(DATA.history[i]);
    });
    count.textContent = `${matches} of ${DATA.history.length} events` +
      (matches > MOST_EVENTS ? `, the first ${MOST_EVENTS} are shown` : '');
    body.replaceChildren(...found.map((e) => element('tr', {
      pointermove: (event) => e.stack === undefined ? hideTip() : showTip(event, nameOf(e), ...detailsOf(e)),
      pointerleave: hideTip},
      element('td', {}, formatTime(e.time_ns - first)), element('td', {class: 'left'}, e.action),
      element('td', {}, formatBytes(e.size)), element('td', {class: 'mono'}, '0x' + e.address.toString(16)),
      element('td', {class: 'left'}, e.tensor || ''),
      element('td', {class: 'left'}, e.operation === undefined ? '' : nameOf(e)),
      element('td', {class: 'left cut'}, placeOf(e)), element('td', {}, e.thread ? String(e.thread) : ''))));
  };
  const search = element('input', {id: 'search', type: 'search', size: 40, placeholder: 'operation, place, shape, 0xaddress',
    input: () => fill(search.value)});
  section.append(element('div', {class: 'tools'}, search, count), element('div', {class: 'scroll'},
    element('table', {id: 'events-table'}, element('thead', {}, element('tr', {},
      ...['Time', 'Event', 'Size', 'Address', 'Tensor', 'Operation', 'Place', 'Thread'].map((title, i) =>
        element('th', {class: [1, 4, 5, 6].includes(i) ? 'left' : null}, title)))), body)));
  fill('');
}

// ---- The page ----

const stat = (name) => DATA.stats[name];
pageHeader('Memory of ' + DATA.device, [
  ['in use', formatBytes(stat('allocated_bytes.all.current'))],
  ['peak', formatBytes(stat('allocated_bytes.all.peak'))],
  ['held', formatBytes(stat('reserved_bytes.all.current'))],
  ['segments', String(DATA.segments.length)],
  ['events', String(DATA.history.length)],
  ...(DATA.recording.recorded > DATA.history.length ? [['recorded in all', String(DATA.recording.recorded)]] : []),
  ...(stat('num_ooms') > 0 ? [['out of memory', String(stat('num_ooms')), true]] : []),
]);
rankBands();
pageTabs([
  ['timeline', 'Timeline', buildTimeline],
  ['segments', 'Segments', buildMap],
  ['holders', 'Holders', buildHolders],
  ['events', 'Events', buildEvents],
]);
