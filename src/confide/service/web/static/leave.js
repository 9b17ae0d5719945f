// Whoever has this device forget her takes along what it kept for her. She leaves in any case.
const leaving = document.getElementById("leave");

/** Delete what device.js keeps for her, and nobody else's. */
function forget() {
  return new Promise((done, failed) => {
    const asked = indexedDB.open("confide", 1);
    asked.onupgradeneeded = () => asked.result.createObjectStore("kept");
    asked.onerror = failed;
    asked.onsuccess = () => {
      const transaction = asked.result.transaction("kept", "readwrite");
      const hers = leaving.dataset.kept;
      transaction.objectStore("kept").delete(IDBKeyRange.bound(hers, `${hers}\uffff`));
      transaction.oncomplete = done;
      transaction.onabort = failed;
    };
  });
}

leaving.addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    await forget();
  } catch { /* a browser that keeps nothing has nothing of hers */ }
  leaving.submit();
});
