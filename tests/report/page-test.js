// Uses the page as a reader would, by events, and says what it saw. page.sh appends it to a page.
"use strict";
(async () => {
  const found = {};
  const tick = () => new Promise((done) => setTimeout(done, 20));
  const rows = () => [...document.querySelectorAll("#faults tbody tr")];
  const outcomes = () => [...new Set(rows().map((r) => r.querySelector(".outcome").textContent))].sort().join("+");
  const choose = (id, value, event) => { const at = document.getElementById(id); at.value = value; at.dispatchEvent(new Event(event, {bubbles: true})); };
  const count = () => document.getElementById("found").textContent;
  const ids = () => rows().slice(0, 3).map((r) => r.dataset.id).join(",");
  for (const id of ["fit", "avf", "outcomes", "time", "breakdown"]) {
    const box = document.getElementById(id);
    found["chart." + id] = box.dataset.drawn;
    found["marks." + id] = box.querySelectorAll("svg .mark-rect path").length;
    const svg = box.querySelector("svg");
    found["fits." + id] = svg === null || svg.getBoundingClientRect().width <= document.documentElement.clientWidth;
  }
  found["source"] = document.getElementById("lines").dataset.drawn;
  found["source.rows"] = document.querySelectorAll("#lines tr[data-line]").length;
  choose("source-part", "all", "change");
  found["source.all"] = document.querySelectorAll("#lines tr[data-line]").length;
  found["source.hot"] = document.querySelectorAll("#lines tr.hot").length > 0;
  choose("by", "pattern", "change");
  found["by.pattern"] = [...document.querySelectorAll("#breakdown-table tbody tr td:first-child")].map((c) => c.textContent).sort().join("+");
  choose("by", "bit", "change");
  found["by.bit"] = document.querySelectorAll("#breakdown-table tbody tr").length;
  const saves = [...document.querySelectorAll('[data-save="avf.svg"], [data-save="avf.png"]')];
  saves.forEach((b) => b.click());
  for (let i = 0; i < 50 && saves.some((b) => b.dataset.saved !== "yes"); i++) await tick();
  found["saved"] = saves.filter((b) => b.dataset.saved === "yes").length;
  found["unfinished"] = document.getElementById("unfinished").textContent.split("\n")[0];
  found["page.wide"] = document.documentElement.scrollWidth <= document.documentElement.clientWidth;
  found["table.all"] = count();
  found["table.rows"] = rows().length;
  choose("outcome", "group:sdc", "change");
  found["filter.group"] = outcomes();
  found["filter.count"] = count();
  choose("structure", "rf", "change");
  found["filter.structure"] = rows().every((r) => r.textContent.includes("flip:rf["));
  choose("search", "SM=3, line", "input");
  found["filter.none"] = count();
  document.querySelector("#tools button[type=reset]").click();
  await tick();
  found["filter.reset"] = count();
  choose("search", "bit=1] second_kernel", "input");
  found["search.hits"] = rows().every((r) => r.textContent.includes("bit=1]") && r.textContent.includes("second_kernel"));
  found["search.count"] = count();
  choose("search", "", "input");
  const head = (key) => document.querySelector('#faults th[data-key="' + key + '"]');
  head("id").querySelector("button").click();
  found["sort.up"] = ids();
  head("id").querySelector("button").click();
  found["sort.down"] = ids();
  found["sort.aria"] = head("id").getAttribute("aria-sort");
  head("id").querySelector("button").click();
  document.getElementById("next").click();
  found["page.second"] = ids();
  found["page.label"] = document.getElementById("page").textContent;
  document.getElementById("back").click();
  found["page.first"] = ids();
  const copy = rows()[0]?.querySelector("button.copy");
  found["replay"] = copy?.dataset.command;
  copy?.click();
  await tick();
  found["copied"] = copy?.textContent;
  found["title"] = document.getElementById("title").textContent;
  found["sentence"] = /^Of [0-9,]+ bit flips in /.test(document.getElementById("sentence").textContent);
  found["cards"] = document.querySelectorAll(".card").length;
  found["ready"] = document.body.dataset.ready;
  const text = "\n" + Object.entries(found).map(([key, value]) => "FOUND " + key + "=" + value).join("\n") + "\n";
  if (parent === window) {
    const list = document.createElement("pre");
    list.textContent = text;
    document.body.append(list);
  } else {
    parent.postMessage(text, "*"); // in a frame as wide as a phone
  }
})();
