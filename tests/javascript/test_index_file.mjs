// The JavaScript package's index files: many questions at the same time, and hosts that ignore ranges. They are
// read from memory: an index of 1 + BLOCKS blocks, whose records are their own ranks.
import assert from "node:assert/strict";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";

import { crc32 } from "../../queries/javascript/index_file.js";
import { HttpSource } from "../../queries/javascript/http_source.js";
import { openTables, Tables } from "../../queries/javascript/index.js";

const [BLOCK, PER_BLOCK, BLOCKS] = [4096, 1023, 4000];
const FILE = "numbers.idx";
const [DIGEST, NEW_DIGEST] = ["07".repeat(32), "08".repeat(32)];
const MANIFEST = {
  format_version: 5,
  indexes: { [FILE]: [DIGEST] },
  tables: { numbers: [{ index: { file: FILE, bytes: BLOCK * (1 + BLOCKS), digest: DIGEST } }] },
};
/** The manifest while the index is being replaced: its newest version is not current yet. */
const BOTH = {
  ...MANIFEST,
  indexes: { [FILE]: [DIGEST, NEW_DIGEST] },
  tables: {
    numbers: [
      ...MANIFEST.tables.numbers,
      { index: { file: FILE, bytes: BLOCK, digest: NEW_DIGEST } },
    ],
  },
};

function makeIndex({ version = 3, digest = 7, added = 0 } = {}) {
  const bytes = new Uint8Array(BLOCK * (1 + BLOCKS));
  const view = new DataView(bytes.buffer);
  const seed = new Uint8Array(32).fill(9);
  bytes.set([..."PTIX"].map((letter) => letter.charCodeAt(0)));
  view.setUint16(4, version, true);
  view.setUint32(8, 4, true);
  view.setUint32(12, BLOCK, true);
  view.setBigUint64(16, BigInt(PER_BLOCK * BLOCKS), true);
  bytes.set(seed, 24);
  bytes.fill(digest, 120, 152);
  bytes.set(
    [..."numbers"].map((letter) => letter.charCodeAt(0)),
    56,
  );
  for (let number = 0; number <= BLOCKS; number++) {
    const at = BLOCK * number;
    for (let record = 0; number && record < PER_BLOCK; record++) {
      view.setUint32(at + 4 * record, PER_BLOCK * (number - 1) + record + added, true);
    }
    const formatCount = new Uint8Array(8);
    new DataView(formatCount.buffer).setUint32(0, number, true);
    view.setUint32(at + 4092, crc32(seed, formatCount, bytes.subarray(at, at + 4092)), true);
  }
  return bytes;
}

const INDEX = makeIndex();

/** Return the tables of a host, and a list of the parts of the index that it has sent. */
function openHost({ index = INDEX, manifest = MANIFEST, isWhole = false } = {}) {
  const sent = [];
  const answer = async (url, { headers }) => {
    await new Promise((done) => {
      setTimeout(done);
    });
    if (!url.endsWith(FILE)) return new Response(JSON.stringify(manifest));
    sent.push(headers.Range);
    if (isWhole) return new Response(index);
    const [first, last] = headers.Range.match(/\d+/g).map(Number);
    const range = `bytes ${first}-${last}/${index.length}`;
    return new Response(index.subarray(first, last + 1), {
      status: 206,
      headers: { "Content-Range": range, ETag: '"1"' },
    });
  };
  return {
    tables: new Tables(new HttpSource("http://example.org", { fetch: answer, retryDelays: [] })),
    sent,
  };
}

const readRecord = async (index, rank) => (await index.records([rank]))[0];
const readNumber = (record) => new DataView(record.buffer, record.byteOffset).getUint32(0, true);

test("queries at the same time are all answered, however many blocks they need", async () => {
  const index = openHost().tables.openIndex("numbers", 4);
  let next = 0;
  const walk = async () => {
    for (let step = 0; step < 20; step++) {
      const ranks = Array.from({ length: 4 }, () => (next++ * 1_234_577) % (PER_BLOCK * BLOCKS));
      assert.deepEqual((await index.records(ranks)).map(readNumber), ranks);
      assert.deepEqual((await index.records([ranks[0], ranks[0] + 1])).map(readNumber), [
        ranks[0],
        ranks[0] + 1,
      ]);
    }
  };
  await Promise.all(Array.from({ length: 60 }, walk));
});

test("a block is requested once for all questions that wait for it", async () => {
  const { tables, sent } = openHost();
  const index = tables.openIndex("numbers", 4);
  const far = PER_BLOCK * 900;
  await Promise.all([far, far, far + 1].map((rank) => readRecord(index, rank)));
  assert.deepEqual(sent, ["bytes=0-4095", `bytes=${901 * BLOCK}-${902 * BLOCK - 1}`]);
});

