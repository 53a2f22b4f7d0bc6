// The reader of what the page carries, each thing compressed. Of .idx files (docs/index-format.md:
// a 64-byte header, then fixed-width records) the bytes are sorted by their place in the record;
// here the true records are put together again, and the file's own checksum has to agree.

const HEADER = 64;
const CRC_AT = 60;

// four tables: a checksum of six million bytes goes four bytes at a time
const CRC_TABLES = Array.from({ length: 4 }, () => new Uint32Array(256));
for (let byte = 0; byte < 256; byte++) {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  CRC_TABLES[0][byte] = crc;
}
for (let table = 1; table < 4; table++) {
  for (let byte = 0; byte < 256; byte++) {
    const crc = CRC_TABLES[table - 1][byte];
    CRC_TABLES[table][byte] = (crc >>> 8) ^ CRC_TABLES[0][crc & 255];
  }
}

/** The CRC-32 of parts that follow one another. */
function crc32(...parts) {
  const [one, two, three, four] = CRC_TABLES;
  let crc = ~0;
  for (const bytes of parts) {
    let at = 0;
    for (; at + 4 <= bytes.length; at += 4) {
      crc ^= bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
      crc = four[crc & 255] ^ three[(crc >>> 8) & 255] ^ two[(crc >>> 16) & 255] ^ one[crc >>> 24];
    }
    for (; at < bytes.length; at++) crc = (crc >>> 8) ^ one[(crc ^ bytes[at]) & 255];
  }
  return ~crc >>> 0;
}

/**
 * An index of the page: its header and records; throws if it is not sound. `check` compares the
 * checksum; it is left to the caller where bytes have to be restored first.
 */
export async function openIndex(name, width, count, { unchecked = false } = {}) {
  const sound = (so, problem) => mustBe(so, `${name}.idx`, problem);
  const payload = await carried(`${name}.idx`);
  const header = payload.subarray(0, HEADER);
  const fields = new DataView(payload.buffer, 0, HEADER);
  const text = (from, to) => String.fromCharCode(...header.subarray(from, to));
  sound(text(0, 4) === "PTIX", "not an index");
  sound(fields.getUint16(4, true) === 1, "not of format version 1");
  sound(text(12, 28) === name.padEnd(16, "\0"), "the index of another table");
  sound(fields.getUint16(6, true) === width && fields.getUint32(8, true) === count, "of another size");
  const records = new Uint8Array(width * count);
  for (let plane = 0, from = HEADER; from < payload.length; plane++, from += count) {
    for (let at = 0, to = plane; at < count; at++, to += width) records[to] = payload[from + at];
  }
  const check = () => {
    const crc = crc32(header.subarray(0, CRC_AT), records);
    sound(crc === fields.getUint32(CRC_AT, true), "damaged: its checksum is wrong");
  };
  if (!unchecked) check();
  return { header, records, check };
}

/** What the page carries under a name, unpacked. */
export async function carried(name) {
  const block = document.getElementById(name);
  mustBe(block, name, "missing");
  try {
    const packed = Uint8Array.from(atob(block.textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  } catch {
    return mustBe(false, name, "damaged");
  }
}

/** Throws unless something that the page carries is sound. */
export function mustBe(sound, name, problem) {
  if (!sound) throw new Error(`${name}, inside this page, is ${problem}.`);
}
