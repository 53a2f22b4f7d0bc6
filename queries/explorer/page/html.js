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
 * `onclick=${act}`; `style` is an object. White space is as in HTML. What the user types stays.
 */
export function html(strings, ...values) {
  const take = () => values.shift();
  const open = [{ children: [] }];
  for (const [token, tag, attributes, isEmpty] of strings.join(HOLE).matchAll(TOKEN)) {
    const { children } = open.at(-1);
    if (tag) {
      const node = { tag, attributes: {}, children: [] };
      for (const [, name, text = "", hole] of attributes.matchAll(ATTRIBUTE))
        node.attributes[name] = hole ? take() : text.replaceAll(HOLE, take);
      children.push(node);
      if (!isEmpty) open.push(node);
    } else if (token.startsWith("</")) open.pop();
    else
      token
        .replace(/\s+/g, " ")
        .split(HOLE)
        .forEach((text, at) => {
          if (at) children.push(take());
          if (text) children.push(text);
        });
  }
  return open[0].children;
}

/** Give an element the described nodes. Nothing in their list keeps its position, so that nodes after it stay the same. */
export function paint(parent, nodes) {
  const wanted = nodes.flat(Infinity).map((node) => (node || node === 0 ? node : ""));
  wanted.forEach((node, at) => {
    const old = parent.childNodes[at];
    const next = node.tag ? paintElement(old, node, parent) : paintText(old, String(node));
    if (!old) parent.append(next);
    else if (next !== old) old.replaceWith(next);
  });
  while (parent.childNodes.length > wanted.length) parent.lastChild.remove();
}

function paintText(old, text) {
  if (old?.nodeType !== Node.TEXT_NODE) return document.createTextNode(text);
  if (old.data !== text) old.data = text;
  return old;
}

function paintElement(old, node, { namespaceURI }) {
  const { tag, attributes, children } = node;
  const before = old && described.get(old);
  const isSame = before?.tag === tag && before.attributes.id === attributes.id;
  const space = tag === "svg" ? SVG : namespaceURI;
  const element = isSame ? old : document.createElementNS(space, tag);
  const past = isSame ? before.attributes : {};
  described.set(element, node);
  paint(element, children);
  for (const name of Object.keys({ ...past, ...attributes }))
    if (attributes[name] !== past[name] || name === "value")
      setAttribute(element, name, attributes[name] ?? false);
  return element;
}

function setAttribute(element, name, value) {
  const isTyped = element === document.activeElement && element.matches("input:not([type=range])");
  if (name.startsWith("on")) element[name] = value || null;
  else if (name === "style")
    Object.entries(value).forEach((one) => element.style.setProperty(...one));
  else if (name === "value") element.value = isTyped ? element.value : value;
  else if (value === false) element.removeAttribute(name);
  else element.setAttribute(name, value === true ? "" : value);
}
