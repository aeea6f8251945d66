// @ts-check
// Requests to the interface for programs.

/** Return the JSON of an answer. A refused request throws an error with the reason. @param {string} path @param {RequestInit} [options] */
export async function fetchJson(path, options) {
  const answer = await fetch(path, options);
  if (!answer.ok) throw new Error((await answer.json()).detail);
  return answer.json();
}

/** @param {string} path @param {object} body @param {AbortSignal} [signal] */
export const postJson = (path, body, signal) => fetchJson(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal });
