// @ts-check
// Checks shuffles in the reader's browser; docs/fairness.md describes the method.

/** The order of new packs by their number of cards. @type {Record<number, [suits: string, ranks: string]>} */
const NEW_PACKS = { 40: ["DCSB", "A234567FCR"], 52: ["CDHS", "23456789TJQKA"] };

/** Browsers offer WebCrypto only on https and on localhost. */
export class NoWebCrypto extends Error {}

/** @param {Uint8Array<ArrayBuffer>} bytes @returns {Promise<Uint8Array>} */
async function sha256(bytes) {
  if (!globalThis.crypto?.subtle) throw new NoWebCrypto("Browsers can check shuffles only on pages with https.");
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

/** @param {string} hex 64 digits, otherwise RangeError @returns {Uint8Array<ArrayBuffer>} 32 bytes */
function fromHex(hex) {
  if (!/^[0-9a-f]{64}$/.test(hex)) throw new RangeError("A secret has 64 hexadecimal digits.");
  return Uint8Array.from(hex.match(/../g) || [], (pair) => parseInt(pair, 16));
}

/** @param {Uint8Array} bytes @returns {string} */
const toHex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** Return the seal shown before the first card, in hex. @param {string} secret in hex @returns {Promise<string>} */
export async function commitment(secret) {
  return toHex(await sha256(fromHex(secret)));
}

/** Yield the bytes of SHA-256(secret, purpose, counter) for counter 0, 1, 2, … as four big-endian bytes.
 * @param {string} secret in hex @param {string} purpose @returns {AsyncGenerator<number>} */
async function* stream(secret, purpose) {
  const head = [...fromHex(secret), ...new TextEncoder().encode(purpose)];
  const message = new Uint8Array(head.length + 4);
  message.set(head);
  for (let counter = 0; ; counter++) {
    new DataView(message.buffer).setUint32(head.length, counter);
    yield* await sha256(message);
  }
}

/** Mix a player's cut into a secret. @param {string} secret in hex @param {string} cut @returns {Promise<string>} in hex */
async function withCut(secret, cut) {
  return toHex(await sha256(Uint8Array.from([...fromHex(secret), ...new TextEncoder().encode(`cut:${cut}`)])));
}

/** Return the pack that follows from a secret, first card first: an unbiased Fisher-Yates shuffle from the front.
 * @param {string} secret in hex, after any cut
 * @param {number} size 40 Italian or 52 French cards, otherwise RangeError
 * @returns {Promise<string[]>} codes, such as "3D" */
export async function shuffled(secret, size) {
  if (!(size in NEW_PACKS)) throw new RangeError(`No pack has ${size} cards.`);
  const [suits, ranks] = NEW_PACKS[size];
  const pack = [...suits].flatMap((suit) => [...ranks].map((rank) => rank + suit));
  let index = 0;
  for await (const byte of stream(secret, "shuffle")) {
    const remaining = pack.length - index;
    // Higher bytes would favour low numbers.
    if (byte >= 256 - (256 % remaining)) continue;
    const otherIndex = index + (byte % remaining);
    [pack[index], pack[otherIndex]] = [pack[otherIndex], pack[index]];
    if (++index === pack.length - 1) break;
  }
  return pack;
}

/** Return the seat of the first dealer.
 * @param {string} secret of the game's first deal, in hex @param {number} seats @returns {Promise<number>} */
export async function firstDealer(secret, seats) {
  for await (const byte of stream(secret, "dealer")) if (byte < 256 - (256 % seats)) return byte % seats;
  throw new Error("The stream of bytes has no end.");
}

/** Check whether a deal's secret matches its seal, and whether its pack follows from secret and cut. `wrongPlaces` lists the
 * places that differ.
 * @param {{pack: string[], proof: {commitment: string, secret: string, cut?: string}}} deal
 * @returns {Promise<{commitment: boolean, pack: boolean, wrongPlaces: number[]}>} */
export async function checkDeal({ pack, proof }) {
  const expected = await shuffled(proof.cut ? await withCut(proof.secret, proof.cut) : proof.secret, pack.length);
  const wrongPlaces = expected.flatMap((card, index) => (card === pack[index] ? [] : [index]));
  return { commitment: (await commitment(proof.secret)) === proof.commitment, pack: !wrongPlaces.length, wrongPlaces };
}
