// The page: its views, and the address, which has the name of the visible view and its contents.
import { byId } from "#page/dom.js";
import { EIGHT, openEight } from "#page/eight.js";
import { BOARDS } from "#page/knight.js";
import { firstTour, knightFacts, openKnight, toursFrom } from "#page/knight_tours.js";
import { makeKnightView } from "#page/knight_view.js";
import { senetFacts, wholeSenet } from "#page/senet.js";
import { makeSenetView } from "#page/senet_view.js";
import { makeSlideView } from "#page/slide_view.js";
import { SLIDING } from "#page/sliding.js";

const MAKERS = {
  eight: (went) => makeSlideView("eight", { "3x3": EIGHT }, went),
  senet: makeSenetView,
  knight: makeKnightView,
};
if (Object.keys(SLIDING).length) MAKERS.sliding = (went) => makeSlideView("sliding", SLIDING, went);
const views = {};
let showing = null;
let routes = 0;

/** Write what a view shows into the address: as a new entry of the history, or in place of this one. */
function went(name, parts, { replace = false } = {}) {
  const address = `#${[name, ...parts].join("/")}`;
  if (showing !== name) return;
  if (location.hash !== address) {
    history[replace ? "replaceState" : "pushState"](null, "", address);
  }
  // a link back to the view restores what it showed
  document.querySelector(`nav [data-view=${name}]`).setAttribute("href", address);
  document.title = `${views[name].title()} · ${views[name].name}`;
}

function addressed() {
  const parts = location.hash.slice(1).split("/").map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
  while (parts.at(-1) === "") parts.pop();
  return parts;
}

async function route() {
  const [asked = "eight", ...parts] = addressed();
  const name = Object.hasOwn(MAKERS, asked) ? asked : "eight";
  const left = showing;
  const mine = ++routes;
  showing = name;
  if (left !== name) views[left]?.leave();
  for (const section of document.querySelectorAll(".view")) section.hidden = section.id !== `view-${name}`;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.view === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  trouble("");
  try {
    views[name] ??= MAKERS[name]((shown, how) => went(name, shown, how));
    await views[name].open(name === asked ? parts : []);
    // the user may have gone to another address while this one was loading
    if (mine !== routes) return;
    views[name].show(name === asked ? parts : []);
    performance.mark(name);
    document.body.dataset.ready = name;
    await views[name].complete?.();
    document.body.dataset.whole = name;
  } catch (error) {
    if (mine !== routes) return;
    trouble(`This page is damaged: ${error.message} Make it again with: pipeline explore`);
  }
}

function trouble(text) {
  byId("trouble").textContent = text;
  byId("trouble").hidden = !text;
}

for (const link of document.querySelectorAll("nav a")) link.hidden = !Object.hasOwn(MAKERS, link.dataset.view);

byId("skip").addEventListener("click", (event) => {
  event.preventDefault();
  const board = byId(views[showing].board);
  (board.tabIndex === 0 ? board : board.querySelector("button[tabindex='0']")).focus();
});

addEventListener("hashchange", route);
route();

/** The functions for tests, and for the browser's console. */
globalThis.explorer = Object.freeze({
  openEight, openSenet: wholeSenet, openKnight,
  eight: EIGHT.facts,
  openSliding: (board) => SLIDING[board].open(),
  sliding: (board, state, goal) => SLIDING[board].facts(state, goal),
  senet: senetFacts,
  /** Return a tour by its board, its start, and its number or its end. */
  knight(board, start, which) {
    const on = BOARDS[board];
    const from = on.numberOf(start);
    return knightFacts(on, from, typeof which === "number" ? which : firstTour(on, from, on.numberOf(which)));
  },
  knightTotal: (board, start) => toursFrom(BOARDS[board], BOARDS[board].numberOf(start)),
});
