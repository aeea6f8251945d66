// @ts-check
// Whoever plays is known by a cookie: a browser that blocks them is told so before it opens a table. In another site's
// frame other rules hold, so there only the bot looks.

/** Whether a cookie can be kept: browsers that block them say nothing of that in navigator.cookieEnabled. */
function keepsCookies() {
  const probe = "buongioco_probe=1";
  document.cookie = `${probe}; SameSite=Lax; Max-Age=5`;
  const isKept = document.cookie.split("; ").includes(probe);
  document.cookie = "buongioco_probe=; Max-Age=0";
  return isKept;
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
