const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  return crc;
});

/**
 * Return the CRC-32 of consecutive parts, as zlib computes it.
 * @param {...Uint8Array} parts
 * @returns {number}
 */
export function crc32(...parts) {
  let crc = ~0;
  for (const bytes of parts) for (const byte of bytes) crc = (crc >>> 8) ^ TABLE[(crc ^ byte) & 255];
  return ~crc >>> 0;
}
