// The address: a puzzle, a mode and what it shows, such as #eight/play?start=283104765&moves=UR.

const MODES = ["play", "study", "sheet"];

/** Return what an address names; parts that no mode knows are left alone. */
export function readAddress(hash = location.hash) {
  const [path, query] = hash.slice(1).split(/\?(.*)/s);
  const [name, mode] = path.split("/");
  return {
    name,
    mode: MODES.includes(mode) ? mode : "play",
    params: Object.fromEntries(new URLSearchParams(query)),
  };
}

/** Write an address; what is empty is left out. */
export function writeAddress(name, mode, params) {
  const given = Object.entries(params).filter(([, value]) => value);
  return `#${name}/${mode}${given.length ? `?${new URLSearchParams(given)}` : ""}`;
}
