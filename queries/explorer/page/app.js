// The page: its views, and the address, which has the name of the visible view and its contents.
import { byId, make, quoted } from "#page/dom.js";
import { findHosted } from "#page/hosted.js";
import { canKeep } from "#page/kept.js";
import { handleKeys } from "#page/keys.js";
import { IS_ON_DISK, makeTakeAway } from "#page/take_away.js";
import { VIEWS } from "#page/views.js";

const views = {};
let showing = null;
let routes = 0;

/** Write what a view shows into the address: as a new entry of the history, or in place of this one. */
function went(name, parts, { replace = false } = {}) {
  const address = `#${[name, ...parts].join("/")}`;
  if (showing !== name) return;
  if (location.hash !== address) {
    // a search that ends leaves what was wrong with the address on view
    trouble("");
    history[replace ? "replaceState" : "pushState"](null, "", address);
  }
  // a link back to the view restores what it showed
  document.querySelector(`nav [data-view=${name}]`).setAttribute("href", address);
  document.title = `${views[name].title()} · ${views[name].name()}`;
}

function addressed() {
  const parts = location.hash
    .slice(1)
    .split("/")
    .map((part) => {
      try {
        return decodeURIComponent(part);
      } catch {
        return part;
      }
    });
  while (parts.at(-1) === "") parts.pop();
  return parts;
}

/** The names of the views that the page can show. */
const listNames = () => Object.keys(VIEWS).filter((name) => VIEWS[name].make);

/** Return why the page has no view of a name; "" if it has, or if there is no name. */
async function missing(name) {
  if (name === undefined || listNames().includes(name)) return "";
  const view = Object.hasOwn(VIEWS, name) ? VIEWS[name] : {};
  // tables beside the page may have it
  const problem = await view.findMore?.();
  listViews();
  if (view.make) return "";
  const add = view.command ? ` To add it: ${view.command}, then pipeline explore.` : "";
  const titles = listNames()
    .map((one) => VIEWS[one].title)
    .join(", ");
  return `This page has no puzzle ${quoted(name)}. It has ${titles}.${add}${problem ? ` ${problem}` : ""}`;
}

async function route() {
  const [asked, ...parts] = addressed();
  const mine = ++routes;
  const problem = await missing(asked);
  if (mine !== routes) return;
  const name = problem || asked === undefined ? listNames()[0] : asked;
  const left = showing;
  showing = name;
  if (left !== name) views[left]?.leave();
  for (const section of document.querySelectorAll(".view"))
    section.hidden = section.id !== `view-${name}`;
  markCurrent();
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
  } catch (error) {
    if (mine !== routes) return;
    trouble(
      error.name === "TablebaseError"
        ? error.message
        : `This page is damaged: ${error.message} Make it again with: pipeline explore`,
    );
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

function markCurrent() {
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.view === showing) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

/** List the views that the page can show; links that are there already keep their addresses. */
function listViews() {
  const nav = document.querySelector("nav");
  nav.replaceChildren(
    ...listNames().map(
      (name) =>
        nav.querySelector(`[data-view=${name}]`) ??
        make("a", { href: `#${name}`, "data-view": name }, VIEWS[name].title),
    ),
  );
  markCurrent();
}

/** Add what the tables beside the page have, and say what is wrong with them; the page does not wait for them. */
async function addHosted() {
  const { games, problem, isAbsent } = await findHosted();
  const boards = Object.keys(games)
    .map((board) => board.replace("x", "×"))
    .join(", ");
  byId("beside").textContent = boards
    ? `The answers of ${boards} are read from the tables beside this page.`
    : problem && !isAbsent
      ? `The tables beside this page cannot be used. ${problem}`
      : "";
  if (!boards) return;
  await VIEWS.sliding.findMore();
  listViews();
  views.sliding?.listBoards();
}

listViews();
byId("keeps").textContent = canKeep()
  ? "Results of the day, your level and whether you see the timer are kept in this browser, and sent nowhere."
  : "This browser keeps nothing for this page: results of the day and your level last until you close it.";
// the address of a file means nothing elsewhere
if (IS_ON_DISK)
  byId("share").textContent = ": its end, from # on, works in every copy of this page";

/** Return what of the board on show can have the focus. */
function findBoard() {
  const board = byId(views[showing].board);
  return board.tabIndex === 0 ? board : board.querySelector("button[tabindex='0']");
}

handleKeys(findBoard);
byId("skip").addEventListener("click", (event) => {
  event.preventDefault();
  findBoard().focus();
});

addEventListener("hashchange", route);
route();
addHosted();
