// @ts-check
// The arrow in a page's bar. It leads to the page of this site from which the reader came, otherwise to the first page.
import { html } from "./view.js";

/** Pages that cannot be opened again, such as a link from a chat. */
const ONE_WAY = /^\/(in|out|app|cookies|play)\b/;

/** Return the address of the previous page; "/" if that page is on another site or cannot be opened again. */
export function previousPage() {
  if (!document.referrer) return "/";
  const { origin, pathname, search } = new URL(document.referrer);
  return origin === location.origin && pathname !== location.pathname && !ONE_WAY.test(pathname) ? pathname + search : "/";
}

/** @param {{texts: Record<string, string>}} props */
export const BackLink = ({ texts }) => {
  const address = previousPage();
  return html`<a href=${address} aria-label=${address === "/" ? texts.home : texts.back}>←</a>`;
};
