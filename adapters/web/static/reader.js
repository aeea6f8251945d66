// @ts-check
// Tells the browser's other pages who reads this one: pages of another reader must not show their cards any longer.

const CHANNEL = "buongioco-reader";
const { reader } = document.documentElement.dataset;

if (reader !== undefined) {
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage(reader);
  channel.close();
}

/** Call `then` when another page names another reader, "" for a stranger. @param {() => void} then */
export function onOtherReader(then) {
  new BroadcastChannel(CHANNEL).onmessage = ({ data }) => { if (data !== reader) then(); };
}
