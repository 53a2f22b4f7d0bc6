// Nodes from state: `html` describes nodes by a template, and `paint` gives an element these nodes, changing only
// what differs. Text is inserted as text, never as markup.

const HOLE = "\ue000";
const TOKEN = /<\/[\w-]+\s*>|<([\w-]+)((?:\s+[\w:-]+(?:="[^"]*"|=\ue000)?)*)\s*(\/?)>|[^<]+/g;
const ATTRIBUTE = /([\w:-]+)(?:="([^"]*)"|=(\ue000))?/g;
const SVG = "http://www.w3.org/2000/svg";
const described = new WeakMap(); // by element: the description that it was painted by

/**
 * Describe nodes: tags, attributes and text, with values in between. A value may be a text, a description, a list of
 * these, or nothing. An attribute that is false, null or undefined is left out; a function handles an event, such as
 * `onclick=${act}`; `style` is an object. White space is as in HTML.
 */
export function html(strings, ...values) {
  let used = 0;
  const fill = (text) => text.replaceAll(HOLE, () => values[used++]);
  const top = { children: [] };
  const open = [top];
  for (const [token, tag, attributes, isEmpty] of strings.join(HOLE).matchAll(TOKEN)) {
    if (tag) {
      const node = { tag, attributes: {}, children: [] };
      for (const [, name, text, hole] of attributes.matchAll(ATTRIBUTE)) {
        node.attributes[name] = hole ? values[used++] : fill(text ?? "");
      }
      open.at(-1).children.push(node);
      if (!isEmpty) open.push(node);
    } else if (token.startsWith("</")) open.pop();
    else {
      const [first, ...rest] = token.replace(/\s+/g, " ").split(HOLE);
      if (first) open.at(-1).children.push(first);
      for (const text of rest) open.at(-1).children.push(values[used++], ...(text ? [text] : []));
    }
  }
  return top.children;
}

/** Give an element the described nodes. Nothing in their list keeps its place, so that nodes after it stay the same. */
export function paint(place, nodes) {
  const wanted = nodes
    .flat(Infinity)
    .map((node) => (node?.tag ? node : String(node || node === 0 ? node : "")));
  wanted.forEach((node, at) => {
    const old = place.childNodes[at];
    const next = typeof node === "string" ? paintText(old, node) : paintElement(old, node, place);
    if (next !== old) old ? old.replaceWith(next) : place.append(next);
  });
  while (place.childNodes.length > wanted.length) place.lastChild.remove();
}

function paintText(old, text) {
  if (old?.nodeType !== Node.TEXT_NODE) return document.createTextNode(text);
  if (old.data !== text) old.data = text;
  return old;
}

function paintElement(old, node, place) {
  const { tag, attributes, children } = node;
  const before = old && described.get(old);
  const isSame = before?.tag === tag && before.attributes.id === attributes.id;
  const isDrawn = tag === "svg" || place.namespaceURI === SVG;
  const element = isSame
    ? old
    : isDrawn
      ? document.createElementNS(SVG, tag)
      : document.createElement(tag);
  const past = isSame ? before.attributes : {};
  described.set(element, node);
  for (const name of Object.keys(past))
    if (!(name in attributes)) setAttribute(element, name, null);
  paint(element, children);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== past[name] || name === "value") setAttribute(element, name, value);
  }
  return element;
}

function setAttribute(element, name, value) {
  if (name.startsWith("on")) element[name] = value ?? null;
  else if (name === "style")
    Object.entries(value ?? {}).forEach((one) => element.style.setProperty(...one));
  else if (name === "value") {
    // what the user types stays
    const isTyped =
      element === document.activeElement && element.matches("input:not([type=range])");
    if (!isTyped && element.value !== String(value)) element.value = value;
  } else if (value === false || value === null || value === undefined)
    element.removeAttribute(name);
  else element.setAttribute(name, value === true ? "" : value);
}
