"use strict";
// What the pages share: numbers as text, elements, tables, charts.
const $ = (id) => document.getElementById(id);
const whole = (n) => n.toLocaleString("en-US");
// At most three digits, as in texts (numbers.c). What is less than all is not 100.
function points(x) {
  const p = 100 * x, size = Math.abs(p);
  if (p === 0) return "0";
  if (p > 0 && p < 0.001) return "<0.001";
  if (p < 100 && p.toFixed(1) === "100.0") return ">99.9";
  return size < 0.1 ? p.toPrecision(2) : p.toFixed(size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}
const percent = (x) => points(x) + "%";
const number = (x) => x === null ? "\u221e" : x === 0 ? "0" : Math.abs(x) >= 99950 || Math.abs(x) < 1e-3 ? x.toExponential(2) : whole(+x.toPrecision(3));
// An estimate is {value, low, high}, or null where it is not known.
const range = (e, show) => e.value === 0 ? "at most " + show(e.high) : show(e.low) + " to " + show(e.high);
const estimateText = (e, show) => e === null ? "\u2013" : show(e.value) + " (" + range(e, show) + ")";
// An element with attributes and children; text is never taken as markup.
function make(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) element.setAttribute(key, value);
  element.append(...children);
  return element;
}
function fillTable(table, heads, rows) {
  table.replaceChildren(make("thead", null, make("tr", null, ...heads.map((h) => make("th", {class: h.number ? "number" : "", scope: "col"}, h.text)))),
    make("tbody", null, ...rows.map((row) => make("tr", null, ...row.map((cell, i) => make("td", {class: heads[i].number ? "number" : ""}, cell))))));
}
const below = (text, small) => make("span", null, text, make("span", {class: "small"}, small));
const estimateCell = (e, show) => e === null ? "\u2013" : below(show(e.value), range(e, show));
const measures = [["sdc_avf", "SDC-AVF", "sdc"], ["due_avf", "DUE-AVF", "due"], ["avf", "AVF", "avf"]];
function notesTable(table, notes) {
  fillTable(table, [{text: "what"}, {text: "value"}], Object.entries(notes).filter(([, v]) => v !== "").map(([k, v]) => [k, make("code", null, v)]));
}

