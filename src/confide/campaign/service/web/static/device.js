// What a participant's own device does: it draws her report, shows it, and puts it alone into the form that is sent.
//
// The form in which she types has no way to the server (method "dialog"), and is shown only once this script holds it.
// A report is drawn once: drawing again would cost her level again, so this device keeps what it drew, for her alone,
// until she has it forget her.
import { NotUsable, followInstructions, previewOf } from "/static/noise.js";

const typing = document.getElementById("device");
const sending = document.getElementById("send");
const instructions = JSON.parse(typing.dataset.instructions);
const place = `confide ${typing.dataset.campaign} ${typing.dataset.who} ${typing.dataset.instructions}`;

function kept() {
  const text = localStorage.getItem(place);
  return text === null ? null : JSON.parse(text);
}

/** A number as the server's pages write it: four digits that count. */
function short(value) {
  return Number(value.toPrecision(4)).toLocaleString("en", { maximumSignificantDigits: 4 });
}

/** A probability as so many of 100, as confide.people.device_odds writes it. */
function ofHundred(probability) {
  const rare = 100 * Math.min(probability, 1 - probability);
  if (rare === 0 || rare >= 0.5) return (100 * probability).toFixed(0);
  let digits = Math.min(6, Math.max(1, -Math.floor(Math.log10(rare))));
  if (Number(rare.toFixed(digits)) < 10 ** -digits) digits += 1;
  return (100 * probability).toFixed(digits);
}

/** How the operator reads a report on a lattice, which is no word that people read. */
function read(text) {
  const { low, high, steps } = instructions;
  const part = Number(BigInt.asIntN(64, BigInt(`0x${text}`))) / Number(steps);
  return short(Number(low) + part * (Number(high) - Number(low))) + typing.dataset.unit;
}

function show(row, preview) {
  const shown = Object.values(row)[0];
  document.getElementById("leaves").textContent = shown === "" ? typing.dataset.nothing : shown;
  const reads = document.getElementById("reads");
  reads.hidden = shown === "" || instructions.law !== "lattice";
  if (!reads.hidden) reads.querySelector("output").textContent = read(shown);
  const own = document.getElementById("own");
  own.hidden = instructions.levels === undefined || preview?.odds === undefined;
  if (!own.hidden) {
    const truth = Math.max(...preview.odds.map((each) => each.probability));
    own.textContent = own.dataset.said.replace("{truth}", ofHundred(truth));
  }
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

/** What is wrong, in the page's language: the texts stand in the page. */
function said(error) {
  const problem = error.message.slice(error.field.length + 2);
  const name = problem.replace(/\W+(\w)/g, (_, letter) => letter.toUpperCase());
  return typing.dataset[name] ?? error.message;
}

function draw(event) {
  event.preventDefault();
  const typed = {};
  for (const [name, text] of new FormData(typing)) typed[name.replace(/^field\./, "")] = String(text);
  const problem = document.getElementById("problem");
  problem.hidden = true;
  try {
    const preview = previewOf(instructions, typed);
    const row = kept() ?? followInstructions(instructions, typed).row;
    if (Object.values(row)[0] !== "") localStorage.setItem(place, JSON.stringify(row));
    show(row, preview);
  } catch (error) {
    if (!(error instanceof NotUsable)) throw error;
    problem.textContent = said(error);
    problem.hidden = false;
    document.getElementById(`field-${error.field.replaceAll(" ", "-")}`)?.focus();
  }
}

typing.addEventListener("submit", draw);
document.getElementById("no-device").hidden = true;
typing.hidden = false;
const before = kept();
if (before !== null) show(before);
