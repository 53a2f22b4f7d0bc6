// Copies the numbers below a chart, and saves them as CSV, the chart as SVG or PNG. Without scripts the tables remain.
const PAPER = "#fdfdfc";

function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/** Copy a picture with a background of its own, as the text of a file. */
function copyPicture(svg) {
  const copy = svg.cloneNode(true);
  const paper = document.createElementNS(svg.namespaceURI, "rect");
  for (const [key, value] of Object.entries({ width: "100%", height: "100%", fill: PAPER })) paper.setAttribute(key, value);
  copy.prepend(paper);
  return new XMLSerializer().serializeToString(copy);
}

/** Draw a picture at twice its size, as the bytes of a PNG file. */
async function drawPicture(svg) {
  const { width, height } = svg.viewBox.baseVal;
  const image = new Image(2 * width, 2 * height);
  image.src = `data:image/svg+xml,${encodeURIComponent(copyPicture(svg))}`;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height);
  canvas.getContext("2d").drawImage(image, 0, 0, image.width, image.height);
  return canvas.convertToBlob({ type: "image/png" });
}

for (const box of document.querySelectorAll(".numbers")) {
  const table = box.querySelector("table");
  const quote = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const read = (cell) => cell.dataset.value ?? cell.textContent;
  const format = (separator, finish) =>
    [...table.rows].map((row) => [...row.cells].map(read).map(finish).join(separator)).join("\n") + "\n";
  const tools = box.querySelector(".tools");
  const addButton = (text, act) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.addEventListener("click", () => act(button));
    tools.append(button);
  };
  addButton("Copy", async (button) => {
    const text = format("\t", (cell) => cell);
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(table);
      button.textContent = "Selected: copy it with the keyboard";
    }
  });
  addButton("Download CSV", () => {
    save(new Blob([format(",", quote)], { type: "text/csv" }), `${box.dataset.name}.csv`);
  });
  const pictures = [...box.closest("section").querySelectorAll(".picture svg")];
  const name = (at) => box.dataset.name + (pictures.length > 1 ? `-${at + 1}` : "");
  addButton("Save SVG", () => {
    pictures.forEach((svg, at) => save(new Blob([copyPicture(svg)], { type: "image/svg+xml" }), `${name(at)}.svg`));
  });
  addButton("Save PNG", async () => {
    for (const [at, svg] of pictures.entries()) save(await drawPicture(svg), `${name(at)}.png`);
  });
}