// ---- Charts --------------------------------------------------------------------------------------------------------
function theme() {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue("--" + name).trim();
  return {colour, text: colour("text"), soft: colour("soft"), line: colour("line"), card: colour("card"), mark: colour("mark"), accent: colour("accent")};
}
function base(t, width, height, description) {
  return {$schema: "https://vega.github.io/schema/vega/v5.json", width, height, description, padding: 2, autosize: {type: "fit", contains: "padding"}, background: null,
    config: {axis: {labelColor: t.text, titleColor: t.soft, gridColor: t.line, domainColor: t.soft, tickColor: t.soft, labelFontSize: 12, titleFontSize: 12,
      titleFontWeight: "normal", labelFont: "system-ui, sans-serif", titleFont: "system-ui, sans-serif"}, text: {font: "system-ui, sans-serif"}}};
}
const shareAxis = (width, title) => ({orient: "bottom", scale: "x", format: "~%", tickCount: Math.max(2, Math.floor(width / 130)), grid: true, title});
const nameAxis = (width) => ({orient: "left", scale: "y", labelLimit: Math.min(170, width * 0.35), ticks: false, labelPadding: 6});
// The interval of a row as a line with two ends. Rows have low and high.
function whiskers(y, t, from = "rows") {
  const end = (field) => ({type: "rule", from: {data: from}, encode: {enter: {x: {scale: "x", field}, y: {...y, offset: -3}, y2: {...y, offset: 3},
    stroke: {value: t.text}, strokeWidth: {value: 1.2}}}});
  return [{type: "rule", name: "intervals", from: {data: from}, encode: {enter: {x: {scale: "x", field: "low"}, x2: {scale: "x", field: "high"}, y,
    stroke: {value: t.text}, strokeWidth: {value: 1.2}, tooltip: {field: "tip"}}}}, end("low"), end("high")];
}
// Rows {name, part, value, low, high, tip}: a group of bars for each name, a bar for each part; parts are {key, colour}.
function groupedBars(t, width, rows, names, parts, title) {
  const band = Math.max(20, parts.length * 12 + 8);
  return {...base(t, width, names.length * band + 46, title), data: [{name: "rows", values: rows}, {name: "spread", source: "rows", transform: [{type: "filter", expr: "datum.low < datum.high"}]}],
    scales: [{name: "x", type: "linear", domain: {data: "rows", field: "high"}, range: "width", zero: true, nice: true},
      {name: "y", type: "band", domain: names, range: [0, {signal: "height"}], padding: 0.18},
      {name: "inner", type: "band", domain: parts.map((p) => p.key), range: [0, {signal: "bandwidth('y')"}], paddingInner: 0.1},
      {name: "colour", type: "ordinal", domain: parts.map((p) => p.key), range: parts.map((p) => p.colour)}],
    axes: [shareAxis(width, title), nameAxis(width)],
    marks: [{type: "rect", name: "bars", from: {data: "rows"}, encode: {enter: {x: {scale: "x", value: 0}, x2: {scale: "x", field: "value"},
        y: {signal: "scale('y', datum.name) + scale('inner', datum.part)"}, height: {scale: "inner", band: 1}, fill: {scale: "colour", field: "part"},
        tooltip: {field: "tip"}}}},
      ...whiskers({signal: "scale('y', datum.name) + scale('inner', datum.part) + bandwidth('inner') / 2"}, t, "spread")]};
}
const charts = []; // {id, make(theme, width), empty(): text or null}
// The browser's own tooltip needs no style and no script.
function nativeTooltip(handler, event, item, value) {
  event?.target?.closest(".chart")?.setAttribute("title", value ?? ""); // no event: the chart is taken away
}
// As a picture for a paper: on white, in print's colours.
async function save(chart, type) {
  const view = new vega.View(vega.parse({...chart.make(paperTheme(), 720), background: "#ffffff"}), {renderer: "none"});
  const link = make("a", {href: await view.toImageURL(type, type === "png" ? 3 : 1), download: chart.id + "." + type});
  link.click();
  view.finalize();
  return link;
}
function paperTheme() {
  const fixed = {text: "#1a1f26", soft: "#565f6b", line: "#d7dce2", card: "#ffffff", mark: "#eef2f7", accent: "#1257a8", masked: "#818b97", performance: "#1f7fbf",
    sdc: "#c2330b", due: "#6a2fb0", detected: "#96660a", corrected: "#0a7a58", internal: "#111111", avf: "#1257a8"};
  return {colour: (name) => fixed[name] || "#1257a8", ...fixed};
}
function saveButtons(chart) {
  const button = (type) => {
    const b = make("button", {type: "button", class: "plain", "data-save": chart.id + "." + type}, type.toUpperCase());
    b.addEventListener("click", () => save(chart, type).then(() => { b.dataset.saved = "yes"; }));
    return b;
  };
  return make("div", {class: "save"}, button("svg"), button("png"));
}
const NO_VEGA = "No chart: this Redoubt was built without Vega. Install Debian's package libjs-vega and build it again. The tables hold the same numbers.";
function drawChart(chart, t) {
  const box = $(chart.id), why = chart.empty() ?? (globalThis.vega ? null : NO_VEGA);
  if (chart.view) chart.view.finalize();
  chart.view = null;
  box.parentElement.querySelector(".save")?.remove();
  if (why) {
    box.replaceChildren(make("p", {class: "empty"}, why));
    box.dataset.drawn = "empty";
    return;
  }
  chart.width = Math.max(240, Math.floor(box.clientWidth));
  box.replaceChildren();
  chart.view = new vega.View(vega.parse(chart.make(t, chart.width)), {renderer: "svg", container: box, hover: false, tooltip: nativeTooltip}).run();
  box.dataset.drawn = "chart";
  box.after(saveButtons(chart));
}
function draw() {
  const t = theme();
  for (const chart of charts) drawChart(chart, t);
  document.body.dataset.ready = "yes";
}
let redraw = 0;
addEventListener("resize", () => {
  clearTimeout(redraw);
  redraw = setTimeout(() => { if (charts.some((c) => c.view && Math.floor($(c.id).clientWidth) !== c.width)) draw(); }, 120);
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
matchMedia("print").addEventListener("change", draw);
