// Whoever has this device forget her takes along what it kept for her.
const leaving = document.getElementById("leave");
leaving.addEventListener("submit", () => {
  for (const name of Object.keys(localStorage)) {
    if (name.startsWith(leaving.dataset.kept)) localStorage.removeItem(name);
  }
});
