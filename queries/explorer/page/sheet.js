// A sheet of boards to print, with lines to write on, and the answers on a second page.
import { counted, make, setOptions } from "#page/dom.js";

const TRIES = 40; // for each board: some levels have few
/** The part of a page of A4 or Letter that the boards can have, and what lies between them, in centimetres. */
const [WIDTH, HEIGHT] = [18, 20];
const [BESIDE, BELOW] = [0.9, 0.5];
const BLANK = { width: 2.2, height: 0.7 };

/**
 * Make the part of a view that shows a sheet; the tools are those of the view's modes. Each board is an item, a text;
 * what all boards of a sheet have in common is its `about`, a text too, for a new sheet `about(place)`. A `puzzle` has
 *
 * - `title(about)`, the `task` of its boards and the `key` to their answers, how many boards a sheet has (`usual`, `most`),
 *   and the width of a board divided by its height (`ratio(about)`);
 * - the `levels(about)` of difficulty, and `draw(about, level)`, a random item; null if none can be found;
 * - of an item: its `problem`, `name`, `picture`, `blanks` to write in, and its `answer`, a text, which is a picture on the
 *   sheet if there is `drawAnswer`;
 * - or not: the picture beside the task, `aim(about)`, the `place(about, items)` that the other modes show after it, and
 *   `expand(text)`, what the text in an address means that the boards have in common.
 */
export function makeSheet(puzzle, { name: view, mine: find, now, changed, change, enter }) {
  const mine = (part) => find(`sheet-${part}`);
  const aboutNew = () => puzzle.about(now().place);
  const at = { about: "", items: [] };

  function parts() {
    return [...(at.about ? [at.about] : []), at.items.join(",")];
  }

  /** Return how many boards stand side by side, and their width, so that they are as large as a page allows. */
  function measure() {
    const blanks = Math.max(...at.items.map((item) => puzzle.blanks(at.about, item).length));
    const sizes = at.items.map((_, beside) => {
      const across = beside + 1;
      const column = WIDTH / across - BESIDE;
      const rows = Math.ceil(blanks / Math.max(1, Math.floor(column / BLANK.width)));
      const row = HEIGHT / Math.ceil(at.items.length / across) - BELOW - rows * BLANK.height;
      return { across, width: Math.min(column, row * puzzle.ratio(at.about)) };
    });
    return sizes.reduce((best, size) => (size.width > best.width ? size : best));
  }

  function picture(drawing, label) {
    drawing.setAttribute("role", "img");
    drawing.setAttribute("aria-label", label);
    return drawing;
  }

  function paint() {
    const { about, items } = at;
    const { across, width } = measure();
    const list = (part, isDrawn, content) => {
      mine(part).className = isDrawn ? "sheet-boards" : "sheet-answers";
      mine(part).style.setProperty("--across", across);
      mine(part).style.setProperty("--width", `${width.toFixed(2)}cm`);
      mine(part).replaceChildren(...items.map((item) => make("li", {}, ...content(item))));
    };
    mine("title").textContent = puzzle.title(about);
    mine("task").textContent = puzzle.task;
    mine("key").textContent = puzzle.key;
    mine("aim").replaceChildren(
      ...(puzzle.aim ? [picture(puzzle.aim(about), "The board to reach")] : []),
    );
    list("boards", true, (item) => [
      picture(puzzle.picture(about, item), puzzle.name(about, item)),
      make(
        "p",
        { class: "blanks" },
        ...puzzle.blanks(about, item).map((label) => make("span", {}, label)),
      ),
    ]);
    list("answers", puzzle.drawAnswer, (item) => [
      puzzle.drawAnswer
        ? picture(puzzle.drawAnswer(about, item), puzzle.answer(about, item))
        : puzzle.answer(about, item),
    ]);
  }

  /** List the levels of new sheets. */
  function lay() {
    const levels = puzzle.levels(aboutNew());
    mine("count").max = puzzle.most;
    mine("count").value ||= puzzle.usual;
    setOptions(mine("level"), levels);
    mine("level").hidden = mine("level").labels[0].hidden = !levels.length;
  }

  /** Return some random items: fewer than asked for if there are no more, none if they cannot be found. */
  async function draw(about, count) {
    const items = new Set();
    for (let left = TRIES * count; left && items.size < count; left--) {
      const item = await puzzle.draw(about, mine("level").value);
      if (item === null) break;
      items.add(item);
    }
    return [...items];
  }

  /** Change to a sheet of other boards, unless the user goes elsewhere meanwhile. */
  async function deal(about) {
    const count = Math.max(1, Math.min(puzzle.most, Math.round(Number(mine("count").value)) || 1));
    const address = location.hash;
    mine("make").textContent = "Making the sheet…";
    const items = await draw(about, count);
    mine("make").textContent = "Make a sheet";
    if (!items.length || location.hash !== address) return;
    enter("sheet");
    Object.assign(at, { about, items });
    mine("few").textContent =
      items.length < count
        ? `There ${items.length === 1 ? "is" : "are"} only ${counted(items.length, "board")}${mine("level").value && " of this difficulty"}.`
        : "";
    paint();
    changed(parts());
  }

  /** Return what the parts of an address describe: what the boards have in common, and their items. */
  function read(given) {
    const [about = "", text = ""] = puzzle.expand ? given : ["", ...given];
    return { about: puzzle.expand?.(about) ?? "", items: text.split(",").filter(Boolean) };
  }

  mine("make").addEventListener("click", () => deal(aboutNew()));
  mine("other").addEventListener("click", () => deal(at.about));
  mine("print").addEventListener("click", () => print());
  mine("close").addEventListener("click", () => change("play"));

  return {
    lay,
    parts,
    read,
    /** Return why an address describes no sheet; "" if it does. */
    problem(given) {
      const { about, items } = read(given);
      const bad = items.map((item) => puzzle.problem(about, item)).find(Boolean);
      return (
        bad ||
        (items.length && items.length <= puzzle.most
          ? ""
          : `A sheet has 1 to ${puzzle.most} boards, not ${items.length}.`)
      );
    },
    /** Show a sheet that an address describes. */
    show({ about, items }) {
      Object.assign(at, { about, items });
      mine("few").textContent = "";
      paint();
      changed(parts(), { replace: true });
      return "";
    },
    learn: paint,
    get place() {
      return puzzle.place?.(at.about, at.items);
    },
    get whole() {
      const { about, items } = at;
      const text = items
        .map((item, number) => `${number + 1}  ${item}  ${puzzle.answer(about, item)}\n`)
        .join("");
      return { text, picture: puzzle.picture(about, items[0]), name: `${view}-sheet` };
    },
    title: () => `sheet of ${counted(at.items.length, "board")}`,
  };
}
