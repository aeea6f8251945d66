// @ts-check
// Warns players before they open a table if the browser blocks cookies. Another site's frame has other rules, so
// there only the bot checks (sign_in.py).

/** Return whether a cookie can be set: navigator.cookieEnabled is true even in some browsers that block cookies. The cookie
 * stays until the browser is closed, so that the bot need not check again. */
function keepsCookies() {
  const probe = "buongioco_probe=1";
  document.cookie = `${probe}; SameSite=Lax; path=/`;
  return document.cookie.split("; ").includes(probe);
}

const notice = document.getElementById("no-cookies");
if (notice && parent === window && !keepsCookies()) {
  notice.hidden = false;
  addEventListener("submit", (event) => {
    if (/** @type {HTMLFormElement} */ (event.target).method !== "post") return;
    event.preventDefault();
    notice.scrollIntoView({ block: "center" });
  });
}
