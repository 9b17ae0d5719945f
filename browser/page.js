// What a participant's own device does: it says what it would do, draws the report, shows it, and puts it alone into
// the form that is sent.
//
// The form in which a participant types has no way to the server (method "dialog"), and is shown only once this script
// holds it. A report is drawn once: drawing again would cost the level again. So this device keeps what it drew, under
// the campaign and the id and for this participant alone, until asked to forget; it draws nothing that it cannot keep,
// nothing by instructions that have changed since, and nothing where the service has a report already. To look whether
// it has drawn, to draw and to keep is one transaction of IndexedDB, which browsers run one after another whatever the
// number of tabs. Locks (navigator.locks) are not there where a page came without TLS; and localStorage, which each
// process of a browser may hold a copy of, is not the same in all tabs at once, with a lock or without.
//
// In device.js it stands below the text of noise.js, whose names it uses, and imports nothing: one file has one digest.

const typing = document.getElementById("device");
const sending = document.getElementById("send");
const problem = document.getElementById("problem");
const terms = document.getElementById("terms");
const back = document.getElementById("back");
const instructions = JSON.parse(typing.dataset.instructions);
const stated = Number(document.getElementById("stated").textContent); // the number that the page shows, in full
const place = `confide ${typing.dataset.campaign} ${typing.dataset.who} report`;

let showing = null; // the row that is shown

/** A reason of `problem`, by its name; nothing is drawn and nothing is sent. */
class Refusal extends Error {}

