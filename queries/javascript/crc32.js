// Four tables, to take four bytes at a time: an index may have millions.
const TABLES = Array.from({ length: 4 }, () => new Uint32Array(256));
for (let byte = 0; byte < 256; byte++) {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  TABLES[0][byte] = crc;
}
for (let table = 1; table < 4; table++) {
  for (let byte = 0; byte < 256; byte++) {
    const crc = TABLES[table - 1][byte];
    TABLES[table][byte] = (crc >>> 8) ^ TABLES[0][crc & 255];
  }
}

/**
 * Return the CRC-32 of consecutive parts, as zlib computes it.
 * @param {...Uint8Array} parts
 * @returns {number}
 */
export function crc32(...parts) {
  const [one, two, three, four] = TABLES;
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
