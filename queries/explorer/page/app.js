// The page: its views, and the address, which has the name of the visible view and its contents.
import { byId, make, quoted } from "#page/dom.js";
import { makeTakeAway } from "#page/take_away.js";
import { CONSOLE, VIEWS } from "#page/views.js";

const NAMES = Object.keys(VIEWS).filter((name) => VIEWS[name].make);
const views = {};
let showing = null;
let routes = 0;

/** Write what a view shows into the address: as a new entry of the history, or in place of this one. */
function went(name, parts, { replace = false } = {}) {
  const address = `#${[name, ...parts].join("/")}`;
  if (showing !== name) return;
  trouble("");
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

/** Return why the page has no view of a name; "" if it has, or if there is no name. */
function missing(name) {
  if (name === undefined || NAMES.includes(name)) return "";
  const command = Object.hasOwn(VIEWS, name) ? VIEWS[name].command : "";
  const add = command ? ` To add it: ${command}, then pipeline explore.` : "";
  return `This page has no puzzle ${quoted(name)}. It has ${NAMES.map((one) => VIEWS[one].title).join(", ")}.${add}`;
}

async function route() {
  const [asked, ...parts] = addressed();
  const problem = missing(asked);
  const name = problem || asked === undefined ? NAMES[0] : asked;
  const left = showing;
  const mine = ++routes;
  showing = name;
  if (left !== name) views[left]?.leave();
  for (const section of document.querySelectorAll(".view")) section.hidden = section.id !== `view-${name}`;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.view === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  trouble(problem);
  try {
    views[name] ??= makeView(name);
    await views[name].open(problem ? [] : parts);
    // the user may have gone to another address while this one was loading
    if (mine !== routes) return;
    const wrong = await views[name].show(problem ? [] : parts);
    if (mine !== routes) return;
    trouble(problem || wrong || "");
    performance.mark(name);
    document.body.dataset.ready = name;
    await views[name].complete?.();
    document.body.dataset.whole = name;
  } catch (error) {
    if (mine !== routes) return;
    trouble(`This page is damaged: ${error.message} Make it again with: pipeline explore`);
  }
}

function makeView(name) {
  const view = VIEWS[name].make((shown, how) => went(name, shown, how));
  makeTakeAway(byId(`view-${name}`), view.taken);
  return view;
}

function trouble(text) {
  byId("trouble").textContent = text;
  byId("trouble").hidden = !text;
}

document.querySelector("nav").replaceChildren(...NAMES.map((name) => (
  make("a", { href: `#${name}`, "data-view": name }, VIEWS[name].title)
)));

byId("skip").addEventListener("click", (event) => {
  event.preventDefault();
  const board = byId(views[showing].board);
  (board.tabIndex === 0 ? board : board.querySelector("button[tabindex='0']")).focus();
});

addEventListener("hashchange", route);
route();

globalThis.explorer = CONSOLE;
