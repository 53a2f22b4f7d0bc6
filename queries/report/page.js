// Copies the numbers below a chart, and makes CSV files of them. Without scripts the tables remain.
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
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([format(",", quote)], { type: "text/csv" }));
    link.download = `${box.dataset.name}.csv`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  });
}
