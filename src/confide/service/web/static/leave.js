// A device that is asked to forget a participant deletes what it kept for them. The participant leaves in any case.
const leaving = document.getElementById("leave");

/** Delete what device.js keeps for this participant, and for nobody else. */
function forget() {
  return new Promise((done, failed) => {
    const asked = indexedDB.open("confide", 1);
    asked.onupgradeneeded = () => asked.result.createObjectStore("kept");
    asked.onerror = failed;
    asked.onsuccess = () => {
      const transaction = asked.result.transaction("kept", "readwrite");
      const kept = leaving.dataset.kept;
      transaction.objectStore("kept").delete(IDBKeyRange.bound(kept, `${kept}\uffff`));
      transaction.oncomplete = done;
      transaction.onabort = failed;
    };
  });
}

leaving.addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    await forget();
  } catch { /* a browser that keeps nothing has nothing to delete */ }
  leaving.submit();
});
