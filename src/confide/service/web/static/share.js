// The report that left this device is still kept on it, for the participant alone: it is filled in here.
const again = document.getElementById("again");

function fill({ row }) {
  for (const [column, text] of Object.entries(row)) {
    for (const field of again.querySelectorAll("input")) {
      if (field.name !== `field.${column}`) continue;
      if (field.type === "radio") field.checked = field.value === text;
      else field.value = text;
    }
    document.getElementById("from-device").hidden = false;
  }
}

const asked = indexedDB.open("confide", 1); // as device.js keeps it
asked.onupgradeneeded = () => asked.result.createObjectStore("kept");
asked.onsuccess = () => {
  const kept = again.dataset.kept;
  const found = asked.result.transaction("kept").objectStore("kept").getAll(IDBKeyRange.bound(kept, `${kept}\uffff`));
  found.onsuccess = () => found.result.forEach(fill);
};
