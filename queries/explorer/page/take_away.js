// What the user can take away of a view: the link, a text, and the board as a picture.
import { make } from "#page/dom.js";

const PNG_SCALE = 2;
/** Whether the page's address means nothing on another computer. */
export const IS_ON_DISK = location.protocol === "file:";

/**
 * Make the buttons in a view's section work. `taken()` returns the view's `text`, its `picture` (an SVG
 * element) and the `name` of its files.
 */
export function makeTakeAway(section, taken) {
  const said = section.querySelector(".taken");
  const saver = (ending, draw) => async () => {
    const { picture, name } = taken();
    save(await draw(picture), `${name}.${ending}`);
    return `${name}.${ending} is saved.`;
  };
  const takers = {
    async link() {
      const text = IS_ON_DISK ? location.hash : location.href;
      if (!(await copyText(text))) return text;
      return IS_ON_DISK
        ? `${text} is copied: put it after the address of any copy of this page.`
        : "The link is copied.";
    },
    async text() {
      const { text } = taken();
      return (await copyText(text)) ? "The text is copied." : text;
    },
    svg: saver("svg", (picture) => new Blob([write(picture)], { type: "image/svg+xml" })),
    png: saver("png", paint),
  };
  if (IS_ON_DISK) section.querySelector("[data-take=link]").textContent = "Copy end of address";
  for (const button of section.querySelectorAll("[data-take]")) {
    button.addEventListener("click", async () => {
      said.textContent = await takers[button.dataset.take]();
    });
  }
  section.querySelector(".take").addEventListener("toggle", () => {
    said.textContent = "";
  });
}

/** Copy a text; return whether the browser did: it refuses pages that are not secure. */
export async function copyText(text) {
  return (
    navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    ) ?? false
  );
}

/** Return a picture as the text of an SVG file. */
function write(picture) {
  return new XMLSerializer().serializeToString(picture);
}

/** Paint a picture as a PNG file. */
async function paint(picture) {
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(write(picture))}`;
  await image.decode();
  const canvas = make("canvas", {
    width: PNG_SCALE * picture.getAttribute("width"),
    height: PNG_SCALE * picture.getAttribute("height"),
  });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => {
    canvas.toBlob(done, "image/png");
  });
}

function save(file, name) {
  const link = make("a", { href: URL.createObjectURL(file), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