/** The same text for the same instructions, whatever the order in which they are written. */
function inOrder(value) {
  if (Array.isArray(value)) return `[${value.map(inOrder).join()}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  return `{${Object.keys(value).sort().map((name) => `${JSON.stringify(name)}:${inOrder(value[name])}`).join()}}`;
}

/** Where this device keeps what it drew; share.js and leave.js know it too. */
function keeping() {
  return new Promise((done, failed) => {
    const asked = indexedDB.open("confide", 1);
    asked.onupgradeneeded = () => asked.result.createObjectStore("kept");
    asked.onsuccess = () => done(asked.result);
    asked.onerror = asked.onblocked = () => failed(asked.error);
  });
}

/**
 * What a step does with what is kept: all of it or nothing, on the disk, and nothing of another tab in between. The
 * step is given the store, and a function by which it goes on with what it has asked for; it gives what `within` gives.
 */
async function within(mode, step) {
  let database;
  let reason; // of a step that did not go on
  try {
    database = await keeping();
    return await new Promise((done, failed) => {
      const transaction = database.transaction("kept", mode, { durability: "strict" });
      let found;
      const then = (request, next) => {
        request.onsuccess = () => {
          try {
            found = next(request.result);
          } catch (error) {
            reason = error;
            transaction.abort();
          }
        };
      };
      transaction.oncomplete = () => done(found);
      transaction.onabort = () => failed(transaction.error);
      step(transaction.objectStore("kept"), then);
    });
  } catch { // what was drawn is forgotten here, and nobody has seen it
    throw reason === undefined || reason instanceof DOMException ? new Refusal("storage") : reason;
  } finally {
    database?.close();
  }
}

/** The row that is kept; null where nothing is. */
function rowOf(found) {
  if (found === undefined) return null;
  if (found.instructions !== inOrder(instructions)) throw new Refusal("changed");
  return found.row;
}

/** The row that this device drew, in whichever tab; null where it has not. */
function kept() {
  return within("readonly", (store, then) => then(store.get(place), rowOf));
}

/** Draw the report and keep it, where this device has not: in one transaction. */
function drawOnce(given) {
  return within("readwrite", (store, then) => then(store.get(place), (found) => {
    if (rowOf(found) !== null) return;
    const { row } = followInstructions(instructions, given, systemBytes, stated);
    store.put({ instructions: inOrder(instructions), row }, place);
  }));
}

/** Whether this browser lets pages keep anything. */
function checkStorage() {
  return within("readwrite", (store) => {
    store.put("1", `${place} tried`);
    store.delete(`${place} tried`);
  });
}

/** Whether the service waits for a report: asked before anything is drawn, and again before it is sent. */
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

/**
 * Whether the instructions are about the form that is shown, in the unit of the level that the offer states. Otherwise
 * a question could be taken for something else: an answer that no report can have, or one that is read as what
 * privacy is worth to a participant, shows by whether a report leaves.
 */
function checkForm() {
  const fields = (name) => [...typing.elements].filter((each) => each.name === `field.${name}`);
  const choices = fields(instructions.input).flatMap((each) => each.type === "radio" ? [each.value]
    : each.options === undefined ? [] : [...each.options].map((option) => option.value).filter((text) => text !== ""));
  const local = instructions.law === "response";
  const worth = fields(instructions.levels?.worth ?? "");
  const offered = inOrder([...choices].sort()) === inOrder(local ? [...instructions.answers].sort() : []);
  const sameUnit = document.getElementById("stated").dataset.notion === (local ? "epsilon" : "rho");
  const written = [...worth, ...(local ? [] : fields(instructions.input))].every((each) => each.type === "text");
  if (!offered || !sameUnit || !written) throw new RangeError("instructions: they are not about this form");
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
function tell({ columns, stays, level, truth, deviation, threshold }) {
  const limit = short(LARGEST_LEVEL);
  say("terms-level", { level: short(level), limit });
  say("terms-truth", truth === undefined ? undefined : { truth: ofHundred(truth) });
  say("terms-noise", deviation === undefined ? undefined : { deviation: short(deviation) + typing.dataset.unit });
  say("terms-part", threshold === undefined ? undefined : {
    worth: instructions.levels.worth, threshold: short(threshold) + typing.dataset.unit });
  say("terms-stays", { stays: stays.join(", "), columns: columns.join(", ") });
  terms.hidden = false;
}

function typed() {
  const found = {};
  for (const [name, text] of new FormData(typing)) found[name.replace(/^field\./, "")] = String(text);
  return found;
}

/** What can leave with the values typed so far, each with its odds. */
function foresee() {
  let preview;
  try {
    preview = previewOf(instructions, typed(), stated);
  } catch (error) {
    if (!(error instanceof NotUsable)) throw error; // still typing
  }
  const odds = preview?.odds?.map(({ answer, probability }) => `${answer}: ${ofHundred(probability)}`).join("; ");
  say("terms-odds", odds === undefined ? undefined : { odds });
}

/** Into the form that is sent. */
function fill(row) {
  document.getElementById("row").replaceChildren(...Object.entries(row).map(([column, text]) => {
    const field = document.createElement("input");
    field.type = "hidden";
    field.name = `field.${column}`;
    field.value = text;
    return field;
  }));
}

function show(row, preview) {
  const shown = Object.values(row)[0];
  document.getElementById("leaves").textContent = shown === "" ? typing.dataset.nothing : shown;
  const reads = document.getElementById("reads");
  document.getElementById("once").hidden = shown === "";
  document.getElementById("nothing").hidden = shown !== "";
  reads.hidden = shown === "" || instructions.law !== "lattice";
  if (!reads.hidden) reads.querySelector("output").textContent = read(shown);
  const own = instructions.levels !== undefined && preview?.odds !== undefined;
  say("own", own ? { truth: ofHundred(Math.max(...preview.odds.map((each) => each.probability))) } : undefined);
  fill(row);
  showing = row;
  typing.hidden = true;
  sending.hidden = false;
  (shown === "" ? back : sending.querySelector("button:not([type])")).focus();
}

/** Back to the form: nothing was drawn, and nothing is kept. */
function goBack() {
  showing = null;
  fill({});
  sending.hidden = true;
  typing.hidden = false;
  typing.querySelector("input, select")?.focus();
}

/** What is wrong, in the page's language: the texts stand in the page. */
function said(error) {
  if (error instanceof Refusal) return problem.dataset[error.message];
  if (error instanceof LevelTooHigh) return problem.dataset.level.replace("{limit}", short(LARGEST_LEVEL));
  if (!(error instanceof NotUsable)) return problem.dataset.senseless;
  const name = error.message.slice(error.field.length + 2).replace(/\W+(\w)/g, (_, letter) => letter.toUpperCase());
  return typing.dataset[name] ?? error.message;
}

/** Say what is wrong, above the field that it is about; but for a value that can be typed otherwise, neither form is
 * there any more. */
function refuse(error) {
  const usable = error instanceof NotUsable;
  const field = usable ? document.getElementById(`field-${error.field.replaceAll(" ", "-")}`) : null;
  const place = field?.closest("fieldset, .field") ?? typing;
  const name = place === typing ? "" : `${place.querySelector("legend, label").firstChild.textContent.trim()}: `;
  place.before(problem);
  problem.textContent = name + said(error);
  problem.hidden = false;
  field?.focus({ preventScroll: true });
  problem.scrollIntoView({ block: "center" });
  if (!usable && error.message !== "unasked") { // which another time may be otherwise
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
  await checkStorage();
  await checkAwaited(); // with or without a report: nothing shows which before it is handed in
  if (preview.takesPart) await drawOnce(given);
  const row = await kept(); // perhaps another tab's
  if (row !== null) return show(row, preview);
  if (preview.takesPart) throw new Refusal("storage");
  show(followInstructions(instructions, given, systemBytes, stated).row, preview); // which is empty: nothing is drawn
}

async function send() {
  await checkAwaited();
  if (Object.values(showing)[0] !== "") {
    const row = await kept();
    if (row === null) throw new Refusal("gone");
    if (inOrder(row) !== inOrder(showing)) return show(row); // it is shown before it leaves
    fill(row);
  }
  sending.submit();
}

async function begin() {
  checkForm();
  tell(termsOf(instructions, stated));
  await checkStorage();
  const before = await kept();
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
back.addEventListener("click", goBack);
document.getElementById("no-device").hidden = true;
guarded(begin);
