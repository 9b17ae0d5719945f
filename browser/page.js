// What a participant's own device does: it says what it would do, draws her report, shows it, and puts it alone into
// the form that is sent.
//
// The form in which she types has no way to the server (method "dialog"), and is shown only once this script holds it.
// A report is drawn once: drawing again would cost her level again. So this device keeps what it drew, under the
// campaign and her id and for her alone, until she has it forget her; it draws nothing that it cannot keep, nothing by
// instructions that have changed since, and nothing where the service has a report of hers already.
//
// In device.js it stands below the text of noise.js, whose names it uses, and imports nothing: one file has one digest.

const typing = document.getElementById("device");
const sending = document.getElementById("send");
const problem = document.getElementById("problem");
const terms = document.getElementById("terms");
const instructions = JSON.parse(typing.dataset.instructions);
const stated = Number(document.getElementById("stated").textContent); // the number that she reads, in full
const place = `confide ${typing.dataset.campaign} ${typing.dataset.who} report`;

/** A reason of `problem`, by its name; nothing is drawn and nothing is sent. */
class Refusal extends Error {}

/** The same text for the same instructions, whatever the order in which they are written. */
function inOrder(value) {
  if (Array.isArray(value)) return `[${value.map(inOrder).join()}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  return `{${Object.keys(value).sort().map((name) => `${JSON.stringify(name)}:${inOrder(value[name])}`).join()}}`;
}

/** The row that this device drew for her; null where it has not. */
function kept() {
  const text = localStorage.getItem(place);
  if (text === null) return null;
  const found = JSON.parse(text);
  if (found.instructions !== inOrder(instructions)) throw new Refusal("changed");
  return found.row;
}

function keep(row) {
  const text = JSON.stringify({ instructions: inOrder(instructions), row });
  try {
    localStorage.setItem(place, text);
    if (localStorage.getItem(place) === text) return;
  } catch { /* said below */ }
  throw new Refusal("storage"); // what was drawn is forgotten here, and nobody has seen it
}

/** Whether this browser lets pages keep anything. */
function checkStorage() {
  try {
    localStorage.setItem(`${place} tried`, "1");
    const found = localStorage.getItem(`${place} tried`);
    localStorage.removeItem(`${place} tried`);
    if (found === "1") return;
  } catch { /* said below */ }
  throw new Refusal("storage");
}

/** Whether the service waits for a report of hers: asked before anything is drawn, and again before it is sent. */
async function checkAwaited() {
  let mine;
  try {
    const answer = await fetch("/api/v1/mine", { cache: "no-store", headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Refusal("unasked");
    mine = await answer.json();
  } catch {
    throw new Refusal("unasked");
  }
  if (mine.id !== typing.dataset.who || String(mine.campaign) !== typing.dataset.number) throw new Refusal("unasked");
  if (mine.handed_in) throw new Refusal("stored");
  if (mine.asks !== "record") throw new Refusal("unasked");
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

/** A text of the page, with what this device has computed in it; it is hidden where there is nothing to say. */
function say(id, values) {
  const place = document.getElementById(id);
  place.hidden = values === undefined;
  if (values !== undefined) place.textContent = place.dataset.said.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

/** What these instructions cost at most, as this device reads them: before anything is typed. */
function tell({ columns, stays, level, truth, deviation }) {
  const limit = short(LARGEST_LEVEL);
  say("terms-level", { level: short(level), limit });
  say("terms-truth", truth === undefined ? undefined : { truth: ofHundred(truth) });
  say("terms-noise", deviation === undefined ? undefined : { deviation: short(deviation) + typing.dataset.unit });
  say("terms-stays", { stays: stays.join(", "), columns: columns.join(", ") });
  terms.hidden = false;
}

function typed() {
  const found = {};
  for (const [name, text] of new FormData(typing)) found[name.replace(/^field\./, "")] = String(text);
  return found;
}

/** What can leave with what she has typed so far, each with its odds. */
function foresee() {
  let preview;
  try {
    preview = previewOf(instructions, typed(), stated);
  } catch (error) {
    if (!(error instanceof NotUsable)) throw error; // she is still typing
  }
  const odds = preview?.odds?.map(({ answer, probability }) => `${answer}: ${ofHundred(probability)}`).join("; ");
  say("terms-odds", odds === undefined ? undefined : { odds });
}

function show(row, preview) {
  const shown = Object.values(row)[0];
  document.getElementById("leaves").textContent = shown === "" ? typing.dataset.nothing : shown;
  const reads = document.getElementById("reads");
  reads.hidden = shown === "" || instructions.law !== "lattice";
  if (!reads.hidden) reads.querySelector("output").textContent = read(shown);
  const own = instructions.levels !== undefined && preview?.odds !== undefined;
  say("own", own ? { truth: ofHundred(Math.max(...preview.odds.map((each) => each.probability))) } : undefined);
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
  if (error instanceof Refusal) return problem.dataset[error.message];
  if (error instanceof TooTelling) return problem.dataset.telling.replace("{limit}", short(LARGEST_LEVEL));
  if (!(error instanceof NotUsable)) return problem.dataset.senseless;
  const name = error.message.slice(error.field.length + 2).replace(/\W+(\w)/g, (_, letter) => letter.toUpperCase());
  return typing.dataset[name] ?? error.message;
}

/** Say what is wrong; but for what she can type otherwise, neither form is there any more. */
function refuse(error) {
  problem.textContent = said(error);
  problem.hidden = false;
  problem.scrollIntoView({ block: "center" });
  if (error instanceof NotUsable) {
    document.getElementById(`field-${error.field.replaceAll(" ", "-")}`)?.focus();
  } else if (error.message !== "unasked") { // which another time may be otherwise
    typing.hidden = true;
    sending.hidden = true;
  }
}

/** Run a step; whatever stops it is said. */
async function guarded(step) {
  problem.hidden = true;
  try {
    await step();
  } catch (error) {
    refuse(error);
  }
}

async function draw() {
  const given = typed();
  const preview = previewOf(instructions, given, stated);
  if (preview.takesPart) {
    checkStorage();
    await checkAwaited();
  }
  let row = kept(); // another tab may have drawn meanwhile
  if (row === null) {
    row = followInstructions(instructions, given, systemBytes, stated).row;
    if (preview.takesPart) keep(row);
  }
  show(row, preview);
}

async function send() {
  await checkAwaited();
  sending.submit();
}

async function begin() {
  tell(termsOf(instructions, stated));
  checkStorage();
  const before = kept();
  if (before !== null) return show(before);
  typing.hidden = false;
  foresee();
}

for (const [form, step] of [[typing, draw], [sending, send]]) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    guarded(step);
  });
}
typing.addEventListener("input", foresee);
document.getElementById("no-device").hidden = true;
guarded(begin);
