"use strict";
const template = JSON.parse(document.getElementById("look").textContent);
for (const chart of document.querySelectorAll(".chart")) {
  const { data, layout } = JSON.parse(chart.querySelector("script").textContent);
  chart.textContent = "";
  Plotly.newPlot(chart, data, { ...layout, template }, { responsive: true, displayModeBar: false });
}
// A click on a column's head sorts the table by that column; another click turns it round.
for (const button of document.querySelectorAll("th button")) {
  button.addEventListener("click", () => {
    const head = button.parentElement;
    const body = head.closest("table").tBodies[0];
    const column = head.cellIndex;
    const way = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", way === 1 ? "ascending" : "descending");
    const key = (row) => row.cells[column].dataset.key;
    const compare = (a, b) => {
      const [one, two] = [key(a), key(b)];
      if (one === undefined || two === undefined) return (one === undefined) - (two === undefined);
      const isNumber = head.classList.contains("number");
      return way * (isNumber ? Number(one) - Number(two) : one.localeCompare(two));
    };
    body.append(...[...body.rows].sort(compare));
  });
}
