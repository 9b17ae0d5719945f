// The code stands behind the # of the link, so it is in no request for the page, no log and no referrer. It is moved into
// the form, which posts it, and out of the address, before anything else. Where this browser takes part already, the person at it sends the form.
// A link that is followed where this page is shown already changes what stands behind the # alone, and loads nothing.
"use strict";

/** Take the code out of the address, if there is one. */
function take() {
  let code = location.hash.slice(1);
  try {
    code = decodeURIComponent(code);
  } catch { /* a link that was broken on its way leaves the address too; the service says that it knows no such code */ }
  if (!code || code === "main") return; // what the link past the menu leads to
  history.replaceState(null, "", location.pathname);
  document.querySelector("main > .problem")?.remove(); // it was about another code
  document.getElementById("code").value = code;
  const form = document.getElementById("join");
  if (!form.dataset.ask) form.requestSubmit();
}

addEventListener("hashchange", take);
take();