test("a host that ignores ranges sends a file once", async () => {
  const { tables, sent } = openHost({ isWhole: true });
  const ranks = [0, PER_BLOCK * 900, PER_BLOCK * 2000, PER_BLOCK * 3999];
  const index = tables.openIndex("numbers", 4);
  const [records] = await Promise.all([
    index.records(ranks),
    index.records(ranks.slice(2)),
    readRecord(index, 9),
  ]);
  assert.equal(records.length, 4);
  await readRecord(index, PER_BLOCK * 3000);
  assert.equal(sent.length, 1);
});

test("a failed question does not keep later ones from an answer", async () => {
  const { tables } = openHost();
  const { fetch } = tables.source;
  tables.source.fetch = async () => new Response("", { status: 404 });
  await assert.rejects(readRecord(tables.openIndex("numbers", 4), 5), { code: 3 });
  tables.source.fetch = async (url, how) =>
    url.endsWith(FILE) ? new Response("", { status: 404 }) : fetch(url, how);
  await assert.rejects(readRecord(tables.openIndex("numbers", 4), 5), (error) => {
    assert.deepEqual([error.code, error.status], [3, 404]);
    return error.address.endsWith(`/${FILE}`);
  });
  tables.source.fetch = fetch;
  assert.equal(readNumber(await readRecord(tables.openIndex("numbers", 4), 5)), 5);
});

test("a host says how many seconds to wait, up to five", async (context) => {
  const waits = [];
  context.mock.method(globalThis, "setTimeout", (go, delay) => {
    if (delay >= 30_000) return; // the limit of a request
    waits.push(delay);
    go();
  });
  const delays = ["0", "2", "99"];
  const fetch = async () =>
    delays.length
      ? new Response("", { status: 503, headers: { "Retry-After": delays.shift() } })
      : new Response("text");
  const source = new HttpSource("http://host/tables", { fetch, retryDelays: [300, 1000, 1000] });
  assert.equal((await source.read("file")).total, 4);
  assert.deepEqual(waits, [300, 2000, 5000]);
});

test("version 0 of a file is a version", async () => {
  const index = openHost({ index: makeIndex({ version: 0 }) }).tables.openIndex("numbers", 4);
  await assert.rejects(
    readRecord(index, 0),
    /numbers\.idx cannot be used: it is of format version 0, not 3\./,
  );
  const { tables } = openHost({ manifest: { ...MANIFEST, format_version: 0 } });
  await assert.rejects(tables.listBoards(), /it is of format version 0, not 5\./);
});

test("each listed version of an index answers", async () => {
  const { tables } = openHost({ manifest: BOTH });
  const index = tables.openIndex("numbers", 4);
  assert.deepEqual(
    await Promise.all([5, 70000].map(async (rank) => readNumber(await readRecord(index, rank)))),
    [5, 70000],
  );
});

/** Return the tables of a host that publishes another build when `publish` is called, and its requests. */
function openChanging(tell) {
  const host = { index: INDEX, manifest: MANIFEST, sent: [], version: 1 };
  const newer = makeIndex({ digest: 8, added: 1 });
  const entry = { file: FILE, bytes: newer.length, digest: NEW_DIGEST };
  host.publish = () => {
    host.index = newer;
    host.manifest = {
      format_version: 5,
      indexes: { [FILE]: [NEW_DIGEST] },
      tables: { numbers: [{ index: entry }] },
    };
    host.version++;
  };
  const answer = async (url, { headers, cache }) => {
    if (!url.endsWith(FILE)) return new Response(JSON.stringify(host.manifest));
    const [first, last] = headers.Range.match(/\d+/g).map(Number);
    host.sent.push(`${headers.Range.slice(6)} ${cache}`);
    // a cache on the way has old blocks
    const isOld = host.cached?.includes(first) && cache !== "reload";
    const index = isOld ? INDEX : host.index;
    const range = `bytes ${first}-${last}/${index.length}`;
    return new Response(index.subarray(first, last + 1), {
      status: 206,
      headers: { "Content-Range": range, ...tell(isOld ? 1 : host.version) },
    });
  };
  const source = new HttpSource("http://example.org", { fetch: answer, retryDelays: [] });
  return Object.assign(host, { file: new Tables(source).openIndex("numbers", 4) });
}

const WAYS = {
  "its ETag": (version) => ({ ETag: `"${version}"` }),
  "its time": (version) => ({ "Last-Modified": `Sun, 01 Nov 2026 00:00:0${version} GMT` }),
  nothing: () => ({}),
};

for (const [name, tell] of Object.entries(WAYS)) {
  test(`records of two builds are not mixed where the host tells ${name}`, async () => {
    const host = openChanging(tell);
    const read = async (...ranks) => (await host.file.records(ranks)).map(readNumber);
    const [near, far, farther] = [5, PER_BLOCK * 900, PER_BLOCK * 2000];
    assert.deepEqual(await read(near, far), [near, far]);
    host.publish();
    assert.deepEqual(await read(near, far), [near, far], "the blocks are kept");
    assert.deepEqual(await read(near, farther), [near + 1, farther + 1]);
    assert.deepEqual(await read(near, far), [near + 1, far + 1]);
  });

  test(`a cache with old blocks is not believed where the host tells ${name}`, async () => {
    const host = openChanging(tell);
    const far = PER_BLOCK * 900;
    host.publish();
    host.cached = [BLOCK * 901];
    const [record] = await host.file.records([far]);
    assert.equal(readNumber(record), far + 1);
  });
}

