// What a participant's own device does: it draws her report, shows it, and puts it alone into the form that is sent.
//
// The form in which she types has no way to the server (method "dialog"), and is shown only once this script holds it.
// A report is drawn once: drawing again would cost her level again, so this device keeps what it drew, for her alone,
// until she has it forget her.
import { NotUsable, followInstructions } from "/static/noise.js";

const typing = document.getElementById("device");
const sending = document.getElementById("send");
const instructions = JSON.parse(typing.dataset.instructions);
const place = `confide ${typing.dataset.campaign} ${typing.dataset.who} ${typing.dataset.instructions}`;

function kept() {
  const text = localStorage.getItem(place);
  return text === null ? null : JSON.parse(text);
}

function show(row) {
  const shown = Object.values(row)[0];
  document.getElementById("leaves").textContent = shown === "" ? typing.dataset.nothing : shown;
  document.getElementById("row").replaceChildren(...Object.entries(row).map(([column, text]) => {
    const field = document.createElement("input");
    field.type = "hidden";
    field.name = `field.${column}`;
    field.value = text;
    return field;
  }));
  typing.hidden = true;
  sending.hidden = false;
  sending.querySelector("button").focus();
}

function draw(event) {
  event.preventDefault();
  const typed = {};
  for (const [name, text] of new FormData(typing)) typed[name.replace(/^field\./, "")] = String(text);
  const problem = document.getElementById("problem");
  problem.hidden = true;
  try {
    const row = kept() ?? followInstructions(instructions, typed).row;
    if (Object.values(row)[0] !== "") localStorage.setItem(place, JSON.stringify(row));
    show(row);
  } catch (error) {
    if (!(error instanceof NotUsable)) throw error;
    problem.textContent = error.message;
    problem.hidden = false;
  }
}

typing.addEventListener("submit", draw);
document.getElementById("no-device").hidden = true;
typing.hidden = false;
const before = kept();
if (before !== null) show(before);
