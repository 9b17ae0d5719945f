// What left this device is still kept on it, for her alone: it is filled in, so that she need not remember it.
const again = document.getElementById("again");
for (const name of Object.keys(localStorage)) {
  if (!name.startsWith(again.dataset.kept)) continue;
  for (const [column, text] of Object.entries(JSON.parse(localStorage.getItem(name)))) {
    for (const field of again.querySelectorAll("input")) {
      if (field.name !== `field.${column}`) continue;
      if (field.type === "radio") field.checked = field.value === text;
      else field.value = text;
    }
    document.getElementById("from-device").hidden = false;
  }
}
