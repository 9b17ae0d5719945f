// The code stands behind the # of the link: no server, log or referrer ever sees it. It is moved into the form, and out
// of the address, before anything else. Where this browser takes part already, whoever sits before it sends the form.
"use strict";
let code = location.hash.slice(1);
try {
  code = decodeURIComponent(code);
} catch { /* a link that was broken on its way leaves the address too; the service says that it knows no such code */ }
if (code) {
  history.replaceState(null, "", location.pathname);
  document.getElementById("code").value = code;
  const form = document.getElementById("join");
  if (!form.dataset.ask) form.requestSubmit();
}