test("an index of another build than the manifest lists answers nothing", async () => {
  const { tables } = openHost({ index: makeIndex({ digest: 8, added: 1 }) });
  await assert.rejects(
    readRecord(tables.openIndex("numbers", 4), 5),
    /numbers\.idx cannot be used: it is of another build than the manifest lists\./,
  );
});

test("where the host tells no version, the header is read again after each part", async () => {
  const host = openChanging(WAYS.nothing);
  assert.equal(readNumber((await host.file.records([PER_BLOCK * 900]))[0]), PER_BLOCK * 900);
  const part = `${BLOCK * 901}-${BLOCK * 902 - 1}`;
  assert.deepEqual(host.sent, ["0-4095 default", `${part} reload`, "0-4095 reload"]);
});

test("a damaged manifest means its copy", async () => {
  for (const damaged of ["{", JSON.stringify(MANIFEST).replaceAll("0707", "0708")]) {
    const { tables } = openHost();
    const { fetch } = tables.source;
    tables.source.fetch = (url, options) =>
      url.endsWith("manifest.json") ? new Response(damaged) : fetch(url, options);
    assert.equal(readNumber(await readRecord(tables.openIndex("numbers", 4), 5)), 5);
  }
});

test("this folder and the root are locations of files", () => {
  assert.deepEqual(
    [".", "/", "a/", "file:///a%20b"].map((location) => openTables(location).source.locate("x")),
    ["./x", "/x", "a/x", "/a b/x"],
  );
});

test("what is not the number of a record is refused, and 0 is one", async () => {
  const { tables } = openHost();
  const index = tables.openIndex("numbers", 4);
  assert.equal(readNumber(await readRecord(index, 0)), 0);
  for (const wrong of ["", "0", null, undefined, Number.NaN, 0.5]) {
    await assert.rejects(readRecord(index, wrong), {
      code: 2,
      message: `${JSON.stringify(wrong)} is not the number of a record.`,
    });
  }
  await assert.rejects(readRecord(index, -1), { code: 3 });
});

test("a location without a name is refused", () => {
  for (const wrong of ["", 0, null, undefined]) {
    assert.throws(() => openTables(wrong), {
      code: 2,
      message: `Tables are in a folder or at a URL, not in ${JSON.stringify(wrong)}.`,
    });
  }
});

/** Return an answer without an end, and how many bytes of it were read. */
function answerEndlessly(status, headers = {}) {
  const read = { bytes: 0, isCancelled: false };
  const body = new ReadableStream({
    pull(controller) {
      read.bytes += 1 << 20;
      if (read.bytes > 1 << 28) controller.error(new Error("too much was read"));
      controller.enqueue(new Uint8Array(1 << 20));
    },
    cancel() {
      read.isCancelled = true;
    },
  });
  return { read, response: new Response(body, { status, headers }) };
}

test("of a body without an end no more is read than is needed", async () => {
  const range = `bytes 0-8191/${BLOCK * (1 + BLOCKS)}`;
  const whole = /has more bytes, and at most 67,108,864 are read whole\./;
  const cases = [
    ["manifest.json", 200, {}, 65, whole],
    [FILE, 200, {}, 65, whole],
    [FILE, 206, { "Content-Range": range }, 2, /does not send bytes 0 to 8191 as they are/],
    [FILE, 404, {}, 2, /HTTP status 404/],
    ["manifest.json", 503, {}, 2, /HTTP status 503/],
  ];
  for (const [file, status, headers, most, message] of cases) {
    const { tables } = openHost();
    const { fetch } = tables.source;
    const { read, response } = answerEndlessly(status, headers);
    tables.source.fetch = async (url, how) => (url.endsWith(file) ? response : fetch(url, how));
    await assert.rejects(readRecord(tables.openIndex("numbers", 4), 5), { code: 3, message });
    assert.ok(read.bytes <= (most + 2) << 20, `${file} ${status}: ${read.bytes}`);
    assert.ok(read.isCancelled, `${file} ${status}`);
  }
});

test("a file without an end in a folder is not read whole", async () => {
  const folder = await mkdtemp(join(tmpdir(), "endless-"));
  try {
    const file = await open(join(folder, "manifest.json"), "w");
    await file.truncate(5_000_000_000);
    await file.close();
    await assert.rejects(readRecord(openTables(folder).openIndex("numbers", 4), 5), {
      code: 3,
      message: /manifest\.json cannot be read: it has 5,000,000,000 bytes, and at most 67,108,864 /,
    });
  } finally {
    await rm(folder, { recursive: true });
  }
});
