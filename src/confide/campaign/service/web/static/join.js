// The code stands behind the # of the link: no server, log or referrer ever sees it. It is moved into the form, and out
// of the address, before anything else. Where this browser takes part already, whoever sits before it sends the form.
"use strict";
const code = decodeURIComponent(location.hash.slice(1));
if (code) {
  history.replaceState(null, "", location.pathname);
  document.getElementById("code").value = code;
  const form = document.getElementById("join");
  if (!form.dataset.ask) form.requestSubmit();
}
